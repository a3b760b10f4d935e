//! The comment above a definition, from the file as written.

/// The lines of the comment that ends directly above a definition, markers removed.
///
/// The definition is given by the line of its name (from 1); what belongs to it (`template<…>`, attributes,
/// `extern "C"`, its return type) may stand on lines between. Taken are `///`, `//!`, plain `//` and block
/// comments, joined where they touch.
pub(crate) fn above(source: &str, line: u32) -> Vec<String> {
    let lines: Vec<&str> = source
        .lines()
        .take(line.saturating_sub(1) as usize)
        .collect();
    let mut end = lines.len();
    while end > 0 && belongs_to_definition(lines[end - 1].trim()) {
        end -= 1;
    }
    let mut start = end;
    while start > 0 {
        let above = lines[start - 1].trim();
        if above.starts_with("//") {
            start -= 1;
        } else if above.ends_with("*/") {
            let Some(open) = block_start(&lines[..start]) else {
                break;
            };
            start = open;
        } else {
            break;
        }
    }
    let mut docs = Vec::new();
    let mut block = false;
    for text in &lines[start..end] {
        let text = text.trim();
        docs.push(stripped(text, block).to_owned());
        block = (block || text.starts_with("/*")) && !text.ends_with("*/");
    }
    let is_blank = |line: &String| line.is_empty();
    let first = docs
        .iter()
        .position(|line| !is_blank(line))
        .unwrap_or(docs.len());
    let last = docs
        .iter()
        .rposition(|line| !is_blank(line))
        .map_or(first, |last| last + 1);
    docs.truncate(last);
    docs.drain(..first);
    docs
}

/// The line on which the block comment starts that ends on the last line, if nothing stands before it.
fn block_start(lines: &[&str]) -> Option<usize> {
    let open = lines.iter().rposition(|line| line.contains("/*"))?;
    lines[open].trim().starts_with("/*").then_some(open)
}

/// Whether a declaration that starts on this line goes on after it.
fn belongs_to_definition(line: &str) -> bool {
    const STARTS: &[&str] = &[
        "template",
        "extern \"C\"",
        "__launch_bounds__",
        "__global__",
        "GPUK_LAUNCH",
        "[[",
        "__attribute__",
    ];
    let line = line.trim_end_matches('\\').trim_end();
    let ends = line.ends_with([';', '}', '{', ':']) || line.contains("//") || line.ends_with("*/");
    if line.is_empty() || ends || line.starts_with(['#', '*', '/']) {
        return false;
    }
    // A macro call, `COPY_OP(float, x)`, ends as launch bounds do.
    STARTS.iter().any(|start| line.starts_with(start)) || !line.ends_with(')')
}

fn stripped(line: &str, inside_block: bool) -> &str {
    let text = if let Some(rest) = line.strip_prefix("//") {
        rest.trim_start_matches(['/', '!', '<'])
    } else {
        let open = line
            .strip_prefix("/*")
            .map(|rest| rest.trim_start_matches(['*', '!']));
        let text = open.unwrap_or(line);
        let text = text
            .strip_suffix("*/")
            .map_or(text, |rest| rest.trim_end_matches('*'));
        match text.strip_prefix('*') {
            Some(rest) if inside_block => rest,
            _ => text,
        }
    };
    text.strip_prefix(' ').unwrap_or(text).trim_end()
}

#[cfg(test)]
mod tests {
    use super::above;

    fn docs(source: &str) -> String {
        let line = source
            .lines()
            .position(|line| line.contains("KERNEL"))
            .map_or(0, |at| at as u32 + 1);
        above(source, line).join("|")
    }

    #[test]
    fn every_kind_of_comment() {
        assert_eq!(
            docs("int x;\n/// One.\n///\n///  two\nKERNEL"),
            "One.|| two"
        );
        assert_eq!(docs("/** One.\n *  two\n */\nKERNEL"), "One.| two");
        assert_eq!(docs("/* One. */\nKERNEL"), "One.");
        assert_eq!(docs("/**\n * One.\n * two\n **/\nKERNEL"), "One.|two");
        assert_eq!(
            docs("//! One.\n// two\ntemplate<class T>\nextern \"C\"\nKERNEL"),
            "One.|two"
        );
        assert_eq!(docs("  //One\n  KERNEL"), "One");
        assert_eq!(
            docs(
                "// One\ntemplate <class T,\n  int N>\n__launch_bounds__(256)\nstatic void\nKERNEL"
            ),
            "One"
        );
    }

    #[test]
    fn only_what_touches_the_definition() {
        assert_eq!(docs("// far\n\nKERNEL"), "");
        assert_eq!(docs("int x; // not mine\nKERNEL"), "");
        assert_eq!(docs("int x; /* not\n mine */\nKERNEL"), "");
        assert_eq!(docs("// other\ntemplate<class T> void f();\nKERNEL"), "");
        assert_eq!(docs("// other\nCOPY_OP(float, x)\nKERNEL"), "");
        assert_eq!(docs("// other\n#if 1\nKERNEL"), "");
        assert_eq!(docs("KERNEL"), "");
    }
}
