//! `tests/third-party.md`: a row for each crate, and what its settings are.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use gpuk_tests::workspace_root;

use crate::count::Count;
use crate::crates::{CRATES, Crate, LEFT};

const HEAD: &str = "\
# Kernels of published crates

What share of the kernels that people have gets a wrapper. `tests/tests/yardstick` writes this file: cargo fetches the
crates, `cargo gpuk` compiles their `.cu` files for sm_80 with the settings below, and what is generated has to compile with
every warning an error and be as rustfmt writes it. A kernel without a wrapper has a finding with a code that says why; the
test fails for one that has neither.

Rows marked `ci` are counted and compared each time; the others by hand:
`cargo test -p gpuk-tests --test yardstick -- --ignored whole_`.

| crate | `.cu` files | left out | kernels | of the toolkit's headers | wrappers | refused | |
|---|---|---|---|---|---|---|---|
";

/// The file as rows.
pub(crate) struct Report {
    /// By crate.
    rows: BTreeMap<String, String>,
}

fn file() -> PathBuf {
    workspace_root().join("tests/third-party.md")
}

fn title(of: &Crate) -> String {
    format!("{} {}", of.name, of.version)
}

impl Report {
    /// The rows that are there.
    pub(crate) fn read() -> Self {
        let text = std::fs::read_to_string(file()).unwrap_or_default();
        let row = |line: &str| {
            let title = line.strip_prefix("| ")?.split(" |").next()?;
            Some((title.to_owned(), line.to_owned()))
        };
        let rows = text.lines().filter_map(row).collect();
        Self { rows }
    }

    /// Takes a crate's row.
    pub(crate) fn count(&mut self, of: &Crate, count: &Count) {
        let refused = count.refused.iter();
        let refused: Vec<_> = refused
            .map(|(code, times)| format!("{times} × {code}"))
            .collect();
        let refused = match refused.is_empty() {
            true => "0".to_owned(),
            false => refused.join(", "),
        };
        let row = format!(
            "| {} | {} | {} | {} | {} | {} | {refused} | {} |",
            title(of),
            count.files,
            of.skipped.len(),
            count.kernels,
            count.toolkit,
            count.wrappers,
            if of.quick { "ci" } else { "by hand" },
        );
        self.rows.insert(title(of), row);
    }

    /// Writes the file anew, or compares it.
    pub(crate) fn settle(&self, write: bool) {
        let text = self.text();
        if write {
            std::fs::write(file(), &text).unwrap();
        }
        let kept = std::fs::read_to_string(file()).unwrap_or_default();
        assert_eq!(
            kept, text,
            "tests/third-party.md is stale: run this test with UPDATE=1"
        );
    }

    fn text(&self) -> String {
        let mut text = HEAD.to_owned();
        let rows = CRATES.iter().filter_map(|it| self.rows.get(&title(it)));
        let mut sum = [0; 3];
        for row in rows {
            _ = writeln!(text, "{row}");
            let cells: Vec<_> = row.split('|').map(str::trim).collect();
            for (sum, at) in sum.iter_mut().zip([4, 5, 6]) {
                *sum += cells[at].parse::<usize>().unwrap();
            }
        }
        let [kernels, toolkit, wrappers] = sum;
        let own = kernels - toolkit;
        let share = 100.0 * wrappers as f64 / own.max(1) as f64;
        _ = writeln!(
            text,
            "\nOf {own} kernels of the crates' own, {wrappers} have a wrapper: {share:.1} %. The others have a reason.\n\n## Settings\n"
        );
        for it in CRATES
            .iter()
            .filter(|it| self.rows.contains_key(&title(it)))
        {
            _ = writeln!(text, "### {}\n\n```toml\n{}\n```\n", title(it), it.config);
            for need in it.needs {
                _ = writeln!(
                    text,
                    "`deps/{0}` is the folder `{1}` of {0} {2}.\n",
                    need.name, need.folder, need.version
                );
            }
            for (file, why) in it.skipped {
                _ = writeln!(text, "- `{file}` is left out: {why}.");
            }
        }
        _ = writeln!(text, "## Not compiled\n");
        for (name, why) in LEFT {
            _ = writeln!(text, "- {name}: {why}.");
        }
        let missing = CRATES
            .iter()
            .filter(|it| !self.rows.contains_key(&title(it)));
        for it in missing {
            _ = writeln!(
                text,
                "- {}: its settings are known, and it has not been counted yet.",
                title(it)
            );
        }
        text
    }
}
