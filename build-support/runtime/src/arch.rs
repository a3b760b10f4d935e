//! Architectures, and the devices that code for one runs on.

/// A device's compute capability, major and minor.
pub(crate) type Capability = (u32, u32);

/// A parsed architecture. The order is from oldest and most general to newest and most special.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arch {
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
    pub(crate) fn parse(arch: &str) -> Option<Self> {
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
    pub(crate) fn cubin_runs_on(self, device: Capability) -> bool {
        match self.reach {
            Reach::Exact => device == self.capability,
            Reach::Forward | Reach::Family => {
                device.0 == self.capability.0 && device >= self.capability
            }
        }
    }

    pub(crate) fn ptx_runs_on(self, device: Capability) -> bool {
        match self.reach {
            Reach::Forward => device >= self.capability,
            Reach::Family | Reach::Exact => self.cubin_runs_on(device),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
