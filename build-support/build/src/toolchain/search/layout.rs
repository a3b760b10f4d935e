//! Where the parts of a toolkit lie around its nvcc.
//!
//! The normal layout and the wheels' are the same as far as compiling goes: `bin/nvcc`, `bin/ptxas`,
//! `nvvm/bin/cicc`. Distributions move them apart (Debian: `/usr/bin/nvcc`, `/usr/lib/nvidia-cuda-toolkit/bin/cicc`);
//! there nvcc itself is asked.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::toolchain::platform::{Platform, is_executable};
use crate::toolchain::recipe::dryrun;

pub(crate) struct Layout {
    pub(crate) root: PathBuf,
    pub(crate) ptxas: PathBuf,
    pub(crate) cicc: PathBuf,
    pub(crate) includes: Vec<PathBuf>,
}

impl Layout {
    /// The parts around `nvcc`, or the name of one that is missing. Runs nvcc once where they are not in their places.
    pub(crate) fn of(nvcc: &Path, platform: &Platform) -> Result<Self, String> {
        let real = crate::fs::canonical(nvcc).map_err(|error| error.to_string())?;
        let root = real.parent().and_then(Path::parent).unwrap_or(&real);
        let ptxas = root.join("bin").join(platform.exe("ptxas"));
        let cicc = root.join("nvvm/bin").join(platform.exe("cicc"));
        let missing = [&ptxas, &cicc]
            .into_iter()
            .find(|part| !is_executable(part))
            .map(|part| format!("no `{}`", part.display()));
        let (root, ptxas, cicc) = match missing {
            None => (root.to_owned(), ptxas, cicc),
            Some(missing) => ask(nvcc, platform).ok_or(missing)?,
        };
        let target = root.join("targets").join(platform.cuda_target());
        let includes = [root.join("include"), target.join("include")]
            .into_iter()
            .flat_map(|include| [include.join("cccl"), include])
            .filter(|dir| dir.is_dir())
            .collect();
        Ok(Self {
            root,
            ptxas,
            cicc,
            includes,
        })
    }
}

/// Root, ptxas and cicc as nvcc names them.
fn ask(nvcc: &Path, platform: &Platform) -> Option<(PathBuf, PathBuf, PathBuf)> {
    let text = dryrun::of_ptx(nvcc, &[], &[]).ok()?;
    let variables: BTreeMap<_, _> = dryrun::variables(&text).collect();
    let value = |name: &str| variables.get(name).copied();
    let cicc = Path::new(value("CICC_PATH")?).join(platform.exe("cicc"));
    let ptxas = platform.in_dirs("ptxas", OsStr::new(value("PATH")?))?;
    let clean = |path: PathBuf| crate::fs::canonical(&path).unwrap_or(path);
    is_executable(&cicc).then(|| {
        (
            clean(PathBuf::from(value("TOP").unwrap_or_default())),
            ptxas,
            clean(cicc),
        )
    })
}
