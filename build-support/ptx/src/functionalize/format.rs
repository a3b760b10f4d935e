//! The message of a check: text with `{}` or `{name}` for each value, `{{` and `}}` for braces.

/// How many values the message takes, or what is wrong with it.
pub(super) fn placeholders(format: &str) -> Result<usize, String> {
    let mut rest = format;
    let mut count = 0;
    while let Some(at) = rest.find(['{', '}']) {
        let (brace, after) = rest[at..].split_at(1);
        rest = after;
        if let Some(escaped) = rest.strip_prefix(brace) {
            rest = escaped;
            continue;
        }
        if brace == "}" {
            return Err(format!("has a `}}` that closes nothing: \"{format}\""));
        }
        let Some((name, after)) = rest.split_once('}') else {
            return Err(format!("has a `{{` that is not closed: \"{format}\""));
        };
        if !is_name(name) {
            return Err(format!("has `{{{name}}}`, which is no name: \"{format}\""));
        }
        rest = after;
        count += 1;
    }
    Ok(count)
}

/// Whether a placeholder may hold this: nothing, or an identifier.
fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::placeholders;

    #[test]
    fn values_are_counted_and_all_else_is_refused() {
        for (format, count) in [
            ("", 0),
            ("row {} of {rows_0}", 2),
            ("{{}} {{{}}}", 1),
            ("é {}", 1),
        ] {
            assert_eq!(placeholders(format), Ok(count), "{format}");
        }
        for format in ["{", "}", "{} }", "{:x}", "{0}", "{a b}", "{{}", "{a{}}"] {
            assert!(placeholders(format).is_err(), "{format}");
        }
    }
}
