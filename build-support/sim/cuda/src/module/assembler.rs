//! What the driver's assembler says of PTX that it refuses: the error number, and the text of the error log, in
//! `ptxas`' own words (recorded of driver 580).

use std::fmt::Write as _;

use gpuk_sim::LoadError;

use crate::code::Code;
use crate::device::Profile;
use crate::refusal::Refusal;

const ABORTED: &str = "ptxas fatal   : Ptx assembly aborted due to errors";

/// Compute capabilities, 10 times the major and the minor number, that PTX 9.0 has targets for (PTX ISA 11.1.2).
const TARGETS: [u32; 27] = [
    10, 11, 12, 13, 20, 30, 32, 35, 37, 50, 52, 53, 60, 61, 62, 70, 72, 75, 80, 86, 87, 88, 89, 90,
    100, 103, 110,
];
/// Those of them, and the later ones, that have features of their own.
const SPECIFIC: u32 = 90;
/// The ones with families.
const FAMILIES: u32 = 100;

/// Why PTX is not loaded.
#[derive(Debug)]
pub(super) struct Refused {
    code: Code,
    /// What the assembler says.
    pub(super) log: String,
    /// What is wrong, if that says it better.
    why: Option<String>,
}

impl Refused {
    const fn new(code: Code, log: String) -> Self {
        Self {
            code,
            log,
            why: None,
        }
    }

    pub(super) fn refusal(self) -> Refusal {
        self.code.because(self.why.unwrap_or(self.log))
    }
}

/// A line of the log.
fn line(number: Option<usize>, fatal: bool, text: &str) -> String {
    let level = if fatal { "fatal  " } else { "error  " };
    match number {
        Some(number) => format!("ptxas application ptx input, line {number}; {level} : {text}"),
        None => format!("ptxas {level} : {text}"),
    }
}

/// Refuses PTX by its first lines: of a later version, or for another device.
pub(super) fn header(ptx: &str, profile: &Profile) -> Result<(), Refused> {
    let Some(header) = Header::read(ptx) else {
        // Reading it will say what is wrong.
        return Ok(());
    };
    let (most, of_most) = profile.ptx_version();
    if header.version > (most, of_most) {
        let (major, minor) = header.version;
        return Err(Refused::new(
            Code::UNSUPPORTED_PTX_VERSION,
            line(
                Some(header.version_line),
                true,
                &format!(
                    "Unsupported .version {major}.{minor}; current version is '{most}.{of_most}'"
                ),
            ),
        ));
    }
    let target = header.target;
    let number = target_number(target);
    let suffix = target.trim_start_matches(|c: char| c.is_ascii_digit() || "sm_".contains(c));
    let (known, fits) = match suffix {
        "" => (true, true),
        "a" => (number >= SPECIFIC, number == profile.capability),
        "f" => (
            number >= FAMILIES,
            number / 10 == profile.capability / 10 && number <= profile.capability,
        ),
        _ => (false, false),
    };
    let known = known && (TARGETS.contains(&number) || [101, 120, 121].contains(&number));
    if !known {
        let text = format!("Unsupported .target '{target}'");
        let text = line(Some(header.target_line), true, &text);
        let text = format!("{text}\n{ABORTED}");
        return Err(Refused::new(Code::INVALID_PTX, text));
    }
    if number > profile.capability || !fits {
        let (major, minor) = (profile.capability / 10, profile.capability % 10);
        let why = format!(
            "the module is for {target}, the device has compute capability {major}.{minor}"
        );
        let text = "SM version specified by .target is higher than default SM version assumed";
        return Err(Refused {
            code: Code::INVALID_PTX,
            log: line(None, true, text),
            why: Some(why),
        });
    }
    Ok(())
}

/// What the driver says of PTX that cannot be loaded.
pub(super) fn refused(error: &LoadError) -> Refused {
    let code = Code(error.code());
    let log = match error {
        LoadError::Parse(error) => {
            let text = format!("Parsing error near '{}': syntax error", near(&error.found));
            let text = line(Some(error.position.line), true, &text);
            format!("{text}\n{ABORTED}")
        }
        LoadError::Invalid(complaints) => {
            let mut text = String::new();
            for complaint in complaints {
                let one = line(complaint.line, complaint.fatal, &complaint.text);
                let _ = writeln!(text, "{one}");
            }
            // What is wrong with the whole is found when all has been assembled.
            let whole = complaints.iter().all(|one| one.line.is_none() && one.fatal);
            text.push_str(if whole { "" } else { ABORTED });
            text.trim_end().to_owned()
        }
        LoadError::AddressSize(32) => line(
            None,
            true,
            "32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported on sm_90 or higher architectures.",
        ),
        error => line(None, true, &error.to_string()),
    };
    Refused::new(code, log)
}

/// The first word of what a reader stopped at.
fn near(found: &str) -> &str {
    let Some(found) = found.strip_prefix('`') else {
        // The end of the text.
        return "";
    };
    let is_word = |c: char| c.is_alphanumeric() || "_$%".contains(c);
    let skipped = found.len() - found.trim_start_matches('.').len();
    let end = found[skipped..].find(|c| !is_word(c));
    let end = end.map_or(found.len(), |end| skipped + end);
    match found.chars().next() {
        Some(first) if first.is_control() || first == '`' => "",
        Some(first) if end == 0 => &found[..first.len_utf8()],
        _ => &found[..end],
    }
}

/// The two directives that PTX begins with (PTX ISA 11.1).
struct Header<'t> {
    version: (u32, u32),
    version_line: usize,
    target: &'t str,
    target_line: usize,
}

impl<'t> Header<'t> {
    fn read(text: &'t str) -> Option<Self> {
        let line_of = |rest: &str| {
            let before = text.len() - rest.len();
            1 + text
                .bytes()
                .take(before)
                .filter(|byte| *byte == b'\n')
                .count()
        };
        let start = skip_blank(text)?;
        let rest = skip_blank(start.strip_prefix(".version")?)?;
        let end = rest.find(|c: char| c != '.' && !c.is_ascii_digit())?;
        let (major, minor) = rest[..end].split_once('.')?;
        let version = (major.parse().ok()?, minor.parse().ok()?);
        let target = skip_blank(&rest[end..])?;
        let rest = skip_blank(target.strip_prefix(".target")?)?;
        let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric())?;
        Some(Self {
            version,
            version_line: line_of(start),
            target: &rest[..end],
            target_line: line_of(target),
        })
    }
}

/// What follows white space and comments; `None` if a comment has no end.
pub(super) fn skip_blank(text: &str) -> Option<&str> {
    let mut rest = text.trim_start();
    loop {
        rest = if let Some(line) = rest.strip_prefix("//") {
            line.split_once('\n')?.1
        } else if let Some(block) = rest.strip_prefix("/*") {
            block.split_once("*/")?.1
        } else {
            return Some(rest);
        }
        .trim_start();
    }
}

/// 10 times the major version of a target, and the minor one.
pub(crate) fn target_number(target: &str) -> u32 {
    let digits = target.chars().filter(char::is_ascii_digit);
    digits.collect::<String>().parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_that_stands_there() {
        for (found, word) in [
            ("the end of the text", ""),
            ("`ret;`", "ret"),
            ("`.frob 1;`", ".frob"),
            ("`} }`", "}"),
            ("`%p;`", "%p"),
            ("`\u{1}\u{2}`", ""),
            ("``", ""),
        ] {
            assert_eq!(near(found), word, "{found}");
        }
    }
}
