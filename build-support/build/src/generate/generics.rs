//! Heads, bounds and paths with generic arguments, broken as rustfmt does (1.9).
//!
//! Where rustfmt finds no way to break an item it leaves that as it is; what is written then is any.

use super::expr::{CHAIN, Expr, List, WIDTH, arguments, columns, first_columns, row, text};
use super::out::Out;

/// Columns of a trait's head that has a bound.
const TRAIT: usize = 92;

/// A type or a path; its generic arguments may stand on lines of their own.
pub(super) fn path(whole: &str) -> Expr {
    // The bracket of a qualified path is not one of arguments: `<T as Scale<N>>`, `Item = <T as Scale<N>>`.
    let mut brackets = whole.match_indices('<').map(|(at, _)| at).peekable();
    brackets.next_if(|at| *at == 0 || whole[..*at].ends_with("= "));
    let open = brackets.next();
    let Some(open) = open.filter(|_| !whole.starts_with(['[', '('])) else {
        return text(whole);
    };
    let (mut items, mut depth, mut from) = (Vec::new(), 0_usize, open + 1);
    for (at, c) in whole.char_indices().skip_while(|(at, _)| *at <= open) {
        match c {
            '>' if depth == 0 => {
                items.push(path(&whole[from..at]));
                let list = arguments(&whole[..=open], items);
                return match &whole[at + 1..] {
                    "" => list,
                    rest => row([list, text(rest)]),
                };
            }
            ',' if depth == 0 => {
                items.push(path(&whole[from..at]));
                from = at + ", ".len();
            }
            '<' | '[' | '(' => depth += 1,
            '>' | ']' | ')' => depth -= 1,
            _ => {}
        }
    }
    text(whole)
}

/// Whether rustfmt can neither write a qualified path on one line that starts at the column, nor break it: all of it
/// but its last segment fits, and `room` columns behind that.
pub(super) fn is_stuck(item: &Expr, column: usize, room: usize) -> bool {
    let Expr::Row(pieces) = item else {
        return false;
    };
    let [list @ Expr::List(_), last, call @ ..] = pieces.as_slice() else {
        return false;
    };
    let list = column + list.flat().map_or(0, |flat| columns(&flat));
    let last = list + first_columns(last);
    match call {
        [] => list + room <= WIDTH && last + ",".len() > WIDTH,
        // A path that is called leaves room for `()?,`, then for `(,`.
        _ => list + "()?,".len() < WIDTH && last + "(,".len() > WIDTH,
    }
}

/// Whether something is stuck in the list if each item stands on a line of its own.
pub(super) fn holds_stuck(list: &List, indent: usize) -> bool {
    let start = indent + 4;
    list.items.iter().any(|item| match (item, item.flat()) {
        (_, Some(flat)) if start + columns(&flat) < WIDTH => false,
        (Expr::List(inner), _) => holds_stuck(inner, start),
        _ => is_stuck(item, start, 4),
    })
}

impl Out {
    /// `name: bound,` of a `where` clause.
    pub(super) fn bound(&mut self, bound: &str) {
        let Some((name, bound)) = bound.split_once(": ") else {
            return self.line(bound);
        };
        let start = self.indent() + columns(name) + ": ".len();
        let next = self.indent() + 4 + columns(bound);
        if start + columns(bound) <= WIDTH {
            return self.line(format!("{name}: {bound}"));
        }
        let Expr::List(list) = path(bound.trim_end_matches(',')) else {
            self.line(format!("{name}:"));
            return self.indented(|out| out.line(bound));
        };
        let several = list.items.len() > 1 || list.open.contains("::");
        if next <= WIDTH {
            self.line(format!("{name}:"));
            self.indented(|out| out.line(bound));
        } else if next == WIDTH + 1 && several {
            self.line(format!("{name}: {bound}"));
        } else {
            let step = if several { 4 } else { 0 };
            let items = self.indent() + step + 4;
            let is_stuck = |at| list.items.iter().any(|item| is_stuck(item, at, 0));
            let fits = start + columns(&list.open) <= WIDTH;
            if fits && (!is_stuck(items) || is_stuck(items + 4)) {
                self.line(format!("{name}: {}", list.open));
                self.arguments(&list, step);
            } else {
                self.line(format!("{name}:"));
                self.indented(|out| {
                    out.line(&list.open);
                    out.arguments(&list, step);
                });
            }
        }
    }

