//! Lines of inlined code, after the rewriting.
//!
//! A `.loc` may name the call that it was inlined at only if a `.loc` before it has that place (ptxas 13.0; PTX ISA
//! 11.5 does not say so). What the pass moves or removes can be that line.

use std::collections::HashSet;

const INLINED_AT: &str = "inlined_at";

/// Takes the call from each `.loc` whose call no `.loc` before it in its function has.
pub(super) fn settle(text: String) -> String {
    if !text.contains(INLINED_AT) {
        return text;
    }
    let mut places = HashSet::new();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        if trimmed.contains(".entry") || trimmed.contains(".func") {
            places.clear();
        }
        let Some(place) = trimmed.strip_prefix(".loc") else {
            out.push_str(line);
            continue;
        };
        let (own, rest) = place.split_once(',').unwrap_or((place, ""));
        let call = rest.split_once(INLINED_AT).map(|(_, call)| numbers(call));
        if call.is_some_and(|call| !places.contains(&call)) {
            out.push_str("\t.loc");
            out.push_str(own);
            out.push('\n');
        } else {
            out.push_str(line);
        }
        places.insert(numbers(own));
    }
    out
}

/// File, line and column.
fn numbers(text: &str) -> Vec<&str> {
    text.split_whitespace().take(3).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_no_line_names_is_taken_away() {
        let text = "\
.entry a()
{
\t.loc\t1 6 3
\t.loc\t2 9 1, function_name $L__info_string0, inlined_at 1 6 3
\t.loc\t2 9 1, function_name $L__info_string0, inlined_at 1 7 3
}
.entry b()
{
\t.loc\t2 9 1, function_name $L__info_string0, inlined_at 1 6 3
}
";
        let expected = text
            .replace(
                "\t.loc\t2 9 1, function_name $L__info_string0, inlined_at 1 7 3\n",
                "\t.loc\t2 9 1\n",
            )
            .replace(
                "b()\n{\n\t.loc\t2 9 1, function_name $L__info_string0, inlined_at 1 6 3\n",
                "b()\n{\n\t.loc\t2 9 1\n",
            );
        assert_eq!(settle(text.to_owned()), expected);
    }
}
