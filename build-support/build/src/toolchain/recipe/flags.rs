//! A user's nvcc flags: refuses those that make no sense here, and hides free text from nvcc.
//!
//! nvcc composes shell commands, so a `$`, a backtick or a quote in a definition or a folder means something else
//! there than it says. gpuk runs the commands without a shell: nvcc sees a placeholder in place of the value of a
//! definition or a folder, and the value itself reaches the preprocessor byte for byte.

use std::ffi::OsString;

/// A flag that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// It contradicts how gpuk compiles.
    #[error("flag `{flag}` cannot be used: {reason}")]
    Refused {
        /// The flag.
        flag: String,
        /// Why, and what to use instead.
        reason: &'static str,
    },
    /// It has characters that nvcc would hand to a shell.
    #[error(
        "flag `{flag}` has the character {character:?}, which nvcc would hand to a shell; only `-D`, `-I`, `-isystem` and `-include` may have it"
    )]
    Shell {
        /// The flag.
        flag: String,
        /// The character.
        character: char,
    },
    /// nvcc would take it for several definitions.
    #[error(
        "flag `{0}` has a comma, at which nvcc splits it into several definitions; write one flag for each, or `\\,` for a comma that belongs to the value"
    )]
    Comma(String),
    /// Its value is missing.
    #[error("flag `{0}` has no value")]
    NoValue(String),
    /// It is not UTF-8.
    #[error("flag `{0}` is not UTF-8")]
    NotUtf8(String),
}

/// Flags as nvcc gets them, and the values behind the placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flags {
    pub(crate) nvcc: Vec<String>,
    values: Vec<String>,
}

/// Options with free text for a value, which nvcc passes on as they are: short name, long name, whether the value may
/// follow the short name without a blank.
const FREE: [(&str, &str, bool); 5] = [
    ("-D", "--define-macro", true),
    ("-U", "--undefine-macro", true),
    ("-I", "--include-path", true),
    ("-isystem", "--system-include", false),
    ("-include", "--pre-include", false),
];

/// Options that contradict how gpuk compiles: why, and their names.
const REFUSED: &[(&str, &str)] = &[
    (
        "gpuk decides which steps to run",
        "-c --compile -dc --device-c -dw --device-w -cuda --cuda -ptx --ptx -cubin --cubin -fatbin --fatbin \
         -ltoir --ltoir -optix-ir --optix-ir -E --preprocess -lib --lib -run --run -run-args --run-args \
         -fdevice-syntax-only --fdevice-syntax-only -clean --clean-targets",
    ),
    (
        "headers are tracked without it",
        "-M --generate-dependencies -MM --generate-nonsystem-dependencies -MD --generate-dependencies-with-compile \
         -MMD --generate-nonsystem-dependencies-with-compile -MF --dependency-output \
         -MP --generate-dependency-targets -MT --dependency-target-name",
    ),
    (
        "gpuk decides where files go",
        "-o --output-file -odir --output-directory -objtemp --objdir-as-tempdir -time --time \
         -fdevice-time-trace --fdevice-time-trace",
    ),
    (
        "gpuk keeps the intermediate files to itself",
        "-keep --keep -keep-dir --keep-dir -save-temps --save-temps",
    ),
    (
        "it would print, and its output is read",
        "-v --verbose -dryrun --dryrun",
    ),
    (
        "use the setting `archs`",
        "-arch --gpu-architecture -code --gpu-code -gencode --generate-code",
    ),
    (
        "use the setting `host-compiler`",
        "-ccbin --compiler-bindir",
    ),
    ("a source is CUDA C++", "-x --x"),
    (
        "a file of flags is not tracked; write the flags themselves",
        "-optf --options-file",
    ),
    (
        "gpuk decides how many jobs run",
        "-t --threads -jobserver --jobserver",
    ),
    (
        WHOLE,
        "-dlto --dlink-time-opt -lto --lto -gen-opt-lto --gen-opt-lto -ewp --extensible-whole-program \
         -reloc-ptx --relocatable-ptx -r --relocatable-link",
    ),
    (
        "nothing is linked here",
        "-link --link -dlink --device-link -nodlink --no-device-link -shared --shared -l --library \
         -L --library-path -Xlinker --linker-options -Xarchive --archive-options -Xnvlink --nvlink-options \
         -cudart --cudart -cudadevrt --cudadevrt -arbin --archiver-binary \
         -hls --host-linker-script -aug-hls --augment-host-linker-script",
    ),
    (
        "it asks nvcc a question instead of compiling",
        "-h --help -V --version -arch-ls --list-gpu-arch -code-ls --list-gpu-code",
    ),
];

