//! Package specs, as `-p` and `--exclude` take them: of members of the workspace alone.
//!
//! `name`, `name@version`, the URL that cargo prints as a package's id, and patterns of a name with `*`, `?` and `[ab]`
//! (cargo, "Package ID Specifications" and "Package Selection").

use std::path::Path;

use cargo_metadata::Package;

/// Whether a spec names a package.
pub(crate) fn names(spec: &str, package: &Package) -> bool {
    let (url, rest) = match spec.rsplit_once('#') {
        Some((url, rest)) => (Some(url), rest),
        None if spec.contains("://") => (Some(spec), ""),
        None => (None, spec),
    };
    if url.is_some_and(|url| !is_folder_of(url, package)) {
        return false;
    }
    let (name, version) = match rest.split_once(['@', ':']) {
        Some((name, version)) => (name, Some(version)),
        // Behind a URL a version may stand alone.
        None if url.is_some() && rest.starts_with(|c: char| c.is_ascii_digit()) => {
            ("*", Some(rest))
        }
        None if url.is_some() && rest.is_empty() => ("*", None),
        None => (rest, None),
    };
    version.is_none_or(|version| is_version(version, package))
        && matches(name.as_bytes(), package.name.as_bytes())
}

/// `1` and `1.2` stand for any version that begins so.
fn is_version(text: &str, package: &Package) -> bool {
    let whole = package.version.to_string();
    let rest = whole.strip_prefix(text);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn is_folder_of(url: &str, package: &Package) -> bool {
    let path = url.strip_prefix("path+").unwrap_or(url);
    let path = path.strip_prefix("file://").unwrap_or(path);
    package.manifest_path.parent().map(|it| it.as_std_path()) == Some(Path::new(path))
}

/// Shell patterns: any number of characters, any one, one of a set.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.split_first(), name.split_first()) {
        (None, None) => true,
        (Some((b'*', rest)), _) => (0..=name.len()).any(|skipped| matches(rest, &name[skipped..])),
        (Some((b'[', rest)), Some((first, name))) => {
            let Some(end) = rest.iter().skip(1).position(|byte| *byte == b']') else {
                return false;
            };
            let (set, rest) = (&rest[..=end], &rest[end + 2..]);
            let (set, wanted) = match set.strip_prefix(b"!") {
                Some(set) => (set, false),
                None => (set, true),
            };
            is_in(*first, set) == wanted && matches(rest, name)
        }
        (Some((one, rest)), Some((first, name))) => {
            (*one == b'?' || one == first) && matches(rest, name)
        }
        (_, None) | (None, _) => false,
    }
}

/// `abc`, `a-z`.
fn is_in(byte: u8, set: &[u8]) -> bool {
    let ranges = set.windows(3).filter(|it| it[1] == b'-');
    set.contains(&byte) || ranges.into_iter().any(|it| (it[0]..=it[2]).contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_are_the_shells() {
        for (pattern, name, expected) in [
            ("kernels", "kernels", true),
            ("kernel", "kernels", false),
            ("*", "", true),
            ("k*-[ab]", "kernels-b", true),
            ("k*-[ab]", "kernels-c", false),
            ("k-[!ab]", "k-c", true),
            ("k-[0-9]?", "k-12", true),
            ("k-[0-9]?", "k-x2", false),
            ("k-[", "k-[", false),
        ] {
            let found = matches(pattern.as_bytes(), name.as_bytes());
            assert_eq!(found, expected, "{pattern} {name}");
        }
    }
}
