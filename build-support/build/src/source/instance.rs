//! Instances that are asked for by name: `GPUK_INSTANTIATE(ns::scale<float>);`, or the same in the configuration.

use super::DeclaredInstance;
use super::cursor::{Tokens, joined};
use super::extent::Extent;
use super::lexer::{Token, lex};
use super::parser::Parser;

/// What the variable is called that `GPUK_INSTANTIATE` of `gpuk.cuh` defines.
const VARIABLE: &str = "gpuk_detail_instance_";

/// The C++ that makes an instance, wherever its name is in scope; the expansion of `GPUK_INSTANTIATE`.
pub(crate) fn instantiation(number: usize, written: &str) -> String {
    format!(
        "[[maybe_unused]] static decltype(&{written}) const {VARIABLE}asked_{number} = &{written};"
    )
}

/// The name and the template arguments of `ns::scale<float>`; no arguments where it has no `<`.
pub(crate) fn written_instance(text: &str) -> Option<(String, Option<Vec<String>>)> {
    read(&lex(text).tokens)
}

fn read(tokens: &[Token<'_>]) -> Option<(String, Option<Vec<String>>)> {
    let all = Tokens(tokens);
    let mut at = usize::from(all.is(0, "::"));
    let mut path = Vec::new();
    loop {
        if !all.is_word(at) {
            return None;
        }
        path.push(all.text(at));
        at += 1;
        if !all.is(at, "::") {
            break;
        }
        at += 1;
    }
    let args = match all.is(at, "<") {
        true => {
            let end = all.after_angles(at)?;
            let args = Tokens(&tokens[at + 1..end - 1]).split_commas();
            at = end;
            Some(args.into_iter().map(joined).collect())
        }
        false => None,
    };
    (at == tokens.len()).then(|| (path.join("::"), args))
}

impl Parser<'_, '_> {
    /// Keeps the instance that a variable's declaration asks for, if it is the header's.
    pub(super) fn asked(&mut self, extent: &Extent) {
        let name = extent.head_end.saturating_sub(1);
        if !self.tokens.text(name).starts_with(VARIABLE) || !self.tokens.is(extent.head_end, "=") {
            return;
        }
        // `= & … ;`
        let value = self
            .tokens
            .0
            .get(extent.head_end + 2..extent.end.saturating_sub(1));
        if let Some((name, args)) = value.and_then(read) {
            self.out.instantiations.push(DeclaredInstance {
                scope: self.scope.clone(),
                name,
                args,
                params: Vec::new(),
                place: self.place(extent.head_end),
                asked: true,
            });
        }
    }
}
