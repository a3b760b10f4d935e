//! The book against the code: lists that the code knows, links, configuration, the example.
//!
//! `UPDATE=1 cargo test -p gpuk-tests --test book` rewrites what stands between `<!-- generated: … -->` and
//! `<!-- end -->`.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use gpuk_tests::{Project, workspace_root};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

fn read(path: &str) -> String {
    let whole = workspace_root().join(path);
    std::fs::read_to_string(&whole).unwrap_or_else(|error| panic!("{}: {error}", whole.display()))
}

/// The text between two others, without them.
fn between<'t>(text: &'t str, open: &str, close: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

/// Compares the generated part of a page, or rewrites it.
fn generated(page: &str, name: &str, text: &str) {
    let path = format!("book/src/reference/{page}.md");
    let old = read(&path);
    let (open, close) = (format!("<!-- generated: {name} -->"), "<!-- end -->");
    let part = between(&old, &open, close).unwrap_or_else(|| panic!("{path} has no part `{name}`"));
    let fresh = format!("\n\n{}\n\n", text.trim());
    if part == fresh {
        return;
    }
    assert!(
        std::env::var_os("UPDATE").is_some(),
        "{path}: `{name}` is stale; rewrite with UPDATE=1\n{fresh}"
    );
    let new = old.replace(
        &format!("{open}{part}{close}"),
        &format!("{open}{fresh}{close}"),
    );
    std::fs::write(workspace_root().join(path), new).unwrap();
}

/// Rows of a Markdown table under a head.
fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<_> = head.iter().map(|cell| (*cell).to_owned()).collect();
    let rule: Vec<_> = head.iter().map(|_| "---".to_owned()).collect();
    let rows: String = rows.into_iter().map(|row| line(&row)).collect();
    line(&head) + &line(&rule) + &rows
}

/// Every item of a source that has a one-paragraph comment, as comment and first line of the item.
fn documented(source: &str) -> Vec<(String, &str)> {
    let (mut found, mut comment) = (Vec::new(), String::new());
    for line in source.lines().map(str::trim) {
        match line.strip_prefix("///") {
            Some(text) => comment.push_str(text),
            None if comment.is_empty() || line.starts_with("#[") => {}
            None => found.push((std::mem::take(&mut comment).trim().to_owned(), line)),
        }
    }
    found
}

