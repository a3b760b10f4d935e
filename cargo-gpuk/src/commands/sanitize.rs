//! `cargo gpuk sanitize`: a program or the tests under NVIDIA's compute-sanitizer, as cargo's runner.
//!
//! By itself compute-sanitizer ends with the program's code whatever it found; here what it found is the exit code.

use std::path::PathBuf;

use clap::ValueEnum;
use gpuk_build::env::Env;
use gpuk_build::error::chain;
use gpuk_build::toolchain::{self, Request};

use super::cargo;
use crate::cli::Sanitize;
use crate::exit::Exit;
use crate::ui::Shell;

/// What compute-sanitizer ends with if it found something.
const FOUND: u8 = 86;

/// Runs it.
pub(super) fn sanitize(sanitize: &Sanitize, shell: &Shell) -> Exit {
    let env = Env::of_process();
    let Some(program) = find(&env) else {
        shell.error("compute-sanitizer was not found");
        shell.say(
            "  looked for in the toolkit's `bin` and `compute-sanitizer`, and in PATH; it is a part of the CUDA\n  \
             toolkit, and of the pip package `nvidia-cuda-sanitizer-api`",
        );
        return Exit::Toolchain;
    };
    let runner = match runner(&program, sanitize) {
        Ok(runner) => runner,
        Err(text) => {
            shell.error(format_args!(
                "`{text}` is not UTF-8, which cargo's configuration has to be"
            ));
            return Exit::Usage;
        }
    };
    let Sanitize {
        selection,
        compilation,
        display,
        ..
    } = sanitize;
    let verb = if sanitize.tests { "test" } else { "run" };
    let mut command = cargo::command(verb, selection, compilation, display, &env);
    command = command.args(["--config", &runner]);
    for (flag, name) in [("--bin", &sanitize.bin), ("--example", &sanitize.example)] {
        if let Some(name) = name {
            command = command.args([flag, name]);
        }
    }
    if !sanitize.tests {
        command = command.arg("--");
    }
    command = command.args(&sanitize.args);
    if shell.is_verbose() {
        shell.status("Running", &command);
    }
    match command.foreground() {
        Err(error) => {
            shell.error(chain(&error));
            Exit::Internal
        }
        Ok(status) => match Exit::of_program(status) {
            Exit::Program(0) => Exit::Success,
            Exit::Program(FOUND) => {
                shell.error("compute-sanitizer has findings");
                Exit::Findings
            }
            exit => exit,
        },
    }
}

/// The toolkit's own, else that of PATH.
fn find(env: &Env) -> Option<PathBuf> {
    let name = format!("compute-sanitizer{}", std::env::consts::EXE_SUFFIX);
    let root = toolchain::find(&Request::default(), env).ok();
    let own = root.into_iter().flat_map(|toolchain| {
        ["bin", "compute-sanitizer", "extras/compute-sanitizer"].map(|it| toolchain.root.join(it))
    });
    let path = env.get("PATH").map(std::env::split_paths);
    let folders = own.chain(path.into_iter().flatten());
    folders
        .map(|folder| folder.join(&name))
        .find(|file| file.is_file())
}

/// The setting that makes cargo start programs through it: a list, so that no blank splits a path.
fn runner(program: &std::path::Path, sanitize: &Sanitize) -> Result<String, String> {
    let tool = sanitize.tool.to_possible_value();
    let tool = tool
        .map(|tool| tool.get_name().to_owned())
        .unwrap_or_default();
    let fixed = ["--tool", &tool, "--error-exitcode", &FOUND.to_string()].map(Into::into);
    let words = [program.as_os_str().to_owned()].into_iter();
    let words = words.chain(fixed).chain(sanitize.option.iter().cloned());
    let words: Result<Vec<_>, String> = words
        .map(|word: std::ffi::OsString| {
            let text = word
                .to_str()
                .ok_or_else(|| word.to_string_lossy().into_owned())?;
            // A JSON string is a TOML one.
            Ok(serde_json::Value::from(text).to_string())
        })
        .collect();
    Ok(format!("target.'cfg(all())'.runner=[{}]", words?.join(",")))
}
