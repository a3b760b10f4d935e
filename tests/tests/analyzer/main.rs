//! What an editor shows of kernels: rust-analyzer itself, asked over its protocol, and its way to read messages.
//!
//! rust-analyzer shows findings in files that it knows, `.rs` and `.toml`; one whose only place is a `.cu` file it drops. So
//! a finding of `cargo gpuk check --rust` has two primary places, the kernel's and the line that takes the kernels in, and
//! leads from the second to the first. Where an editor has given it the `.cu` file, the finding stands there too.
//!
//! The tests named `analyzer_…` drive rust-analyzer itself (`rustup component add rust-analyzer`), and fail where it is not
//! installed; how it reads messages is tested without it.

#![expect(clippy::unwrap_used, reason = "tests")]

mod server;

use std::collections::BTreeSet;
use std::path::Path;

use cargo_metadata::Message;
use cargo_metadata::diagnostic::DiagnosticSpan;
use gpuk_tests::Project;
use serde_json::{Value, json};

use server::Server;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

const LIB: &str = "//! Kernels.\ngpuk::include_kernels!();\n\n/// Wrong.\npub fn wrong() -> i32 {\n    \"no\"\n}\n";
const SCALE: &str = "extern \"C\" __global__ void scale(float *data) {\n    data[0] = factor;\n}\n";
const IDLE: &str =
    "extern \"C\" __global__ void idle(float *data) {\n    int unused;\n    data[0] = 1;\n}\n";

/// A kernel that does not compile, one with a warning, and Rust code that does not compile.
fn package() -> Project {
    Project::new("edited", GPUK)
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .file("src/lib.rs", LIB)
        .file("kernels/scale.cu", SCALE)
        .file("kernels/idle.cu", IDLE)
}

/// The flags that the book recommends.
const FLAGS: [&str; 4] = ["check", "--rust", "--workspace", "--message-format=json"];

/// What rust-analyzer is told to run; offline as the tests are.
fn command() -> Value {
    let words = [&[GPUK, "gpuk"][..], &FLAGS, &["--offline"]].concat();
    json!({"check": {"overrideCommand": words}})
}

/// Whether diagnostics hold one that begins so.
fn has(diagnostics: &Value, message: &str) -> bool {
    let all = diagnostics.as_array();
    all.is_some_and(|all| {
        all.iter()
            .any(|it| it["message"].as_str().unwrap().starts_with(message))
    })
}

#[test]
#[ignore = "needs rust-analyzer"]
fn analyzer_shows_findings_of_kernels_and_of_rust() {
    let project = package();
    let mut server = Server::start(&project, command());
    let found = server.wait("src/lib.rs", |found| {
        has(found, "identifier") && has(found, "variable") && has(found, "mismatched types")
    });
    // What it says of Rust code is its own affair.
    let of_kernels = found.as_array().unwrap().iter().cloned();
    let of_kernels = of_kernels.filter(|it| it["source"] == "rustc" && it["code"].is_null());
    let mut of_kernels: Vec<_> = of_kernels.collect();
    of_kernels.sort_by_key(|it| it["severity"].as_u64());
    for it in &mut of_kernels {
        let rendered = it["data"].take()["rendered"].take();
        it["data"] = rendered;
    }
    let text = serde_json::to_string_pretty(&of_kernels).unwrap();
    insta::assert_snapshot!(text.replace(&*project.root().to_string_lossy(), "[ROOT]"));

    // The kernel's line has it where the editor hands the file over.
    server.open("kernels/scale.cu", "cuda");
    server.save("src/lib.rs");
    let found = server.wait("kernels/scale.cu", |found| has(found, "identifier"));
    let found = found
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["source"] == "rustc");
    let range = json!({"start": {"line": 1, "character": 4}, "end": {"line": 1, "character": 21}});
    assert_eq!(found.unwrap()["range"], range);

    // Mended, it is gone.
    project.write("kernels/scale.cu", &SCALE.replace("factor", "2"));
    server.save("src/lib.rs");
    server.wait("src/lib.rs", |found| {
        has(found, "variable") && !has(found, "identifier")
    });
}

