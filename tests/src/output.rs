//! What a command said, with everything that differs from run to run taken out.

use std::path::Path;

/// A finished command.
#[derive(Debug)]
pub struct Output {
    /// Its exit code; `None` if a signal ended it.
    pub code: Option<i32>,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Output {
    pub(crate) fn new(output: &std::process::Output, root: &Path) -> Self {
        let text = |bytes: &[u8]| redact(&String::from_utf8_lossy(bytes), root);
        Self {
            code: output.status.code(),
            stdout: text(&output.stdout),
            stderr: text(&output.stderr),
        }
    }

    /// For a snapshot: exit code, then the two streams.
    #[must_use]
    pub fn shown(&self) -> String {
        let code = self.code.map_or("none".to_owned(), |code| code.to_string());
        format!(
            "exit: {code}\n--- stdout\n{}\n--- stderr\n{}",
            self.stdout, self.stderr
        )
    }

    /// Goes on only after success.
    ///
    /// # Panics
    /// The command failed; its output is in the message.
    #[must_use]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.shown());
        self
    }
}

/// The project's folder becomes `[ROOT]`, seconds `[TIME]`.
fn redact(text: &str, root: &Path) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in text.replace(&*root.to_string_lossy(), "[ROOT]").lines() {
        let words = line.split(' ').map(|word| {
            let seconds = word
                .strip_suffix('s')
                .is_some_and(|number| number.contains('.') && number.parse::<f64>().is_ok());
            if seconds { "[TIME]" } else { word }
        });
        lines.push(words.collect::<Vec<_>>().join(" ").trim_end().to_owned());
    }
    lines.join("\n")
}
