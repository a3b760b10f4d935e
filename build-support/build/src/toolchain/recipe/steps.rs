//! Turns a command of the dry run into a template: finds which of its words are files.

use super::dryrun;
use super::flags::Flags;
use super::template::{Hole, Piece, Template};

/// The host compiler, which writes preprocessed text.
pub(super) fn preprocess_step(words: Vec<String>, flags: &Flags) -> Template {
    let source = format!("{}.cu", dryrun::STEM);
    step(words, flags, |previous, word| {
        if word == source {
            return Some(vec![Piece::hole(Hole::Input)]);
        }
        match previous {
            "-o" => Some(vec![Piece::hole(Hole::Output)]),
            // `cl.exe > file … -E`: to the same file without a redirection.
            ">" => Some(vec![Piece::joined("-Fi", Hole::Output), Piece::text("-P")]),
            _ => None,
        }
    })
}

/// cicc, from preprocessed text to PTX. The file for the module's id is for the host's code; without it the command
/// names no folder but those of its input and output, so that a cache such as sccache knows it again.
pub(super) fn compile_step(words: Vec<String>, flags: &Flags) -> Template {
    step(words, flags, |previous, word| {
        if matches!(word, "--gen_module_id_file" | "--module_id_file_name")
            || previous == "--module_id_file_name"
        {
            return Some(Vec::new());
        }
        let hole = match previous {
            "-o" => Hole::Output,
            "--orig_src_file_name" | "--orig_src_path_name" => Hole::Name,
            "--include_file_name" => Hole::Fatbin,
            _ if word.ends_with(".cpp1.ii") => Hole::Input,
            _ => return None,
        };
        Some(vec![Piece::hole(hole)])
    })
}

/// ptxas, from PTX to a cubin.
pub(super) fn assemble_step(words: Vec<String>, flags: &Flags, arch: &str) -> Template {
    let source = format!("{}.ptx", dryrun::STEM);
    let joined = format!("-arch=sm_{arch}");
    step(words, flags, |previous, word| {
        let piece = match previous {
            "-o" => Piece::hole(Hole::Output),
            _ if word == source => Piece::hole(Hole::Input),
            _ if word == joined => Piece::joined("-arch=", Hole::Arch),
            _ => return None,
        };
        Some(vec![piece])
    })
}

fn step(
    words: Vec<String>,
    flags: &Flags,
    hole: impl Fn(&str, &str) -> Option<Vec<Piece>>,
) -> Template {
    let redirected = words.iter().any(|word| word == ">");
    let mut words = words.into_iter();
    let program = words.next().unwrap_or_default();
    let mut previous = String::new();
    let mut args = Vec::new();
    for word in words {
        match hole(&previous, &word) {
            Some(pieces) => args.extend(pieces),
            None if word == ">" || (redirected && word == "-E") => {}
            None => args.push(Piece::text(flags.restore(&word))),
        }
        previous = word;
    }
    Template {
        program: program.into(),
        args,
        env: Vec::new(),
    }
}
