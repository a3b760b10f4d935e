//! Finds the kernel sources of a package by its patterns.
//!
//! The result depends on the files alone: sorted, links to folders not followed, `.gitignore` not asked. Folders of
//! other packages, hidden folders and cargo's own (`CACHEDIR.TAG`) are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::config::{Arch, Pattern};
use crate::diagnostic::{Code, Diagnostic, Level, Place};
use crate::fs::FsError;
use crate::package::Package;

/// A file that is to be a module of kernels.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct KernelSource {
    /// Relative to the package's folder.
    pub path: PathBuf,
    /// What it is written in.
    pub language: Language,
    /// Of PTX: what it is for.
    pub target: Option<Target>,
    /// The module that it is linked into with others.
    pub link: Option<String>,
}

/// The `.target` of a PTX source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// What it names.
    pub arch: Arch,
    /// The line it stands in.
    pub line: u32,
}

impl KernelSource {
    /// Whether it can be compiled for an architecture.
    #[must_use]
    pub fn is_for(&self, arch: Arch) -> bool {
        self.target.is_none_or(|target| arch.takes(target.arch))
    }
}

/// What a source is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    /// CUDA C++, `.cu`.
    Cuda,
    /// PTX, `.ptx`.
    Ptx,
}

impl Language {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "cu" => Some(Self::Cuda),
            "ptx" => Some(Self::Ptx),
            _ => None,
        }
    }
}

/// The sources of a package, and the folders that were searched for them.
#[derive(Debug, Default)]
pub struct Sources {
    /// Sorted by path.
    pub files: Vec<KernelSource>,
    /// The modules that several of the files are linked into, by name; none of them is a file.
    pub links: Vec<KernelSource>,
    /// Sources of host functions, sorted.
    pub host: Vec<PathBuf>,
    /// Where a new file would be found; these exist.
    pub folders: Vec<PathBuf>,
}

/// Finds the sources; a written pattern that matches nothing is a finding.
///
/// # Errors
/// A folder cannot be read.
pub fn discover(package: &Package, findings: &mut Vec<Diagnostic>) -> Result<Sources, FsError> {
    let mut search = Search {
        package,
        folders: BTreeSet::new(),
        findings: &mut *findings,
    };
    let host = search.files(&package.config.host_objects)?;
    let host: BTreeSet<_> = host
        .into_iter()
        .filter(|path| Language::of(path) == Some(Language::Cuda))
        .collect();
    // What is found by default alone is not meant where it is named for something else.
    let kernels = &package.config.kernels;
    let named = |path: &Path| {
        let mut written = kernels.iter().filter(|pattern| pattern.written);
        written.any(|pattern| pattern.matches(&slashed(path)))
    };
    let mut found = BTreeMap::new();
    for path in search.files(kernels)? {
        if let Some(language) = Language::of(&path)
            && (named(&path) || !host.contains(&path))
        {
            found.insert(path, language);
        }
    }
    let folders = search.folders;
    let files = found.into_iter().map(|(path, language)| {
        let target = match language {
            Language::Cuda => None,
            Language::Ptx => target(&package.root.join(&path)),
        };
        KernelSource {
            path,
            language,
            target,
            link: None,
        }
    });
    let mut files: Vec<_> = files.collect();
    let links = link(package, &mut files, findings);
    Ok(Sources {
        files,
        links,
        host: host.into_iter().collect(),
        folders: folders.into_iter().collect(),
    })
}

/// Looks for files, and notes where it looked.
struct Search<'a> {
    package: &'a Package,
    folders: BTreeSet<PathBuf>,
    findings: &'a mut Vec<Diagnostic>,
}

impl Search<'_> {
    /// The files that patterns match, those of `exclude` left out; a written pattern that matches nothing is a finding.
    fn files(&mut self, patterns: &[Pattern]) -> Result<BTreeSet<PathBuf>, FsError> {
        let package = self.package;
        let excluded = |path: &str| package.config.exclude.iter().any(|p| p.matches(path));
        let mut found = BTreeSet::new();
        for pattern in patterns {
            let base = literal_folder(pattern);
            let start = package.root.join(&base);
            let mut matched = false;
            if start.is_dir() {
                self.folders.insert(base.clone());
                let walk = WalkDir::new(&start).sort_by_file_name().into_iter();
                for entry in walk.filter_entry(belongs) {
                    let entry = entry.map_err(|error| walk_error(error, &start))?;
                    let Ok(below) = entry.path().strip_prefix(&start) else {
                        continue;
                    };
                    let path = base.join(below);
                    let shown = slashed(&path);
                    // A link to a file is one.
                    if !entry.path().is_file() || !pattern.matches(&shown) {
                        continue;
                    }
                    matched = true;
                    if !excluded(&shown) {
                        found.insert(path);
                    }
                }
            }
            if !matched && pattern.written {
                self.findings.push(unused(pattern, package));
            }
        }
        Ok(found)
    }
}

