//! Parameters, fields and template headers: which of their words is the name.

use super::cursor::{Tokens, joined};
use super::lexer::{Token, TokenKind};
use super::{DeclaredParam, TemplateKind, TemplateParam};

/// Words that are a type or part of one, never a name.
const TYPE_WORDS: &[&str] = &[
    "void",
    "bool",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "auto",
    "wchar_t",
    "char8_t",
    "char16_t",
    "char32_t",
    "__int128",
    "__int8",
    "__int16",
    "__int32",
    "__int64",
    "_Bool",
    "__float128",
    "_Float16",
];

/// Words before a type that do not complete it.
const QUALIFIERS: &[&str] = &[
    "const",
    "volatile",
    "struct",
    "class",
    "union",
    "enum",
    "typename",
    "register",
    "static",
    "mutable",
    "inline",
    "constexpr",
    "__restrict__",
    "__restrict",
    "restrict",
    "__volatile__",
    "__const",
    "extern",
    "__extension__",
];

pub(super) fn is_type_word(word: &str) -> bool {
    TYPE_WORDS.contains(&word)
}

/// The parameters between a function's parentheses.
pub(super) fn params(tokens: &[Token<'_>]) -> Vec<DeclaredParam> {
    if let [only] = tokens
        && only.is("void")
    {
        return Vec::new();
    }
    Tokens(tokens)
        .split_commas()
        .into_iter()
        .map(param)
        .collect()
}

fn param(tokens: &[Token<'_>]) -> DeclaredParam {
    let plain = Tokens(before_default(tokens)).without_attributes();
    let name = name_at(&plain);
    let shape: Vec<_> = plain
        .iter()
        .enumerate()
        .filter(|(at, _)| Some(*at) != name)
        .map(|(_, token)| *token)
        .collect();
    DeclaredParam {
        name: name.map(|at| plain[at].text.to_owned()),
        text: joined(&shape),
        pack: plain.iter().any(|token| token.is("...")),
    }
}

/// The tokens before a default value or initializer.
pub(super) fn before_default<'a, 't>(tokens: &'a [Token<'t>]) -> &'a [Token<'t>] {
    let all = Tokens(tokens);
    let mut at = 0;
    while let Some(token) = all.get(at) {
        match token.text {
            "=" | "{" => return &tokens[..at],
            "(" | "[" => at = all.after_group(at),
            "<" => at = all.after_angles(at).unwrap_or(at + 1),
            _ => at += 1,
        }
    }
    tokens
}

