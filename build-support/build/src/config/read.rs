//! Takes the values out of a `metadata.gpuk` table; everything wrong in it becomes a finding with its place.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::nearest::nearest;
use super::{
    ALLOWABLE, ArchSetting, CheckMode, Config, Instantiation, KernelConfig, Memory, MinimumDriver,
    Pattern, Profile, Signature, TrapMode, Wrapper, WrapperOrigin,
};
use crate::diagnostic::{Code, Diagnostic, Place};

const KEYS: [&str; 25] = [
    "archs",
    "checks",
    "cuda",
    "debug-checks",
    "engine",
    "exclude",
    "export-include",
    "flags",
    "host-compiler",
    "host-objects",
    "include",
    "include-from",
    "instantiate",
    "kernel",
    "kernels",
    "line-info",
    "link",
    "memory",
    "minimum-driver",
    "profile",
    "sim",
    "split-compile",
    "toolkit",
    "traps",
    "wrapper",
];

/// Of `kernel.NAME`.
const KERNEL_KEYS: [&str; 5] = ["allow", "checks", "debug-checks", "signature", "traps"];

/// Of `profile.NAME`, as they are of a package too.
const PROFILE_KEYS: [&str; 7] = [
    "checks",
    "debug-checks",
    "engine",
    "flags",
    "line-info",
    "split-compile",
    "traps",
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

    /// Puts what is set into `config`.
    pub(super) fn settings(&mut self, value: &Spanned<DeValue<'_>>, config: &mut Config) {
        if let Some(table) = self.whole(value) {
            self.table(table, config);
        }
    }

    /// The table that `metadata.gpuk` is.
    pub(super) fn whole<'v, 't>(
        &mut self,
        value: &'v Spanned<DeValue<'t>>,
    ) -> Option<&'v DeTable<'t>> {
        let table = value.get_ref().as_table();
        if table.is_none() {
            self.bad(value, "a table of gpuk's settings");
        }
        table
    }

    fn table(&mut self, table: &DeTable<'_>, config: &mut Config) {
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "kernels" => self.set(&mut config.kernels, |r| r.list(value, pattern)),
                "host-objects" => self.set(&mut config.host_objects, |r| r.list(value, pattern)),
                "exclude" => self.set(&mut config.exclude, |r| r.list(value, pattern)),
                "archs" => {
                    self.set(&mut config.archs, |r| {
                        let items = r.list(value, ArchSetting::from_str)?;
                        Some(items.into_iter().collect())
                    });
                    if config.archs.is_empty() {
                        self.bad(value, "at least one architecture");
                    }
                }
                "minimum-driver" => self.set(&mut config.minimum_driver, |r| {
                    r.one(value, MinimumDriver::from_str).map(Some)
                }),
                "include" => self.set(&mut config.include, |r| r.list(value, path)),
                "include-from" => self.set(&mut config.include_from, |r| r.list(value, string)),
                "export-include" => self.set(&mut config.export_include, |r| r.list(value, path)),
                "flags" => self.set(&mut config.flags, |r| r.list(value, string)),
                "instantiate" => self.set(&mut config.instantiate, |r| r.instances(value)),
                "cuda" => self.set(&mut config.cuda, |r| r.one(value, version).map(Some)),
                "toolkit" => self.set(&mut config.toolkit, |r| {
                    let toolkit = r.one(value, path)?;
                    Some(Some(r.folder().join(toolkit)))
                }),
                "host-compiler" => self.set(&mut config.host_compiler, |r| r.program(value)),
                "wrapper" => self.set(&mut config.wrapper, |r| r.wrapper(value)),
                "memory" => self.set(&mut config.memory, |r| {
                    r.one(value, Memory::from_str).map(Some)
                }),
                "link" => self.links(value, config),
                "kernel" => self.kernels(value, config),
                // Concerns no kernel as it is built; see `allowed`.
                "sim" => {}
                // Goes over the plain keys, wherever it stands.
                "profile" => {}
                key if PROFILE_KEYS.contains(&key) => self.of_profile(key, value, config),
                _ => self.unknown(key.span(), key.get_ref(), &KEYS),
            }
        }
        if let Some(profiles) = table.get("profile") {
            self.profiles(profiles, config);
        }
    }

    /// A setting that a profile can have.
    fn of_profile(&mut self, key: &str, value: &Spanned<DeValue<'_>>, config: &mut Config) {
        match key {
            "checks" => self.set(&mut config.checks, |r| r.one(value, FromStr::from_str)),
            "traps" => self.set(&mut config.traps, |r| {
                r.one(value, TrapMode::from_str).map(Some)
            }),
            "engine" => self.set(&mut config.engine, |r| r.one(value, FromStr::from_str)),
            "line-info" => self.set(&mut config.line_info, |r| r.boolean(value).map(Some)),
            "split-compile" => self.set(&mut config.split_compile, |r| r.boolean(value)),
            _ => self.set(&mut config.debug_checks, |r| r.boolean(value).map(Some)),
        }
    }

    /// Takes the table of the profile that is built; the others are only read.
    fn profiles(&mut self, value: &Spanned<DeValue<'_>>, config: &mut Config) {
        let Some(profiles) = value.get_ref().as_table() else {
            return self.bad(value, "a table of profiles");
        };
        for (name, settings) in profiles {
            let Some(profile) = Profile::ALL
                .into_iter()
                .find(|profile| profile.as_str() == name.get_ref())
            else {
                self.unknown_profile(name.span(), name.get_ref());
                continue;
            };
            let Some(table) = settings.get_ref().as_table() else {
                self.bad(settings, "a table of the profile's settings");
                continue;
            };
            let mut other = Config::default();
            let config = match profile == config.profile {
                true => &mut *config,
                false => &mut other,
            };
            for (key, value) in table {
                match key.get_ref().as_ref() {
                    "flags" => self.set(&mut config.added_flags, |r| r.list(value, string)),
                    key if PROFILE_KEYS.contains(&key) => self.of_profile(key, value, config),
                    unknown => self.unknown(key.span(), unknown, &PROFILE_KEYS),
                }
            }
        }
    }

    fn links(&mut self, value: &Spanned<DeValue<'_>>, config: &mut Config) {
        let Some(links) = value.get_ref().as_table() else {
            return self.bad(value, "a table of modules");
        };
        for (name, sources) in links {
            let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
            let named = name.get_ref().chars().all(word);
            if !named || name.get_ref().starts_with(|c: char| c.is_ascii_digit()) {
                self.bad(sources, "for a module whose name is an identifier");
                continue;
            }
            if let Some(patterns) = self.list(sources, pattern) {
                config.link.insert(name.get_ref().to_string(), patterns);
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
            let config = config.kernel.entry(kernel.get_ref().to_string());
            self.kernel(kernel.get_ref(), settings, config.or_default());
        }
    }

    fn kernel(&mut self, name: &str, settings: &DeTable<'_>, config: &mut KernelConfig) {
        for (key, value) in settings {
            match key.get_ref().as_ref() {
                "checks" => self.set(&mut config.checks, |r| {
                    r.one(value, mode_of_kernel).map(Some)
                }),
                "debug-checks" => {
                    self.set(&mut config.debug_checks, |r| r.boolean(value).map(Some));
                }
                "traps" => {
                    self.set(&mut config.traps, |r| {
                        r.one(value, TrapMode::from_str).map(Some)
                    });
                }
                "signature" => self.signature(name, value, config),
                "allow" => self.allow(value, config),
                _ => self.unknown(key.span(), key.get_ref(), &KERNEL_KEYS),
            }
        }
    }

    fn signature(&mut self, name: &str, value: &Spanned<DeValue<'_>>, config: &mut KernelConfig) {
        let Some(signature) = self.one(value, Signature::from_str) else {
            return;
        };
        if signature.declared().name == name {
            config.signature = Some(signature);
        } else {
            self.bad(value, &format!("a declaration of `{name}`"));
        }
    }

    fn allow(&mut self, value: &Spanned<DeValue<'_>>, config: &mut KernelConfig) {
        let Some(allowed) = value.get_ref().as_table() else {
            return self.bad(value, "a table of codes with reasons");
        };
        for (key, value) in allowed {
            let code = key.get_ref().parse().ok();
            let Some(code) = code.filter(|code| ALLOWABLE.contains(code)) else {
                let codes = ALLOWABLE.map(|code| code.to_string());
                let codes: Vec<_> = codes.iter().map(String::as_str).collect();
                self.unknown(key.span(), key.get_ref(), &codes);
                continue;
            };
            if let Some(reason) = self.one(value, reason) {
                config.allow.insert(code, reason);
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

    /// Each with its place, where what is wrong with it is said.
    fn instances(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Vec<Instantiation>> {
        let mut all = self.list(value, Instantiation::from_str)?;
        let items = value.get_ref().as_array()?;
        for (instance, item) in all.iter_mut().zip(items.iter()) {
            instance.place = Some(self.place(item.span()));
        }
        Some(all)
    }

    pub(super) fn one<T>(
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

    /// A program; a bare name is looked up on PATH.
    fn program(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Option<PathBuf>> {
        let program = self.one(value, path)?;
        let is_bare = program.components().count() == 1;
        Some(Some(match is_bare {
            true => program,
            false => self.folder().join(program),
        }))
    }

    fn wrapper(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Option<Wrapper>> {
        let program = self.program(value)??;
        let origin = WrapperOrigin::Setting(self.place(value.span()));
        Some(Some(Wrapper { program, origin }))
    }

    fn boolean(&mut self, value: &Spanned<DeValue<'_>>) -> Option<bool> {
        let boolean = value.get_ref().as_bool();
        if boolean.is_none() {
            self.bad(value, "`true` or `false`");
        }
        boolean
    }

    pub(super) fn bad(&mut self, value: &Spanned<DeValue<'_>>, expected: &str) {
        let found = self.text.get(value.span()).unwrap_or_default().trim();
        let found = found.lines().next().unwrap_or_default();
        let diagnostic = Diagnostic::error(Code::BAD_VALUE, format!("`{found}` is not {expected}"))
            .at(self.place(value.span()), format!("expected {expected}"));
        self.findings.push(diagnostic);
    }

    pub(super) fn unknown(&mut self, span: Range<usize>, key: &str, known: &[&str]) {
        let mut diagnostic = Diagnostic::error(Code::UNKNOWN_KEY, format!("unknown key `{key}`"))
            .at(self.place(span), "not a setting of gpuk");
        diagnostic = match nearest(key, known) {
            Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
            None => diagnostic.help(format!("the keys are `{}`", known.join("`, `"))),
        };
        self.findings.push(diagnostic);
    }

    fn unknown_profile(&mut self, span: Range<usize>, name: &str) {
        let message = format!("unknown profile `{name}`");
        let diagnostic = Diagnostic::error(Code::UNKNOWN_KEY, message)
            .at(self.place(span), "not `dev` or `release`")
            .note("cargo tells a build script only which of the two a profile stems from")
            .help("set it for the profile that this one inherits from in the end");
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

fn reason(text: &str) -> Result<String, &'static str> {
    match text.trim() {
        "" => Err("the reason why it does not happen"),
        text => Ok(text.to_owned()),
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
    use crate::config::Engine;

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
        assert_eq!(config.archs.names(), ["80", "90a"]);
        assert_eq!(config.flags, ["-O3"]);
        assert_eq!(config.checks, CheckMode::Trap);
        assert_eq!(config.toolkit, Some(PathBuf::from("/w/cuda")));
        assert_eq!(config.kernel["gather"].checks, Some(CheckMode::Off));
    }

    #[test]
    fn a_profiles_table_goes_over_the_plain_keys_where_it_is_built() {
        let text = "checks = 'functional'\ntraps = 'keep'\n[profile.dev]\nchecks = 'trap'\ntraps = 'check'\n\
                    [profile.release]\ndebug-checks = true\nengine = 'nvcc'\n";
        let table = DeTable::parse(text).unwrap().into_inner();
        let read = |profile| {
            let (mut findings, mut config) = (Vec::new(), Config::default());
            config.profile = profile;
            Reader::new(Path::new("Cargo.toml"), text, &mut findings).table(&table, &mut config);
            assert_eq!(findings, []);
            (
                config.checks,
                config.debug_checks,
                config.traps,
                config.engine,
            )
        };
        let dev = (CheckMode::Trap, None, Some(TrapMode::Check), Engine::Auto);
        let release = (
            CheckMode::Functional,
            Some(true),
            Some(TrapMode::Keep),
            Engine::Nvcc,
        );
        assert_eq!((read(Profile::Dev), read(Profile::Release)), (dev, release));
    }

    #[test]
    fn a_kernel_has_settings_of_its_own() {
        let (config, findings) = read(
            "[kernel.k]\ndebug-checks = false\ntraps = 'check'\nsignature = 'void k(float *y)'\n\
             allow = { GPUK0006 = 'one warp' }\n",
        );
        assert_eq!(findings, [""; 0]);
        let kernel = &config.kernel["k"];
        assert_eq!(kernel.debug_checks, Some(false));
        assert_eq!(kernel.traps, Some(TrapMode::Check));
        assert_eq!(
            kernel.signature.as_ref().map(|it| it.types().len()),
            Some(1)
        );
        assert_eq!(kernel.allow[&Code::STOP_WHERE_OTHERS_WAIT], "one warp");
    }

    #[test]
    fn bad_settings_of_kernels_and_profiles_are_found() {
        let (_, findings) = read(
            "[kernel.k]\nsignature = 'void f(float *y)'\nallow = { GPUK0005 = 'x', GPUK0006 = '' }\ntrap = 'keep'\n\
             [kernel.g]\nsignature = 'float *y'\n[profile.bench]\n[profile.dev]\narchs = []\n",
        );
        insta::assert_debug_snapshot!(findings, @r#"
        [
            "GPUK0031 /w/Cargo.toml:6:13 `'float *y'` is not a C declaration such as `void scale(float *y, float by, int n)` | ",
            "GPUK0030 /w/Cargo.toml:3:11 unknown key `GPUK0005` | did you mean `GPUK0006`?",
            "GPUK0031 /w/Cargo.toml:3:38 `''` is not the reason why it does not happen | ",
            "GPUK0031 /w/Cargo.toml:2:13 `'void f(float *y)'` is not a declaration of `k` | ",
            "GPUK0030 /w/Cargo.toml:4:1 unknown key `trap` | did you mean `traps`?",
            "GPUK0030 /w/Cargo.toml:7:10 unknown profile `bench` | set it for the profile that this one inherits from in the end",
            "GPUK0030 /w/Cargo.toml:9:1 unknown key `archs` | the keys are `checks`, `debug-checks`, `engine`, `flags`, `line-info`, `split-compile`, `traps`",
        ]
        "#);
    }

    #[test]
    fn the_environment_goes_over_kernels_too() {
        let (mut config, mut findings) =
            read("debug-checks = true\n[kernel.k]\ndebug-checks = true\n");
        let env = crate::env::Env::from_pairs([("GPUK_DEBUG_CHECKS", "0")]);
        let mut said = Vec::new();
        config.take_environment(&env, &mut said);
        assert_eq!(
            (config.debug_checks, config.kernel["k"].debug_checks),
            (Some(false), None)
        );
        let env = crate::env::Env::from_pairs([("GPUK_DEBUG_CHECKS", "yes")]);
        config.take_environment(&env, &mut said);
        findings.extend(said.into_iter().map(|finding| finding.message));
        assert_eq!(findings, ["`GPUK_DEBUG_CHECKS` is `yes`, not `0` or `1`"]);
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
            "GPUK0031 /w/Cargo.toml:1:16 `'ampere'` is not an architecture such as `80`, `sm_90` or `90a`, `all-major` or `native` | ",
            "GPUK0031 /w/Cargo.toml:3:10 `'maybe'` is not `functional`, `trap` or `off` | ",
            "GPUK0031 /w/Cargo.toml:4:8 `13.0` is not a string | ",
            "GPUK0031 /w/Cargo.toml:2:9 `'-O3'` is not a list of strings | ",
            "GPUK0031 /w/Cargo.toml:5:12 `'/k/*.cu'` is not a pattern relative to the package's folder | ",
        ]
        "#);
    }
}
