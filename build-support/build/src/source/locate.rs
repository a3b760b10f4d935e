//! Columns of annotations: the preprocessed text has none, the file as written has.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::annotation::DeclaredAnnotation;
use super::lexer::lex;

/// Words of an annotation that are compared with those written: time and memory grow with their square. Those of a longer
/// one, which is refused, have its line alone.
const MAX_WORDS: usize = 1024;

/// Gives annotations, which come in the order of the text, and their tokens the columns they have in their files.
///
/// What a macro of the user's brings along has none: its line is where that macro is used.
pub(super) fn locate<'a>(
    annotations: impl Iterator<Item = &'a mut DeclaredAnnotation>,
    read: impl Fn(&Path) -> Option<String>,
) {
    let mut files: BTreeMap<PathBuf, Option<File>> = BTreeMap::new();
    for annotation in annotations {
        let file = files
            .entry(annotation.place.file.clone())
            .or_insert_with_key(|path| read(path).map(|text| File::new(&text)));
        if let Some(file) = file {
            file.locate(annotation);
        }
    }
}

/// A source file without its comments, whose bytes became blanks.
struct File {
    text: String,
    /// Where each line starts.
    lines: Vec<usize>,
    /// Behind the last annotation found.
    at: usize,
}

impl File {
    fn new(text: &str) -> Self {
        let text = blanked(text);
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let lines = std::iter::once(0).chain(ends).collect();
        Self { text, lines, at: 0 }
    }

    fn locate(&mut self, annotation: &mut DeclaredAnnotation) {
        let index = annotation.place.line.saturating_sub(1) as usize;
        let Some(&start) = self.lines.get(index) else {
            return;
        };
        let end = self.lines.get(index + 1).copied();
        let end = end.unwrap_or(self.text.len());
        let name = format!("GPUK_{}", annotation.word.to_uppercase());
        let written: Vec<_> = texts(&annotation.written);
        let find = |from: usize| {
            let line = self.text.get(from..end)?;
            line.match_indices(&name).find_map(|(at, _)| {
                let inner = self.inner(from + at, name.len())?;
                let is_it = texts(inner.1) == written;
                is_it.then_some(inner)
            })
        };
        let Some((from, inner)) = find(self.at.max(start)).or_else(|| find(start)) else {
            return;
        };
        let base = inner.as_ptr() as usize;
        let places: Vec<(String, usize)> = lex(inner)
            .tokens
            .iter()
            .map(|token| (token.text.to_owned(), token.text.as_ptr() as usize - base))
            .collect();
        let behind = from + inner.len();
        let of = |offset: usize| {
            let at = from + offset;
            let line = self.lines.partition_point(|start| *start <= at);
            (line as u32, (at - self.lines[line - 1] + 1) as u32)
        };
        let first = places.first().map_or(0, |(_, offset)| *offset);
        let (line, column) = of(first);
        (annotation.place.line, annotation.place.column) = (line, Some(column));
        self.at = behind;
        if places.len().max(annotation.tokens.len()) > MAX_WORDS {
            return;
        }
        let spelt: Vec<_> = places.iter().map(|(text, _)| text.as_str()).collect();
        let found: Vec<_> = annotation.tokens.iter().map(|it| it.text.clone()).collect();
        for (spot, index) in annotation.tokens.iter_mut().zip(aligned(&spelt, &found)) {
            let (line, column) = of(places.get(index).map_or(first, |(_, at)| *at));
            (spot.place.line, spot.place.column) = (line, Some(column));
        }
    }

    /// What stands in the parentheses behind a name, and where that starts.
    fn inner(&self, name: usize, length: usize) -> Option<(usize, &str)> {
        let behind = self.text.get(name + length..)?;
        let open = behind.find(|c: char| !c.is_whitespace())?;
        let inner = behind[open..].strip_prefix('(')?;
        let mut depth = 1_usize;
        let end = inner.char_indices().find(|(_, c)| {
            match c {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let (end, _) = end?;
        Some((name + length + open + 1, &inner[..end]))
    }
}

/// For each token found the one of those written that it is or that it comes from, a macro's name: as many as possible
/// are what they are.
fn aligned(written: &[&str], found: &[String]) -> Vec<usize> {
    // The longest common subsequence of what is left of both.
    let mut common = vec![vec![0_usize; found.len() + 1]; written.len() + 1];
    for (i, spelt) in written.iter().enumerate().rev() {
        for (j, text) in found.iter().enumerate().rev() {
            common[i][j] = match spelt == text {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut places = Vec::with_capacity(found.len());
    while j < found.len() {
        if i == written.len() {
            places.push(i.saturating_sub(1));
            j += 1;
        } else if written[i] == found[j] {
            places.push(i);
            (i, j) = (i + 1, j + 1);
        } else if common[i][j + 1] >= common[i + 1][j] {
            places.push(i);
            j += 1;
        } else {
            i += 1;
        }
    }
    places
}

fn texts(text: &str) -> Vec<&str> {
    let lexed = lex(text);
    lexed.tokens.iter().map(|token| token.text).collect()
}

/// The text with its comments blank, as long as before.
fn blanked(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if first == '"' {
            let mut escaped = false;
            let inner = rest[1..].find(|c| {
                let closes = !escaped && c == '"' || c == '\n';
                escaped = !escaped && c == '\\';
                closes
            });
            let length = inner.map_or(rest.len(), |end| end + 2);
            out += &rest[..length];
            rest = &rest[length..];
            continue;
        } else {
            out.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let blank = |byte| if byte == b'\n' { '\n' } else { ' ' };
        out.extend(rest[..length].bytes().map(blank));
        rest = &rest[length..];
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::source::Declarations;

    /// `line:column` of each annotation and of each of its tokens.
    fn places(written: &str, preprocessed: &str) -> Vec<String> {
        let mut declarations = Declarations::read(preprocessed);
        declarations.locate(|_| Some(written.to_owned()));
        let annotations = declarations.kernels.iter().flat_map(|it| &it.annotations);
        let shown = annotations.map(|it| {
            let place = |line: u32, column: Option<u32>| match column {
                Some(column) => format!("{line}:{column}"),
                None => format!("{line}"),
            };
            let tokens = it
                .tokens
                .iter()
                .map(|spot| place(spot.place.line, spot.place.column));
            let tokens: Vec<_> = tokens.collect();
            let own = place(it.place.line, it.place.column);
            format!("{own} {}", tokens.join(" "))
        });
        shown.collect()
    }

    #[test]
    fn columns_are_those_of_the_file() {
        let written = "k(GPUK_IN(n) T x, GPUK_IN(/* é */ n) T y,\n  GPUK_OUT(T * n\n  + 2) T z)";
        let text = "# 1 \"k.cu\"\n__attribute__((global)) void k(__attribute__((__gpuk__(\"in\", \"n\", n))) T x, \
                    __attribute__((__gpuk__(\"in\", \"n\", n))) T y,\n \
                    __attribute__((__gpuk__(\"out\", \"T * n + 2\", (1 + 2) * n + 2)))\n\n T z) {}";
        assert_eq!(
            places(written, text),
            [
                "1:11 1:11",
                "1:36 1:36",
                "2:12 2:12 2:12 2:12 2:12 2:12 2:14 2:16 3:3 3:5"
            ]
        );
    }

    #[test]
    fn what_a_macro_brings_along_has_a_line() {
        let text = "# 1 \"k.cu\"\n__attribute__((global)) void k(__attribute__((__gpuk__(\"in\", \"n\", n))) T x) {}";
        assert_eq!(places("KERNEL(k)", text), ["1 1"]);
    }
}
