//! Which images a device and its driver can run.
//!
//! The choice is a function of the images' architectures, the device's compute capability and the driver's
//! version, and nothing else.

use std::cmp::Reverse;

use gpuk_device::driver::DriverVersion;
use thiserror::Error;

use crate::arch::{Arch, Capability};
use crate::image::Image;

/// The images that can run, best first: machine code before PTX, newer before older.
pub(crate) fn choose(
    images: &'static [Image],
    device: Capability,
    driver: DriverVersion,
) -> Result<Vec<&'static Image>, NoImage> {
    let mut fit = Vec::new();
    let mut unfit = Vec::new();
    for image in images {
        match fits(image, device, driver) {
            Ok(arch) => fit.push((matches!(image, Image::Ptx { .. }), Reverse(arch), image)),
            Err(reason) => unfit.push((image, reason)),
        }
    }
    if fit.is_empty() {
        return Err(NoImage {
            device,
            driver,
            unfit,
        });
    }
    fit.sort_by_key(|(ptx, arch, _)| (*ptx, *arch));
    Ok(fit.into_iter().map(|(_, _, image)| image).collect())
}

/// Why the device cannot run the image, if so.
fn fits(image: &Image, device: Capability, driver: DriverVersion) -> Result<Arch, Unfit> {
    let arch = Arch::parse(image.arch()).ok_or(Unfit::UnknownArch)?;
    match image {
        Image::Cubin { .. } if arch.cubin_runs_on(device) => Ok(arch),
        Image::Ptx { version, .. } if arch.ptx_runs_on(device) => {
            if Some(*version) <= driver.ptx() {
                Ok(arch)
            } else {
                Err(Unfit::Version(*version))
            }
        }
        _ => Err(Unfit::OtherArch),
    }
}

/// No image runs on the device.
#[derive(Clone, Error)]
#[error("{}", self.explain())]
pub struct NoImage {
    device: Capability,
    driver: DriverVersion,
    unfit: Vec<(&'static Image, Unfit)>,
}

/// Why an image does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unfit {
    /// It is for other devices.
    OtherArch,
    /// The driver is too old for its PTX.
    Version((u32, u32)),
    /// Its architecture has no form that is known here.
    UnknownArch,
}

