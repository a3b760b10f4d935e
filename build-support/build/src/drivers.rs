//! What drivers run the results.

use std::fmt;

use gpuk_device::driver::DriverVersion;
use serde::{Deserialize, Serialize};

use crate::join::Module;
use crate::tools::Tools;

/// The oldest drivers that run the results, by the versions of CUDA that they are for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drivers {
    /// Of the cubins: `13.0`.
    pub cubin: String,
    /// Of the PTX, for devices that no cubin fits and for drivers that take no cubin; `None` where none is shipped. Devices that
    /// later drivers alone know are left out.
    pub ptx: Option<String>,
}

impl Drivers {
    /// Of the images; `None` where there are none.
    pub(crate) fn of(modules: &[Module<'_>], tools: &Tools) -> Option<Self> {
        let images = modules.iter().flat_map(|module| &module.images);
        let mut images = images.peekable();
        images.peek()?;
        let ptx = images.filter_map(|image| Some((image.arch, image.ptx?)));
        let ptx: Vec<_> = ptx.collect();
        // A driver that knows an architecture takes the PTX that it came with.
        let chosen = ptx
            .iter()
            .filter(|(arch, version)| arch.ptx() != Some(*version));
        let lowest = || ptx.iter().map(|(_, version)| *version).min();
        let ptx = chosen.map(|(_, version)| *version).max().or_else(lowest);
        Some(Self {
            cubin: tools.cubin_driver().to_string(),
            ptx: ptx.map(|version| DriverVersion::of_ptx(version).to_string()),
        })
    }
}

impl fmt::Display for Drivers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cubin, ptx } = self;
        write!(f, "cubins run on drivers from CUDA {} on", named(cubin))?;
        match ptx {
            None => Ok(()),
            Some(ptx) if ptx == cubin => f.write_str(", PTX too"),
            Some(ptx) => write!(f, ", PTX from {} on", named(ptx)),
        }
    }
}

/// `12.2 (535)`, where the branch of the drivers is known.
fn named(cuda: &str) -> String {
    let version = cuda.split_once('.').and_then(|(major, minor)| {
        let (major, minor) = (major.parse().ok()?, minor.parse().ok()?);
        Some(DriverVersion::of_cuda(major, minor))
    });
    match version.and_then(DriverVersion::branch) {
        Some(branch) => format!("{cuda} ({branch})"),
        None => cuda.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drivers_are_named_by_both_versions() {
        let of = |ptx: Option<&str>| {
            let drivers = Drivers {
                cubin: "13.0".to_owned(),
                ptx: ptx.map(str::to_owned),
            };
            drivers.to_string()
        };
        let cubins = "cubins run on drivers from CUDA 13.0 (580) on";
        assert_eq!(of(None), cubins);
        assert_eq!(of(Some("13.0")), format!("{cubins}, PTX too"));
        let lower = format!("{cubins}, PTX from 12.2 (535) on");
        assert_eq!(of(Some("12.2")), lower);
        assert_eq!(of(Some("13.9")), format!("{cubins}, PTX from 13.9 on"));
    }
}
