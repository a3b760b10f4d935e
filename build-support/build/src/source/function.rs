//! Functions of the host that others can call by their name: `extern "C"`, with a body.

use std::collections::HashSet;

use super::DeclaredFunction;
use super::cursor::{Tokens, joined};
use super::lexer;
use super::parser::Parser;
use crate::diagnostic::Place;

/// What keeps a function from having a symbol of its own on the host: its specifiers.
const INNER: [&str; 4] = ["static", "inline", "__inline", "__inline__"];

impl Parser<'_, '_> {
    /// Keeps a function whose specifiers start at `from`, whose name is at `name` and whose parameters open at `call`.
    pub(super) fn host_function(&mut self, from: usize, name: usize, call: usize) {
        let head = Tokens(&self.tokens.0[from..name.max(from)]);
        let inner = head.0.iter().any(|token| INNER.contains(&token.text));
        if inner || self.scope.iter().any(String::is_empty) || !on_host(head) {
            return;
        }
        let returns = joined(&head.without_attributes());
        self.out.functions.push(DeclaredFunction {
            scope: self.scope.clone(),
            name: self.tokens.text(name).to_owned(),
            returns,
            params: self.params_at(call),
            place: self.place(name),
        });
    }
}

/// Whether the attributes leave a function to the host: all but `__device__` alone and `__global__`.
fn on_host(head: Tokens<'_, '_>) -> bool {
    let (mut host, mut device, mut at) = (false, false, 0);
    while at < head.0.len() {
        let Some(end) = head.after_attribute(at) else {
            at += 1;
            continue;
        };
        for token in &head.0[at..end] {
            host |= matches!(token.text, "host" | "__host__");
            device |= matches!(
                token.text,
                "device" | "__device__" | "global" | "__global__"
            );
        }
        at = end;
    }
    host || !device
}

/// What the macros of `gpuk.cuh` call where a check fails.
const FAIL: [&str; 5] = ["gpuk", "::", "detail", "::", "fail"];

/// Where checks stand in a preprocessed text, each place once.
pub(crate) fn checks(text: &str) -> Vec<Place> {
    let lexed = lexer::lex(text);
    let tokens = Tokens(&lexed.tokens);
    let (mut places, mut seen) = (Vec::new(), HashSet::new());
    for (at, token) in lexed.tokens.iter().enumerate() {
        let mut call = FAIL.iter().enumerate();
        if call.all(|(nth, text)| tokens.is(at + nth, text))
            && seen.insert((token.file, token.line))
        {
            let file = lexed.files.get(token.file as usize).cloned();
            places.push(Place::line(file.unwrap_or_default(), token.line));
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::super::Declarations;

    #[test]
    fn functions_with_a_symbol_on_the_host() {
        let text = r#"
            extern "C" int one(int a, float *b) { return a; }
            extern "C" {
                __attribute__((host)) __attribute__((device)) const S *two(void) { return 0; }
                void three(P p);
                static int four() { return 4; }
                inline int five() { return 5; }
                __attribute__((device)) int six() { return 6; }
                __attribute__((global)) void seven(int *x) { *x = 7; }
                namespace n { void eight() {} }
                namespace { void nine() {} }
            }
            int ten() { return 10; }
            extern "C" __attribute__((visibility("default"))) unsigned long long eleven(int (*f)(int), ...) { return 11; }
        "#;
        let declarations = Declarations::read(text);
        let shown = declarations.functions.iter().map(|it| {
            let params: Vec<_> = it.params.iter().map(|it| it.name.as_deref()).collect();
            format!(
                "{} {} {}",
                it.returns,
                it.path(),
                params.iter().flatten().count()
            )
        });
        assert_eq!(
            shown.collect::<Vec<_>>(),
            [
                "int one 2",
                "const S * two 0",
                "void n::eight 0",
                "unsigned long long eleven 1"
            ]
        );
        let kernels = declarations.kernels.iter().map(|it| it.name.as_str());
        assert_eq!(kernels.collect::<Vec<_>>(), ["seven"]);
    }

    #[test]
    fn checks_are_found_once() {
        let text = "# 3 \"k.cu\"\n{ ::gpuk::detail::fail(\"a\"); ::gpuk::detail::fail(\"b\"); }\n\
                    # 9 \"k.cu\"\n::gpuk::detail::fail(\"c\"); detail::fail(1);";
        let places = super::checks(text);
        let lines: Vec<_> = places.iter().map(|place| place.line).collect();
        assert_eq!(lines, [3, 9]);
    }
}
