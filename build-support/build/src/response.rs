//! Command lines that are longer than Windows takes: the arguments go into a file that the program is told of.
//!
//! `CreateProcess` takes 32,767 characters. cl.exe, nvcc and ptxas read arguments from a file; cicc does not, and needs
//! none, for folders and definitions are the preprocessor's.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use crate::env::temporary;
use crate::run::ToolCommand;

/// Characters of a command line, the zero at its end among them.
const LIMIT: usize = 32_767;

/// How a program takes a file with arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// `@file`, as cl.exe does; in UTF-16 where there is more than ASCII in it.
    At,
    /// `--options-file file`, as NVIDIA's tools do.
    Option,
}

/// A command with its arguments in a file, which goes with this value.
pub(crate) struct Shortened {
    pub(crate) command: ToolCommand,
    file: PathBuf,
}

impl Drop for Shortened {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.file);
    }
}

/// The same command in fewer characters; none where it is short enough.
pub(crate) fn shorten(command: &ToolCommand) -> io::Result<Option<Shortened>> {
    let length = length(command);
    if length <= LIMIT {
        return Ok(None);
    }
    let form = form(&command.program).ok_or_else(|| {
        let text = format!("its command line has {length} characters, and Windows takes {LIMIT}");
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })?;
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let unique = COUNTER.fetch_add(1, Ordering::Relaxed);
    let file = temporary().join(format!("gpuk-{}-{unique}.rsp", std::process::id()));
    std::fs::write(&file, contents(&command.args, form))?;
    let args = match form {
        Form::At => {
            let mut word = OsString::from("@");
            word.push(&file);
            vec![word]
        }
        Form::Option => vec!["--options-file".into(), file.clone().into()],
    };
    let command = ToolCommand {
        args,
        ..command.clone()
    };
    Ok(Some(Shortened { command, file }))
}

fn form(program: &Path) -> Option<Form> {
    let stem = program.file_stem()?.to_str()?.to_ascii_lowercase();
    match &*stem {
        "cl" | "clang-cl" => Some(Form::At),
        "nvcc" | "ptxas" => Some(Form::Option),
        _ => None,
    }
}

/// What the command line will have, in UTF-16.
fn length(command: &ToolCommand) -> usize {
    let program = quoted(&command.program.to_string_lossy());
    let words = command
        .args
        .iter()
        .map(|arg| quoted(&arg.to_string_lossy()));
    let words = words.chain([program]);
    words.map(|word| word.encode_utf16().count() + 1).sum()
}

fn contents(args: &[OsString], form: Form) -> Vec<u8> {
    let lines = args
        .iter()
        .map(|arg| quoted(&arg.to_string_lossy()) + "\r\n");
    let text: String = lines.collect();
    match form {
        Form::At if !text.is_ascii() => {
            let units = [0xfeff].into_iter().chain(text.encode_utf16());
            units.flat_map(u16::to_le_bytes).collect()
        }
        _ => text.into_bytes(),
    }
}

/// A word as programs on Windows read it (Microsoft, "Parsing C command-line arguments"): a backslash escapes only
/// where a quotation mark follows.
fn quoted(word: &str) -> String {
    if !word.is_empty() && !word.contains([' ', '\t', '\n', '"']) {
        return word.to_owned();
    }
    let mut out = String::from("\"");
    let mut backslashes = 0;
    for c in word.chars() {
        match c {
            '\\' => backslashes += 1,
            '"' => {
                out.push_str(&"\\".repeat(backslashes + 1));
                backslashes = 0;
            }
            _ => backslashes = 0,
        }
        out.push(c);
    }
    out.push_str(&"\\".repeat(backslashes));
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_as_windows_reads_them() {
        for (word, expected) in [
            ("-O2", "-O2"),
            ("", r#""""#),
            (r"C:\a\", r"C:\a\"),
            (r"-IC:\a b\", r#""-IC:\a b\\""#),
            (r#"-DX="y""#, r#""-DX=\"y\"""#),
            (r#"a\"b"#, r#""a\\\"b""#),
            (r#"a\\ b"#, r#""a\\ b""#),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }

    #[test]
    fn long_command_lines_go_into_a_file_and_short_ones_do_not() {
        let folders = (0..2000).map(|n| format!("-IC:\\include folders\\{n}"));
        let folders: Vec<_> = folders.collect();
        let command = |program: &str| ToolCommand::new(program).args(&folders);
        assert!(
            shorten(&ToolCommand::new("cl.exe").arg("-E"))
                .unwrap()
                .is_none()
        );

        let nvcc = shorten(&command("C:/cuda/bin/nvcc.exe")).unwrap().unwrap();
        let [option, file] = &nvcc.command.args[..] else {
            panic!("{:?}", nvcc.command);
        };
        assert_eq!(option, "--options-file");
        let text = std::fs::read_to_string(file).unwrap();
        assert!(
            text.starts_with("\"-IC:\\include folders\\0\"\r\n"),
            "{text}"
        );
        assert_eq!(text.lines().count(), folders.len());
        let file = PathBuf::from(file);
        drop(nvcc);
        assert!(!file.exists());

        let cl = shorten(&command("CL.EXE").arg("-DX=é")).unwrap().unwrap();
        let [word] = &cl.command.args[..] else {
            panic!("{:?}", cl.command);
        };
        let file = word.to_str().unwrap().strip_prefix('@').unwrap().to_owned();
        let bytes = std::fs::read(file).unwrap();
        assert!(bytes.starts_with(&[0xff, 0xfe, b'"', 0]));

        let error = shorten(&command("cicc.exe")).err().unwrap().to_string();
        assert!(error.contains("Windows takes 32767"), "{error}");
    }
}