fn help(args: &[&str]) -> String {
    let project = Project::new("p", GPUK);
    let mut command = project.gpuk_command(&[args, &["--help"]].concat());
    let output = command.env_remove("CARGO_TERM_COLOR").output().unwrap();
    assert!(output.status.success(), "{args:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .map(|line| format!("{}\n", line.trim_end()))
        .collect()
}

/// The commands that a help text lists.
fn commands(help: &str) -> Vec<String> {
    let list = between(help, "Commands:\n", "\n\n").unwrap_or_default();
    let words = list
        .lines()
        .filter_map(|line| line.split_whitespace().next());
    words
        .filter(|word| *word != "help")
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_command_lines_help_is_in_the_book() {
    let (mut text, mut open) = (String::new(), vec![Vec::new()]);
    while !open.is_empty() {
        let args: Vec<String> = open.remove(0);
        let words: Vec<_> = args.iter().map(String::as_str).collect();
        let help = help(&words);
        let title = [&["cargo", "gpuk"][..], &words].concat().join(" ");
        text.push_str(&format!(
            "## `{title}`\n\n```text\n{}\n```\n\n",
            help.trim_end()
        ));
        let inner = commands(&help)
            .into_iter()
            .map(|command| [&args[..], &[command]].concat());
        open.splice(0..0, inner);
    }
    generated("cli", "cli", &text);
}

#[test]
fn every_exit_code_is_in_the_book() {
    let source = read("cargo-gpuk/src/exit.rs");
    let variants = between(&source, "pub enum Exit {", "\n}").unwrap();
    let mut rows: Vec<_> = documented(variants)
        .into_iter()
        .map(|(meaning, variant)| {
            let name = variant.split(['(', ',']).next().unwrap();
            let arm = source.lines().find_map(|line| {
                let (pattern, code) = line.trim().strip_suffix(',')?.split_once(" => ")?;
                let named = pattern.strip_prefix("Self::")?.split('(').next()? == name;
                named.then(|| code.parse::<u8>().ok())
            });
            let code = arm.unwrap_or_else(|| panic!("`{name}` has no code"));
            (
                code.unwrap_or(u8::MAX),
                code.map_or("any".to_owned(), |code| code.to_string()),
                meaning,
            )
        })
        .collect();
    rows.sort();
    let rows = rows
        .into_iter()
        .map(|(_, code, meaning)| vec![code, meaning]);
    generated("exit-codes", "exit", &table(&["code", "means"], rows));
}

/// The book's page of a code takes in the text that `cargo gpuk explain` prints.
fn page_of(code: &str) {
    let path = workspace_root().join(format!("book/src/reference/codes/{code}.md"));
    let text = format!("{{{{#include ../../../../build-support/build/src/explain/{code}.md}}}}\n");
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let there = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(there, text, "{code}: rewrite with UPDATE=1");
}

#[test]
fn every_diagnostic_code_is_in_the_book() {
    let source = read("build-support/build/src/code.rs");
    let codes = between(&source, "\ncodes! {", "\n}").unwrap();
    let rows = documented(codes).into_iter().map(|(meaning, item)| {
        let number: u16 = item
            .trim_end_matches(';')
            .split_once(" = ")
            .unwrap()
            .1
            .parse()
            .unwrap();
        let code = format!("GPUK{number:04}");
        page_of(&code);
        vec![format!("[`{code}`](codes/{code}.md)"), meaning]
    });
    generated("diagnostics", "codes", &table(&["code", "means"], rows));
}

#[test]
fn every_configuration_key_is_in_the_book() {
    let source = read("build-support/build/src/config/mod.rs");
    let fields = between(&source, "pub struct Config {", "\n}").unwrap();
    let (_, defaults) = source.split_once("impl Default for Config").unwrap();
    let default = |field: &str| {
        let (_, rest) = defaults
            .split_once(&format!("\n            {field}: "))
            .unwrap();
        match rest.split_once(",\n").unwrap().0 {
            "Vec::new()" => "`[]`".to_owned(),
            "None" | "BTreeMap::new()" | "Profile::Dev" => "not set".to_owned(),
            "true" => "`true`".to_owned(),
            "Archs::default()" => {
                let arch = read("build-support/build/src/config/arch.rs");
                let (_, arch) = arch.split_once("pub const DEFAULT: Self").unwrap();
                format!("`[\"{}\"]`", between(arch, "number: ", ",").unwrap())
            }
            "patterns.map(Pattern::assumed).to_vec()" => {
                let list = between(defaults, "let patterns = [", "];").unwrap();
                format!(
                    "`[{}]`",
                    list.split_whitespace()
                        .collect::<Vec<_>>()
                        .join(" ")
                        .trim_end_matches(',')
                )
            }
            mode => match mode
                .strip_prefix("CheckMode::")
                .or(mode.strip_prefix("Engine::"))
            {
                Some(mode) => format!("`\"{}\"`", mode.to_lowercase()),
                None => panic!("how is the default `{mode}` of `{field}` written?"),
            },
        }
    };
    let mut keys = BTreeSet::new();
    let mut rows = Vec::new();
    for (comment, item) in documented(fields) {
        let (key, meaning) = comment.split_once(": ").unwrap();
        if key == "`kernel.NAME`" {
            keys.insert("kernel".to_owned());
            continue;
        }
        let field = between(item, "pub ", ":").unwrap();
        keys.insert(key.trim_matches('`').split('.').next().unwrap().to_owned());
        rows.push(vec![key.to_owned(), meaning.to_owned(), default(field)]);
    }
    let reader = read("build-support/build/src/config/read.rs");
    let known = |list: &str| -> BTreeSet<String> {
        let list = between(&reader, &format!("const {list}:"), "];").unwrap();
        list.split('"')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect()
    };
    // Read on its own, see `allowed`; the page explains it below the table.
    keys.insert("sim".to_owned());
    assert_eq!(keys, known("KEYS"), "`Config` and the reader's `KEYS`");

    let source = read("build-support/build/src/config/kernel.rs");
    let fields = between(&source, "pub struct KernelConfig {", "\n}").unwrap();
    let mut keys = BTreeSet::new();
    for (comment, _) in documented(fields) {
        let (key, meaning) = comment.split_once(": ").unwrap();
        let name = key.trim_matches('`').strip_prefix("kernel.NAME.").unwrap();
        keys.insert(name.to_owned());
        rows.push(vec![
            key.to_owned(),
            meaning.to_owned(),
            "not set".to_owned(),
        ]);
    }
    assert_eq!(
        keys,
        known("KERNEL_KEYS"),
        "`KernelConfig` and the reader's"
    );
    generated(
        "configuration",
        "config",
        &table(&["key", "is", "default"], rows),
    );
}

/// The sources of the command and of the pipeline.
fn sources(folder: &Path) -> Vec<String> {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if entry.file_name().to_string_lossy().contains("tests") {
            continue;
        }
        if path.is_dir() {
            texts.extend(sources(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(path).unwrap();
            texts.push(text.split("#[cfg(test)]").next().unwrap().to_owned());
        }
    }
    texts
}

fn all_sources() -> String {
    let folders = ["cargo-gpuk/src", "build-support/build/src"];
    folders
        .iter()
        .flat_map(|folder| sources(&workspace_root().join(folder)))
        .collect()
}

#[test]
fn every_variable_that_is_read_is_in_the_book() {
    let (text, page) = (all_sources(), read("book/src/reference/environment.md"));
    let mut names = BTreeSet::new();
    for call in [
        "get(\"",
        "path(\"",
        "raw(\"",
        "plain(\"",
        "var_os(\"",
        "env = \"",
        "VARIABLE: &str = \"",
    ] {
        names.extend(
            text.split(call)
                .skip(1)
                .filter_map(|rest| rest.split('"').next()),
        );
    }
    // Lists that the names are taken from one by one.
    for (list, open) in [
        ("FOLDER_VARIABLES: [", "= ["),
        ("NVCC_VARIABLES: [", "= ["),
        ("(name, is_conda)", "in ["),
        ("fn cxx_names", "vec!["),
    ] {
        let (_, rest) = text
            .split_once(list)
            .unwrap_or_else(|| panic!("`{list}` has another name"));
        names.extend(
            between(rest, open, "]")
                .unwrap()
                .split('"')
                .skip(1)
                .step_by(2),
        );
    }
    let variable = |name: &&str| {
        name.starts_with(|c: char| c.is_ascii_uppercase())
            && !name.contains('{')
            && !name[1..].starts_with(|c: char| c.is_ascii_lowercase())
    };
    let missing: Vec<_> = names
        .into_iter()
        .filter(variable)
        .filter(|name| !page.contains(&format!("`{name}`")))
        .collect();
    assert!(
        missing.is_empty(),
        "not on the page of environment variables: {missing:?}"
    );
}

#[test]
fn every_json_message_is_in_the_book() {
    let (text, page) = (all_sources(), read("book/src/reference/messages.md"));
    let reasons = text
        .split("reason: \"")
        .skip(1)
        .filter_map(|rest| rest.split('"').next());
    for reason in reasons {
        assert!(page.contains(&format!("| `{reason}` |")), "`{reason}`");
    }
}

/// The README, the changelog, and every page, relative to the workspace.
fn pages() -> Vec<String> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => walk(&path, found),
                path if path.extension().is_some_and(|extension| extension == "md") => {
                    found.push(path)
                }
                _ => {}
            }
        }
    }
    let root = workspace_root();
    let mut found = vec![root.join("README.md"), root.join("CHANGELOG.md")];
    walk(&root.join("book/src"), &mut found);
    let relative = |path: PathBuf| {
        path.strip_prefix(&root)
            .unwrap()
            .to_string_lossy()
            .into_owned()
    };
    found.into_iter().map(relative).collect()
}

