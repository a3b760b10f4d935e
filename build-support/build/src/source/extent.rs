//! How far a declaration reaches, and where the name of the function in it stands.

use super::declarator::{is_inner_declarator, is_type_word};
use super::parser::Parser;

/// How a declaration runs through the tokens.
pub(super) struct Extent {
    /// The parenthesis after the declared function's name.
    pub(super) call: Option<usize>,
    /// Where what is declared ends: its `;`, `=` or `{`.
    pub(super) head_end: usize,
    /// Whether `{` opens a function's body there.
    pub(super) body: bool,
    /// The position after the whole.
    pub(super) end: usize,
}

/// A function's name before its parameter list.
pub(super) struct FunctionName<'t> {
    /// Scope and name as written.
    pub(super) path: Vec<&'t str>,
    /// The position of the last of them.
    pub(super) at: usize,
    /// The range of its template arguments.
    pub(super) args: Option<(usize, usize)>,
}

impl<'t> Parser<'_, 't> {
    /// Where a declaration without a class body ends.
    pub(super) fn extent(&self, from: usize) -> Extent {
        let tokens = self.tokens;
        let mut call = None;
        let mut at = from;
        loop {
            if let Some(next) = tokens.after_attribute(at) {
                at = next;
                continue;
            }
            match tokens.text(at) {
                "" | "}" => {
                    return Extent {
                        call,
                        head_end: at,
                        body: false,
                        end: at,
                    };
                }
                ";" => {
                    return Extent {
                        call,
                        head_end: at,
                        body: false,
                        end: at + 1,
                    };
                }
                "=" => {
                    let end = self.after_statement(at);
                    return Extent {
                        call,
                        head_end: at,
                        body: false,
                        end,
                    };
                }
                ":" if call.is_some() => return self.after_initializers(call, at),
                "{" => {
                    let after = tokens.after_group(at);
                    let body = call.is_some();
                    // Behind an initializer more may be declared; behind anything else the next declaration is.
                    let goes_on = !body && matches!(tokens.text(after), ";" | "," | "[");
                    let end = if goes_on {
                        self.after_statement(after)
                    } else {
                        after
                    };
                    return Extent {
                        call,
                        head_end: at,
                        body,
                        end,
                    };
                }
                "operator" => {
                    let open = self.after_operator(at);
                    call = call.or(Some(open));
                    at = tokens.after_group(open);
                }
                "(" => {
                    let inner = is_inner_declarator(tokens, at);
                    if call.is_none() && !inner && self.function_name(from, at).is_some() {
                        call = Some(at);
                    }
                    at = tokens.after_group(at);
                }
                "[" => at = tokens.after_group(at),
                "<" if tokens.is_word(at.wrapping_sub(1)) && !tokens.is(at - 1, "operator") => {
                    at = tokens.after_angles(at).unwrap_or(at + 1);
                }
                _ => at += 1,
            }
        }
    }

    /// The parenthesis after `operator+`, `operator()` or `operator T`.
    fn after_operator(&self, at: usize) -> usize {
        let tokens = self.tokens;
        let mut at = at + 1;
        if tokens.is(at, "(") {
            at += 2;
        }
        while !matches!(tokens.text(at), "" | "(" | ";" | "{" | "}") {
            at += 1;
        }
        at
    }

    /// The position after the next `;` outside any group.
    fn after_statement(&self, mut at: usize) -> usize {
        loop {
            match self.tokens.text(at) {
                ";" => return at + 1,
                "" | "}" => return at,
                "(" | "[" | "{" => at = self.tokens.after_group(at),
                _ => at += 1,
            }
        }
    }

    /// After `: a(1), b{2}` of a constructor, and its body.
    fn after_initializers(&self, call: Option<usize>, colon: usize) -> Extent {
        let tokens = self.tokens;
        let mut at = colon + 1;
        loop {
            match tokens.text(at) {
                "" | ";" | "}" => {
                    return Extent {
                        call,
                        head_end: colon,
                        body: false,
                        end: at + 1,
                    };
                }
                "<" => at = tokens.after_angles(at).unwrap_or(at + 1),
                "(" => at = tokens.after_group(at),
                "{" => {
                    // The initializer of a member follows its name, the body does not.
                    let initializer = tokens.is_word(at - 1) || tokens.is(at - 1, ">");
                    at = tokens.after_group(at);
                    if !initializer {
                        return Extent {
                            call,
                            head_end: colon,
                            body: true,
                            end: at,
                        };
                    }
                }
                _ => at += 1,
            }
        }
    }

    /// The name before a parameter list, if what stands there is one.
    pub(super) fn function_name(&self, from: usize, call: usize) -> Option<FunctionName<'t>> {
        const NOT_NAMES: &[&str] = &[
            "decltype",
            "noexcept",
            "explicit",
            "throw",
            "requires",
            "alignas",
            "typeof",
            "__typeof__",
            "sizeof",
            "alignof",
            "static_assert",
            "_Static_assert",
            "asm",
            "__asm__",
            "__launch_bounds__",
            "__maxnreg__",
            "__cluster_dims__",
            "__block_size__",
            "__align__",
            "if",
            "__attribute__",
            "__declspec",
        ];
        let tokens = self.tokens;
        let mut at = call.checked_sub(1)?;
        let mut args = None;
        if tokens.is(at, ">") {
            let open = tokens.before_angles(at)?;
            if open < from || !tokens.is_word(open.wrapping_sub(1)) {
                return None;
            }
            args = Some((open + 1, at));
            at = open - 1;
        }
        if at < from || !tokens.is_word(at) {
            return None;
        }
        let word = tokens.text(at);
        if NOT_NAMES.contains(&word) || is_type_word(word) {
            return None;
        }
        let mut path = vec![word];
        let mut start = at;
        while start >= from + 2 && tokens.is(start - 1, "::") && tokens.is_word(start - 2) {
            // `void ::f()`: the word before a leading `::` is the return type.
            if is_type_word(tokens.text(start - 2)) {
                break;
            }
            start -= 2;
            path.push(tokens.text(start));
        }
        path.reverse();
        Some(FunctionName { path, at, args })
    }
}
