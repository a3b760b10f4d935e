//! What all sources of an architecture begin with: `cuda_runtime.h` and everything it includes, preprocessed once.
//!
//! A source is then preprocessed behind the macros of those headers alone, which takes a fifth of the time, and the
//! compiler gets of them what the source names (`prune`). Text and macros together say what the whole would say, but
//! for two things, which are looked for: headers that a `#pragma once` keeps from being read again, and
//! `__COUNTER__`.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;

use super::text::Text;
use super::{Job, Shop};
use crate::config::Arch;
use crate::fs;
use crate::prune::Headers;
use crate::run::ToolCommand;
use crate::source::Files;

/// From how many units of an architecture on it pays.
const ENOUGH: usize = 3;

/// The common beginning of all sources.
pub(super) struct Prefix {
    headers: Later<Headers>,
    /// Its content, for keys.
    pub(super) content: Text,
    /// The files of its macros: those of system headers, and the others.
    pub(super) macros: [PathBuf; 2],
    /// Its files by their names.
    pub(super) files: Files,
    /// The same by their paths.
    paths: BTreeSet<PathBuf>,
}

type Shared = Arc<OnceLock<Option<Arc<Prefix>>>>;

/// One for each recipe, made when the first source asks.
#[derive(Default)]
pub(crate) struct Prefixes {
    wanted: AtomicBool,
    by_recipe: Mutex<BTreeMap<(Arch, bool), Shared>>,
    /// What was looked for in files, and whether it is there.
    said: Mutex<HashMap<(PathBuf, &'static str), bool>>,
}

impl Prefixes {
    /// Says how many units of each architecture are to be made.
    pub(crate) fn expect(&self, units: usize) {
        self.wanted.store(units >= ENOUGH, Ordering::Relaxed);
    }

    fn is_wanted(&self, shop: &Shop<'_>) -> bool {
        self.wanted.load(Ordering::Relaxed) && shop.package.config.engine.prunes()
    }

    /// What would make the beginning of a job's source, if it is to have one.
    pub(super) fn commands(&self, job: &Job<'_>, shop: &Shop<'_>) -> Option<Commands> {
        let wanted = self.is_wanted(shop).then(|| Commands::of(job, shop));
        wanted.flatten()
    }

    /// The beginning of a job's source, where there is one to be had.
    pub(super) fn of(&self, job: &Job<'_>, shop: &Shop<'_>) -> Option<Arc<Prefix>> {
        if !self.is_wanted(shop) {
            return None;
        }
        let shared = self
            .by_recipe
            .lock()
            .ok()?
            .entry((job.arch, job.is_linked()))
            .or_default()
            .clone();
        shared
            .get_or_init(|| Prefix::make(job, shop).map(Arc::new))
            .clone()
    }

    /// Whether a text behind the macros of the headers is what it would be behind the headers.
    pub(super) fn holds(&self, prefix: &Prefix, read: &[PathBuf], root: &Path) -> bool {
        // gpuk's own counts to name variables that are in no module.
        let own = |path: &Path| path.ends_with(gpuk_device::HEADER_NAME);
        !read.iter().any(|path| {
            prefix.paths.contains(path) && self.says(root.join(path), "pragma once")
                || !own(path) && self.says(root.join(path), "__COUNTER__")
        })
    }

    /// Whether a word stands in a file, or nobody can tell.
    fn says(&self, path: PathBuf, word: &'static str) -> bool {
        let Ok(mut said) = self.said.lock() else {
            return true;
        };
        let said = said.entry((path, word));
        *said.or_insert_with_key(|(path, word)| {
            let text = fs::read(path);
            text.map_or(true, |text| String::from_utf8_lossy(&text).contains(word))
        })
    }
}

/// What makes a beginning: commands with the files that they write.
pub(super) struct Commands {
    /// An empty source.
    source: PathBuf,
    pub(super) text: (ToolCommand, PathBuf),
    pub(super) defined: (ToolCommand, PathBuf),
    pub(super) macros: [PathBuf; 2],
}

impl Commands {
    fn of(job: &Job<'_>, shop: &Shop<'_>) -> Option<Self> {
        let kind = if job.is_linked() { "linked" } else { "headers" };
        let file = |extension: &str| {
            shop.work
                .join(format!("{}.{kind}.{extension}", job.arch.sm()))
        };
        let (source, text, defined) = (file("cu"), file("ii"), file("defined"));
        let recipe = shop.tools.recipe(job.arch, job.is_linked()).ok()?;
        let root = &shop.package.root;
        Some(Self {
            text: (recipe.preprocess(&source, &text, root), text),
            defined: (recipe.macros(&source, &defined, root)?, defined),
            source,
            macros: [file("system.h"), file("h")],
        })
    }
}

impl Prefix {
    /// The headers apart; none of a text of four gigabytes.
    pub(super) fn headers(&self) -> Option<&Headers> {
        self.headers.get().as_ref()
    }

