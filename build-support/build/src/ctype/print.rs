//! Types as text, in the compiler's form: `const float *`, `int (*)[4]`.

use std::fmt;

use super::{Arg, CType, Name, Part, Qualifiers};

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&declared(self, String::new()))
    }
}

/// The type around what has been declared so far, as a declarator reads from the inside out.
fn declared(ty: &CType, inner: String) -> String {
    match ty {
        CType::Named(name, qualifiers) => {
            let specifier = format!("{}{name}", before(*qualifiers));
            match inner.as_str() {
                "" => specifier,
                _ => format!("{specifier} {inner}"),
            }
        }
        CType::Pointer(to, qualifiers) => around(to, with("*", *qualifiers, &inner)),
        CType::Reference(to) => around(to, format!("&{inner}")),
        CType::Member(to, class, qualifiers) => {
            around(to, with(&format!("{class}::*"), *qualifiers, &inner))
        }
        CType::Array(of, length) => {
            let length = length.map_or_else(String::new, |length| length.to_string());
            declared(of, format!("{inner}[{length}]"))
        }
        CType::Function(returns, params) => {
            let params: Vec<_> = params.iter().map(ToString::to_string).collect();
            declared(returns, format!("{inner}({})", params.join(", ")))
        }
        CType::Ellipsis => "...".to_owned(),
    }
}

fn around(to: &CType, inner: String) -> String {
    match to {
        CType::Array(..) | CType::Function(..) => declared(to, format!("({inner})")),
        _ => declared(to, inner),
    }
}

fn before(qualifiers: Qualifiers) -> String {
    let words = words(qualifiers);
    if words.is_empty() { words } else { words + " " }
}

fn words(qualifiers: Qualifiers) -> String {
    let all = [
        (qualifiers.constant, "const"),
        (qualifiers.volatile, "volatile"),
        (qualifiers.restrict, "__restrict__"),
    ];
    let set: Vec<_> = all
        .into_iter()
        .filter_map(|(set, word)| set.then_some(word))
        .collect();
    set.join(" ")
}

fn with(operator: &str, qualifiers: Qualifiers, inner: &str) -> String {
    let words = words(qualifiers);
    let gap = if words.is_empty() || inner.is_empty() {
        ""
    } else {
        " "
    };
    format!("{operator}{words}{gap}{inner}")
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, part) in self.0.iter().enumerate() {
            if nth > 0 {
                f.write_str("::")?;
            }
            write!(f, "{part}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word)?;
        let Some(args) = &self.args else {
            return Ok(());
        };
        let args: Vec<_> = args.iter().map(ToString::to_string).collect();
        write!(f, "<{}>", args.join(", "))
    }
}

impl fmt::Display for Arg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(ty) => write!(f, "{ty}"),
            Self::Value(text) => f.write_str(text),
        }
    }
}
