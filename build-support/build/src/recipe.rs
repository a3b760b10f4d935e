//! What gpuk itself does to a unit, as a part of every key.
//!
//! A change in the code that makes units must not meet units that older code made. `recipe.txt` is a digest of
//! that code; the test here fails when it is stale, and `UPDATE=1` writes it anew.

/// Goes into every key.
pub(crate) const RECIPE: &str = concat!(
    "gpuk ",
    env!("CARGO_PKG_VERSION"),
    " ",
    include_str!("recipe.txt")
);

#[cfg(test)]
mod tests {
    use std::path::Path;

    use walkdir::WalkDir;

    use crate::digest::Digest;

    /// Everything that can change what a unit is, from preprocessed text to checked PTX and signatures, and
    /// what is generated from it.
    const CODE: [&str; 22] = [
        "../device/gpuk.cuh",
        "../device/src",
        "../ptx/src",
        "src/annotation",
        "src/capture.rs",
        "src/check",
        "src/ctype",
        "src/function.rs",
        "src/generate",
        "src/host",
        "src/instance.rs",
        "src/join.rs",
        "src/kernel.rs",
        "src/message.rs",
        "src/probe",
        "src/prune",
        "src/resources.rs",
        "src/signature",
        "src/site.rs",
        "src/source",
        "src/unit",
        "src/wrap.rs",
    ];

    #[test]
    fn the_recipe_is_of_this_code() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut parts = Vec::new();
        for path in CODE {
            let files = WalkDir::new(root.join(path))
                .sort_by_file_name()
                .into_iter();
            for file in files.map(Result::unwrap) {
                let name = file.path().to_string_lossy().replace('\\', "/");
                let is_code = name.ends_with(".rs") || name.ends_with(".cuh");
                if file.file_type().is_file() && is_code && !name.contains("/tests") {
                    parts.push(std::fs::read(file.path()).unwrap());
                }
            }
        }
        let now = Digest::of_parts(parts.iter().map(Vec::as_slice)).to_string();
        let kept = root.join("src/recipe.txt");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(&kept, &now).unwrap();
        }
        let kept = std::fs::read_to_string(kept).unwrap();
        assert_eq!(
            kept, now,
            "code that makes units has changed: run this test with UPDATE=1"
        );
    }
}
