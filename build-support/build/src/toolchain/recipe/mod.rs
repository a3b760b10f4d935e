//! The commands that nvcc would run, to be run one by one.
//!
//! `nvcc --dryrun` is asked once for each set of flags and architecture. Its answer becomes three templates:
//! preprocess (the host compiler), compile (cicc, to PTX) and assemble (ptxas, to a cubin), with holes for the files.
//! What they produce equals what `nvcc -ptx` and `nvcc -cubin` produce, byte for byte, but for one thing: the names
//! of entities with internal linkage carry a hash of the source's path, and here that path is the one given as
//! `name`, so that it can be kept free of the machine's folders.
//!
//! With `-lineinfo` or `-G` the PTX names its files by absolute path, which the compiler makes from its working
//! directory, and ptxas looks them up; whoever wants the same results from any folder rewrites those `.file` lines.
//!
//! On Windows the answer has another form (`cl.exe`, its output redirected); reading it follows NVIDIA's
//! documentation and public build logs and has not been tried there.

pub(crate) mod dryrun;
mod flags;
mod steps;
mod template;
mod words;

use std::ffi::OsString;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use flags::FlagError;
use steps::{assemble_step, compile_step, preprocess_step};
use template::{Fill, Hole, Piece, Template};
use words::Quoting;

use self::flags::Flags;
use super::Toolchain;
use super::host::HostCompiler;
use super::platform::{Os, Platform};
use crate::env::Env;
use crate::run::{ToolCommand, ToolError};

/// Variables from which nvcc takes flags by itself.
pub const NVCC_VARIABLES: [&str; 3] = ["NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN"];

/// Variables from which a host compiler takes folders of headers by itself.
const SEARCH_VARIABLES: [&str; 3] = ["CPATH", "CPLUS_INCLUDE_PATH", "INCLUDE"];

/// The commands for one set of flags and one architecture; the same for every source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recipe {
    preprocess: Template,
    compile: Template,
    assemble: Template,
    versions: String,
    searched: String,
    remarks: Vec<String>,
}

/// No recipe could be made.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// A flag cannot be used.
    #[error(transparent)]
    Flag(#[from] FlagError),
    /// The architecture is not a number with perhaps a letter.
    #[error("`{0}` is no architecture; write it as `sm_90` or `compute_90`")]
    Arch(String),
    /// A variable has what nvcc would run in a shell.
    #[error("variable `{name}` has `{character}`, which nvcc hands to a shell")]
    Variable {
        /// The variable.
        name: &'static str,
        /// The character.
        character: char,
    },
    /// The toolkit's folder has a name that nvcc's answer does not give back.
    #[error(
        "the toolkit's folder `{}` has a quotation mark, a backslash, a control character or no Unicode in its name, which nvcc cannot deal with; reach it by another name, such as a link to it", .0.display()
    )]
    Folder(PathBuf),
    /// nvcc refuses the flags, or does not run.
    #[error("nvcc does not accept the flags")]
    Nvcc(#[source] ToolError),
    /// nvcc would do something that is not known here.
    #[error("nvcc would run a step that gpuk does not know: `{0}`")]
    Step(String),
    /// nvcc's answer lacks something.
    #[error("nvcc's dry run has {missing}; it said\n{text}")]
    Answer {
        /// What it lacks.
        missing: &'static str,
        /// The answer.
        text: String,
    },
}

