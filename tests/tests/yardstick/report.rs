//! `tests/third-party.md`: a row for each crate, and what its settings are.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

use gpuk_tests::workspace_root;

use crate::count::Count;
use crate::crates::{CRATES, Crate, Kind, LEFT};

const HEAD: &str = "\
# Kernels of published crates

What share of the kernels that people have gets a wrapper. `tests/tests/yardstick` writes this file: cargo fetches the
crates, `cargo gpuk` compiles their `.cu` files for sm_80 with the settings below, and what is generated has to compile with
every warning an error and be as rustfmt writes it. A kernel without a wrapper has a finding with a code that says why; the
test fails for one that has neither.

Rows marked `ci` are counted and compared each time; the others by hand, on the day and with the toolkit that they name:
`cargo test -p gpuk-tests --test yardstick -- --ignored whole_`.

| crate | `.cu` files | left out | kernels | of the toolkit's headers | wrappers | refused | |
|---|---|---|---|---|---|---|---|
";

/// What stands behind the numbers of refusals.
const CODES: &str = "\
## Refusals

| code | what it counts |
|---|---|
| GPUK0010 | a parameter's type cannot be written in Rust with the same bytes, and is no structure that could be |
| GPUK0011 | a parameter is a reference, which CUDA does not allow for kernels: nvcc passes an address, and only the host code that launches the kernel knows whether it is one of the device |
| GPUK0012 | a parameter's class has virtual functions or is not copied as bytes |
| GPUK0015 | the kernel is of a header of the toolkit, such as those of CUB: its own host functions launch it. These are in the column of the toolkit's headers, not among the refused |
";

/// The file as rows.
pub(crate) struct Report {
    /// By crate.
    rows: BTreeMap<String, String>,
    /// By crate, a line for each refusal.
    refused: BTreeMap<String, Vec<String>>,
}

fn file() -> PathBuf {
    workspace_root().join("tests/third-party.md")
}

fn title(of: &Crate) -> String {
    format!("{} {}", of.name, of.version)
}

/// The date.
fn today() -> String {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests drive programs from outside"
    )]
    let mut date = std::process::Command::new("date");
    let date = date.args(["-u", "+%F"]).output().unwrap().stdout;
    String::from_utf8_lossy(&date).trim().to_owned()
}

impl Report {
    /// The rows that are there.
    pub(crate) fn read() -> Self {
        let text = std::fs::read_to_string(file()).unwrap_or_default();
        let row = |line: &str| {
            let title = line.strip_prefix("| ")?.split(" |").next()?;
            Some((title.to_owned(), line.to_owned()))
        };
        let mut refused = BTreeMap::<_, Vec<_>>::new();
        for line in text.lines() {
            if let Some((title, _)) = line
                .strip_prefix("- ")
                .and_then(|line| line.split_once(": GPUK"))
            {
                refused
                    .entry(title.to_owned())
                    .or_default()
                    .push(line.to_owned());
            }
        }
        Self {
            rows: text.lines().filter_map(row).collect(),
            refused,
        }
    }

    /// Takes a crate's row.
    pub(crate) fn count(&mut self, of: &Crate, count: &Count) {
        let refused = count.refused.iter();
        let refused: Vec<_> = refused
            .map(|(code, kernels)| format!("{} × {code}", kernels.len()))
            .collect();
        let refused = match refused.is_empty() {
            true => "0".to_owned(),
            false => refused.join(", "),
        };
        let row = format!(
            "| {} | {} | {} | {} | {} | {} | {refused} | {} |",
            title(of),
            count.files,
            count.left,
            count.kernels,
            count.toolkit,
            count.wrappers,
            match of.quick {
                true => "ci".to_owned(),
                false => format!("by hand, {}, CUDA {}", today(), count.compiler),
            },
        );
        self.rows.insert(title(of), row);
        // Instances of a template are refused for the same reason.
        let mut times = BTreeMap::<_, usize>::new();
        for (code, kernels) in &count.refused {
            for ((_, kernel), why) in kernels {
                let name = kernel.split('<').next().unwrap_or(kernel);
                *times.entry((code, name, why)).or_default() += 1;
            }
        }
        let lines = times.iter().map(|((code, name, why), times)| {
            format!("- {}: {code}: {times} × `{name}`, {why}", title(of))
        });
        self.refused.insert(title(of), lines.collect());
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
            "\nOf {own} kernels of the crates' own, {wrappers} have a wrapper: {share:.1} %. The others have a reason.\n"
        );
        text += CODES;
        let lines = CRATES.iter().filter_map(|it| self.refused.get(&title(it)));
        let lines: Vec<_> = lines.flatten().map(String::as_str).collect();
        if !lines.is_empty() {
            _ = writeln!(text, "\n{}", lines.join("\n"));
        }
        _ = writeln!(text, "\n## Settings\n");
        for it in CRATES
            .iter()
            .filter(|it| self.rows.contains_key(&title(it)))
        {
            _ = writeln!(text, "### {}\n\n```toml\n{}\n```\n", title(it), it.config);
            for need in it.needs {
                _ = writeln!(
                    text,
                    "`deps/{0}` is {1}{2} {0} {3}.\n",
                    need.name,
                    match need.folder {
                        "" => String::new(),
                        folder => format!("the folder `{folder}` of "),
                    },
                    match need.kind {
                        Kind::Crate => "the crate",
                        Kind::Wheel => "the Python package",
                    },
                    need.version
                );
            }
            if let Some(made) = &it.made {
                _ = writeln!(
                    text,
                    "`{}` is what this program prints:\n\n```rust\n{}```\n",
                    made.file, made.program
                );
            }
            for (file, why) in it.skipped {
                _ = writeln!(text, "- `{file}` is left out: {why}.");
            }
            if !it.skipped.is_empty() {
                text.push('\n');
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
