//! What files are called in keys, line information, checks and findings that are kept: a name that does not depend on
//! where the workspace lies, so that another checkout of it is served from the same store.
//!
//! | a file | its name |
//! | --- | --- |
//! | of the package | relative to the package |
//! | of another package of the workspace | relative to the package too, with `..` |
//! | `gpuk.cuh` | `gpuk.cuh` |
//! | that the build script has made | `OUT_DIR/…` |
//! | of a package elsewhere that exports headers | from the name of that package's folder on |
//! | anywhere else | its path |
//!
//! Folders of the workspace are handed to the preprocessor under these names, so `__FILE__` says them by itself. The
//! others it finds by their paths; line markers are renamed in its text, and `__FILE__` by `-fmacro-prefix-map` where the
//! compiler has it. Where it does not, the path stands in the text, and with that in the key.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::package::Package;
use crate::source::unescaped;
use crate::tools::Tools;

/// The folder of the build script's own files.
const GENERATED: &str = "OUT_DIR";

/// The folders of a package that have names.
#[derive(Debug)]
pub(crate) struct Folders {
    root: PathBuf,
    /// Folders and their names, those below others first.
    named: Vec<(PathBuf, PathBuf)>,
    /// Those of them to which no way leads from the package, the inner ones first.
    mapped: Vec<(PathBuf, PathBuf)>,
    /// The toolkit's, which may lie in the workspace, by their paths and their names.
    toolkit: Vec<PathBuf>,
}

impl Folders {
    pub(crate) fn of(package: &Package, tools: &Tools) -> Self {
        let root = &package.root;
        let mut mapped = vec![(package.include(), PathBuf::new())];
        mapped.extend((package.generated.clone()).map(|folder| (folder, GENERATED.into())));
        for folder in &package.headers {
            if relative(package, folder).is_none()
                && let Some((owner, name)) = owner(folder)
            {
                mapped.push((owner, name));
            }
        }
        let mut named = mapped.clone();
        named.push((root.clone(), PathBuf::new()));
        for folder in root.ancestors().skip(1) {
            named.extend(relative(package, folder).map(|name| (folder.to_owned(), name)));
        }
        let depth = |path: &Path| std::cmp::Reverse(path.components().count());
        named.sort_by_key(|(folder, _)| depth(folder));
        named.dedup();
        let mut folders = Self {
            root: root.clone(),
            named,
            mapped,
            toolkit: tools.own_folders().map(Path::to_owned).collect(),
        };
        let named = folders.toolkit.iter().filter_map(|it| folders.name(it));
        let named: Vec<_> = named.collect();
        folders.toolkit.extend(named);
        folders
    }

    /// A preprocessed text with the names in its line markers, and what is called by them.
    pub(crate) fn rename(&self, text: Vec<u8>) -> (Vec<u8>, BTreeMap<PathBuf, PathBuf>) {
        let mut called = BTreeMap::new();
        let mut out = Vec::with_capacity(text.len());
        for line in text.split_inclusive(|byte| *byte == b'\n') {
            let renamed = (line.first() == Some(&b'#')).then(|| self.marker(line, &mut called));
            match renamed.flatten() {
                Some(renamed) => out.extend_from_slice(renamed.as_bytes()),
                None => out.extend_from_slice(line),
            }
        }
        (out, called)
    }

    fn marker(&self, line: &[u8], called: &mut BTreeMap<PathBuf, PathBuf>) -> Option<String> {
        let line = std::str::from_utf8(line).ok()?;
        let (before, rest) = line.split_once('"')?;
        let number = before
            .strip_prefix("# ")
            .or(before.strip_prefix("#line "))?;
        let (file, behind) = rest.rsplit_once('"')?;
        number.trim().parse::<u64>().ok()?;
        let path = unescaped(file);
        let name = path.is_absolute().then(|| self.name(&path)).flatten()?;
        let renamed = format!("{before}\"{}\"{behind}", escaped(&name));
        called.insert(name, path);
        Some(renamed)
    }

