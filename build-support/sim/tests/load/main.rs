//! What modules are refused, held against what NVIDIA's assembler says of each, and that none is refused which it
//! takes.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use gpuk_sim::{Device, LoadError, Options};

/// A module, and what is said of it.
#[derive(Debug)]
struct Case {
    title: String,
    text: String,
    /// `=`, `~` or `-`, and what the assembler says; none if it takes the module.
    said: Vec<(char, String)>,
}

fn cases() -> Vec<Case> {
    let file = include_str!("cases.txt");
    let parts = file.split("\n# ").skip(1);
    parts
        .map(|part| {
            let (title, rest) = part.split_once('\n').unwrap();
            let mut case = Case {
                title: title.to_owned(),
                text: String::new(),
                said: Vec::new(),
            };
            for line in rest.trim_end().lines() {
                let said = ['=', '~', '-']
                    .into_iter()
                    .find_map(|mark| Some((mark, line.strip_prefix(mark)?.strip_prefix(' ')?)));
                match said {
                    Some((mark, said)) => case.said.push((mark, said.to_owned())),
                    None => writeln!(case.text, "{line}").unwrap(),
                }
            }
            case
        })
        .collect()
}

fn load(text: &str) -> Result<(), LoadError> {
    let options = Options {
        capability: (12, 1),
        ..Options::default()
    };
    Arc::new(Device::new(options)).load(text).map(drop)
}

#[test]
fn modules_are_refused_as_the_assembler_does() {
    let mut wrong = String::new();
    for case in cases() {
        let said: Vec<&str> = case.said.iter().map(|(_, said)| &**said).collect();
        let mark = case.said.first().map(|(mark, _)| *mark);
        let answer = load(&case.text);
        let fits = match (mark, &answer) {
            (None | Some('-'), Ok(())) => true,
            (Some('~'), Err(error)) => error.code() == 218,
            (Some('='), Err(LoadError::Invalid(complaints))) => {
                let complaints: Vec<_> = complaints.iter().map(ToString::to_string).collect();
                complaints == said
            }
            _ => false,
        };
        if !fits {
            writeln!(wrong, "# {}\n{said:#?}\n{answer:#?}", case.title).unwrap();
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Everything that compilers wrote and that lies about in the workspace.
#[test]
fn what_compilers_write_is_taken() {
    let folders = [
        "../ptx/tests/corpus",
        "../runtime/tests/kernels",
        "../build/src/signature/fixtures",
        "tests/ptx",
        "cuda/tests/conduct",
        "cuda/tests/told",
    ];
    let mut count = 0;
    for folder in folders {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        for file in std::fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "ptx") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            match load(&text) {
                Ok(()) => count += 1,
                // What is still to be linked, or functionalized.
                Err(error) if error.to_string().starts_with("Unresolved extern function") => {}
                Err(error) => panic!("{}: {error}", path.display()),
            }
        }
    }
    assert!(count >= 14, "{count}");
}

/// What the assembler says of a module for the device of the cases.
fn assembled(text: &str, folder: &Path) -> Vec<String> {
    let path = folder.join("case.ptx");
    std::fs::write(&path, text).unwrap();
    let home = std::env::var("CUDA_HOME").unwrap();
    #[expect(clippy::disallowed_methods, reason = "a test asks the assembler")]
    let output = std::process::Command::new(Path::new(&home).join("bin").join("ptxas"))
        .args(["-arch=sm_90", "case.ptx", "-o", "case.cubin"])
        .current_dir(folder)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let mut lines = Vec::new();
    for line in said.lines() {
        let text = line.split_once(": ").map_or(line, |(_, text)| text);
        if line.contains("warning") || text.contains("aborted due to errors") {
            continue;
        }
        let number = line
            .split_once(", line ")
            .and_then(|(_, rest)| rest.split_once(';'));
        let text = text.replace("case.ptx", "");
        lines.push(match number {
            Some((number, _)) => format!("line {number}: {}", text.trim()),
            None => text.trim().to_owned(),
        });
    }
    assert_eq!(output.status.success(), lines.is_empty(), "{said}");
    lines
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_the_assembler_says_what_is_recorded() {
    let folder = std::env::temp_dir().join(format!("gpuk-load-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for case in cases() {
        let said: Vec<_> = case.said.into_iter().map(|(_, said)| said).collect();
        assert_eq!(assembled(&case.text, &folder), said, "{}", case.title);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
