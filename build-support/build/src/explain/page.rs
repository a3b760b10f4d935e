//! A page taken apart into its sections.

use serde::Serialize;

use crate::code::Code;

/// What there is to say about a code. Texts are Markdown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Page {
    /// The code.
    pub code: Code,
    /// What it means, in one line.
    pub title: String,
    /// The message, as it is drawn.
    pub message: String,
    /// What it means, in full.
    pub meaning: String,
    /// Which stage of a build finds it.
    pub raised: String,
    /// When it happens.
    pub happens: String,
    /// Where people meet it.
    pub situations: String,
    /// What to do.
    pub solutions: String,
    /// A project that gets the code.
    pub before: Vec<ExampleFile>,
    /// The same project, mended.
    pub after: Vec<ExampleFile>,
    /// Codes to read about next.
    pub related: Vec<Code>,
}

/// A file of an example.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ExampleFile {
    /// Relative to the package's folder.
    pub path: String,
    /// What stands in it.
    pub text: String,
}

/// A page that is not written as the others are.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The heading is not that of the code.
    #[error("the page does not begin with `# {0}: `")]
    Title(Code),
    /// A section is missing, empty, or not in its place.
    #[error("where `## {0}` has to be, there is another section, none, or no text")]
    Section(&'static str),
    /// An example that is no list of files.
    #[error("`## {0}` is not made of paths, each with a block of code")]
    Example(&'static str),
    /// A related code that is none.
    #[error("`{0}` is no code")]
    Related(String),
    /// Text behind the last section.
    #[error("there is more than the sections")]
    Rest,
}

impl Page {
    pub(super) fn read(code: Code, text: &str) -> Result<Self, PageError> {
        let mut parts = text.split("\n## ");
        let heading = parts.next().unwrap_or_default();
        let title = heading.strip_prefix(&format!("# {code}: "));
        let title = title.ok_or(PageError::Title(code))?.trim().to_owned();
        let mut section = |name: &'static str| {
            let part = parts.next().and_then(|part| part.strip_prefix(name));
            let text = part.and_then(|part| part.strip_prefix('\n'))?.trim();
            (!text.is_empty()).then(|| text.to_owned())
        };
        let mut section = |name| section(name).ok_or(PageError::Section(name));
        let page = Self {
            code,
            title,
            message: fenced(&section("Message")?),
            meaning: section("What it means")?,
            raised: section("Where it is raised")?,
            happens: section("When it happens")?,
            situations: section("Common situations")?,
            solutions: section("Solutions")?,
            before: files(&section("Before")?).ok_or(PageError::Example("Before"))?,
            after: files(&section("After")?).ok_or(PageError::Example("After"))?,
            related: related(&section("Related")?)?,
        };
        match parts.next() {
            None => Ok(page),
            Some(_) => Err(PageError::Rest),
        }
    }
}

/// What stands in the first block of code.
fn fenced(text: &str) -> String {
    let block = text.split("```").nth(1).unwrap_or_default();
    let inside = block.split_once('\n').map_or("", |(_, inside)| inside);
    inside.trim_end().to_owned()
}

/// A path in backticks on a line, then its block of code, and so on.
fn files(text: &str) -> Option<Vec<ExampleFile>> {
    let mut files = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (path, behind) = rest.strip_prefix('`')?.split_once("`\n\n```")?;
        let (block, behind) = behind.split_once("\n```")?;
        let (_language, text) = block.split_once('\n')?;
        files.push(ExampleFile {
            path: path.to_owned(),
            text: format!("{text}\n"),
        });
        rest = behind.trim_start();
    }
    (!files.is_empty()).then_some(files)
}

/// `- [GPUK0005](GPUK0005.md): why`, a line each.
fn related(text: &str) -> Result<Vec<Code>, PageError> {
    let codes = text.lines().filter_map(|line| line.strip_prefix("- ["));
    let codes = codes.map(|line| line.split(']').next().unwrap_or_default());
    let code = |text: &str| {
        text.parse()
            .map_err(|_| PageError::Related(text.to_owned()))
    };
    codes.map(code).collect()
}