/// Puts files into the modules that they are linked into, and gives those that have some.
fn link(
    package: &Package,
    files: &mut [KernelSource],
    findings: &mut Vec<Diagnostic>,
) -> Vec<KernelSource> {
    let mut links = Vec::new();
    for (name, patterns) in &package.config.link {
        for pattern in patterns {
            let of_pattern = |file: &&mut KernelSource| pattern.matches(&slashed(&file.path));
            let mut matched = false;
            for file in files.iter_mut().filter(of_pattern) {
                matched = true;
                match &file.link {
                    Some(other) if other != name => findings.push(twice(file, [other, name])),
                    _ => file.link = Some(name.clone()),
                }
            }
            if !matched && pattern.written {
                let finding = unused(pattern, package);
                findings.push(finding.note("`link` takes from the files that `kernels` finds"));
            }
        }
        if files.iter().any(|file| file.link.as_ref() == Some(name)) {
            links.push(KernelSource {
                path: PathBuf::from(name),
                language: Language::Cuda,
                target: None,
                link: None,
            });
        }
    }
    links
}

/// A file that two modules want.
fn twice(file: &KernelSource, modules: [&str; 2]) -> Diagnostic {
    let [first, second] = modules;
    let path = file.path.display();
    let message = format!("`{path}` is in both `link.{first}` and `link.{second}`");
    Diagnostic::error(Code::BAD_VALUE, message)
        .at(Place::line(&file.path, 1), "")
        .help("let the patterns of one of them leave it out")
}

/// What PTX is for; nothing where that is not understood, which assembling says better.
fn target(path: &Path) -> Option<Target> {
    let text = std::fs::read(path).ok()?;
    let text = String::from_utf8_lossy(&text);
    let mut lines = (1..).zip(text.lines());
    let (line, target) =
        lines.find_map(|(number, line)| Some((number, line.trim().strip_prefix(".target")?)))?;
    let mut words = target.split([',', ' ', '\t', '/']);
    let arch = words.find(|word| !word.is_empty())?.parse().ok()?;
    Some(Target { arch, line })
}

impl Sources {
    /// PTX that some of the architectures cannot take, or none.
    pub(crate) fn misfits(&self, archs: &[Arch]) -> Vec<Diagnostic> {
        let files = self.files.iter();
        files.filter_map(|file| misfit(file, archs)).collect()
    }
}

fn misfit(file: &KernelSource, archs: &[Arch]) -> Option<Diagnostic> {
    let (taking, others): (Vec<_>, Vec<_>) = archs.iter().partition(|arch| file.is_for(**arch));
    let Target { arch: target, line } = file.target?;
    let (path, place) = (file.path.display(), Place::line(&file.path, line));
    let names = |archs: &[&Arch]| {
        let names: Vec<_> = archs.iter().map(|arch| arch.sm()).collect();
        names.join(", ")
    };
    let said = match (&taking[..], &others[..]) {
        (_, []) => return None,
        ([], others) => Diagnostic::error(
            Code::PTX_TARGET,
            format!(
                "`{path}` is for `{}`, not for {}",
                target.sm(),
                names(others)
            ),
        )
        .help(format!(
            "add \"{target}\" to `archs`, or name the file in `exclude`"
        )),
        (taking, others) => Diagnostic::new(
            Some(Code::KERNEL_MISSING_FOR_ARCH),
            Level::Note,
            format!(
                "`{path}` is for `{}` and is not compiled for {}",
                target.sm(),
                names(others)
            ),
        )
        .note(format!(
            "its wrappers load on devices that have the image for {}",
            names(taking)
        )),
    };
    Some(said.at(place, ""))
}

