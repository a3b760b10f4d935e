//! Tokens of preprocessed C++, with the file and line that the line markers give them.
//!
//! System headers are the larger part of the text; they are passed over by their markers, not read.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::brackets;

/// What a token is, as far as declarations need to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    Number,
    /// String or character literal.
    Literal,
    Punct,
}

/// One token.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token<'t> {
    pub(super) kind: TokenKind,
    pub(super) text: &'t str,
    /// Index into [`Lexed::files`].
    pub(super) file: u32,
    pub(super) line: u32,
    /// Of a bracket the distance to that which belongs to it, else 0: see `brackets`.
    pub(super) pair: u32,
}

impl Token<'_> {
    pub(super) fn is(&self, text: &str) -> bool {
        self.text == text
    }
}

/// The tokens outside system headers, and every file named by a marker.
pub(super) struct Lexed<'t> {
    pub(super) tokens: Vec<Token<'t>>,
    pub(super) files: Vec<PathBuf>,
}

/// Splits a preprocessed text into tokens.
pub(super) fn lex(text: &str) -> Lexed<'_> {
    lex_behind(Files::default(), text)
}

/// As [`lex`], behind a text that named these files.
pub(super) fn lex_behind(files: Files, text: &str) -> Lexed<'_> {
    let mut lexer = Lexer::new(files, text);
    lexer.run();
    brackets::pair(&mut lexer.tokens);
    Lexed {
        tokens: lexer.tokens,
        files: lexer.files.named,
    }
}

/// The files that line markers name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files {
    /// In the order of first mention.
    pub(crate) named: Vec<PathBuf>,
    /// Their places there, by what the markers say.
    by_text: HashMap<String, u32>,
    /// The folder of `cuda_runtime.h`, which nvcc passes as `-I`, so that its headers carry no flag 3.
    toolkit: Option<PathBuf>,
}

