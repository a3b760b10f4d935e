//! Documentation comments: the kernel's own, made safe for rustdoc.
//!
//! A comment in a `.cu` file was not written as Markdown. Indented text would be run as a doctest, and
//! `vector<float>` would lose its type. What is Markdown stays Markdown, but for code, which is never Rust.

use super::out::is_hidden;

/// The lines of a source comment as lines of Rust documentation.
pub(super) fn markdown(comment: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut state = State::Prose { blank: true };
    for line in comment.iter().flat_map(|text| text.split('\n')) {
        let mut line = line.replace('\t', "    ");
        line.retain(|c| !is_hidden(c));
        state = state.line(line.trim_end(), &mut lines);
    }
    trim(&mut lines);
    if !matches!(state, State::Prose { .. }) {
        lines.push("```".to_owned());
    }
    lines
}

/// Where in a comment a line stands.
enum State {
    /// Text; whether the line before was empty.
    Prose { blank: bool },
    /// Between fences.
    Fenced,
    /// Indented, which is code.
    Indented,
}

impl State {
    fn line(self, line: &str, lines: &mut Vec<String>) -> Self {
        let trimmed = line.trim_start_matches(' ');
        let indented = line.len() - trimmed.len() >= CODE;
        let blank = trimmed.is_empty();
        match self {
            Self::Fenced if is_fence(trimmed) => {
                lines.push("```".to_owned());
                return Self::Prose { blank: true };
            }
            Self::Fenced => {
                lines.push(line.to_owned());
                return Self::Fenced;
            }
            Self::Indented if indented || blank => {
                lines.push(line.get(CODE..).unwrap_or_default().to_owned());
                return Self::Indented;
            }
            Self::Indented => {
                trim(lines);
                lines.extend(["```".to_owned(), String::new()]);
            }
            Self::Prose { blank: true } if indented => {
                lines.extend(["```text".to_owned(), line[CODE..].to_owned()]);
                return Self::Indented;
            }
            Self::Prose { .. } => {}
        }
        if is_fence(trimmed) {
            lines.push("```text".to_owned());
            return Self::Fenced;
        }
        if !(blank && lines.is_empty()) {
            let indent = (line.len() - trimmed.len()).min(CODE - 1);
            lines.push(format!("{:indent$}{}", "", prose(trimmed)));
        }
        Self::Prose { blank }
    }
}

/// Blanks that make a line code (CommonMark, indented code blocks).
const CODE: usize = 4;

fn trim(lines: &mut Vec<String>) {
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
}

fn is_fence(trimmed: &str) -> bool {
    let span = trimmed.trim_start_matches('`').contains('`');
    trimmed.starts_with("```") && !span || trimmed.starts_with("~~~")
}

/// A line of text, its list and quote marks followed by one blank and no code.
fn prose(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some(after) = rest.strip_prefix('>').or_else(|| item(rest)) {
        text += rest[..rest.len() - after.len()].trim_end();
        text.push(' ');
        rest = after.trim_start_matches(' ');
    }
    if !text.is_empty() && is_fence(rest) {
        text.push('\\');
    }
    text + &escape(rest)
}

/// What follows the mark of a list item.
fn item(line: &str) -> Option<&str> {
    let (mark, after) = line.split_once(' ')?;
    let digits = mark.strip_suffix(['.', ')']).unwrap_or_default();
    let number = !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit());
    (number || matches!(mark, "-" | "*" | "+")).then_some(after)
}

/// Keeps `<` from opening a tag, outside of code and of `<https://…>`.
fn escape(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find(['`', '<', '\\']) {
        let (before, from) = rest.split_at(at);
        text += before;
        let whole = match from.as_bytes()[0] {
            b'`' => code_span(from),
            b'<' if from.starts_with("<http") => from.find('>').map(|end| end + 1),
            b'\\' => from.chars().nth(1).map(|next| 1 + next.len_utf8()),
            _ => None,
        };
        let taken = whole.unwrap_or(1);
        if from.starts_with('<') && whole.is_none() {
            text.push('\\');
        }
        text += &from[..taken];
        rest = &from[taken..];
    }
    text + rest
}

/// Length of the code span that the text starts with, if it ends on this line.
fn code_span(text: &str) -> Option<usize> {
    let ticks = text.len() - text.trim_start_matches('`').len();
    let (fence, rest) = text.split_at(ticks);
    rest.find(fence).map(|end| end + 2 * ticks)
}

/// Names in a sentence: `` `a`, `b` and `c` ``.
pub(super) fn listed(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(comment: &str) -> String {
        markdown(&[comment.to_owned()]).join("\n")
    }

    #[test]
    fn indented_text_is_no_doctest() {
        assert_eq!(
            shown("Layout:\n\n    q: [B, H]\n    k: [B]\n\nThen\tmore."),
            "Layout:\n\n```text\nq: [B, H]\nk: [B]\n```\n\nThen    more."
        );
        assert_eq!(shown("    a\n"), "```text\na\n```");
        assert_eq!(shown("a\n        b"), "a\n   b");
        assert_eq!(shown("-      a\n1. >     b"), "- a\n1. > b");
        assert_eq!(shown("\u{3000}\u{3000}a"), "\u{3000}\u{3000}a");
        assert_eq!(shown("\r\u{202e}    a"), "```text\na\n```");
    }

    #[test]
    fn fences_are_text_and_closed() {
        assert_eq!(shown("```\nint x;\n"), "```text\nint x;\n```");
        assert_eq!(
            shown("~~~\na\n~~~\n    b"),
            "```text\na\n```\n```text\nb\n```"
        );
        assert_eq!(shown("- ```rust\nx"), "- \\```rust\nx");
        assert_eq!(shown(">```rust\nx"), "> \\```rust\nx");
        assert_eq!(shown("```a``` b\nc"), "```a``` b\nc");
        assert_eq!(shown("```c++\nx<y>\n```\nz"), "```text\nx<y>\n```\nz");
    }

    #[test]
    fn tags_are_escaped_outside_of_code() {
        assert_eq!(
            shown("a `b<c>` vector<float> <https://x.y>"),
            r"a `b<c>` vector\<float> <https://x.y>"
        );
        assert_eq!(shown(r"lone ` and <b> \<c>"), r"lone ` and \<b> \<c>");
    }
}
