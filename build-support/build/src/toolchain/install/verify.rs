//! Whether a toolchain compiles.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::env::Env;
use crate::fs;
use crate::run::{ToolCommand, ToolError};
use crate::toolchain::host::{self, HostRequest};
use crate::toolchain::recipe::Recipe;
use crate::toolchain::{Request, Toolchain, Version, find};

/// What preprocessed text of the smallest kernel looks like: no host compiler is needed for it.
const PREPROCESSED: &str =
    "extern \"C\" __attribute__((global)) void smoke(float *x) { x[0] = 2.0f * x[1]; }\n";
const SOURCE: &str = "#include <cuda_fp16.h>\nextern \"C\" __global__ void smoke(__half *x) { x[threadIdx.x] *= __half(2); }\n";

/// Whether a kernel was compiled from its source, for which a host compiler is needed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FromSource {
    /// It was, with this host compiler.
    Compiled(String),
    /// There is no host compiler, or it does not go with the toolkit; the toolchain itself is sound.
    NotCompiled(String),
}

/// The toolchain at `root`, checked: nvcc says the version, cicc compiles, ptxas assembles. `scratch` is a folder
/// that exists.
pub(crate) fn compilers(
    root: &Path,
    version: Version,
    scratch: &Path,
) -> Result<Toolchain, String> {
    let request = Request {
        toolkit: Some(root.to_owned()),
        cuda: Some(version),
        known: Vec::new(),
    };
    let toolchain =
        find(&request, &Env::from_pairs([("", ""); 0])).map_err(|error| error.to_string())?;
    let arch = lowest_arch(&toolchain.nvcc).map_err(|error| error.to_string())?;
    let (text, ptx, cubin) = (
        scratch.join("smoke.ii"),
        scratch.join("smoke.ptx"),
        scratch.join("smoke.cubin"),
    );
    fs::write_private(&text, PREPROCESSED.as_bytes()).map_err(|error| error.to_string())?;
    let compile = ToolCommand::new(&toolchain.cicc)
        .args(["-arch", &format!("compute_{arch}"), "-m64", "-tused"])
        .arg(&text)
        .arg("-o")
        .arg(&ptx);
    let assemble = ToolCommand::new(&toolchain.ptxas)
        .arg(format!("-arch=sm_{arch}"))
        .arg(&ptx)
        .arg("-o")
        .arg(&cubin);
    for step in [compile, assemble] {
        step.run().map_err(|error| error.to_string())?;
    }
    is_elf(&cubin)
        .then_some(toolchain)
        .ok_or_else(|| "ptxas made no cubin".to_owned())
}

/// Compiles a kernel from its source.
pub(crate) fn from_source(toolchain: &Toolchain, env: &Env, scratch: &Path) -> FromSource {
    let attempt = || -> Result<String, String> {
        let host = host::find(&HostRequest::default(), env).map_err(|error| error.to_string())?;
        let arch = lowest_arch(&toolchain.nvcc).map_err(|error| error.to_string())?;
        let recipe = Recipe::of(toolchain, &[], &arch, &host, env).map_err(|error| {
            let source = std::error::Error::source(&error).map(ToString::to_string);
            format!("{error}: {}", source.unwrap_or_default())
        })?;
        let [source, text, ptx, cubin] =
            ["smoke.cu", "smoke.ii", "smoke.ptx", "smoke.cubin"].map(PathBuf::from);
        fs::write_private(&scratch.join(&source), SOURCE.as_bytes())
            .map_err(|error| error.to_string())?;
        let steps = [
            recipe.preprocess(&source, &text, scratch),
            recipe.compile(&text, &ptx, &source, scratch),
            recipe
                .assemble(&ptx, &cubin, &arch, &[], scratch)
                .map_err(|error| error.to_string())?,
        ];
        for step in steps {
            step.run().map_err(|error| error.to_string())?;
        }
        Ok(host.version)
    };
    match attempt() {
        Ok(host) => FromSource::Compiled(host),
        Err(why) => FromSource::NotCompiled(why),
    }
}

/// The architectures that nvcc compiles for, as it lists them: `compute_75`, …
pub(crate) fn archs(nvcc: &Path) -> Result<Vec<String>, ToolError> {
    let output = ToolCommand::new(nvcc).arg("--list-gpu-arch").run()?;
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

fn lowest_arch(nvcc: &Path) -> Result<String, ToolError> {
    let archs = archs(nvcc)?;
    let numbers = archs
        .iter()
        .filter_map(|arch| arch.strip_prefix("compute_")?.parse::<u32>().ok());
    // One that every toolkit of today has, should a later one list them in another way.
    Ok(numbers.min().unwrap_or(90).to_string())
}

fn is_elf(file: &Path) -> bool {
    fs::read(file).is_ok_and(|bytes| bytes.starts_with(b"\x7fELF"))
}