/// The components of a pattern before the first wildcard: where a search starts.
fn literal_folder(pattern: &Pattern) -> PathBuf {
    let mut parts: Vec<_> = pattern.text.split('/').collect();
    parts.pop();
    let literal = parts.iter().take_while(|part| !part.contains(['*', '?']));
    literal.filter(|part| **part != ".").collect()
}

fn belongs(entry: &DirEntry) -> bool {
    if entry.depth() == 0 || !entry.file_type().is_dir() {
        return true;
    }
    let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
    let foreign = |name| entry.path().join(name).exists();
    !hidden && !foreign("Cargo.toml") && !foreign("CACHEDIR.TAG")
}

fn slashed(path: &Path) -> String {
    let parts: Vec<_> = path
        .components()
        .map(|part| match part {
            Component::ParentDir => "..".into(),
            part => part.as_os_str().to_string_lossy(),
        })
        .collect();
    parts.join("/")
}

fn walk_error(error: walkdir::Error, start: &Path) -> FsError {
    FsError {
        action: "search",
        path: error.path().unwrap_or(start).to_owned(),
        source: error.into(),
    }
}

fn unused(pattern: &Pattern, package: &Package) -> Diagnostic {
    let text = &pattern.text;
    let message = format!(
        "the pattern `{text}` of package `{}` matches no file",
        package.name
    );
    Diagnostic::warning(Code::UNUSED_PATTERN, message)
        .help("a pattern is relative to the package's folder; `**` stands for any folders")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;

    fn package(root: &Path, kernels: &[&str], exclude: &[&str]) -> Package {
        let pattern = |text: &&str| Pattern {
            text: (*text).to_owned(),
            written: true,
        };
        let mut config = Config::default();
        if !kernels.is_empty() {
            config.kernels = kernels.iter().map(pattern).collect();
        }
        config.exclude = exclude.iter().map(pattern).collect();
        Package {
            name: "p".to_owned(),
            root: root.to_owned(),
            manifests: vec![],
            headers: vec![],
            generated: None,
            config,
            out: root.join("out"),
            store: crate::package::StoreFolder {
                folder: root.join("store"),
                limit: 0,
            },
        }
    }

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        root
    }

    fn found(root: &Path, kernels: &[&str], exclude: &[&str]) -> (Vec<String>, usize) {
        let mut findings = Vec::new();
        let sources = discover(&package(root, kernels, exclude), &mut findings).unwrap();
        let names = sources.files.iter().map(|file| slashed(&file.path));
        (names.collect(), findings.len())
    }

    #[test]
    fn defaults_find_kernels_and_src_but_no_other_package() {
        let root = tree(&[
            "kernels/b.cu",
            "kernels/a b/ü.cu",
            "kernels/a.cuh",
            "kernels/x.ptx",
            "src/deep/er/k.cu",
            "src/.hidden/k.cu",
            "kernels/other/Cargo.toml",
            "kernels/other/k.cu",
            "target/k.cu",
            "top.cu",
        ]);
        let expected = [
            "kernels/a b/ü.cu",
            "kernels/b.cu",
            "kernels/x.ptx",
            "src/deep/er/k.cu",
        ];
        assert_eq!(
            found(root.path(), &[], &[]),
            (expected.map(String::from).to_vec(), 0)
        );
    }

    #[test]
    #[cfg(unix)]
    fn a_link_to_a_file_is_a_source_and_one_to_a_folder_is_not() {
        use std::os::unix::fs::symlink;
        let root = tree(&["lib/a.cu", "kernels/b.cu"]);
        symlink("../lib/a.cu", root.path().join("kernels/a.cu")).unwrap();
        symlink("../lib", root.path().join("kernels/lib")).unwrap();
        symlink("nowhere", root.path().join("kernels/c.cu")).unwrap();
        let (names, _) = found(root.path(), &[], &[]);
        assert_eq!(names, ["kernels/a.cu", "kernels/b.cu"]);
    }

    #[test]
    fn exclusion_wins_and_an_idle_pattern_is_said() {
        let root = tree(&["k/a.cu", "k/moe_b.cu", "lib/c.cu"]);
        let (names, findings) = found(
            &root.path().join("k"),
            &["*.cu", "../lib/*.cu", "no/*.cu"],
            &["moe_*.cu"],
        );
        assert_eq!(names, ["../lib/c.cu", "a.cu"]);
        assert_eq!(findings, 1);
    }
}