const WHOLE: &str = "`link` in the configuration says which sources become one module";

/// Reads flags.
pub(crate) fn read(flags: &[OsString]) -> Result<Flags, FlagError> {
    let mut read = Flags {
        nvcc: Vec::new(),
        values: Vec::new(),
    };
    let mut rest = flags.iter();
    let mut next = || -> Result<Option<&str>, FlagError> {
        rest.next()
            .map(|flag| {
                flag.to_str()
                    .ok_or_else(|| FlagError::NotUtf8(flag.to_string_lossy().into_owned()))
            })
            .transpose()
    };
    while let Some(flag) = next()? {
        if let Some((name, value)) = free(flag) {
            let value = match value {
                Some(value) => value,
                None => next()?.ok_or_else(|| FlagError::NoValue(flag.to_owned()))?,
            };
            let value = match name {
                "-D" | "-U" => {
                    definition(value).ok_or_else(|| FlagError::Comma(format!("{name}{value}")))?
                }
                _ => value.to_owned(),
            };
            read.nvcc.push(name.to_owned());
            read.nvcc.push(placeholder(read.values.len()));
            read.values.push(value);
            continue;
        }
        let (name, value) = flag.split_once('=').unwrap_or((flag, ""));
        if let Some(reason) = refusal(name) {
            return Err(FlagError::Refused {
                flag: flag.to_owned(),
                reason,
            });
        }
        read.nvcc.push(harmless(flag)?.to_owned());
        // What is for another tool is no flag of nvcc's own, whatever it looks like.
        if !flag.contains('=') && (flag.starts_with("-X") || flag.ends_with("-options")) {
            let value = next()?.ok_or_else(|| FlagError::NoValue(flag.to_owned()))?;
            read.nvcc.push(harmless(value)?.to_owned());
        }
        if matches!(name, "-rdc" | "--relocatable-device-code") {
            let value = match flag.contains('=') {
                true => value,
                false => next()?.ok_or_else(|| FlagError::NoValue(flag.to_owned()))?,
            };
            if value != "false" {
                let flag = format!("{name}={value}");
                return Err(FlagError::Refused {
                    flag,
                    reason: WHOLE,
                });
            }
            read.nvcc.truncate(read.nvcc.len() - 1);
        }
    }
    Ok(read)
}

impl Flags {
    /// Puts the values back in place of their placeholders.
    pub(crate) fn restore(&self, word: &str) -> String {
        // A word has one value at most, and what the value says is not read again.
        self.values
            .iter()
            .enumerate()
            .find_map(|(index, value)| {
                let (before, after) = word.split_once(&placeholder(index))?;
                Some(format!("{before}{value}{after}"))
            })
            .unwrap_or_else(|| word.to_owned())
    }
}

/// An option of [`FREE`] and the value that is in the same word, if any.
fn free(flag: &str) -> Option<(&'static str, Option<&str>)> {
    for (short, long, attached) in FREE {
        let Some(rest) = flag.strip_prefix(long).or_else(|| flag.strip_prefix(short)) else {
            continue;
        };
        if rest.is_empty() {
            return Some((short, None));
        }
        if let Some(value) = rest.strip_prefix('=') {
            return Some((short, Some(value)));
        }
        if attached && !flag.starts_with("--") {
            return Some((short, Some(rest)));
        }
    }
    None
}

fn placeholder(index: usize) -> String {
    format!("gpuk_value_{index}_")
}

/// A definition as nvcc reads it, `\,` for a comma; None where nvcc would split it.
fn definition(value: &str) -> Option<String> {
    let mut text = String::new();
    let mut quoted = false;
    let mut chars = value.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.peek() == Some(&',') => {
                chars.next();
                text.push(',');
            }
            '\\' => {
                text.push(c);
                text.extend(chars.next());
            }
            ',' if !quoted => return None,
            _ => {
                quoted ^= c == '"';
                text.push(c);
            }
        }
    }
    Some(text)
}

fn refusal(name: &str) -> Option<&'static str> {
    let attached = |option: &str| option == "-L" && name.starts_with(option);
    REFUSED
        .iter()
        .find(|(_, names)| {
            names
                .split_whitespace()
                .any(|option| option == name || attached(option))
        })
        .map(|(reason, _)| *reason)
}

fn harmless(flag: &str) -> Result<&str, FlagError> {
    match flag.chars().find(|c| "$`;|&<>()[]{}*?~#!\n\r".contains(*c)) {
        Some(character) => Err(FlagError::Shell {
            flag: flag.to_owned(),
            character,
        }),
        None => Ok(flag),
    }
}
