//! Messages for programs, and exit codes.

use serde_json::Value;

use super::{WRONG, bare, project};
use gpuk_tests::Output;

fn objects(output: &Output) -> Vec<Value> {
    let lines = output.stdout.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_findings_come_in_cargos_envelope() {
    let project = project().file("kernels/set.cu", WRONG);
    let output = project.gpuk(&["check", "--message-format", "json"]);
    assert_eq!(output.code, Some(101), "{}", output.shown());
    let objects = objects(&output);
    let [finding, end] = &objects[..] else {
        panic!("{}", output.stdout);
    };
    assert_eq!(
        *end,
        serde_json::json!({"reason": "build-finished", "success": false})
    );
    assert_eq!(finding["reason"], "compiler-message");
    let root = project.root();
    assert_eq!(finding["package_id"], format!("path+file://[ROOT]#p@0.1.0"));
    assert_eq!(finding["manifest_path"], "[ROOT]/Cargo.toml");
    let target = &finding["target"];
    for key in [
        "kind",
        "crate_types",
        "name",
        "src_path",
        "edition",
        "doc",
        "doctest",
        "test",
    ] {
        assert!(!target[key].is_null(), "{key}: {target}");
    }
    let message = &finding["message"];
    assert_eq!(message["$message_type"], "diagnostic");
    assert_eq!(message["level"], "error");
    assert_eq!(message["message"], "identifier \"one\" is undefined");
    let [span] = &message["spans"].as_array().unwrap()[..] else {
        panic!("{message}");
    };
    assert_eq!(span["file_name"], "[ROOT]/kernels/set.cu");
    assert_eq!(
        (&span["line_start"], &span["line_end"]),
        (&2.into(), &2.into())
    );
    // What the numbers say is what the file has there.
    let text = std::fs::read_to_string(root.join("kernels/set.cu")).unwrap();
    let number = |key: &str| usize::try_from(span[key].as_u64().unwrap()).unwrap();
    assert_eq!(
        &text[number("byte_start")..number("byte_end")],
        "p[0] = one;"
    );
    let line = span["text"][0]["text"].as_str().unwrap();
    assert_eq!(
        &line[number("column_start") - 1..number("column_end") - 1],
        "p[0] = one;"
    );
    let rendered = message["rendered"].as_str().unwrap();
    assert!(rendered.contains("--> kernels/set.cu:2"), "{rendered}");
    assert!(
        rendered.ends_with('\n') && !rendered.contains('\u{1b}'),
        "{rendered:?}"
    );
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_the_forms_are_cargos() {
    let project = project().file("kernels/set.cu", WRONG);
    let check = |format: &str| {
        let output = project.gpuk(&["check", "--message-format", format]);
        assert_eq!(output.code, Some(101), "{}", output.shown());
        output
    };
    let said = "kernels/set.cu:2: error: identifier \"one\" is undefined";
    let short = check("short");
    assert!(
        short.stderr.lines().any(|line| line == said),
        "{}",
        short.stderr
    );
    assert_eq!(short.stdout, "");
    let human = check("human");
    assert!(
        human.stderr.contains("--> kernels/set.cu:2:5"),
        "{}",
        human.stderr
    );
    let rendered = |format| {
        objects(&check(format))[0]["message"]["rendered"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(rendered("json-diagnostic-short"), format!("{said}\n"));
    assert!(rendered("json-diagnostic-rendered-ansi").contains("\u{1b}["));
    let drawn = check("json-render-diagnostics");
    assert!(
        drawn.stderr.contains("--> kernels/set.cu:2:5"),
        "{}",
        drawn.stderr
    );
    assert_eq!(objects(&drawn).len(), 1, "the end alone: {}", drawn.stdout);
    assert_eq!(check("json").stdout, {
        let output = project.gpuk(&["check", "--json"]);
        output.stdout
    });
}

#[test]
fn each_way_to_end_has_a_code() {
    let hidden = project().env("NVCC", Some("/nothing"));
    for (project, args, code) in [
        (bare(), &["explain"][..], 0),
        (bare(), &["buld"], 2),
        (bare().config("archs = []"), &["check"], 101),
        (bare().file("Cargo.toml", "[package"), &["check"], 102),
        (hidden, &["check"], 103),
        (bare(), &["check"], 104),
    ] {
        let output = project.gpuk(args);
        assert_eq!(output.code, Some(code), "{args:?}: {}", output.shown());
        let output = project.gpuk(&[args, &["--json"]].concat());
        assert_eq!(output.code, Some(code), "{args:?}: {}", output.shown());
        if args == ["check"] {
            let last = objects(&output).pop();
            assert_eq!(last.unwrap()["success"], false, "{}", output.shown());
        }
    }
}
