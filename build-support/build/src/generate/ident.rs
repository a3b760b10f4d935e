//! Identifiers: every name that comes from a source or a file becomes Rust's here.

/// Words that no edition takes as an identifier, or that a newer one does not.
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let",
    "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return",
    "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use",
    "virtual", "where", "while", "yield",
];

/// Words that cannot be raw identifiers either (Rust reference, identifiers).
const NEVER: &[&str] = &["Self", "_", "crate", "self", "super"];

/// The Rust identifier nearest to a name.
///
/// A C++ identifier stays as it is, a keyword becomes raw (`r#type`), or gets `_` appended where it cannot be
/// raw (`self_`). Any other character becomes `_`, one outside ASCII its code (`_u00e9_`): what Rust takes
/// for a letter is not what C++ does.
pub(super) fn ident(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    if name.starts_with(|c: char| c.is_ascii_digit()) || name.is_empty() {
        text.push('_');
    }
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => text.push(c),
            _ if c.is_ascii() => text.push('_'),
            _ => text += &format!("_u{:04x}_", u32::from(c)),
        }
    }
    if NEVER.contains(&text.as_str()) {
        text.push('_');
    } else if KEYWORDS.contains(&text.as_str()) {
        text.insert_str(0, "r#");
    }
    text
}

/// The name of a constant: `gatherRows` → `GATHER_ROWS`.
pub(super) fn screaming(ident: &str) -> String {
    let mut text = String::new();
    let mut last = None;
    for c in plain(ident).chars() {
        let word = |last: char| last.is_ascii_lowercase() || last.is_ascii_digit();
        if c.is_ascii_uppercase() && last.is_some_and(word) {
            text.push('_');
        }
        text.push(c.to_ascii_uppercase());
        last = Some(c);
    }
    self::ident(&text)
}

/// The name of a type parameter: `out_ptr` → `OutPtr`.
pub(super) fn camel(ident: &str) -> String {
    let mut text = String::new();
    for word in plain(ident).split('_').filter(|word| !word.is_empty()) {
        let (first, rest) = word.split_at(1);
        text += &first.to_ascii_uppercase();
        text += rest;
    }
    self::ident(&text)
}

/// An identifier without `r#`.
pub(super) fn plain(ident: &str) -> &str {
    ident.strip_prefix("r#").unwrap_or(ident)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers() {
        let cases = [
            ("src", "src"),
            ("nRows", "nRows"),
            ("type", "r#type"),
            ("gen", "r#gen"),
            ("self", "self_"),
            ("Self", "Self_"),
            ("crate", "crate_"),
            ("_", "__"),
            ("", "__"),
            ("2d-conv", "_2d_conv"),
            ("größe", "gr_u00f6__u00df_e"),
            ("scale<float>", "scale_float_"),
        ];
        for (name, expected) in cases {
            assert_eq!(ident(name), expected, "{name}");
        }
    }

    #[test]
    fn constants_and_type_parameters() {
        assert_eq!(screaming("gatherRows"), "GATHER_ROWS");
        assert_eq!(screaming("badd_f32"), "BADD_F32");
        assert_eq!(screaming("mulMatQ4_K"), "MUL_MAT_Q4_K");
        assert_eq!(screaming("r#type"), "TYPE");
        assert_eq!(camel("out_ptr"), "OutPtr");
        assert_eq!(camel("d_out"), "DOut");
        assert_eq!(camel("C"), "C");
        assert_eq!(camel("r#in"), "In");
        assert_eq!(camel("self_"), "Self_");
        assert_eq!(camel("_2d"), "_2d");
        assert_eq!(camel("__"), "__");
    }
}