impl Recipe {
    /// Asks nvcc for the commands. `arch` is `sm_90`, `compute_90` or `90`, with the suffix `a` or `f` where meant.
    ///
    /// # Errors
    /// A flag makes no sense here, or nvcc refuses it.
    pub fn of(
        toolchain: &Toolchain,
        flags: &[OsString],
        arch: &str,
        host: &HostCompiler,
        env: &Env,
    ) -> Result<Self, RecipeError> {
        let platform = Platform::host();
        // Of Windows' paths the backslash is a part.
        let odd = |c: char| c == '"' || c.is_control() || c == '\\' && platform.os != Os::Windows;
        let plain = |text: &str| !text.contains(odd);
        if !toolchain.nvcc.to_str().is_some_and(plain) {
            return Err(RecipeError::Folder(toolchain.root.clone()));
        }
        let arch = number(arch)?;
        let flags = flags::read(flags)?;
        let variables = nvcc_variables(host, env)?;
        let mut args = vec![format!("-arch=compute_{arch}")];
        if let Some(ccbin) = &host.ccbin {
            args.push("-ccbin".to_owned());
            args.push(ccbin.display().to_string());
        }
        args.extend(flags.nvcc.iter().cloned());

        let mut ask = ToolCommand::new(&toolchain.nvcc)
            .args(&args)
            .dir(&toolchain.root);
        for (name, value) in host.env.iter().chain(&variables) {
            ask = ask.env(name, value);
        }
        args[0] = format!("-arch=sm_{arch}");
        let (source, ptx) = std::thread::scope(|scope| {
            let ptx = scope.spawn(|| dryrun::of_ptx(&toolchain.nvcc, &args, &variables));
            let source = dryrun::of_source(ask);
            let ptx = ptx.join();
            (source, ptx.unwrap_or_else(|panic| resume_unwind(panic)))
        });
        let source = source.map_err(RecipeError::Nvcc)?;
        let ptx = ptx.map_err(RecipeError::Nvcc)?;
        let recipe = Self::read(&source, &ptx, &flags, &arch, toolchain, host, &platform)?;
        let searched = searched(env);
        Ok(Self { searched, ..recipe })
    }

    fn read(
        source: &str,
        ptx: &str,
        flags: &Flags,
        arch: &str,
        toolchain: &Toolchain,
        host: &HostCompiler,
        platform: &Platform,
    ) -> Result<Self, RecipeError> {
        let quoting = match platform.os {
            Os::Windows => Quoting::Windows,
            Os::Linux | Os::MacOs => Quoting::Posix,
        };
        let commands = |text: &str| {
            dryrun::commands(text, quoting).ok_or_else(|| answer("an open quote", text))
        };
        let program = |words: &[String]| {
            let name = words
                .first()
                .map(|word| Path::new(word.as_str()).file_stem());
            name.flatten()
                .map(|stem| stem.to_string_lossy().into_owned())
        };
        let (mut preprocess, mut compile) = (None, None);
        for words in commands(source)? {
            match program(&words).as_deref() {
                Some("cicc") if compile.is_none() => compile = Some(compile_step(words, flags)),
                // With `-split-compile` nvcc also has ptxas look at the PTX; assembling does that. The rest cleans up.
                Some("ptxas" | "rm" | "erase") => {}
                _ if preprocess.is_none() && words.iter().any(|word| word == "-E") => {
                    let program = resolve(&words[0], host);
                    preprocess = Some(Template {
                        program,
                        ..preprocess_step(words, flags)
                    });
                }
                _ => return Err(RecipeError::Step(words.join(" "))),
            }
        }
        let assemble = commands(ptx)?
            .into_iter()
            .find(|words| program(words).as_deref() == Some("ptxas"))
            .map(|words| assemble_step(words, flags, arch));

        let nvvm = dryrun::variables(source).filter(|(name, _)| *name == "NVVMIR_LIBRARY_DIR");
        let nvvm = nvvm
            .last()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut preprocess = preprocess.ok_or_else(|| answer("no preprocessor", source))?;
        let mut compile = compile.ok_or_else(|| answer("no `cicc`", source))?;
        let mut assemble = assemble.ok_or_else(|| answer("no `ptxas`", ptx))?;
        preprocess.env = host.env.clone();
        compile.program.clone_from(&toolchain.cicc);
        compile.env = nvvm.into_iter().collect();
        assemble.program.clone_from(&toolchain.ptxas);

        let holes = |template: &Template, holes: &[Hole]| {
            let count = |hole| {
                template
                    .args
                    .iter()
                    .filter(|p| p.hole == Some(hole))
                    .count()
            };
            holes.iter().all(|hole| count(*hole) == 1)
        };
        if !holes(&preprocess, &[Hole::Input, Hole::Output])
            || !holes(&compile, &[Hole::Input, Hole::Output])
        {
            return Err(answer("commands without their files", source));
        }
        let wanted = format!("compute_{arch}");
        if !compile.args.iter().any(|piece| piece.text == wanted) {
            return Err(answer("another architecture", source));
        }
        if !holes(&assemble, &[Hole::Input, Hole::Output, Hole::Arch]) {
            return Err(answer("an assembler without its files", ptx));
        }
        Ok(Self {
            preprocess,
            compile,
            assemble,
            versions: format!("{}\nhost {}", toolchain.key(), host.version),
            searched: String::new(),
            remarks: dryrun::remarks(source).map(str::to_owned).collect(),
        })
    }

