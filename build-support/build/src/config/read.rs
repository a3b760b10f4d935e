//! Takes the values out of a `metadata.gpuk` table; everything wrong in it becomes a finding with its place.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::nearest::nearest;
use super::{CheckMode, Config, Pattern};
use crate::diagnostic::{Code, Diagnostic, Place};

const KEYS: [&str; 11] = [
    "archs",
    "checks",
    "cuda",
    "debug-checks",
    "exclude",
    "flags",
    "host-compiler",
    "include",
    "kernel",
    "kernels",
    "toolkit",
];

/// Reads one table of one manifest.
pub(super) struct Reader<'a> {
    path: &'a Path,
    text: &'a str,
    findings: &'a mut Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(path: &'a Path, text: &'a str, findings: &'a mut Vec<Diagnostic>) -> Self {
        Self {
            path,
            text,
            findings,
        }
    }

    /// Puts what the table sets into `config`.
    pub(super) fn table(&mut self, table: &DeTable<'_>, config: &mut Config) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "kernels" => self.set(&mut config.kernels, |r| r.list(value, pattern)),
                "exclude" => self.set(&mut config.exclude, |r| r.list(value, pattern)),
                "archs" => {
                    self.set(&mut config.archs, |r| r.list(value, FromStr::from_str));
                    config.archs.sort();
                    config.archs.dedup();
                    if config.archs.is_empty() {
                        self.bad(value, "at least one architecture");
                    }
                }
                "include" => self.set(&mut config.include, |r| r.list(value, path)),
                "flags" => self.set(&mut config.flags, |r| r.list(value, string)),
                "cuda" => self.set(&mut config.cuda, |r| r.one(value, version).map(Some)),
                "toolkit" => self.set(&mut config.toolkit, |r| {
                    let toolkit = r.one(value, path)?;
                    Some(Some(r.folder().join(toolkit)))
                }),
                "host-compiler" => {
                    self.set(&mut config.host_compiler, |r| {
                        let compiler = r.one(value, path)?;
                        // A bare name is looked up on PATH.
                        let bare = compiler.components().count() == 1;
                        Some(Some(if bare {
                            compiler
                        } else {
                            r.folder().join(compiler)
                        }))
                    });
                }
                "checks" => self.set(&mut config.checks, |r| r.one(value, FromStr::from_str)),
                "debug-checks" => {
                    self.set(&mut config.debug_checks, |r| r.boolean(value).map(Some));
                }
                "kernel" => self.kernels(value, config),
                _ => self.unknown(key.span(), key.get_ref(), &KEYS),
            }
        }
    }

    fn kernels(&mut self, value: &Spanned<DeValue<'_>>, config: &mut Config) {
        let Some(kernels) = value.get_ref().as_table() else {
            return self.bad(value, "a table of kernels");
        };
        for (kernel, settings) in kernels {
            let Some(settings) = settings.get_ref().as_table() else {
                self.bad(settings, "a table of the kernel's settings");
                continue;
            };
            for (key, value) in settings {
                if key.get_ref() == "checks" {
                    if let Some(mode) = self.one(value, mode_of_kernel) {
                        config.kernel.insert(kernel.get_ref().to_string(), mode);
                    }
                } else {
                    self.unknown(key.span(), key.get_ref(), &["checks"]);
                }
            }
        }
    }

    fn set<T>(&mut self, place: &mut T, read: impl FnOnce(&mut Self) -> Option<T>) {
        if let Some(value) = read(self) {
            *place = value;
        }
    }

    fn list<T>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        read: fn(&str) -> Result<T, &'static str>,
    ) -> Option<Vec<T>> {
        let Some(items) = value.get_ref().as_array() else {
            self.bad(value, "a list of strings");
            return None;
        };
        let all: Vec<_> = items.iter().map(|item| self.one(item, read)).collect();
        all.into_iter().collect()
    }

    fn one<T>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        read: fn(&str) -> Result<T, &'static str>,
    ) -> Option<T> {
        let Some(text) = value.get_ref().as_str() else {
            self.bad(value, "a string");
            return None;
        };
        read(text)
            .map_err(|expected| self.bad(value, expected))
            .ok()
    }

    fn boolean(&mut self, value: &Spanned<DeValue<'_>>) -> Option<bool> {
        let boolean = value.get_ref().as_bool();
        if boolean.is_none() {
            self.bad(value, "`true` or `false`");
        }
        boolean
    }

    fn bad(&mut self, value: &Spanned<DeValue<'_>>, expected: &str) {
        let found = self.text.get(value.span()).unwrap_or_default().trim();
        let found = found.lines().next().unwrap_or_default();
        let diagnostic = Diagnostic::error(Code::BAD_VALUE, format!("`{found}` is not {expected}"))
            .at(self.place(value.span()), format!("expected {expected}"));
        self.findings.push(diagnostic);
    }

    fn unknown(&mut self, span: Range<usize>, key: &str, known: &[&str]) {
        let mut diagnostic = Diagnostic::error(Code::UNKNOWN_KEY, format!("unknown key `{key}`"))
            .at(self.place(span), "not a setting of gpuk");
        diagnostic = match nearest(key, known) {
            Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
            None => diagnostic.help(format!("the keys are `{}`", known.join("`, `"))),
        };
        self.findings.push(diagnostic);
    }

    fn folder(&self) -> PathBuf {
        self.path.parent().map(Path::to_owned).unwrap_or_default()
    }

    fn place(&self, span: Range<usize>) -> Place {
        let before = self.text.get(..span.start).unwrap_or_default();
        let start_of_line = before.rfind('\n').map_or(0, |at| at + 1);
        let number = |count: usize| u32::try_from(count + 1).unwrap_or(u32::MAX);
        Place {
            file: self.path.to_owned(),
            line: number(before.matches('\n').count()),
            column: Some(number(before.len() - start_of_line)),
        }
    }
}

