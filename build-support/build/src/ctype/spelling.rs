//! The one spelling of what can be spelt in several ways: fundamental types and values.

use super::{CType, Name, Qualifiers};

/// Words of fundamental types, which come in any number and order.
pub(super) const FUNDAMENTAL: &[&str] = &[
    "void",
    "bool",
    "__nv_bool",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "wchar_t",
    "char8_t",
    "char16_t",
    "char32_t",
    "__int128",
    "_Float16",
    "__float128",
    "auto",
];

/// Whether a word or several are a type of the language itself.
pub(crate) fn is_fundamental(words: &str) -> bool {
    words.split(' ').all(|word| FUNDAMENTAL.contains(&word))
}

/// The one spelling of a fundamental type: `signed long int` and `long` are one, `signed char` and `char` are
/// not.
pub(super) fn fundamental_name(words: &[&str]) -> String {
    let count = |wanted: &str| words.iter().filter(|&&word| word == wanted).count();
    let unsigned = if count("unsigned") > 0 {
        "unsigned "
    } else {
        ""
    };
    let signed = if count("signed") > 0 {
        "signed "
    } else {
        unsigned
    };
    let longs = count("long");
    let (sign, base) = match words {
        _ if count("char") > 0 => (signed, "char"),
        _ if count("short") > 0 => (unsigned, "short"),
        _ if count("double") > 0 && longs > 0 => ("", "long double"),
        _ if longs > 1 => (unsigned, "long long"),
        _ if longs == 1 => (unsigned, "long"),
        _ if count("__int128") > 0 => (unsigned, "__int128"),
        _ if count("__nv_bool") > 0 => ("", "bool"),
        _ if ["int", "signed", "unsigned"]
            .iter()
            .any(|word| count(word) > 0) =>
        {
            (unsigned, "int")
        }
        _ => ("", words.first().copied().unwrap_or_default()),
    };
    format!("{sign}{base}")
}

/// The type that a demangled value tells: `3ul`, `(ns::Mode)2`, `true`; nothing for what is no value or does not tell.
pub(super) fn value_type(text: &str) -> Option<CType> {
    let name = |word: &str| Some(CType::Named(Name::simple(word), Qualifiers::default()));
    if matches!(text, "true" | "false") {
        return name("bool");
    }
    if let Some((cast, _)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        return cast.parse().ok();
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    let suffix = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    if suffix.len() == digits.len() {
        return None;
    }
    match suffix {
        "" => name("int"),
        "u" => name("unsigned int"),
        "l" => name("long"),
        "ul" => name("unsigned long"),
        "ll" => name("long long"),
        "ull" => name("unsigned long long"),
        _ => None,
    }
}

/// A value without what only says its type: `3UL`, `(int)3` and `3` are one.
pub(super) fn plain_value(text: &str) -> String {
    let mut text = text;
    if let Some(rest) = text.strip_prefix('(')
        && let Some((cast, value)) = rest.split_once(')')
        && !value.is_empty()
        && cast
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, ' ' | '_' | ':'))
    {
        let fundamental = cast.split(' ').all(|word| FUNDAMENTAL.contains(&word));
        if !fundamental {
            return text.to_owned();
        }
        text = value;
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.starts_with(|c: char| c.is_ascii_digit()) {
        return text.trim_end_matches(['u', 'U', 'l', 'L']).to_owned();
    }
    let mut literal = text.chars();
    if let (Some('\''), Some(c), Some('\''), None) = (
        literal.next(),
        literal.next(),
        literal.next(),
        literal.next(),
    ) {
        return u32::from(c).to_string();
    }
    text.to_owned()
}
