//! Splits a command line as the shell does that nvcc hands it to, but runs nothing: `$` and backticks are text.

use std::collections::BTreeMap;

/// How a command line is quoted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quoting {
    /// POSIX sh: a backslash escapes.
    Posix,
    /// Windows: a backslash escapes only a double quote, and separates folders otherwise.
    Windows,
}

/// The words of a command line; `$NAME` becomes its value where `variables` has it. None where a quote is not closed.
pub(crate) fn split(
    line: &str,
    variables: &BTreeMap<&str, &str>,
    quoting: Quoting,
) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (quote, c) {
            (None, ' ' | '\t' | '\r' | '\n') => words.extend(word.take()),
            (None, '"') | (Some('"'), '"') => {
                quote = if quote.is_none() { Some('"') } else { None };
                word.get_or_insert_default();
            }
            (None | Some('\''), '\'') if quoting == Quoting::Posix => {
                quote = if quote.is_none() { Some('\'') } else { None };
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => {
                let next = chars.peek().map(|(_, next)| *next);
                let escapes = match (quoting, quote, next) {
                    (_, _, None) => false,
                    (Quoting::Posix, None, _) => true,
                    (Quoting::Posix, _, Some(next)) => "$`\"\\".contains(next),
                    (Quoting::Windows, _, Some(next)) => next == '"',
                };
                let escaped = if escapes { chars.next() } else { None };
                word.get_or_insert_default()
                    .push(escaped.map_or(c, |(_, escaped)| escaped));
            }
            (None | Some('"'), '$') => {
                let rest = &line[at + 1..];
                let len = rest
                    .bytes()
                    .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
                    .count();
                let word = word.get_or_insert_default();
                match variables.get(&rest[..len]) {
                    Some(value) => {
                        word.push_str(value);
                        for _ in 0..len {
                            chars.next();
                        }
                    }
                    None => word.push('$'),
                }
            }
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posix(line: &str) -> Vec<String> {
        split(
            line,
            &BTreeMap::from([("CICC_PATH", "/t x/bin")]),
            Quoting::Posix,
        )
        .unwrap()
    }

    #[test]
    fn splits_as_a_shell_does() {
        assert_eq!(
            posix(r#""$CICC_PATH/cicc"  -a  "" b"#),
            ["/t x/bin/cicc", "-a", "", "b"]
        );
        assert_eq!(
            posix(r#"-D "X=\"a b\"" -I"a b""#),
            ["-D", "X=\"a b\"", "-Ia b"]
        );
        assert_eq!(
            posix(r#""/tmp/dry"/gcc 'a $b'\'"#),
            ["/tmp/dry/gcc", "a $b'"]
        );
        assert_eq!(posix(r#""a\b\\" c\ d"#), [r"a\b\", "c d"]);
        assert_eq!(split("\"a", &BTreeMap::new(), Quoting::Posix), None);
    }

    #[test]
    fn runs_nothing() {
        let words = posix(r#""X=$(touch pwned)" "`id`" $HOME $"#);
        assert_eq!(words, ["X=$(touch pwned)", "`id`", "$HOME", "$"]);
    }

    #[test]
    fn folders_of_windows_stay_whole() {
        let line = r#"cl.exe "-IC:\a b\..\include" -D "X=\"y\"" C:\x\"#;
        let words = split(line, &BTreeMap::new(), Quoting::Windows).unwrap();
        assert_eq!(
            words,
            ["cl.exe", r"-IC:\a b\..\include", "-D", "X=\"y\"", r"C:\x\"]
        );
    }
}
