//! Source text in the form that the reader of preprocessed text takes.

use std::collections::BTreeMap;
use std::path::Path;

/// The text without comments and directives, line by line where it was, `__global__` as nvcc's preprocessor has it.
///
/// Of `#if` and `#else` both sides stay: which one a compiler would see is not known.
pub(super) fn preprocessed(source: &str, path: &Path) -> String {
    let mut out = format!("# 1 \"{}\"\n", path.display());
    let mut continued = false;
    for line in without_comments(source).lines() {
        let directive = continued || line.trim_start().starts_with('#');
        continued = directive && line.trim_end().ends_with('\\');
        if !directive && !is_use_of_macro(line) {
            out += &words(line);
        }
        out.push('\n');
    }
    out
}

/// Whether a line is nothing but `MAKE_KERNELS(float)`: without a `;` it would be taken for the start of what follows.
fn is_use_of_macro(line: &str) -> bool {
    let line = line.trim().trim_end_matches(';');
    let Some((name, _)) = line.strip_suffix(')').and_then(|line| line.split_once('(')) else {
        return false;
    };
    let shouted = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    name.contains(|c: char| c.is_ascii_uppercase()) && name.trim_end().chars().all(shouted)
}

fn words(line: &str) -> String {
    let line = line.replace("__global__", "__attribute__((global))");
    let line = line.replace(
        "__launch_bounds__",
        "__attribute__((launch_bounds))__gpuk_bounds",
    );
    without_calls(&line, "__gpuk_bounds")
}

/// The line without a name and the parentheses behind it, wherever it stands.
fn without_calls(line: &str, name: &str) -> String {
    let Some(first) = line.find(name) else {
        return line.to_owned();
    };
    let ends = ends_of_groups(line);
    let mut out = line[..first].to_owned();
    let mut at = first;
    while let Some(next) = line[at..].find(name) {
        out += &line[at..at + next];
        at += next + name.len();
        // What never closes stays.
        at = ends
            .range(at..)
            .next()
            .map_or(at, |(_, end)| end.unwrap_or(at));
    }
    out + &line[at..]
}

/// For each parenthesis of a line the position after its group, or after itself where it closes one; none where nothing
/// closes it.
fn ends_of_groups(line: &str) -> BTreeMap<usize, Option<usize>> {
    let (mut ends, mut open) = (BTreeMap::new(), Vec::new());
    for (at, byte) in line.bytes().enumerate() {
        match byte {
            b'(' => {
                ends.insert(at, None);
                open.push(at);
            }
            b')' => {
                ends.insert(at, Some(at + 1));
                if let Some(open) = open.pop() {
                    ends.insert(open, Some(at + 1));
                }
            }
            _ => {}
        }
    }
    ends
}

/// Comments become blanks, their line ends stay.
fn without_comments(source: &str) -> String {
    let mut out = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            '"' | '\'' => {
                let literal = literal(rest);
                out += &rest[..literal];
                rest = &rest[literal..];
                continue;
            }
            _ => {
                out.push(first);
                rest = &rest[first.len_utf8()..];
                continue;
            }
        };
        out.push(' ');
        out.extend(rest[..length].chars().filter(|c| *c == '\n'));
        rest = &rest[length..];
    }
    out
}

/// How long a string or character literal is; one that does not end on its line is one character.
fn literal(text: &str) -> usize {
    let mut chars = text.char_indices();
    let quote = chars.next().map(|(_, quote)| quote);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '\n' => break,
            c if Some(c) == quote => return at + 1,
            _ => {}
        }
    }
    1
}