#[test]
#[ignore = "needs rust-analyzer"]
fn analyzer_shows_a_build_scripts_findings_where_kernels_are_taken_in() {
    let project = package();
    let mut server = Server::start(&project, json!({}));
    let found = server.wait("src/lib.rs", |found| has(found, "the kernels do not build"));
    let found = found.as_array().unwrap().iter();
    let mut found = found.filter(|it| {
        it["message"]
            .as_str()
            .unwrap()
            .starts_with("the kernels do not build")
    });
    let first = found.next().unwrap();
    assert_eq!(first["range"]["start"]["line"], 1, "{first}");
    let message = first["message"].as_str().unwrap();
    assert!(message.contains("--> kernels/scale.cu:2:5"), "{message}");
}

/// The file's text that a span says it has, by its lines and columns, and by its bytes.
fn texts(span: &DiagnosticSpan) -> [String; 2] {
    let text = std::fs::read_to_string(&span.file_name).unwrap();
    let line = text.lines().nth(span.line_start - 1).unwrap();
    let by_columns = &line[span.column_start - 1..span.column_end - 1];
    let bytes = usize::try_from(span.byte_start).unwrap()..usize::try_from(span.byte_end).unwrap();
    [by_columns.to_owned(), text[bytes].to_owned()]
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_every_line_is_a_message_as_editors_read_it() {
    let project = package();
    let output = project
        .gpuk_command(&[&FLAGS[..], &["--offline"]].concat())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(101));
    let messages: Vec<_> = Message::parse_stream(&*output.stdout)
        .map(Result::unwrap)
        .collect();
    let (mut said, mut ends, mut ids) = (Vec::new(), 0, BTreeSet::new());
    for message in messages {
        match message {
            Message::TextLine(line) => panic!("no message of cargo's: {line}"),
            Message::BuildFinished(finished) => {
                assert!(!finished.success);
                ends += 1;
            }
            Message::CompilerMessage(message) => {
                ids.insert(message.package_id.repr.clone());
                assert!(message.message.rendered.is_some());
                said.push(message.message);
            }
            _ => assert_eq!(ends, 0, "the end is the last"),
        }
    }
    assert_eq!(ends, 1);
    assert_eq!(
        ids.len(),
        1,
        "cargo and gpuk name the package alike: {ids:?}"
    );
    let shown = said
        .iter()
        .any(|it| it.message.contains("the kernels do not build"));
    assert!(!shown, "what was told is not told again");

    let of = |start: &str| {
        said.iter()
            .find(|it| it.message.starts_with(start))
            .unwrap()
    };
    assert!(
        of("mismatched types").code.is_some(),
        "rustc's own are passed on"
    );
    for (start, file, line) in [
        ("identifier", "kernels/scale.cu", "data[0] = factor;"),
        ("variable", "kernels/idle.cu", "int unused;"),
    ] {
        let spans = &of(start).spans;
        let primary = spans.iter().filter(|span| span.is_primary);
        let files: Vec<_> = primary
            .map(|span| relative(&project, &span.file_name))
            .collect();
        assert_eq!(files, [file, "src/lib.rs"]);
        let [_, taken, lead] = &spans[..] else {
            panic!("{spans:?}")
        };
        assert_eq!(texts(taken), ["gpuk::include_kernels!();"; 2]);
        assert_eq!(texts(lead), [line; 2]);
        assert!(
            lead.label.is_some(),
            "without a label no editor leads there"
        );
    }
}

fn relative(project: &Project, file: &str) -> String {
    let path = Path::new(file).strip_prefix(project.root());
    path.expect("names are absolute, below the workspace")
        .display()
        .to_string()
}