    fn make(job: &Job<'_>, shop: &Shop<'_>) -> Option<Self> {
        let Commands {
            source,
            text,
            defined,
            macros,
        } = Commands::of(job, shop)?;
        fs::write_private(&source, b"").ok()?;
        let run = |command: &ToolCommand| {
            let output = shop.run(command).ok()?;
            (output.status.success() && output.stderr.trim().is_empty()).then_some(())
        };
        let write_macros = || {
            run(&defined.0)?;
            let defined = String::from_utf8(fs::read(&defined.1).ok()?).ok()?;
            for (path, text) in macros.iter().zip(macros_of(&defined)) {
                fs::write_private(path, text.as_bytes()).ok()?;
            }
            Some(())
        };
        let read_text = || {
            run(&text.0)?;
            String::from_utf8(fs::read(&text.1).ok()?).ok()
        };
        // All other sources wait for both.
        let (text, written) = std::thread::scope(|scope| {
            let other = scope.spawn(write_macros);
            (read_text(), other.join().ok().flatten())
        });
        written?;
        let text = text?;
        let text = between(&text, &source)?;
        let paths = Files::of(text).named.into_iter().collect();
        let (text, _) = shop.folders.rename(text.as_bytes().to_vec());
        let text: Arc<str> = String::from_utf8(text).ok()?.into();
        let of_headers = Arc::clone(&text);
        // Sources are preprocessed meanwhile.
        let headers = Later::spawn(move || Headers::new(of_headers));
        let mut content = Text::default();
        content.add(text.as_bytes());
        Some(Self {
            headers,
            content,
            macros,
            files: Files::of(&text),
            paths,
        })
    }
}

/// What another thread works out.
struct Later<T> {
    thread: Mutex<Option<JoinHandle<Option<T>>>>,
    value: OnceLock<Option<T>>,
}

impl<T: Send + 'static> Later<T> {
    fn spawn(work: impl FnOnce() -> Option<T> + Send + 'static) -> Self {
        Self {
            thread: Mutex::new(Some(std::thread::spawn(work))),
            value: OnceLock::new(),
        }
    }

    /// Waits for it.
    fn get(&self) -> &Option<T> {
        self.value.get_or_init(|| {
            let thread = self.thread.lock().ok()?.take()?;
            thread.join().ok().flatten()
        })
    }
}

/// The macros that are defined at the end of a text with its definitions: those of system headers, which the
/// preprocessor tells apart in what it writes, and the others. Those of the command line are there anyway.
fn macros_of(text: &str) -> [String; 2] {
    let mut macros: BTreeMap<&str, (&str, bool)> = BTreeMap::new();
    let mut gone = Vec::new();
    let (mut is_system, mut is_built_in) = (false, true);
    for line in text.lines() {
        if let Some((_, rest)) = line
            .strip_prefix("# ")
            .and_then(|line| line.split_once('"'))
        {
            is_built_in = rest.starts_with('<');
            is_system = rest
                .rsplit_once('"')
                .is_some_and(|(_, flags)| flags.contains('3'));
        } else if is_built_in {
            // Defined again by the command line itself.
        } else if let Some(definition) = line.strip_prefix("#define ") {
            let end = definition.find(|c: char| !(c.is_alphanumeric() || c == '_'));
            let name = &definition[..end.unwrap_or(definition.len())];
            macros.insert(name, (line, is_system));
        } else if let Some(name) = line.strip_prefix("#undef ")
            && macros.remove(name.trim()).is_none()
        {
            gone.push(line);
        }
    }
    let of = |system: bool| {
        macros
            .values()
            .filter(move |(_, of)| *of == system)
            .map(|(line, _)| *line)
    };
    let lines =
        |first: &'static str, rest: Vec<&str>| [vec![first], rest].concat().join("\n") + "\n";
    // First what was taken back, for it may have been defined anew.
    let system = gone.into_iter().chain(of(true)).collect();
    [
        lines("#pragma GCC system_header", system),
        lines("", of(false).collect()),
    ]
}

/// The lines from the first marker of a file on to the last marker of the empty source, which follows everything
/// that the command line includes.
fn between<'t>(text: &'t str, source: &Path) -> Option<&'t str> {
    let start = behind_command_line(text)?;
    let source = format!("\"{}\"", source.display());
    let end = text.rfind(&source)?;
    let end = text[..end].rfind('\n')? + 1;
    text.get(start.min(end)..end)
}

/// Where the text of a source begins: behind the markers of what the preprocessor read before anything else.
///
/// Markers of what is built in stand among those of files without content.
pub(super) fn behind_command_line(text: &str) -> Option<usize> {
    let (mut at, mut behind) = (0, None);
    for line in text.split_inclusive('\n') {
        if !(line.starts_with('#') || line.trim().is_empty()) {
            break;
        }
        at += line.len();
        if line.contains("\"<") {
            behind = Some(at);
        }
    }
    behind
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_those_at_the_end() {
        let text = "# 1 \"<built-in>\"\n#define __x86_64__ 1\n# 1 \"/cuda/a.h\" 1\n#define A 1\n#undef A\n#define F(x) x\n\
                    # 1 \"/usr/b.h\" 1 3 4\n#define S \"3\"\n#undef linux\n# 4 \"/cuda/a.h\" 2\n#define B\n#define F(x) (x)\n";
        let [system, others] = macros_of(text);
        assert_eq!(
            system,
            "#pragma GCC system_header\n#undef linux\n#define S \"3\"\n"
        );
        assert_eq!(others, "\n#define B\n#define F(x) (x)\n");
    }

    #[test]
    fn a_source_begins_behind_the_command_line() {
        let text = "# 0 \"k.cu\"\n# 0 \"<built-in>\"\n# 1 \"/usr/include/stdc-predef.h\" 1 3 4\n# 0 \"<command-line>\" 2\n# 1 \"k.cu\"\nint a;\n# 1 \"<x>\"\n";
        let start = behind_command_line(text).unwrap();
        assert!(text[start..].starts_with("# 1 \"k.cu\"\nint a;"));
        assert_eq!(behind_command_line("int a;\n"), None);
    }
}
