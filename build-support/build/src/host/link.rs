//! Objects -> one static library, and what cargo is told to link with it.

use std::path::{Path, PathBuf};

use super::FOLDER;
use crate::cargo::Directives;
use crate::env::Env;
use crate::report::Report;

/// Objects that cannot be linked.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// Not run by cargo.
    #[error("`{0}` is not set: objects are linked by a build script, which cargo runs")]
    NotCargo(&'static str),
    /// The archiver does not run.
    #[error("the objects of host functions cannot be archived: {0}")]
    Archive(#[from] cc::Error),
    /// The toolkit is one without its runtime.
    #[error("the toolkit at `{}` has no `libcudart_static.a` and no `libcudart.so`; host functions need one", .0.display())]
    NoRuntime(PathBuf),
}

/// Where a toolkit has its libraries: from NVIDIA's installer, as wheels, in a conda environment, on Windows.
const FOLDERS: [&str; 4] = ["lib64", "lib", "targets/x86_64-linux/lib", "lib/x64"];

/// The runtime as a static and as a dynamic library, on Unix and on Windows.
const STATIC: [&str; 2] = ["libcudart_static.a", "cudart_static.lib"];
const DYNAMIC: [&str; 2] = ["libcudart.so", "cudart.lib"];

/// Archives the objects of a build, if it has some, and says what to link.
pub(crate) fn link(
    report: &Report,
    out: &Path,
    toolkit: &Path,
    env: &Env,
    directives: &mut Directives,
) -> Result<(), LinkError> {
    if report.objects.is_empty() {
        return Ok(());
    }
    let variable = |name| {
        let value = env.get(name).ok_or(LinkError::NotCargo(name))?;
        Ok::<_, LinkError>(value.to_string_lossy().into_owned())
    };
    let word = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let package: String = variable("CARGO_PKG_NAME")?.chars().map(word).collect();
    let (name, folder) = (format!("gpuk_{package}"), out.join(FOLDER));
    let mut archive = cc::Build::new();
    archive
        .cargo_metadata(false)
        .cargo_warnings(false)
        .target(&variable("TARGET")?)
        .host(&variable("HOST")?)
        .opt_level(0)
        .out_dir(&folder);
    for object in &report.objects {
        archive.object(out.join(&object.file));
    }
    archive.try_compile(&name)?;
    directives.link_search(&folder);
    directives.link(&format!("static={name}"));

    let folders = FOLDERS.iter().map(|folder| toolkit.join(folder));
    let has = |names: [&str; 2]| {
        let mut folders = folders.clone();
        folders.find(|folder| names.iter().any(|name| folder.join(name).is_file()))
    };
    let (folder, runtime) = match (has(STATIC), has(DYNAMIC)) {
        // Not bundled: several packages' would each hold a copy.
        (Some(folder), _) => (folder, "static:-bundle=cudart_static"),
        (None, Some(folder)) => (folder, "dylib=cudart"),
        (None, None) => return Err(LinkError::NoRuntime(toolkit.to_owned())),
    };
    directives.link_search(&folder);
    directives.link(runtime);
    if cfg!(unix) {
        let stdlib = env.get("CXXSTDLIB").map(|it| it.to_string_lossy());
        let stdlib = stdlib.unwrap_or("stdc++".into());
        for library in [&*stdlib, "dl", "rt", "pthread"] {
            directives.link(&format!("dylib={library}"));
        }
    }
    Ok(())
}