impl NoImage {
    fn explain(&self) -> String {
        let (major, minor) = self.device;
        let mut text = format!(
            "none of the images runs on this device: compute capability {major}.{minor}, driver for CUDA {}",
            self.driver
        );
        match self.driver.ptx() {
            Some((major, minor)) => text.push_str(&format!(", PTX up to {major}.{minor}")),
            None => text.push_str(", too old for any PTX of CUDA 11 or newer"),
        }
        if self.unfit.is_empty() {
            text.push_str("\n  there are none\nhelp: build where there is a CUDA compiler");
            return text;
        }
        for (image, reason) in &self.unfit {
            let reason = match reason {
                Unfit::OtherArch => "is for other devices".to_owned(),
                Unfit::UnknownArch => "has an unknown architecture".to_owned(),
                Unfit::Version(version) => {
                    let driver = DriverVersion::of_ptx(*version);
                    format!("needs a driver for CUDA {driver} or newer")
                }
            };
            text.push_str(&format!("\n  {image} {reason}"));
        }
        text.push_str(&format!(
            "\nhelp: add `sm_{major}{minor}` to `archs` and build again"
        ));
        let needed = self.unfit.iter().filter_map(|(_, reason)| match reason {
            Unfit::Version(version) => Some(DriverVersion::of_ptx(*version)),
            Unfit::OtherArch | Unfit::UnknownArch => None,
        });
        if let Some(needed) = needed.min() {
            text.push_str(&format!(
                "\nhelp: or install a driver for CUDA {needed} or newer"
            ));
            if self.driver >= DriverVersion::OLDEST {
                text.push_str(&format!(
                    "\nhelp: or set `minimum-driver = \"{}\"` and build again",
                    self.driver
                ));
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn cubin(arch: &'static str) -> Image {
        Image::Cubin {
            arch,
            bytes: &[],
            sites: &[],
        }
    }

    const fn ptx(arch: &'static str, version: (u32, u32)) -> Image {
        Image::Ptx {
            arch,
            version,
            bytes: &[],
            sites: &[],
        }
    }

    static IMAGES: [Image; 9] = [
        ptx("sm_70", (7, 0)),
        cubin("sm_80"),
        cubin("sm_86"),
        cubin("sm_90"),
        cubin("sm_90a"),
        cubin("sm_100f"),
        ptx("sm_90a", (8, 0)),
        ptx("sm_80", (9, 0)),
        ptx("sm_120f", (9, 0)),
    ];

    fn chosen(device: Capability, driver: u32) -> Vec<String> {
        choose(&IMAGES, device, DriverVersion(driver))
            .map(|images| images.iter().map(ToString::to_string).collect())
            .unwrap_or_else(|_| vec!["none".to_owned()])
    }

    /// Every device and driver there is, by the rules of the programming guide and the PTX ISA.
    #[test]
    fn each_device_gets_its_images_best_first() {
        let devices = [
            (6, 1),
            (7, 0),
            (7, 5),
            (8, 0),
            (8, 6),
            (8, 7),
            (8, 9),
            (9, 0),
            (10, 0),
            (10, 3),
            (11, 0),
            (12, 0),
            (12, 1),
        ];
        let mut table = String::new();
        for driver in [11_040, 12_080, 13_000] {
            for device in devices {
                table += &format!(
                    "{} on {}.{}: {}\n",
                    DriverVersion(driver),
                    device.0,
                    device.1,
                    chosen(device, driver).join(", ")
                );
            }
        }
        insta::assert_snapshot!(table, @"
        11.4 on 6.1: none
        11.4 on 7.0: PTX 7.0 sm_70
        11.4 on 7.5: PTX 7.0 sm_70
        11.4 on 8.0: cubin sm_80, PTX 7.0 sm_70
        11.4 on 8.6: cubin sm_86, cubin sm_80, PTX 7.0 sm_70
        11.4 on 8.7: cubin sm_86, cubin sm_80, PTX 7.0 sm_70
        11.4 on 8.9: cubin sm_86, cubin sm_80, PTX 7.0 sm_70
        11.4 on 9.0: cubin sm_90a, cubin sm_90, PTX 7.0 sm_70
        11.4 on 10.0: cubin sm_100f, PTX 7.0 sm_70
        11.4 on 10.3: cubin sm_100f, PTX 7.0 sm_70
        11.4 on 11.0: PTX 7.0 sm_70
        11.4 on 12.0: PTX 7.0 sm_70
        11.4 on 12.1: PTX 7.0 sm_70
        12.8 on 6.1: none
        12.8 on 7.0: PTX 7.0 sm_70
        12.8 on 7.5: PTX 7.0 sm_70
        12.8 on 8.0: cubin sm_80, PTX 7.0 sm_70
        12.8 on 8.6: cubin sm_86, cubin sm_80, PTX 7.0 sm_70
        12.8 on 8.7: cubin sm_86, cubin sm_80, PTX 7.0 sm_70
        12.8 on 8.9: cubin sm_86, cubin sm_80, PTX 7.0 sm_70
        12.8 on 9.0: cubin sm_90a, cubin sm_90, PTX 8.0 sm_90a, PTX 7.0 sm_70
        12.8 on 10.0: cubin sm_100f, PTX 7.0 sm_70
        12.8 on 10.3: cubin sm_100f, PTX 7.0 sm_70
        12.8 on 11.0: PTX 7.0 sm_70
        12.8 on 12.0: PTX 7.0 sm_70
        12.8 on 12.1: PTX 7.0 sm_70
        13.0 on 6.1: none
        13.0 on 7.0: PTX 7.0 sm_70
        13.0 on 7.5: PTX 7.0 sm_70
        13.0 on 8.0: cubin sm_80, PTX 9.0 sm_80, PTX 7.0 sm_70
        13.0 on 8.6: cubin sm_86, cubin sm_80, PTX 9.0 sm_80, PTX 7.0 sm_70
        13.0 on 8.7: cubin sm_86, cubin sm_80, PTX 9.0 sm_80, PTX 7.0 sm_70
        13.0 on 8.9: cubin sm_86, cubin sm_80, PTX 9.0 sm_80, PTX 7.0 sm_70
        13.0 on 9.0: cubin sm_90a, cubin sm_90, PTX 8.0 sm_90a, PTX 9.0 sm_80, PTX 7.0 sm_70
        13.0 on 10.0: cubin sm_100f, PTX 9.0 sm_80, PTX 7.0 sm_70
        13.0 on 10.3: cubin sm_100f, PTX 9.0 sm_80, PTX 7.0 sm_70
        13.0 on 11.0: PTX 9.0 sm_80, PTX 7.0 sm_70
        13.0 on 12.0: PTX 9.0 sm_120f, PTX 9.0 sm_80, PTX 7.0 sm_70
        13.0 on 12.1: PTX 9.0 sm_120f, PTX 9.0 sm_80, PTX 7.0 sm_70
        ");
    }

    #[test]
    fn what_is_missing_is_said_with_its_remedy() {
        static FEW: [Image; 2] = [cubin("sm_90"), ptx("sm_80", (9, 0))];
        static NONE: [Image; 0] = [];
        let text = |images, device, driver| {
            choose(images, device, DriverVersion(driver))
                .unwrap_err()
                .to_string()
        };
        insta::assert_snapshot!(text(&FEW, (8, 6), 12_020), @r#"
        none of the images runs on this device: compute capability 8.6, driver for CUDA 12.2, PTX up to 8.2
          cubin sm_90 is for other devices
          PTX 9.0 sm_80 needs a driver for CUDA 13.0 or newer
        help: add `sm_86` to `archs` and build again
        help: or install a driver for CUDA 13.0 or newer
        help: or set `minimum-driver = "12.2"` and build again
        "#);
        insta::assert_snapshot!(text(&FEW, (7, 5), 13_000), @"
        none of the images runs on this device: compute capability 7.5, driver for CUDA 13.0, PTX up to 9.0
          cubin sm_90 is for other devices
          PTX 9.0 sm_80 is for other devices
        help: add `sm_75` to `archs` and build again
        ");
        insta::assert_snapshot!(text(&NONE, (9, 0), 10_020), @"
        none of the images runs on this device: compute capability 9.0, driver for CUDA 10.2, too old for any PTX of CUDA 11 or newer
          there are none
        help: build where there is a CUDA compiler
        ");
    }
}
