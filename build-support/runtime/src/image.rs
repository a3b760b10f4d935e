//! Compiled images, and which of them a device and its driver can run.
//!
//! The choice is a function of the images' architectures, the device's compute capability and the driver's
//! version, and nothing else. Loading is the business of `module`.

use std::cmp::Reverse;
use std::fmt;

use thiserror::Error;

use crate::site::Site;

/// The kernels of one source file, compiled for one architecture.
#[derive(Debug, Clone, Copy)]
pub enum Image {
    /// Machine code.
    Cubin {
        /// `sm_90`, `sm_90a`, `sm_100f`.
        arch: &'static str,
        /// The file.
        bytes: &'static [u8],
        /// The checks its records name.
        sites: &'static [Site],
    },
    /// PTX, which the driver compiles when it loads it.
    Ptx {
        /// Its `.target`.
        arch: &'static str,
        /// Its `.version`, major and minor.
        version: (u32, u32),
        /// The text, without a terminating zero.
        bytes: &'static [u8],
        /// The checks its records name.
        sites: &'static [Site],
    },
}

impl Image {
    /// The architecture it was compiled for.
    #[must_use]
    pub const fn arch(&self) -> &'static str {
        match self {
            Self::Cubin { arch, .. } | Self::Ptx { arch, .. } => arch,
        }
    }

    /// The image itself.
    #[must_use]
    pub const fn bytes(&self) -> &'static [u8] {
        match self {
            Self::Cubin { bytes, .. } | Self::Ptx { bytes, .. } => bytes,
        }
    }

    /// The checks its records name.
    #[must_use]
    pub const fn sites(&self) -> &'static [Site] {
        match self {
            Self::Cubin { sites, .. } | Self::Ptx { sites, .. } => sites,
        }
    }

    /// Why the device cannot run it, if so.
    fn fits(&self, device: Capability, driver: DriverVersion) -> Result<Arch, Unfit> {
        let arch = Arch::parse(self.arch()).ok_or(Unfit::UnknownArch)?;
        match self {
            Self::Cubin { .. } if arch.cubin_runs_on(device) => Ok(arch),
            Self::Ptx { version, .. } if arch.ptx_runs_on(device) => {
                if Some(*version) <= driver.ptx() {
                    Ok(arch)
                } else {
                    Err(Unfit::Version(*version))
                }
            }
            _ => Err(Unfit::OtherArch),
        }
    }
}

/// What messages call the image: `cubin sm_90`, `PTX 9.0 sm_80`.
impl fmt::Display for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cubin { arch, .. } => write!(f, "cubin {arch}"),
            Self::Ptx { arch, version, .. } => write!(f, "PTX {}.{} {arch}", version.0, version.1),
        }
    }
}

/// A device's compute capability, major and minor.
pub(crate) type Capability = (u32, u32);

/// What `cuDriverGetVersion` says: the CUDA version the driver was made for, `12080` for 12.8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DriverVersion(pub(crate) u32);

impl DriverVersion {
    /// From this on the driver says where a kernel's parameters lie (`cuFuncGetParamInfo`).
    pub(crate) const PARAM_INFO: Self = Self(12_040);

    pub(crate) const fn major(self) -> u32 {
        self.0 / 1000
    }

    pub(crate) const fn minor(self) -> u32 {
        self.0 % 1000 / 10
    }

    /// The newest PTX ISA the driver compiles (PTX ISA, release notes): the numbers rose together, except that
    /// 8.5 came twice. Drivers newer than the notes are taken to go on as before.
    pub(crate) const fn ptx(self) -> Option<(u32, u32)> {
        match (self.major(), self.minor()) {
            (0..=10, _) => None,
            (12, 6) => Some((8, 5)),
            (12, 7) => Some((8, 6)),
            (12, 8) => Some((8, 7)),
            (12, 9..) => Some((8, 8)),
            (major, minor) => Some((major - 4, minor)),
        }
    }
}

impl fmt::Display for DriverVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())
    }
}

/// The toolkit whose PTX has this version: the inverse of [`DriverVersion::ptx`].
const fn toolkit_of(ptx: (u32, u32)) -> (u32, u32) {
    match ptx {
        (8, 6) => (12, 7),
        (8, 7) => (12, 8),
        (8, 8) => (12, 9),
        (major, minor) => (major + 4, minor),
    }
}

/// A parsed architecture. The order is from oldest and most general to newest and most special.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Arch {
    capability: Capability,
    reach: Reach,
}

/// Which devices code for an architecture runs on (PTX ISA, `.target`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// Later ones too.
    Forward,
    /// `f`: later ones of the same major version.
    Family,
    /// `a`: this one only.
    Exact,
}

impl Arch {
    fn parse(arch: &str) -> Option<Self> {
        let number = arch.strip_prefix("sm_")?;
        let (number, reach) = match number.as_bytes().last()? {
            b'a' => (&number[..number.len() - 1], Reach::Exact),
            b'f' => (&number[..number.len() - 1], Reach::Family),
            _ => (number, Reach::Forward),
        };
        if number.len() < 2 || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let number: u32 = number.parse().ok()?;
        Some(Self {
            capability: (number / 10, number % 10),
            reach,
        })
    }

    /// CUDA programming guide, binary compatibility: within a major version, from the minor on.
    fn cubin_runs_on(self, device: Capability) -> bool {
        match self.reach {
            Reach::Exact => device == self.capability,
            Reach::Forward | Reach::Family => {
                device.0 == self.capability.0 && device >= self.capability
            }
        }
    }

