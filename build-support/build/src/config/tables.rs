//! The two tables as text, for telling whether settings have changed: what a kernel cannot depend on is left out.

use std::path::PathBuf;

use toml::de::{DeTable, DeValue};

use super::ManifestError;
use super::manifest::{parse, table, workspace_of};
use crate::fs;

/// Where tools lie on one machine, what it has for them, and what only the simulator reads.
const LEFT_OUT: [&str; 4] = ["host-compiler", "memory", "sim", "toolkit"];

/// The tables of a package, keys sorted.
#[derive(Debug)]
pub(crate) struct Tables {
    /// `[package.metadata.gpuk]`.
    pub(crate) package: String,
    /// `[workspace.metadata.gpuk]`; `None` where the package stands alone.
    pub(crate) workspace: Option<String>,
}

impl Tables {
    /// Of the manifests that a configuration was read from, the package's own first.
    ///
    /// # Errors
    /// One cannot be read or is not TOML.
    pub(crate) fn of(manifests: &[PathBuf]) -> Result<Self, ManifestError> {
        let Some(path) = manifests.first() else {
            return Ok(Self {
                package: String::new(),
                workspace: None,
            });
        };
        let text = fs::read_to_string(path)?;
        let document = parse(&text, path)?;
        let own = table(&document, &["package", "metadata", "gpuk"]);
        let shared = ["workspace", "metadata", "gpuk"];
        let workspace = match table(&document, &["workspace"]) {
            Some(_) => Some(table(&document, &shared).map(shown).unwrap_or_default()),
            None => match workspace_of(path, table(&document, &["package"]))? {
                None => None,
                Some((path, text)) => {
                    let document = parse(&text, &path)?;
                    Some(table(&document, &shared).map(shown).unwrap_or_default())
                }
            },
        };
        Ok(Self {
            package: own.map(shown).unwrap_or_default(),
            workspace,
        })
    }
}

fn shown(table: &DeTable<'_>) -> String {
    let mut text = String::new();
    let kept = table
        .iter()
        .filter(|(key, _)| !LEFT_OUT.contains(&key.get_ref().as_ref()));
    let mut kept: Vec<_> = kept.collect();
    kept.sort_by(|(a, _), (b, _)| a.get_ref().cmp(b.get_ref()));
    for (key, entry) in kept {
        text += &format!("{:?} = ", key.get_ref());
        value(entry.get_ref(), &mut text);
        text.push('\n');
    }
    text
}

fn value(value_: &DeValue<'_>, text: &mut String) {
    match value_ {
        DeValue::String(it) => *text += &format!("{it:?}"),
        DeValue::Integer(it) => *text += &it.to_string(),
        DeValue::Float(it) => *text += &it.to_string(),
        DeValue::Boolean(it) => *text += &it.to_string(),
        DeValue::Datetime(it) => *text += &it.to_string(),
        DeValue::Array(items) => {
            text.push('[');
            for item in items {
                value(item.get_ref(), text);
                text.push(',');
            }
            text.push(']');
        }
        DeValue::Table(table) => *text += &format!("{{{}}}", shown(table)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tables(text: &str) -> String {
        let document = parse(text, std::path::Path::new("Cargo.toml")).unwrap();
        shown(table(&document, &["gpuk"]).unwrap())
    }

    #[test]
    fn order_and_spelling_do_not_matter_values_do() {
        let one =
            "[gpuk]\narchs = [\"80\", '90']\nflags = []\n[gpuk.kernel.\"a\"]\nchecks = \"off\"\n";
        let two = "[gpuk]\nkernel = { a = { checks = 'off' } }\nflags = [ ]\ntoolkit = \"/x\"\narchs = [\n'80', '90' ]\n";
        assert_eq!(tables(one), tables(two));
        assert_ne!(tables(one), tables(&one.replace("90", "9")));
        assert_ne!(tables(one), tables(&one.replace("\"80\", '90'", "'80,90'")));
    }
}
