//! What of a preprocessed text counts: its lines, each with the file and the number it has.
//!
//! Markers between which nothing stands, and empty lines, are left out: how often the preprocessor came by a header
//! that it did not read again says nothing.

use crate::digest::{Digest, Hasher};

/// The content of a text, read from its beginning on in one go or in several.
#[derive(Clone, Default)]
pub(super) struct Text {
    hasher: Hasher,
    /// The file and the number of the line that comes next, as its marker had them.
    place: (Vec<u8>, u64),
    /// Where the line behind the last one that counted would be.
    natural: Option<(Vec<u8>, u64)>,
}

impl Text {
    /// Reads on.
    pub(super) fn add(&mut self, text: &[u8]) {
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            if let Some((number, file)) = marker(line) {
                self.place.1 = number;
                if file != self.place.0 {
                    self.place.0 = file.to_vec();
                }
                continue;
            }
            if !line.trim_ascii().is_empty() {
                if self.natural.as_ref() != Some(&self.place) {
                    self.hasher.update(&self.place.1.to_le_bytes());
                    self.hasher.update(&self.place.0);
                    self.natural = Some(self.place.clone());
                }
                self.hasher.update(line);
                if let Some((_, number)) = &mut self.natural {
                    *number += 1;
                }
            }
            self.place.1 += 1;
        }
    }

    /// The digest of what was read.
    pub(super) fn digest(&self) -> Digest {
        self.hasher.digest()
    }
}

/// The number of a line marker, and its file with its quotes.
fn marker(line: &[u8]) -> Option<(u64, &[u8])> {
    let rest = line
        .strip_prefix(b"# ")
        .or_else(|| line.strip_prefix(b"#line "))?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&rest[..digits]).ok()?.parse().ok()?;
    let file = rest[digits..].trim_ascii();
    let end = file.iter().rposition(|byte| *byte == b'"')?;
    Some((number, &file[..=end]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(parts: &[&str]) -> Digest {
        let mut text = Text::default();
        parts.iter().for_each(|part| text.add(part.as_bytes()));
        text.digest()
    }

    #[test]
    fn only_lines_and_their_places_count() {
        let plain = digest(&["# 1 \"a.cu\"\nint a;\nint b;\n"]);
        let passed = "# 1 \"a.cu\"\n# 1 \"h.h\" 1\n# 2 \"a.cu\" 2\n# 1 \"a.cu\"\nint a;\n";
        assert_eq!(digest(&[passed, "int b;\n\n"]), plain);
        for other in [
            "# 1 \"a.cu\"\n\nint a;\nint b;\n",
            "# 1 \"b.cu\"\nint a;\nint b;\n",
            "# 1 \"a.cu\"\nint a;\n# 9 \"a.cu\"\nint b;\n",
            "# 1 \"a.cu\"\nint a;\n\nint b;\n",
        ] {
            assert_ne!(digest(&[other]), plain, "{other}");
        }
    }
}