fn pattern(text: &str) -> Result<Pattern, &'static str> {
    if Path::new(text).is_absolute() || text.is_empty() {
        return Err("a pattern relative to the package's folder");
    }
    Ok(Pattern {
        text: text.to_owned(),
        written: true,
    })
}

/// Trapping is compiled in for a whole package.
fn mode_of_kernel(text: &str) -> Result<CheckMode, &'static str> {
    match text.parse() {
        Ok(CheckMode::Trap) | Err(_) => {
            Err("`functional` or `off`, the modes that a single kernel can have")
        }
        Ok(mode) => Ok(mode),
    }
}

fn version(text: &str) -> Result<String, &'static str> {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    match text.split_once('.') {
        Some((major, minor)) if number(major) && number(minor) => Ok(text.to_owned()),
        _ => Err("a version such as `13.0`"),
    }
}

fn path(text: &str) -> Result<PathBuf, &'static str> {
    Ok(PathBuf::from(text))
}

fn string(text: &str) -> Result<String, &'static str> {
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (Config, Vec<String>) {
        let table = DeTable::parse(text).unwrap().into_inner();
        let mut findings = Vec::new();
        let mut config = Config::default();
        Reader::new(Path::new("/w/Cargo.toml"), text, &mut findings).table(&table, &mut config);
        let show = |finding: &Diagnostic| {
            format!(
                "{} {} {} | {}",
                finding.code.unwrap(),
                finding.labels[0].place,
                finding.message,
                finding.help.join(" ")
            )
        };
        (config, findings.iter().map(show).collect())
    }

    #[test]
    fn values_replace_the_defaults() {
        let (config, findings) = read(
            "archs = ['90a', '80', '8.0']\nflags = ['-O3']\nchecks = 'trap'\ntoolkit = 'cuda'\n\
             [kernel.gather]\nchecks = 'off'\n",
        );
        assert_eq!(findings, [""; 0]);
        let archs: Vec<_> = config.archs.iter().map(ToString::to_string).collect();
        assert_eq!(archs, ["80", "90a"]);
        assert_eq!(config.flags, ["-O3"]);
        assert_eq!(config.checks, CheckMode::Trap);
        assert_eq!(config.toolkit, Some(PathBuf::from("/w/cuda")));
        assert_eq!(config.kernel["gather"], CheckMode::Off);
    }

    #[test]
    fn an_unknown_key_names_its_place_and_the_nearest() {
        let (_, findings) = read("\narch = ['80']\n");
        insta::assert_debug_snapshot!(findings, @r#"
        [
            "GPUK0030 /w/Cargo.toml:2:1 unknown key `arch` | did you mean `archs`?",
        ]
        "#);
    }

    #[test]
    fn all_bad_values_are_found_at_once() {
        let (_, findings) = read(
            "archs = ['80', 'ampere']\nflags = '-O3'\nchecks = 'maybe'\ncuda = 13.0\nkernels = ['/k/*.cu']\n",
        );
        insta::assert_debug_snapshot!(findings, @r#"
        [
            "GPUK0031 /w/Cargo.toml:1:16 `'ampere'` is not an architecture such as `80`, `sm_90` or `90a` | ",
            "GPUK0031 /w/Cargo.toml:3:10 `'maybe'` is not `functional`, `trap` or `off` | ",
            "GPUK0031 /w/Cargo.toml:4:8 `13.0` is not a string | ",
            "GPUK0031 /w/Cargo.toml:2:9 `'-O3'` is not a list of strings | ",
            "GPUK0031 /w/Cargo.toml:5:12 `'/k/*.cu'` is not a pattern relative to the package's folder | ",
        ]
        "#);
    }
}
