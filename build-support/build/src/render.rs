//! Draws findings: as rustc does, or one line each.
//!
//! The only renderer; JSON is the findings themselves.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level as Title, Renderer, Snippet};

use crate::diagnostic::{Diagnostic, Label, Level};

/// Draws findings whose places are relative to `root`.
#[derive(Debug)]
pub struct Render {
    root: PathBuf,
    colour: bool,
    files: HashMap<PathBuf, Option<String>>,
}

impl Render {
    /// Places without an absolute path are looked up in `root`.
    #[must_use]
    pub fn new(root: &Path, colour: bool) -> Self {
        Self {
            root: root.to_owned(),
            colour,
            files: HashMap::new(),
        }
    }

    /// `error[GPUK0001]: message` with the source lines, notes and help.
    pub fn full(&mut self, finding: &Diagnostic) -> String {
        for label in &finding.labels {
            let path = &label.place.file;
            let absolute = self.root.join(path);
            self.files.entry(path.clone()).or_insert_with(|| {
                Some(String::from_utf8_lossy(&std::fs::read(absolute).ok()?).into_owned())
            });
        }
        let title = title(finding.level);
        let code = finding.code.map(|code| code.to_string());
        let mut heading = title.clone().primary_title(Cow::from(&finding.message));
        if let Some(code) = &code {
            heading = heading.id(Cow::from(code));
        }
        let mut group = Group::with_title(heading);
        let mut unseen = Vec::new();
        for (index, label) in finding.labels.iter().enumerate() {
            match self.files.get(&label.place.file) {
                Some(Some(source)) if span(source, label).is_some() => {
                    group = group.element(snippet(source, label, index == 0));
                }
                _ => unseen.push(format!("at {} {}", label.place, label.text)),
            }
        }
        for note in unseen.iter().chain(&finding.notes) {
            group = group.element(Title::NOTE.message(Cow::from(note)));
        }
        for help in &finding.help {
            group = group.element(Title::HELP.message(Cow::from(help)));
        }
        let renderer = match self.colour {
            true => Renderer::styled(),
            false => Renderer::plain(),
        };
        renderer.decor_style(DecorStyle::Ascii).render(&[group])
    }

    /// `kernels/a.cu:3:7: error[GPUK0001]: message`, one line.
    #[must_use]
    pub fn short(finding: &Diagnostic) -> String {
        let place = finding
            .labels
            .first()
            .map(|label| format!("{}: ", label.place));
        let code = finding.code.map(|code| format!("[{code}]"));
        let message = finding.message.lines().next().unwrap_or_default();
        format!(
            "{}{}{}: {message}",
            place.unwrap_or_default(),
            finding.level,
            code.unwrap_or_default(),
        )
    }
}

fn title(level: Level) -> Title<'static> {
    match level {
        Level::Error => Title::ERROR,
        Level::Warning => Title::WARNING,
        Level::Note => Title::NOTE,
    }
}

fn snippet<'s>(
    source: &'s str,
    label: &'s Label,
    primary: bool,
) -> Snippet<'s, annotate_snippets::Annotation<'s>> {
    let kind = match primary {
        true => AnnotationKind::Primary,
        false => AnnotationKind::Context,
    };
    let mut annotation = kind.span(span(source, label).unwrap_or_default());
    if !label.text.is_empty() {
        annotation = annotation.label(Cow::from(&label.text));
    }
    Snippet::source(source)
        .path(label.place.file.to_string_lossy())
        .annotation(annotation)
}

/// The bytes to underline: from the column to the end of the word, or the whole line.
fn span(source: &str, label: &Label) -> Option<std::ops::Range<usize>> {
    let number = usize::try_from(label.place.line).ok()?.checked_sub(1)?;
    let line = source.lines().nth(number)?;
    let start = line.as_ptr() as usize - source.as_ptr() as usize;
    if let Some(column) = label.place.column {
        let column = usize::try_from(column).ok()?.checked_sub(1)?;
        let rest = line.get(column..)?;
        let word = rest.find(|c: char| !c.is_alphanumeric() && !"_-.".contains(c));
        let length = word.unwrap_or(rest.len()).max(1).min(rest.len());
        return Some(start + column..start + column + length);
    }
    let indent = line.len() - line.trim_start().len();
    Some(start + indent..start + line.trim_end().len().max(indent))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{Code, Place};

    #[test]
    fn draws_as_rustc_does() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("k.cu"), "// one\n  int y = x;\n").unwrap();
        let finding = Diagnostic::error(Code::CHECK_NOT_HONOURED, "kernel `k` has a check")
            .at(Place::line("k.cu", 2), "here")
            .at(Place::line("gone.cu", 9), "and there")
            .note("its mode is `off`")
            .help("write `GPUK_DEBUG_CHECK`");
        insta::assert_snapshot!(Render::new(root.path(), false).full(&finding), @r"
        error[GPUK0001]: kernel `k` has a check
         --> k.cu:2:3
          |
        2 |   int y = x;
          |   ^^^^^^^^^^ here
          |
          = note: at gone.cu:9 and there
          = note: its mode is `off`
          = help: write `GPUK_DEBUG_CHECK`
        ");
        assert_eq!(
            Render::short(&finding),
            "k.cu:2: error[GPUK0001]: kernel `k` has a check"
        );
    }
}
