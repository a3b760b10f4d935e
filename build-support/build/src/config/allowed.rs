//! `sim.allow`: findings of the simulator that were looked at and are no mistakes, with the reason.
//!
//! They concern `cargo gpuk test --sim` and `run --sim` alone, so they are read apart from what kernels are built by.

use std::path::Path;

use toml::Spanned;
use toml::de::DeValue;

use super::manifest::{ManifestError, parse, settings, table, workspace_of};
use super::read::Reader;
use crate::diagnostic::Diagnostic;
use crate::fs;

/// Findings of a kind in some kernels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// `kernel`: a name as the PTX has it, where `*` is any text and `?` any character.
    pub kernel: String,
    /// `finding`: its kind.
    pub finding: String,
    /// `reason`: why it is none.
    pub reason: String,
}

/// The kinds that can be allowed: those after which a launch goes on.
const FINDINGS: [&str; 4] = [
    "race",
    "same-value-race",
    "uninitialised",
    "write-to-non-coherent",
];
/// Of `sim`.
const KEYS: [&str; 1] = ["allow"];
/// Of an entry.
const ENTRY_KEYS: [&str; 3] = ["finding", "kernel", "reason"];

impl Allowed {
    /// Reads what the manifest of a package and that of its workspace allow; what is wrong there goes to `findings`.
    ///
    /// # Errors
    /// A manifest cannot be read or is not TOML.
    pub fn read(path: &Path, findings: &mut Vec<Diagnostic>) -> Result<Vec<Self>, ManifestError> {
        let text = fs::read_to_string(path)?;
        let document = parse(&text, path)?;
        let mut all = Vec::new();
        let workspace = match table(&document, &["workspace"]) {
            Some(_) => Some((path.to_owned(), text.clone())),
            None => workspace_of(path, table(&document, &["package"]))?,
        };
        if let Some((path, text)) = workspace {
            let document = parse(&text, &path)?;
            if let Some(metadata) = settings(&document, "workspace") {
                all.extend(of(metadata, &mut Reader::new(&path, &text, findings)));
            }
        }
        if let Some(metadata) = settings(&document, "package") {
            all.extend(of(metadata, &mut Reader::new(path, &text, findings)));
        }
        Ok(all)
    }
}

fn of(metadata: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Vec<Allowed> {
    let metadata = reader.whole(metadata);
    let Some(value) = metadata.and_then(|metadata| metadata.get("sim")) else {
        return Vec::new();
    };
    let Some(settings) = value.get_ref().as_table() else {
        reader.bad(value, "a table of the simulator's settings");
        return Vec::new();
    };
    let mut all = Vec::new();
    for (key, value) in settings {
        if key.get_ref() != KEYS[0] {
            reader.unknown(key.span(), key.get_ref(), &KEYS);
            continue;
        }
        let Some(entries) = value.get_ref().as_array() else {
            reader.bad(
                value,
                "a list of tables with `kernel`, `finding` and `reason`",
            );
            continue;
        };
        all.extend(entries.iter().filter_map(|one| entry(one, reader)));
    }
    all
}

fn entry(value: &Spanned<DeValue<'_>>, reader: &mut Reader<'_>) -> Option<Allowed> {
    let Some(settings) = value.get_ref().as_table() else {
        reader.bad(value, "a table with `kernel`, `finding` and `reason`");
        return None;
    };
    let (mut kernel, mut finding, mut reason) = (None, None, None);
    for (key, value) in settings {
        match key.get_ref().as_ref() {
            "kernel" => kernel = Some(reader.one(value, name)),
            "finding" => finding = Some(reader.one(value, kind)),
            "reason" => reason = Some(reader.one(value, why)),
            _ => reader.unknown(key.span(), key.get_ref(), &ENTRY_KEYS),
        }
    }
    // What is there and wrong has been said.
    let missing = [
        (
            kernel.is_none(),
            "an entry with a `kernel`, a pattern of names",
        ),
        (
            finding.is_none(),
            "an entry with a `finding`, such as `race`",
        ),
        (
            reason.is_none(),
            "an entry with a `reason` why it is no mistake",
        ),
    ];
    for (_, expected) in missing.into_iter().filter(|(missing, _)| *missing) {
        reader.bad(value, expected);
    }
    Some(Allowed {
        kernel: kernel??,
        finding: finding??,
        reason: reason??,
    })
}

fn name(text: &str) -> Result<String, &'static str> {
    // What the simulator is told has these between kernels and kinds.
    match text.trim() {
        "" => Err("the name of a kernel or a pattern of names"),
        text if text.contains([':', ';']) => Err("a name as the PTX has it, which is mangled"),
        text => Ok(text.to_owned()),
    }
}

fn kind(text: &str) -> Result<String, &'static str> {
    if FINDINGS.contains(&text) {
        return Ok(text.to_owned());
    }
    Err("`race`, `same-value-race`, `uninitialised` or `write-to-non-coherent`")
}

fn why(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("the reason why it is no mistake"),
        text => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(manifest: &str) -> (Vec<Allowed>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("Cargo.toml");
        std::fs::write(&path, manifest).unwrap();
        let mut findings = Vec::new();
        let all = Allowed::read(&path, &mut findings).unwrap();
        let said = findings.iter().map(|found| {
            let code = found.code.map(|code| code.to_string()).unwrap_or_default();
            let line = found.labels[0].place.line;
            format!("{code} line {line}: {}", found.message)
        });
        (all, said.collect())
    }

    #[test]
    fn entries_of_workspace_and_package_add_up() {
        let (all, said) = read(
            "[workspace.metadata.gpuk.sim]\n\
             allow = [{ kernel = \"*\", finding = \"same-value-race\", reason = \"flags\" }]\n\
             [package.metadata.gpuk.sim]\n\
             allow = [{ kernel = \"reduce*\", finding = \"race\", reason = \"warp-synchronous\" }]\n\
             [workspace]\n",
        );
        assert_eq!(said, [""; 0]);
        assert_eq!(all.len(), 2);
        assert_eq!((&*all[1].kernel, &*all[1].finding), ("reduce*", "race"));
    }

    #[test]
    fn an_entry_says_why() {
        let (all, said) = read(
            "[package.metadata.gpuk.sim]\n\
             allow = [\n\
             { kernel = \"a\", finding = \"race\" },\n\
             { kernel = \"b\", finding = \"race\", reason = \" \" },\n\
             { kernel = \"c\", finding = \"out-of-bounds\", reason = \"why not\" },\n\
             { kernel = \"d\", finding = \"race\", reason = \"so\", because = \"\" },\n\
             ]\n\
             allowed = 1\n",
        );
        assert_eq!(all.len(), 1);
        insta::assert_snapshot!(said.join("\n"), @r#"
        GPUK0031 line 3: `{ kernel = "a", finding = "race" }` is not an entry with a `reason` why it is no mistake
        GPUK0031 line 4: `" "` is not the reason why it is no mistake
        GPUK0031 line 5: `"out-of-bounds"` is not `race`, `same-value-race`, `uninitialised` or `write-to-non-coherent`
        GPUK0030 line 6: unknown key `because`
        GPUK0030 line 8: unknown key `allowed`
        "#);
    }
}
