//! A command with holes for the files that it is about.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::run::ToolCommand;

/// What stands in a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Hole {
    /// The file read.
    Input,
    /// The file written.
    Output,
    /// The source's name, by which the compiler knows it.
    Name,
    /// The source's name in a file name that is only mentioned.
    Fatbin,
    /// The architecture to assemble for.
    Arch,
}

/// One argument: a text, perhaps with a hole after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) hole: Option<Hole>,
}

/// A command with holes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Template {
    pub(crate) program: PathBuf,
    pub(crate) args: Vec<Piece>,
    pub(crate) env: Vec<(String, String)>,
}

/// The files for the holes.
pub(crate) struct Fill<'a> {
    pub(crate) input: &'a Path,
    pub(crate) output: &'a Path,
    pub(crate) name: &'a Path,
    pub(crate) arch: &'a str,
}

impl Piece {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            hole: None,
        }
    }

    pub(crate) fn hole(hole: Hole) -> Self {
        Self::joined("", hole)
    }

    pub(crate) fn joined(text: &str, hole: Hole) -> Self {
        Self {
            text: text.to_owned(),
            hole: Some(hole),
        }
    }
}

impl Template {
    pub(crate) fn fill(&self, fill: &Fill<'_>, dir: &Path) -> ToolCommand {
        let command = ToolCommand::new(&self.program)
            .args(self.args.iter().map(|piece| piece.fill(fill)))
            .dir(dir);
        self.env
            .iter()
            .fold(command, |command, (name, value)| command.env(name, value))
    }

    /// Where `-include cuda_runtime.h` stands, if nothing else is included before the source.
    pub(crate) fn runtime_header(&self) -> Option<usize> {
        let includes = |piece: &Piece| ["-include", "-imacros"].contains(&piece.text.as_str());
        let at = self.args.iter().position(includes)?;
        let only = !self.args[at + 1..].iter().any(includes);
        (only && self.args.get(at + 1)?.text == "cuda_runtime.h").then_some(at)
    }

    /// The command as text, its holes by their names, for cache keys.
    pub(crate) fn text(&self) -> String {
        let mut text = self
            .program
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        for Piece { text: word, hole } in &self.args {
            // Debug quotes, so that no two argument lists read the same.
            text += &format!(" {word:?}");
            if let Some(hole) = hole {
                text += &format!("<{hole:?}>");
            }
        }
        text
    }
}

impl Piece {
    fn fill(&self, fill: &Fill<'_>) -> OsString {
        let mut word = OsString::from(&self.text);
        match self.hole {
            None => {}
            Some(Hole::Input) => word.push(fill.input),
            Some(Hole::Output) => word.push(fill.output),
            Some(Hole::Name) => word.push(fill.name),
            Some(Hole::Arch) => word.push(fill.arch),
            Some(Hole::Fatbin) => {
                word.push(fill.name.file_stem().unwrap_or_default());
                word.push(".fatbin.c");
            }
        }
        word
    }
}
