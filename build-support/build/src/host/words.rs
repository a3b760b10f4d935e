//! What nvcc cannot be given: it makes commands of its words and has a shell run them.
//!
//! Kernels are compiled by the steps themselves, without a shell, and may be called anything. Host functions are compiled
//! by nvcc as a whole. It quotes definitions well, and paths not (CUDA 13.0): what a shell would read is refused.

use std::ffi::OsStr;

use super::HostJob;
use crate::diagnostic::{Code, Diagnostic, Place};
use crate::unit::{Shop, UnitError};

/// Bytes of a source's name: nvcc puts others before and behind it, and files have 255.
const LONGEST: usize = 200;

/// Of a definition's value, which nvcc quotes.
const OF_VALUES: &[char] = &['$', '`'];
/// Of other words.
const OF_WORDS: &[char] = match cfg!(windows) {
    true => &['"', '%'],
    false => &['$', '`', '"', '\'', '\\'],
};
/// Of a source, beside those: what nvcc passes on in lists.
const OF_LISTS: &[char] = &[',', '{', '}'];

/// Refuses a source whose command has such words.
pub(super) fn check(job: &HostJob<'_>, shop: &Shop<'_>) -> Result<(), UnitError> {
    let source = job.source.as_os_str();
    let length = job.source.file_name().map_or(0, OsStr::len);
    let found = if length > LONGEST {
        let message = format!("a source of host functions has a name of {length} bytes");
        Some(
            Diagnostic::error(Code::NAME_FOR_SHELL, message).note(format!(
                "nvcc makes longer names of it, and can do that for up to {LONGEST} bytes"
            )),
        )
    } else {
        let command = job.nvcc(shop);
        let words = command.args.iter().map(|word| (&**word, chars_of(word)));
        let program = (command.program.as_os_str(), OF_WORDS);
        let mut words = words.chain([program, (source, OF_LISTS)]);
        words.find_map(|(word, chars)| refused(word, chars))
    };
    match found {
        None => Ok(()),
        Some(found) => {
            let found = found
                .note("host functions are compiled by nvcc, which has a shell run its steps; kernels are not")
                .help("give it another name, or the package or its target folder another place");
            let place = Place::line(job.source, 1);
            Err(UnitError::findings(vec![found.at(place, "")]))
        }
    }
}

fn chars_of(word: &OsStr) -> &'static [char] {
    let bytes = word.as_encoded_bytes();
    match bytes.starts_with(b"-D") || bytes.starts_with(b"-U") {
        true => OF_VALUES,
        false => OF_WORDS,
    }
}

fn refused(word: &OsStr, chars: &[char]) -> Option<Diagnostic> {
    let text = word.to_string_lossy();
    let character = text.chars().find(|c| c.is_control() || chars.contains(c))?;
    let message = format!("`{text}` has {character:?}, which nvcc would hand to a shell");
    Some(Diagnostic::error(Code::NAME_FOR_SHELL, message))
}