/// Position of the name that a declaration with specifiers gives, if it gives one.
pub(super) fn name_at(tokens: &[Token<'_>]) -> Option<usize> {
    let all = Tokens(tokens);
    let (mut at, mut typed, mut name) = (0, false, None);
    while let Some(token) = all.get(at) {
        match token.text {
            "(" if is_inner_declarator(all, at) => return inner_name(all, at),
            "(" => at = all.after_group(at),
            "[" => return name,
            "<" => at = all.after_angles(at).unwrap_or(at + 1),
            word if token.kind == TokenKind::Word => {
                if QUALIFIERS.contains(&word) {
                    at += 1;
                    continue;
                }
                let qualified = at > 0 && all.is(at - 1, "::") || all.is(at + 1, "::");
                // A second complete word can only be the name.
                name = (typed && !qualified && !is_type_word(word)).then_some(at);
                typed = true;
                at += 1;
            }
            _ => at += 1,
        }
    }
    name
}

/// Whether the group is the `(*name)` of a pointer to a function or to an array.
pub(super) fn is_inner_declarator(all: Tokens<'_, '_>, open: usize) -> bool {
    let mut at = open + 1;
    while all.is_word(at) && all.is(at + 1, "::") {
        at += 2;
    }
    matches!(all.text(at), "*" | "&" | "&&" | "^") && all.text(open.wrapping_sub(1)) != "decltype"
}

fn inner_name(all: Tokens<'_, '_>, open: usize) -> Option<usize> {
    (open + 1..all.after_group(open)).find(|&at| {
        let word = all.text(at);
        all.is_word(at)
            && !QUALIFIERS.contains(&word)
            && !is_type_word(word)
            && !all.is(at + 1, "::")
    })
}

/// The name of a further declarator, `*b` or `c[3]` in `int a, *b, c[3];`.
pub(super) fn further_name_at(tokens: &[Token<'_>]) -> Option<usize> {
    tokens
        .iter()
        .position(|token| token.kind == TokenKind::Word && !QUALIFIERS.contains(&token.text))
}

/// The parameters of `template<…>`, given what stands between the angles.
pub(super) fn template_params(tokens: &[Token<'_>]) -> Vec<TemplateParam> {
    Tokens(tokens)
        .split_commas()
        .into_iter()
        .map(template_param)
        .collect()
}

fn template_param(tokens: &[Token<'_>]) -> TemplateParam {
    let plain = Tokens(before_default(tokens)).without_attributes();
    let pack = plain.iter().any(|token| token.is("..."));
    let first = plain.first().map_or("", |token| token.text);
    let named = |token: &&Token<'_>| {
        token.kind == TokenKind::Word && !matches!(token.text, "class" | "typename" | "template")
    };
    let last = plain.iter().rev().find(named);
    // `typename T::type N` is a value.
    let typename_value = first == "typename" && plain.iter().any(|token| token.is("::"));
    let (kind, name) = match first {
        "template" => (TemplateKind::Template, last),
        "class" | "typename" if !typename_value => (TemplateKind::Type, last),
        _ => (TemplateKind::Value, name_at(&plain).map(|at| &plain[at])),
    };
    TemplateParam {
        name: name.map(|token| token.text.to_owned()),
        kind,
        pack,
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let lexed = lex(text);
        params(&lexed.tokens)
            .into_iter()
            .map(|param| param.name.unwrap_or_else(|| "-".to_owned()))
            .collect()
    }

    #[test]
    fn parameter_names() {
        let cases = [
            ("void", ""),
            ("", ""),
            ("const float* __restrict__ x, float *y, size_t n", "x y n"),
            (
                "int, unsigned int, Foo, const Foo, ns::Foo, struct Foo",
                "- - - - - -",
            ),
            (
                "Foo<int, 3> v, const Foo<int>&, typename T::type t, typename T::type",
                "v - t -",
            ),
            (
                "int (*p)[4], void (*f)(int, float), T a[], int b[3][4], const T (&r)[2]",
                "p f a b r",
            ),
            (
                "int n = a < b, float s = f(1, 2), Q q = Q{1, 2}, std::pair<int,int> z = {}",
                "n s q z",
            ),
            (
                "__attribute__((grid_constant)) const P p, [[maybe_unused]] unsigned u",
                "p u",
            ),
            ("T... args, Args ...", "args -"),
            (
                "int const *const c, unsigned long long const k, long double",
                "c k -",
            ),
            (
                "::ns::Foo f, void (*)(int), int (*)[3], decltype(x) y",
                "f - - y",
            ),
            ("std::enable_if_t<(N > 0), int> e, Vec<N < 3, int> w", "e w"),
        ];
        for (text, expected) in cases {
            assert_eq!(names(text).join(" "), expected, "{text}");
        }
    }

    #[test]
    fn template_headers() {
        let text = "class T, typename U = int, int N, template<class> class C, typename... R, bool, \
                    typename T::type V, class, std::enable_if_t<(N > 3), int> = 0, Concept X";
        let lexed = lex(text);
        let all: Vec<_> = template_params(&lexed.tokens)
            .into_iter()
            .map(|param| format!("{:?} {}", param.kind, param.name.unwrap_or_default()))
            .collect();
        assert_eq!(
            all.join(", "),
            "Type T, Type U, Value N, Template C, Type R, Value , Value V, Type , Value , Value X"
        );
    }
}