#[test]
fn the_book_has_the_setting() {
    let page = gpuk_tests::workspace_root().join("book/src/guide/editors.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```json\n").unwrap();
    let settings: Value = serde_json::from_str(rest.split_once("```").unwrap().0).unwrap();
    let expected = [&["cargo", "gpuk"][..], &FLAGS].concat();
    assert_eq!(
        settings["rust-analyzer.check.overrideCommand"],
        json!(expected)
    );
}

/// A task of the book, on a workspace whose packages have sources of the same name.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_the_books_matcher_reads_short_lines() {
    const MATCH: &str = "import json, re, sys\npattern = re.compile(json.loads(sys.argv[1]))\nfor line in sys.stdin:\n    found = pattern.match(line.rstrip())\n    if found: print(json.dumps(found.groups()))";
    let project = Project::new("p", GPUK).file(
        "Cargo.toml",
        "[workspace]\nmembers = [\"a\", \"b\"]\nresolver = \"3\"\n",
    );
    for name in ["a", "b"] {
        let manifest = format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n");
        project.write(format!("{name}/Cargo.toml"), &manifest);
        project.write(format!("{name}/src/lib.rs"), "");
        project.write(format!("{name}/kernels/scale.cu"), SCALE);
    }
    let manifest =
        "[package]\nname = \"b\"\nedition = \"2024\"\n[package.metadata.gpuk]\nflag = []\n";
    project.write("b/Cargo.toml", manifest);
    let output = project.gpuk(&["check", "--message-format", "short"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());

    let page = gpuk_tests::workspace_root().join("book/src/guide/editors.md");
    let page = std::fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("\"regexp\": ").unwrap();
    let (pattern, _) = rest.split_once(",\n").unwrap();
    let lines = project.root().join("lines");
    std::fs::write(&lines, &output.stderr).unwrap();
    let mut command = project.command_of("python3", &["-c", MATCH, pattern]);
    let matched = command
        .stdin(std::fs::File::open(lines).unwrap())
        .output()
        .unwrap();
    let matched = String::from_utf8(matched.stdout).unwrap();
    let found: Vec<Value> = matched
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let undefined = "identifier \"factor\" is undefined";
    let expected = [
        json!(["a/kernels/scale.cu", "2", null, "error", null, undefined]),
        json!([
            "b/Cargo.toml",
            "5",
            "1",
            "error",
            "GPUK0030",
            "unknown key `flag`"
        ]),
    ];
    assert_eq!(found, expected, "{}", output.stderr);
}

#[test]
fn a_workspace_without_kernels_is_checked_all_the_same() {
    let project =
        Project::new("plain", GPUK).file("src/lib.rs", "pub fn wrong() -> i32 { \"no\" }\n");
    let output = project.gpuk(&FLAGS);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    assert!(
        output.stdout.contains("mismatched types"),
        "{}",
        output.stdout
    );
    assert!(
        !output.stderr.contains("no selected package"),
        "{}",
        output.stderr
    );
    project.write("src/lib.rs", "pub fn right() -> i32 { 1 }\n");
    let output = project.gpuk(&FLAGS).ok();
    assert!(
        output
            .stdout
            .ends_with("{\"reason\":\"build-finished\",\"success\":true}")
    );
    let _ = project
        .gpuk(&["check", "--rust", "--", "--all-targets"])
        .ok();
}

#[test]
fn what_is_wrong_with_a_manifest_stands_there_alone() {
    let project = Project::new("misset", GPUK).config("arch = ['80']");
    let output = project.gpuk(&FLAGS);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    let finding = output
        .stdout
        .lines()
        .find(|line| line.contains("GPUK0030"))
        .unwrap();
    let finding: Value = serde_json::from_str(finding).unwrap();
    let [span] = &finding["message"]["spans"].as_array().unwrap()[..] else {
        panic!("{finding}");
    };
    assert_eq!(span["file_name"], "[ROOT]/Cargo.toml");
    assert_eq!(span["line_start"], 9);
}