    /// The recipe for a source whose functions and variables others may name, as `-rdc=true` makes it (CUDA 11 to 13).
    #[must_use]
    pub fn relocatable(&self) -> Self {
        let mut recipe = self.clone();
        recipe
            .preprocess
            .args
            .insert(0, Piece::text("-D__CUDACC_RDC__"));
        recipe
            .compile
            .args
            .retain(|piece| piece.text != "--static-host-stub");
        recipe.compile.args.insert(0, Piece::text("--device-c"));
        recipe
    }

    /// What a stored recipe is found by again: all that nvcc's answer depends on.
    ///
    /// # Errors
    /// As [`Recipe::of`]: a variable has what nvcc would run in a shell.
    pub fn key(
        toolchain: &Toolchain,
        flags: &[OsString],
        arch: &str,
        host: &HostCompiler,
        env: &Env,
    ) -> Result<String, RecipeError> {
        let variables = nvcc_variables(host, env)?;
        let identity = toolchain.identity();
        Ok(format!(
            "recipe 3\n{arch}\n{flags:?}\n{identity:?}\n{host:?}\n{variables:?}\n{}",
            searched(env)
        ))
    }

    /// The text that stands for this recipe: every argument, holes by name, and the versions of compiler and host
    /// compiler. It names the folders that are searched for headers.
    pub fn identity(&self) -> String {
        let (text, behind) = (self.preprocess.text(), self.identity_behind());
        format!("{behind}\n{}\n{text}", self.searched)
    }

    /// The text that stands for what follows preprocessing, in the key of a result: the preprocessed text says the rest.
    pub fn identity_behind(&self) -> String {
        let steps = [self.compile.text(), self.assemble.text()];
        format!("{}\n{}", self.versions, steps.join("\n"))
    }

    /// Whether the PTX has debug information, which names the folder that the compiler ran in (`-G`).
    pub fn names_folder(&self) -> bool {
        self.compile.args.iter().any(|piece| piece.text == "-g")
    }

    /// nvcc's warnings about the flags.
    pub fn remarks(&self) -> &[String] {
        &self.remarks
    }

    /// Preprocesses a source for the device. `out` is the preprocessed text; paths count from `dir`.
    pub fn preprocess(&self, source: &Path, out: &Path, dir: &Path) -> ToolCommand {
        self.preprocess.fill(&fill(source, out, source), dir)
    }

    /// As [`Recipe::preprocess`], and the text has the definitions of macros. None where the host compiler has no such
    /// option.
    pub fn macros(&self, source: &Path, out: &Path, dir: &Path) -> Option<ToolCommand> {
        self.preprocess.runtime_header()?;
        Some(self.preprocess(source, out, dir).arg("-dD"))
    }