    fn name(&self, path: &Path) -> Option<PathBuf> {
        let mut named = self.named.iter();
        named.find_map(|(folder, name)| Some(name.join(path.strip_prefix(folder).ok()?)))
    }

    /// Whether a name is that of a header of the toolkit's, for which its identity stands.
    pub(crate) fn is_toolkits(&self, name: &Path) -> bool {
        self.toolkit.iter().any(|folder| name.starts_with(folder))
    }

    /// The file that goes by a name, where that is not its path from the package.
    pub(crate) fn file(&self, name: &Path) -> Option<PathBuf> {
        if name.is_absolute() || self.root.join(name).exists() {
            return None;
        }
        let below = |(folder, named): &(PathBuf, PathBuf)| {
            let file = folder.join(name.strip_prefix(named).ok()?);
            file.is_file().then_some(file)
        };
        self.mapped.iter().find_map(below)
    }

    /// Gives findings that were kept under names the paths that they have here.
    pub(crate) fn show(&self, findings: &mut [Diagnostic]) {
        let labels = findings.iter_mut().flat_map(|finding| &mut finding.labels);
        for label in labels {
            if let Some(file) = self.file(&label.place.file) {
                label.place.file = file;
            }
        }
    }

    /// The options by which a compiler of this version gives `__FILE__` the names too.
    pub(crate) fn options(&self, version: &str) -> Vec<String> {
        if !maps_macros(version) {
            return Vec::new();
        }
        let option = |(folder, name): &(PathBuf, PathBuf)| {
            let (folder, name) = (folder.to_str()?, name.to_str()?);
            let name = if name.is_empty() {
                String::new()
            } else {
                format!("{name}/")
            };
            // The first `=` ends what is replaced.
            (!folder.contains('=')).then(|| format!("-fmacro-prefix-map={folder}/={name}"))
        };
        // Of several that fit the last one counts.
        self.mapped.iter().rev().filter_map(option).collect()
    }
}

/// How a folder of headers is named to a compiler that runs in the package's folder.
pub(crate) fn searched(package: &Package, folder: &Path) -> PathBuf {
    relative(package, folder).unwrap_or_else(|| folder.to_owned())
}

/// The way from the package to a folder in it or in its workspace; none to what lies elsewhere, what the build makes, or
/// where a link leads another way.
fn relative(package: &Package, folder: &Path) -> Option<PathBuf> {
    let root = &package.root;
    if !folder.is_absolute() || package.is_made(folder) {
        return None;
    }
    let workspace = package.manifests.last().and_then(|it| it.parent());
    let workspace = workspace.filter(|it| root.starts_with(it)).unwrap_or(root);
    folder.strip_prefix(workspace).ok()?;
    let shared = root.ancestors().find(|it| folder.starts_with(it))?;
    let up = root.strip_prefix(shared).ok()?.components();
    let way: PathBuf = up
        .map(|_| Component::ParentDir)
        .chain(folder.strip_prefix(shared).ok()?.components())
        .collect();
    let same = root.join(&way).canonicalize().ok()? == folder.canonicalize().ok()?;
    same.then_some(match way.as_os_str().is_empty() {
        true => PathBuf::from("."),
        false => way,
    })
}

/// The folder of the package that a folder belongs to, and its name.
fn owner(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let mut above = folder.ancestors();
    let owner = above.find(|it| it.join("Cargo.toml").is_file())?;
    Some((owner.to_owned(), PathBuf::from(owner.file_name()?)))
}

/// gcc has the option from 8 on, clang from 10 on, which Apple calls 12.
fn maps_macros(version: &str) -> bool {
    let is_clang = version.contains("clang");
    let behind = version.split_once(')').filter(|_| !is_clang);
    let behind = behind.map_or(version, |(_, behind)| behind);
    let numbers = behind.split_whitespace().filter(|word| word.contains('.'));
    let mut majors = numbers.filter_map(|word| word.split('.').next()?.parse::<u32>().ok());
    let least = match version {
        _ if is_clang => 12,
        _ if version.contains("Microsoft") => return false,
        _ => 8,
    };
    majors.next().is_some_and(|major| major >= least)
}

