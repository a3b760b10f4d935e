//! Findings that a user has looked at and allows: of a kind, in the kernels that a pattern names.

use std::str::FromStr;

use crate::finding::{Finding, Kind};

/// Findings that are told apart from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowed {
    /// The kernels' name as the PTX has it, where `*` is any text and `?` any character.
    pub kernel: String,
    /// What is found.
    pub kind: Kind,
}

impl Allowed {
    /// The kinds that can be allowed: those after which a launch can go on.
    pub const KINDS: [Kind; 4] = [
        Kind::Race,
        Kind::SameValueRace,
        Kind::Uninitialised,
        Kind::WriteToNonCoherent,
    ];

    /// Whether findings of a kind in a kernel are.
    #[must_use]
    pub fn holds(&self, kernel: &str, kind: Kind) -> bool {
        self.kind == kind && matches(self.kernel.as_bytes(), kernel.as_bytes())
    }

    /// Whether a finding is.
    #[must_use]
    pub fn is(&self, finding: &Finding) -> bool {
        self.holds(&finding.kernel, finding.kind)
    }

    /// Reads `kernel:kind`, one after the other with semicolons between.
    pub(crate) fn list(text: &str) -> Result<Vec<Self>, &'static str> {
        let entries = text.split(';').map(str::trim);
        entries
            .filter(|entry| !entry.is_empty())
            .map(str::parse)
            .collect()
    }
}

impl FromStr for Allowed {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, &'static str> {
        const WANTED: &str = "`kernel:finding`, with semicolons between, and of findings `race`, \
                              `same-value-race`, `uninitialised` and `write-to-non-coherent`";
        let (kernel, kind) = text.rsplit_once(':').ok_or(WANTED)?;
        let known = |known: &Kind| known.name() == kind.trim();
        Ok(Self {
            kernel: kernel.trim().to_owned(),
            kind: Self::KINDS.into_iter().find(known).ok_or(WANTED)?,
        })
    }
}

/// Whether a name matches, without backtracking further than the last star.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == b'?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    n = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_kernels_and_kinds() {
        let list = Allowed::list("reduce*:race; scan:uninitialised;").unwrap();
        assert_eq!(list.len(), 2);
        assert!(list[0].holds("reduce_f32", Kind::Race));
        assert!(!list[0].holds("reduce_f32", Kind::Uninitialised));
        assert!(!list[0].holds("a_reduce", Kind::Race));
        assert!(list[1].holds("scan", Kind::Uninitialised));
        assert!(!list[1].holds("scan2", Kind::Uninitialised));
        assert!(Allowed::list("reduce").is_err());
        // A launch cannot go on after it.
        assert!(Allowed::list("*:out-of-bounds").is_err());
    }

    #[test]
    fn names_of_templates_can_be_matched() {
        let allowed: Allowed = "*fast_sum*:race".parse().unwrap();
        assert!(allowed.holds("_Z8fast_sumIfEvPKT_PS0_i", Kind::Race));
        let allowed: Allowed = "s?m_*_32:race".parse().unwrap();
        assert!(allowed.holds("sum_of_32_32", Kind::Race));
        assert!(!allowed.holds("sum_of_32_3", Kind::Race));
    }
}