/// What a page links to, outside of code.
fn links(text: &str) -> Vec<&str> {
    let prose = text.split("```").step_by(2);
    prose
        .flat_map(|part| {
            part.split("](")
                .skip(1)
                .filter_map(|rest| rest.split(')').next())
        })
        .collect()
}

/// The anchors of a page's headings, as mdBook makes them.
fn anchors(text: &str) -> Vec<String> {
    let prose: String = text.split("```").step_by(2).collect();
    let headings = prose
        .lines()
        .filter(|line| line.starts_with('#'))
        .map(|line| line.trim_start_matches('#').trim());
    let slug = |heading: &str| {
        let kept = heading
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.collect::<String>().to_lowercase().replace(' ', "-")
    };
    headings.map(slug).collect()
}

#[test]
fn every_link_leads_somewhere() {
    let root = workspace_root();
    let mut broken = Vec::new();
    for page in pages() {
        let text = read(&page);
        for link in links(&text)
            .into_iter()
            .filter(|link| !link.starts_with("http"))
        {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => root.join(&page),
                file => root.join(&page).parent().unwrap().join(file),
            };
            let found = target.exists()
                && (anchor.is_empty()
                    || anchors(&std::fs::read_to_string(&target).unwrap())
                        .iter()
                        .any(|one| one == anchor));
            if !found {
                broken.push(format!("{page}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn the_summary_lists_every_page() {
    let summary = read("book/src/SUMMARY.md");
    let listed: BTreeSet<_> = links(&summary)
        .into_iter()
        .map(|link| format!("book/src/{link}"))
        .collect();
    let there = pages()
        .into_iter()
        .filter(|page| page.starts_with("book/src/") && !page.ends_with("SUMMARY.md"));
    assert_eq!(there.collect::<BTreeSet<_>>(), listed);
}

#[test]
fn the_configurations_in_the_book_are_accepted() {
    for page in pages() {
        let text = read(&page);
        for block in text
            .split("```toml\n")
            .skip(1)
            .filter_map(|rest| rest.split("```").next())
        {
            if !block.contains("metadata.gpuk") {
                continue;
            }
            let package = "[package]\nname = \"p\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
            let package = if block.contains("[package]") {
                ""
            } else {
                package
            };
            let workspace = if block.contains("[workspace.") {
                ""
            } else {
                "[workspace]\n"
            };
            // The book's reader has a checkout beside the project.
            let block = block.replace("../gpuk", &workspace_root().to_string_lossy());
            let project =
                Project::new("p", GPUK).file("Cargo.toml", &format!("{package}{workspace}{block}"));
            let output = project.gpuk(&["check"]);
            let refused = output.code == Some(102)
                || ["GPUK0030", "GPUK0031"]
                    .iter()
                    .any(|code| output.stderr.contains(code));
            assert!(!refused, "{page}\n{block}\n{}", output.shown());
        }
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_the_readmes_example_builds() {
    let readme = read("README.md");
    let block = |language: &str| between(&readme, &format!("```{language}\n"), "```").unwrap();
    let runtime = workspace_root().join("build-support/runtime");
    let project = Project::new("rows", GPUK)
        .file("kernels/gather.cu", block("cpp"))
        .file("src/main.rs", block("rust,ignore"));
    let _ = std::fs::remove_file(project.root().join("src/lib.rs"));
    let manifest = std::fs::read_to_string(project.root().join("Cargo.toml")).unwrap();
    project.write(
        "Cargo.toml",
        &format!("{manifest}\n[dependencies]\ngpuk = {{ path = {runtime:?} }}\n"),
    );

    let listed = project.gpuk(&["list"]).ok().stdout;
    let output = block("text");
    let (condition, place) = (
        between(output, "condition: `", "`").unwrap(),
        between(output, "--> ", "\n").unwrap(),
    );
    assert!(
        listed.contains(&format!("GPUK_CHECK({condition})  {place}")),
        "{listed}"
    );

    let _ = project.gpuk(&["build"]).ok();
    let results = project.root().join("target/gpuk");
    std::fs::create_dir(results.join("out")).unwrap();
    std::fs::rename(results.join("rows"), results.join("out/gpuk")).unwrap();
    let out = results.join("out").display().to_string();
    let _ = project.env("OUT_DIR", Some(&out)).cargo(&["check"]).ok();
}
