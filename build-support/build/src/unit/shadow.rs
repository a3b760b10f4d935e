//! Where a new file would be included instead of one that was read.
//!
//! An `#include` takes the first folder that has the name; a file that appears in an earlier one changes what
//! is compiled without any change to what was read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Shop;

/// The places, none of which has a file now, relative to the package where they lie below it.
///
/// The names are those of the package's files and of its `include` folders; the folders searched are those and
/// every folder that a file was read from. System headers are left to the compilers.
pub(crate) fn places(shop: &Shop<'_>, read: &[PathBuf]) -> Vec<PathBuf> {
    let package = shop.package;
    absent(&package.root, &package.searched(), read)
}

fn absent(root: &Path, include: &[PathBuf], read: &[PathBuf]) -> Vec<PathBuf> {
    let of_package = |path: &&PathBuf| {
        path.is_relative()
            || include
                .iter()
                .any(|folder| path.starts_with(root.join(folder)))
    };
    let headers: Vec<_> = read.iter().filter(of_package).collect();
    let parents = headers.iter().filter_map(|path| path.parent());
    let folders: BTreeSet<_> = parents
        .chain(include.iter().map(PathBuf::as_path))
        .collect();
    let spelled = headers.iter().flat_map(|header| {
        let below = folders
            .iter()
            .filter_map(|folder| header.strip_prefix(folder).ok());
        below.collect::<Vec<_>>()
    });
    let names: BTreeSet<_> = spelled.collect();
    let places = folders
        .iter()
        .flat_map(|folder| names.iter().map(|name| folder.join(name)));
    let places: BTreeSet<_> = places.filter(|place| !root.join(place).exists()).collect();
    places.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_folder_is_asked_for_every_name() {
        let root = tempfile::tempdir().unwrap();
        let paths = ["kernels/k.cu", "kernels/a.cuh", "inc/v.h", "inc/sub/w.h"].map(PathBuf::from);
        for path in &paths {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let read = [&paths[..], &[PathBuf::from("/usr/include/math.h")]].concat();
        let places = absent(root.path(), &[PathBuf::from("inc")], &read);
        let has = |path: &str| places.contains(&PathBuf::from(path));
        assert!(has("kernels/v.h") && has("kernels/sub/w.h") && has("kernels/w.h"));
        assert!(has("inc/a.cuh") && has("inc/sub/a.cuh"));
        assert!(!has("kernels/a.cuh") && !has("kernels/math.h"));
    }
}
