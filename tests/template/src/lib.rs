//! Expands `template/` as cargo-generate does, with the same Liquid engine, in milliseconds.
//!
//! Done here: values and their patterns, `exclude`, the suffix `.liquid`. Not done: prompts, hooks, conditions,
//! expanded file names; the template has none. That both agree is itself a test, for where cargo-generate is
//! installed.

#![expect(clippy::expect_used, reason = "for tests, whose failures are panics")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use gpuk_build::config::Pattern;
use liquid::{Object, ParserBuilder, model::Value};
use regex::Regex;
use toml::Table;

const CONFIG: &str = "cargo-generate.toml";

/// Files by their paths, `/` between folders.
pub type Files = BTreeMap<String, String>;

/// A template as it lies in the repository.
#[derive(Debug)]
pub struct Template {
    config: Table,
    files: Files,
}

impl Template {
    /// Reads it.
    ///
    /// # Panics
    /// It cannot be read.
    #[must_use]
    pub fn read(folder: &Path) -> Self {
        let mut files = files(folder);
        let config = files
            .remove(CONFIG)
            .expect("the template has a configuration");
        let config = config.parse().expect("the configuration is TOML");
        Self { config, files }
    }

    /// Placeholders by name.
    ///
    /// # Panics
    /// They are no table.
    #[must_use]
    pub fn placeholders(&self) -> &Table {
        self.config["placeholders"]
            .as_table()
            .expect("placeholders are a table")
    }

    /// Whether a file is copied as it is.
    ///
    /// # Panics
    /// `exclude` is no list of strings.
    #[must_use]
    pub fn is_excluded(&self, path: &str) -> bool {
        let exclude = self.config["template"]["exclude"]
            .as_array()
            .expect("`exclude` is a list");
        exclude.iter().any(|pattern| {
            let text = pattern.as_str().expect("patterns are strings").to_owned();
            let pattern = Pattern {
                text,
                written: true,
            };
            pattern.matches(path)
        })
    }

    /// The project `name`, with these values and the defaults of the others.
    ///
    /// # Errors
    /// A value does not match its placeholder's pattern.
    ///
    /// # Panics
    /// The template is at fault.
    pub fn expand(&self, name: &str, values: &[(&str, &str)]) -> Result<Files, String> {
        let mut object = Object::new();
        object.insert("project-name".into(), Value::scalar(name.to_owned()));
        for (placeholder, settings) in self.placeholders() {
            let given = values.iter().find(|(name, _)| name == placeholder);
            let default = settings.get("default").and_then(toml::Value::as_str);
            let value = given.map(|(_, value)| *value).or(default);
            let value = value.expect("every placeholder has a default");
            let pattern = settings.get("regex").and_then(toml::Value::as_str);
            let pattern = Regex::new(pattern.unwrap_or("")).expect("a valid pattern");
            if !pattern.is_match(value) {
                return Err(format!("`{value}` is no value for `{placeholder}`"));
            }
            object.insert(placeholder.clone().into(), Value::scalar(value.to_owned()));
        }
        let parser = ParserBuilder::with_stdlib().build().expect("a parser");
        let expand = |(path, text): (&String, &String)| {
            let target = path.strip_suffix(".liquid").unwrap_or(path).to_owned();
            if self.is_excluded(path) {
                return (target, text.clone());
            }
            let text = parser
                .parse(text)
                .and_then(|template| template.render(&object));
            (
                target,
                text.unwrap_or_else(|error| panic!("{path}: {error}")),
            )
        };
        Ok(self.files.iter().map(expand).collect())
    }
}

/// All files of a folder; `.git` and `target` are left out.
///
/// # Panics
/// One cannot be read as text.
#[must_use]
pub fn files(folder: &Path) -> Files {
    let mut files = Files::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(below) = folders.pop() {
        for entry in fs::read_dir(folder.join(&below)).expect("a folder") {
            let entry = entry.expect("an entry");
            let path = below.join(entry.file_name());
            if !entry.file_type().expect("a file type").is_dir() {
                let text = fs::read_to_string(entry.path()).expect("a text file");
                files.insert(slashed(&path), text);
            } else if entry.file_name() != ".git" && entry.file_name() != "target" {
                folders.push(path);
            }
        }
    }
    files
}

/// Writes files below a folder.
///
/// # Panics
/// One cannot be written.
pub fn write(files: &Files, folder: &Path) {
    for (path, text) in files {
        let path = folder.join(path);
        let parent = path.parent().expect("a file lies in a folder");
        fs::create_dir_all(parent).expect("folders can be made");
        fs::write(path, text).expect("files can be written");
    }
}

/// gpuk's own workspace.
///
/// # Panics
/// This package has been moved out of it.
#[must_use]
pub fn workspace_root() -> &'static Path {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2);
    root.expect("the tests lie in the workspace")
}

fn slashed(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}