    fn ptx_runs_on(self, device: Capability) -> bool {
        match self.reach {
            Reach::Forward => device >= self.capability,
            Reach::Family | Reach::Exact => self.cubin_runs_on(device),
        }
    }
}

/// The images that can run, best first: machine code before PTX, newer before older.
pub(crate) fn choose(
    images: &'static [Image],
    device: Capability,
    driver: DriverVersion,
) -> Result<Vec<&'static Image>, NoImage> {
    let mut fit = Vec::new();
    let mut unfit = Vec::new();
    for image in images {
        match image.fits(device, driver) {
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

/// No image runs on the device.
#[derive(Debug, Clone, Error)]
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
            text.push_str("\n  there are none: the kernels were built without a compiler");
        }
        for (image, reason) in &self.unfit {
            let reason = match reason {
                Unfit::OtherArch => "is for other devices".to_owned(),
                Unfit::UnknownArch => "has an unknown architecture".to_owned(),
                Unfit::Version(version) => {
                    let (major, minor) = toolkit_of(*version);
                    format!("needs a driver for CUDA {major}.{minor} or newer")
                }
            };
            text.push_str(&format!("\n  {image} {reason}"));
        }
        text.push_str(&format!(
            "\nhelp: add `sm_{major}{minor}` to `archs` and build again"
        ));
        let needed = self.unfit.iter().filter_map(|(_, reason)| match reason {
            Unfit::Version(version) => Some(toolkit_of(*version)),
            Unfit::OtherArch | Unfit::UnknownArch => None,
        });
        if let Some((major, minor)) = needed.min() {
            text.push_str(&format!(
                "\nhelp: or install a driver for CUDA {major}.{minor} or newer\
                 \nhelp: or build with the toolkit of CUDA {} or older",
                self.driver
            ));
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
    fn drivers_take_the_ptx_of_their_toolkit() {
        let known = [
            (11_000, (7, 0)),
            (11_010, (7, 1)),
            (11_040, (7, 4)),
            (11_080, (7, 8)),
            (12_000, (8, 0)),
            (12_010, (8, 1)),
            (12_020, (8, 2)),
            (12_030, (8, 3)),
            (12_040, (8, 4)),
            (12_050, (8, 5)),
            (12_060, (8, 5)),
            (12_070, (8, 6)),
            (12_080, (8, 7)),
            (12_090, (8, 8)),
            (13_000, (9, 0)),
            (13_010, (9, 1)),
            (13_020, (9, 2)),
            (13_030, (9, 3)),
            (13_040, (9, 4)),
            (14_000, (10, 0)),
        ];
        for (driver, version) in known {
            assert_eq!(DriverVersion(driver).ptx(), Some(version), "{driver}");
        }
        assert_eq!(DriverVersion(10_020).ptx(), None);
        for (driver, version) in known.into_iter().filter(|(driver, _)| *driver != 12_060) {
            assert_eq!(toolkit_of(version), (driver / 1000, driver % 1000 / 10));
        }
    }

    #[test]
    fn newer_drivers_take_all_older_ones_take() {
        let versions: Vec<_> = (11_000..14_000)
            .step_by(10)
            .filter(|v| v % 1000 < 100)
            .collect();
        for pair in versions.windows(2) {
            assert!(
                DriverVersion(pair[0]).ptx() <= DriverVersion(pair[1]).ptx(),
                "{pair:?}"
            );
        }
    }

    #[test]
    fn architectures_are_parsed_or_refused() {
        let arch = |text| Arch::parse(text).map(|arch| (arch.capability, arch.reach));
        assert_eq!(arch("sm_75"), Some(((7, 5), Reach::Forward)));
        assert_eq!(arch("sm_103a"), Some(((10, 3), Reach::Exact)));
        assert_eq!(arch("sm_120f"), Some(((12, 0), Reach::Family)));
        for text in [
            "",
            "sm_",
            "sm_9",
            "sm_a",
            "90",
            "compute_90",
            "sm_90b",
            "sm_9 0",
            "sm_é",
            "sm_99999999999",
        ] {
            assert_eq!(arch(text), None, "{text}");
        }
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
        insta::assert_snapshot!(text(&FEW, (8, 6), 12_020), @"
        none of the images runs on this device: compute capability 8.6, driver for CUDA 12.2, PTX up to 8.2
          cubin sm_90 is for other devices
          PTX 9.0 sm_80 needs a driver for CUDA 13.0 or newer
        help: add `sm_86` to `archs` and build again
        help: or install a driver for CUDA 13.0 or newer
        help: or build with the toolkit of CUDA 12.2 or older
        ");
        insta::assert_snapshot!(text(&FEW, (7, 5), 13_000), @"
        none of the images runs on this device: compute capability 7.5, driver for CUDA 13.0, PTX up to 9.0
          cubin sm_90 is for other devices
          PTX 9.0 sm_80 is for other devices
        help: add `sm_75` to `archs` and build again
        ");
        insta::assert_snapshot!(text(&NONE, (9, 0), 10_020), @"
        none of the images runs on this device: compute capability 9.0, driver for CUDA 10.2, too old for any PTX of CUDA 11 or newer
          there are none: the kernels were built without a compiler
        help: add `sm_90` to `archs` and build again
        ");
    }
}