impl Files {
    /// The files of a text.
    pub(crate) fn of(text: &str) -> Self {
        let mut lexer = Lexer::new(Self::default(), text);
        while lexer.at < text.len() {
            match text.as_bytes()[lexer.at] {
                b'#' => lexer.directive(),
                _ => lexer.pass(),
            }
        }
        lexer.files
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
    line: u32,
    file: u32,
    skip: bool,
    /// The file name of the last marker, to take the common case of an unchanged file quickly.
    last_marker: &'t str,
    tokens: Vec<Token<'t>>,
    files: Files,
}

impl<'t> Lexer<'t> {
    fn new(files: Files, text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            line: 1,
            file: 0,
            skip: false,
            last_marker: "",
            tokens: Vec::new(),
            files,
        }
    }

    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut line_start = true;
        while self.at < bytes.len() {
            if line_start && bytes[self.at] == b'#' {
                self.directive();
                continue;
            }
            if self.skip {
                self.pass();
                line_start = true;
                continue;
            }
            let byte = bytes[self.at];
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.at += 1;
                    line_start = true;
                    continue;
                }
                b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            line_start = false;
            self.token(byte);
        }
    }

    /// Goes to the next line that starts with `#`.
    fn pass(&mut self) {
        let next = self.text[self.at..].find("\n#");
        self.at = next.map_or(self.text.len(), |distance| self.at + distance + 1);
    }

    /// A line that starts with `#`: a marker, or a pragma, which is passed over.
    fn directive(&mut self) {
        let rest = &self.text[self.at..];
        let end = rest.find('\n').unwrap_or(rest.len());
        let line = &rest[..end];
        self.at += (end + 1).min(rest.len());
        match Marker::parse(line) {
            Some(marker) => self.marker(&marker),
            None => self.line += 1,
        }
    }

    fn marker(&mut self, marker: &Marker<'t>) {
        self.line = marker.line;
        if marker.file == self.last_marker {
            return;
        }
        self.last_marker = marker.file;
        let built_in = marker.file.starts_with('<') && marker.file.ends_with('>');
        if built_in || marker.file.ends_with("//") {
            self.skip = built_in;
            return;
        }
        if let Some(&known) = self.files.by_text.get(marker.file) {
            self.file = known;
        } else {
            self.file = self.files.named.len() as u32;
            self.files.named.push(unescaped(marker.file));
            self.files.by_text.insert(marker.file.to_owned(), self.file);
        }
        let path = &self.files.named[self.file as usize];
        if self.files.toolkit.is_none()
            && path
                .file_name()
                .is_some_and(|name| name == "cuda_runtime.h")
        {
            self.files.toolkit = path.parent().map(Path::to_owned);
        }
        let in_toolkit =
            |folder: &PathBuf| !folder.as_os_str().is_empty() && path.starts_with(folder);
        self.skip = marker.system || self.files.toolkit.as_ref().is_some_and(in_toolkit);
    }

    fn token(&mut self, first: u8) {
        let start = self.at;
        let bytes = self.text.as_bytes();
        let kind = match first {
            b'"' => {
                self.quoted(b'"');
                TokenKind::Literal
            }
            b'\'' => {
                self.quoted(b'\'');
                TokenKind::Literal
            }
            b'0'..=b'9' => {
                self.number();
                TokenKind::Number
            }
            _ if is_word(first) => {
                while self.at < bytes.len() && is_word(bytes[self.at]) {
                    self.at += 1;
                }
                self.prefixed_literal(start)
            }
            _ => {
                let rest = &bytes[start..];
                let long = [
                    &b"::"[..],
                    b"->",
                    b"...",
                    b"==",
                    b"<=",
                    b">=",
                    b"!=",
                    b"&&",
                    b"||",
                ];
                let found = long.iter().find(|punct| rest.starts_with(punct));
                self.at += found.map_or(1, |punct| punct.len());
                TokenKind::Punct
            }
        };
        let line = self.line;
        let text = &self.text[start..self.at];
        if kind == TokenKind::Literal {
            self.line += text.bytes().filter(|&byte| byte == b'\n').count() as u32;
        }
        self.tokens.push(Token {
            kind,
            text,
            file: self.file,
            line,
            pair: 0,
        });
    }

    /// After a word: `L"…"`, `u8'…'` and `R"x(…)x"` are one literal.
    fn prefixed_literal(&mut self, start: usize) -> TokenKind {
        let word = &self.text[start..self.at];
        let quote = match self.text.as_bytes().get(self.at) {
            Some(&quote @ (b'"' | b'\'')) => quote,
            _ => return TokenKind::Word,
        };
        match word {
            "L" | "u" | "U" | "u8" => self.quoted(quote),
            "R" | "LR" | "uR" | "UR" | "u8R" if quote == b'"' => self.raw(),
            _ => return TokenKind::Word,
        }
        TokenKind::Literal
    }

    fn quoted(&mut self, quote: u8) {
        let bytes = self.text.as_bytes();
        self.at += 1;
        while self.at < bytes.len() && bytes[self.at] != quote && bytes[self.at] != b'\n' {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        let closed = bytes.get(self.at) == Some(&quote);
        self.at = (self.at + usize::from(closed)).min(bytes.len());
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    fn raw(&mut self) {
        let rest = &self.text[self.at..];
        let end = rest.find('(').and_then(|open| {
            let close = format!("){}\"", &rest[1..open]);
            rest[open..]
                .find(&close)
                .map(|found| open + found + close.len())
        });
        self.at += end.unwrap_or(rest.len());
    }

    fn number(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(&byte) = bytes.get(self.at) {
            let sign = (byte == b'+' || byte == b'-')
                && matches!(bytes[self.at - 1], b'e' | b'E' | b'p' | b'P');
            let separator =
                byte == b'\'' && bytes.get(self.at + 1).is_some_and(|&next| is_word(next));
            if !(is_word(byte) || byte == b'.' || sign || separator) {
                return;
            }
            self.at += 1;
        }
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

/// `# 12 "file" 1 3` as gcc and clang write it, `#line 12 "file"` as cl.exe does.
struct Marker<'t> {
    line: u32,
    /// Still escaped.
    file: &'t str,
    system: bool,
}

impl<'t> Marker<'t> {
    fn parse(text: &'t str) -> Option<Self> {
        let rest = text.strip_prefix('#')?;
        let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let line = rest[..digits].parse().ok()?;
        let file = rest[digits..].trim_start().strip_prefix('"')?;
        let end = file.rfind('"')?;
        Some(Self {
            line,
            file: &file[..end],
            system: file[end + 1..].split_whitespace().any(|flag| flag == "3"),
        })
    }
}

/// Undoes the escapes of a marker's file name: `\\`, `\"` and octal bytes.
pub(crate) fn unescaped(text: &str) -> PathBuf {
    if !text.contains('\\') {
        return PathBuf::from(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        match (first, rest) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', tail @ ..]) => {
                bytes.push((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'));
                rest = tail;
            }
            (b'\\', [escaped, tail @ ..]) => {
                // A line's end is the only one that has a letter; cpplib's `cpp_quote_string`.
                bytes.push(if *escaped == b'n' { b'\n' } else { *escaped });
                rest = tail;
            }
            _ => bytes.push(*first),
        }
    }
    path_of(bytes)
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<(&str, u32)> {
        let lexed = lex(text);
        lexed
            .tokens
            .iter()
            .map(|token| (token.text, token.line))
            .collect()
    }

    #[test]
    fn markers_give_lines_and_files() {
        let text = "# 0 \"a.cu\"\n# 1 \"<built-in>\"\nx\n# 1 \"/usr/s.h\" 1 3 4\nint hidden;\n#define A\n# 7 \"a.cu\" 2\n\nfoo\n#line 40 \"b\\\\c.cu\"\nbar";
        let lexed = lex(text);
        let tokens: Vec<_> = lexed
            .tokens
            .iter()
            .map(|t| (t.text, t.line, t.file))
            .collect();
        assert_eq!(tokens, [("foo", 8, 0), ("bar", 40, 2)]);
        assert_eq!(
            lexed.files,
            ["a.cu", "/usr/s.h", "b\\c.cu"].map(PathBuf::from)
        );
    }

    #[test]
    fn literals_hide_their_contents() {
        assert_eq!(
            words("R\"x({)\" \n)x\" L'{' \"\\\"{\" 1'000.5e+3f a::b->c"),
            [
                ("R\"x({)\" \n)x\"", 1),
                ("L'{'", 2),
                ("\"\\\"{\"", 2),
                ("1'000.5e+3f", 2),
                ("a", 2),
                ("::", 2),
                ("b", 2),
                ("->", 2),
                ("c", 2)
            ]
        );
    }

    #[test]
    fn the_toolkit_is_passed_over_though_its_headers_carry_no_flag() {
        let text = "# 1 \"/cu/include/cuda_runtime.h\" 1\nint a;\n# 1 \"/cu/include/crt/x.h\" 1\nint b;\n# 1 \"k.cu\"\nc";
        assert_eq!(words(text), [("c", 1)]);
    }

    #[test]
    fn lines_may_end_as_on_windows() {
        let text = "#line 1 \"C:\\\\a b\\\\k.cu\"\r\nint\r\n\r\nx\r\n#line 9 \"h.h\"\r\ny;\r\n";
        let lexed = lex(text);
        let tokens: Vec<_> = lexed
            .tokens
            .iter()
            .map(|t| (t.text, t.line, t.file))
            .collect();
        assert_eq!(
            tokens,
            [("int", 1, 0), ("x", 3, 0), ("y", 9, 1), (";", 9, 1)]
        );
        assert_eq!(lexed.files, [r"C:\a b\k.cu", "h.h"].map(PathBuf::from));
    }

    #[test]
    fn octal_bytes_in_names() {
        assert_eq!(unescaped("a\\303\\251\\\"b"), PathBuf::from("aé\"b"));
        assert_eq!(unescaped("a\\nb\\\\n"), PathBuf::from("a\nb\\n"));
    }
}