    /// As [`Recipe::preprocess`], with the macros of `cuda_runtime.h`, read from two files, and without its text. None
    /// where the host compiler has no such option, or the flags include other files before the source.
    pub fn preprocess_behind(
        &self,
        macros: &[PathBuf; 2],
        source: &Path,
        out: &Path,
        dir: &Path,
    ) -> Option<ToolCommand> {
        let at = self.preprocess.runtime_header()?;
        let mut command = self.preprocess(source, out, dir);
        let [first, second] = macros;
        let words = [
            "-imacros".into(),
            first.into(),
            "-imacros".into(),
            second.into(),
        ];
        command.args.splice(at..at + 2, words);
        Some(command)
    }

    /// Compiles preprocessed text to PTX. `name` is the source's name as diagnostics and mangled names have it: keep
    /// it relative, for it enters the PTX.
    pub fn compile(&self, text: &Path, out: &Path, name: &Path, dir: &Path) -> ToolCommand {
        self.compile.fill(&fill(text, out, name), dir)
    }

    /// Assembles PTX to a cubin for `arch` (as for [`Recipe::of`]), with further ptxas flags.
    ///
    /// # Errors
    /// It is no architecture.
    pub fn assemble(
        &self,
        ptx: &Path,
        cubin: &Path,
        arch: &str,
        flags: &[OsString],
        dir: &Path,
    ) -> Result<ToolCommand, RecipeError> {
        let arch = format!("sm_{}", number(arch)?);
        let fill = Fill {
            arch: &arch,
            ..fill(ptx, cubin, ptx)
        };
        let mut command = self.assemble.fill(&fill, dir);
        command.args.splice(0..0, flags.iter().cloned());
        Ok(command)
    }
}

fn fill<'a>(input: &'a Path, output: &'a Path, name: &'a Path) -> Fill<'a> {
    Fill {
        input,
        output,
        name,
        arch: "",
    }
}

fn answer(missing: &'static str, text: &str) -> RecipeError {
    RecipeError::Answer {
        missing,
        text: text.to_owned(),
    }
}

/// `90a` of `sm_90a`, `compute_90a` or `90a`.
fn number(arch: &str) -> Result<String, RecipeError> {
    let number = ["sm_", "compute_"]
        .iter()
        .find_map(|prefix| arch.strip_prefix(prefix))
        .unwrap_or(arch);
    let digits = number.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let sound = digits.len() >= 2
        && digits.bytes().all(|b| b.is_ascii_digit())
        && number.len() - digits.len() <= 1;
    match sound {
        true => Ok(number.to_owned()),
        false => Err(RecipeError::Arch(arch.to_owned())),
    }
}

/// The variables that nvcc reads, so that a child sees what the key says.
fn nvcc_variables(host: &HostCompiler, env: &Env) -> Result<Vec<(String, String)>, RecipeError> {
    let value = |name: &'static str| {
        let value = env.get(name).unwrap_or_default().to_string_lossy();
        match value.chars().find(|c| "$`".contains(*c)) {
            Some(character) => Err(RecipeError::Variable { name, character }),
            None => Ok((name.to_owned(), value.into_owned())),
        }
    };
    Ok(vec![
        value("NVCC_PREPEND_FLAGS")?,
        value("NVCC_APPEND_FLAGS")?,
        // nvcc takes an empty one for a compiler without a name. A `-ccbin` goes before it.
        ("NVCC_CCBIN".to_owned(), host.path.display().to_string()),
    ])
}

fn searched(env: &Env) -> String {
    let values = SEARCH_VARIABLES.map(|name| format!("{name}={:?}", env.get(name)));
    values.join(" ")
}

/// The host compiler of the dry run by its full path, so that a changed PATH cannot change it unseen.
fn resolve(word: &str, host: &HostCompiler) -> PathBuf {
    let word = Path::new(word);
    let is_name = word.components().count() == 1;
    match is_name && host.path.file_stem() == word.file_stem() {
        true => host.path.clone(),
        false => word.to_owned(),
    }
}

#[cfg(test)]
mod tests;