    /// Lines of arguments and of what closes them, `step` further in.
    fn arguments(&mut self, list: &List, step: usize) {
        let write = |out: &mut Self| {
            out.indented(|out| list.items.iter().for_each(|it| out.statement(it, ",")));
            out.line(">,");
        };
        match step {
            0 => write(self),
            _ => self.indented(write),
        }
    }

    /// `pub trait name<params>: bound {`, lines, `}`.
    pub(super) fn trait_item(
        &mut self,
        name: &str,
        params: &[String],
        bound: Option<&str>,
        write: impl FnOnce(&mut Self),
    ) {
        let head = format!("pub trait {name}{}", angles(params.iter().cloned()));
        let columns = self.indent() + columns(&head);
        if columns > WIDTH && !params.is_empty() {
            self.line(format!("pub trait {name}<"));
            self.indented(|out| params.iter().for_each(|it| out.line(format!("{it},"))));
            self.line(bound.map_or_else(|| ">".to_owned(), |bound| format!(">: {bound}")));
            return self.block(write);
        }
        match bound {
            Some(bound) if columns + ": ".len() + bound.len() + " {".len() <= TRAIT => {
                self.braced(format!("{head}: {bound}"), write);
            }
            Some(bound) => {
                self.line(format!("{head}:"));
                self.indented(|out| out.line(bound));
                self.block(write);
            }
            None if columns + " {".len() <= WIDTH => self.braced(head, write),
            None => {
                self.line(head);
                self.block(write);
            }
        }
    }

    /// `impl of for subject {`, lines, `}`.
    pub(super) fn implementation(
        &mut self,
        of: &str,
        subject: &str,
        write: impl FnOnce(&mut Self),
    ) {
        let head = format!("impl {of} for {subject}");
        // rustfmt does not count the indentation here.
        if columns(&head) + " {".len() <= WIDTH {
            return self.braced(head, write);
        }
        let columns_of = self.indent() + "impl ".len() + columns(of);
        match path(of) {
            Expr::List(list) if columns_of > WIDTH + 1 => {
                self.line("impl");
                self.indented(|out| {
                    out.line(&list.open);
                    out.indented(|out| list.items.iter().for_each(|it| out.statement(it, ",")));
                    let close = format!("> for {subject}");
                    if out.indent() + columns(&close) + " {".len() <= WIDTH {
                        out.line(close);
                    } else {
                        out.line(">");
                        out.line(format!("for {subject}"));
                    }
                });
            }
            _ => {
                if columns_of > WIDTH {
                    self.line("impl");
                    self.indented(|out| out.line(of));
                } else {
                    self.line(format!("impl {of}"));
                }
                self.indented(|out| out.line(format!("for {subject}")));
            }
        }
        self.block(write);
    }

    /// `type name = ty;`.
    pub(super) fn alias(&mut self, name: &str, ty: &str) {
        let whole = format!("type {name} = {ty};");
        if self.indent() + columns(&whole) <= WIDTH {
            return self.line(whole);
        }
        self.line(format!("type {name} ="));
        self.indented(|out| out.line(format!("{ty};")));
    }

    /// `Ok(&of.name)`.
    pub(super) fn ok(&mut self, of: &str, name: &str) {
        let whole = format!("Ok(&{of}.{name})");
        match self.indent() + columns(&whole) {
            ..WIDTH => self.line(whole),
            // rustfmt takes one column more for a call than there is.
            WIDTH => {
                self.line("Ok(");
                self.indented(|out| {
                    out.line(format!("&{of}"));
                    out.indented(|out| out.line(format!(".{name},")));
                });
                self.line(")");
            }
            _ => {
                self.line(format!("Ok(&{of}"));
                self.indented(|out| out.line(format!(".{name})")));
            }
        }
    }

    /// `of.name.call()`.
    pub(super) fn chain(&mut self, of: &str, links: &[&str]) {
        let whole = format!("{of}.{}", links.join("."));
        if columns(&whole) <= CHAIN {
            return self.line(whole);
        }
        self.line(of);
        self.indented(|out| links.iter().for_each(|it| out.line(format!(".{it}"))));
    }

    fn block(&mut self, write: impl FnOnce(&mut Self)) {
        self.line("{");
        self.indented(write);
        self.line("}");
    }
}

/// `<A, B>`, or nothing.
pub(super) fn angles(all: impl Iterator<Item = String>) -> String {
    let all: Vec<_> = all.collect();
    match all.as_slice() {
        [] => String::new(),
        some => format!("<{}>", some.join(", ")),
    }
}