/// As a line marker of gcc's has it: the counterpart of [`unescaped`].
fn escaped(name: &Path) -> String {
    let mut out = String::new();
    for &byte in name.as_os_str().as_encoded_bytes() {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(byte)]),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => out += &format!("\\{byte:03o}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders() -> Folders {
        let path = PathBuf::from;
        let named = [
            ("/ws/target/out/gpuk/include", ""),
            ("/ws/target/out", "OUT_DIR"),
            ("/ws/p", ""),
            ("/reg/math-1.0", "math-1.0"),
            ("/ws", ".."),
        ];
        let named = named.map(|(folder, name)| (path(folder), path(name)));
        let mapped = [&named[..2], &named[3..4]].concat();
        Folders {
            root: path("/ws/p"),
            named: named.to_vec(),
            mapped,
            toolkit: vec![path("/ws/.cuda"), path("../.cuda")],
        }
    }

    #[test]
    fn markers_have_names() {
        let renamed = |file: &str| {
            let text = format!("# 3 \"{file}\" 1 3\n");
            let (text, called) = folders().rename(text.into_bytes());
            let text = String::from_utf8(text).unwrap();
            let name = text
                .strip_prefix("# 3 \"")
                .unwrap()
                .strip_suffix("\" 1 3\n");
            (name.unwrap().to_owned(), called.into_values().next())
        };
        for (file, name) in [
            ("/ws/p/k/a.cuh", "k/a.cuh"),
            ("/ws/m/a.cuh", "../m/a.cuh"),
            ("/ws/target/out/a.cuh", "OUT_DIR/a.cuh"),
            ("/ws/target/out/gpuk/include/gpuk.cuh", "gpuk.cuh"),
            ("/reg/math-1.0/include/a.cuh", "math-1.0/include/a.cuh"),
        ] {
            assert_eq!(
                renamed(file),
                (name.to_owned(), Some(file.into())),
                "{file}"
            );
        }
        for file in ["k/a.cuh", "/usr/include/math.h", "/ws2/a.cuh", "<built-in>"] {
            assert_eq!(renamed(file), (file.to_owned(), None));
        }
        // As gcc writes `é"\`.
        let (name, file) = renamed(r#"/ws/p/\303\251\"\\"#);
        assert_eq!(name, r#"\303\251\"\\"#);
        assert_eq!(file, Some("/ws/p/é\"\\".into()));
        let text = b"#pragma once \"/ws/p/x\"\nchar *s = \"/ws/p/x\";\n".to_vec();
        assert_eq!(folders().rename(text.clone()).0, text);
    }

    #[test]
    fn a_toolkit_in_the_workspace_stays_one() {
        let folders = folders();
        for (name, is_it) in [
            ("../.cuda/include/a.h", true),
            ("/ws/.cuda/a.h", true),
            ("k/a.h", false),
        ] {
            assert_eq!(folders.is_toolkits(Path::new(name)), is_it);
        }
    }

    #[test]
    fn macros_say_names_where_the_compiler_can() {
        let options = folders().options("g++ (Debian 12.2.0-14+deb12u1) 12.2.0");
        // gcc takes the last that fits.
        assert_eq!(
            options,
            [
                "-fmacro-prefix-map=/reg/math-1.0/=math-1.0/",
                "-fmacro-prefix-map=/ws/target/out/=OUT_DIR/",
                "-fmacro-prefix-map=/ws/target/out/gpuk/include/=",
            ]
        );
        for (version, can) in [
            ("g++ (GCC) 11.4.1 20230605 (Red Hat 11.4.1-2)", true),
            ("g++ (GCC) 7.5.0", false),
            ("Debian clang version 14.0.6", true),
            ("Apple clang version 11.0.3 (clang-1103.0.32.59)", false),
            (
                "Microsoft (R) C/C++ Optimizing Compiler Version 19.39.33523 for x64",
                false,
            ),
            ("", false),
        ] {
            assert_eq!(maps_macros(version), can, "{version}");
        }
    }
}
