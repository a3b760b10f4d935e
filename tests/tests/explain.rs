//! The pages of the diagnostic codes against the command: what they show is what it says.
//!
//! `UPDATE=1 cargo test -p gpuk-tests --test explain -- --ignored` writes the messages anew.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::sync::Mutex;

use gpuk_tests::{Output, Project, workspace_root};
use serde_json::Value;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

fn lines(output: &Output) -> Vec<Value> {
    let lines = output.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The pages, as the command prints them.
fn pages() -> Vec<Value> {
    let project = Project::new("p", GPUK);
    let json = ["--message-format", "json"];
    let listed = lines(&project.gpuk(&[&["explain"], &json[..]].concat()).ok());
    let codes: Vec<_> = listed
        .iter()
        .map(|line| line["code"].as_str().unwrap())
        .collect();
    let all = [&["explain"], &codes[..], &json].concat();
    lines(&project.gpuk(&all).ok())
}

/// A project of an example's files.
fn project(files: &Value) -> Project {
    let mut project = Project::new("p", GPUK);
    for file in files.as_array().unwrap() {
        let (path, text) = (
            file["path"].as_str().unwrap(),
            file["text"].as_str().unwrap(),
        );
        let text = match path {
            "Cargo.toml" => {
                let manifest = std::fs::read_to_string(project.root().join(path)).unwrap();
                format!("{manifest}\n{text}")
            }
            _ => text.to_owned(),
        };
        project = project.file(path, &text);
    }
    project
}

/// What `cargo gpuk check` draws with a code, the project's folder left out, and the whole output.
fn drawn(files: &Value, code: &str) -> (Vec<String>, Output) {
    let output = project(files).gpuk(&["check", "--message-format", "json"]);
    let of_code = lines(&output);
    let of_code = of_code
        .iter()
        .filter(|line| line["message"]["code"]["code"] == code);
    let rendered = of_code.map(|line| line["message"]["rendered"].as_str().unwrap());
    let text = |text: &str| text.replace("[ROOT]/", "").trim_end().to_owned();
    (rendered.map(text).collect(), output)
}

fn wrong(page: &Value) -> Option<String> {
    let code = page["code"].as_str().unwrap();
    let (before, output) = drawn(&page["before"], code);
    let Some(message) = before.first() else {
        return Some(format!(
            "`Before` of {code} does not get it\n{}",
            output.shown()
        ));
    };
    let (after, output) = drawn(&page["after"], code);
    if !after.is_empty() || output.code != Some(0) {
        return Some(format!(
            "`After` of {code} is not mended\n{}",
            output.shown()
        ));
    }
    let written = page["message"].as_str().unwrap();
    if written == message {
        return None;
    }
    if std::env::var_os("UPDATE").is_none() {
        return Some(format!(
            "the message of {code} is stale: rewrite with UPDATE=1\n{message}"
        ));
    }
    let path = workspace_root().join(format!("build-support/build/src/explain/{code}.md"));
    let text = std::fs::read_to_string(&path).unwrap();
    let (head, rest) = text.split_once("## Message\n\n```text\n").unwrap();
    let (_, rest) = rest.split_once("```\n").unwrap();
    let text = format!("{head}## Message\n\n```text\n{message}\n```\n{rest}");
    std::fs::write(path, text).unwrap();
    None
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_every_example_gets_its_code_and_its_mended_form_does_not() {
    let pages = pages();
    let (next, found) = (Mutex::new(pages.iter()), Mutex::new(Vec::new()));
    let work = || {
        loop {
            let Some(page) = next.lock().unwrap().next() else {
                return;
            };
            found.lock().unwrap().extend(wrong(page));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, Into::into) {
            scope.spawn(work);
        }
    });
    let found = found.into_inner().unwrap();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

#[test]
fn a_code_that_does_not_exist_is_a_usage_error_that_names_the_nearest() {
    let output = Project::new("p", GPUK).gpuk(&["explain", "GPUK0099"]);
    assert_eq!(output.code, Some(2), "{}", output.shown());
    let said = "there is no such code; the nearest is GPUK0061";
    assert!(output.stderr.contains(said), "{}", output.shown());
}

#[test]
fn a_page_is_shown_as_it_is_written_but_for_its_links() {
    let output = Project::new("p", GPUK).gpuk(&["explain", "gpuk1"]).ok();
    let shown = output.stdout;
    assert!(
        shown.starts_with("# GPUK0001: a non-debug check"),
        "{shown}"
    );
    assert!(shown.contains("\n- GPUK0002: "), "{shown}");
}
