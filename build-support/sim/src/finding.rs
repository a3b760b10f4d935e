//! What a check found.

use std::fmt;

use crate::place::Place;

/// What is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Kind {
    /// An access outside every allocation, or past the end of one.
    OutOfBounds,
    /// An access to memory that was freed.
    UseAfterFree,
    /// An address that is no multiple of the access's size.
    Misaligned,
    /// A write to constant memory or to parameters.
    WriteToReadOnly,
    /// A write to memory that the same launch reads by `ld.global.nc`.
    WriteToNonCoherent,
    /// An address in a space that the instruction does not take.
    WrongSpace,
    /// A read of memory that nobody wrote.
    Uninitialised,
    /// Two accesses that nothing orders, at least one of them a write.
    Race,
    /// Two writes of the same bytes that nothing orders. It need not be wrong.
    SameValueRace,
    /// A barrier that the threads of a warp reach at different instructions.
    BarrierDivergence,
    /// A barrier whose number or count of threads cannot be.
    BadBarrier,
    /// A member mask that does not name the thread that uses it, or names threads that never arrive.
    BadMask,
    /// A pointer given to `free` that `malloc` did not give.
    BadFree,
}

impl Kind {
    /// The name in configurations and in JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out-of-bounds",
            Self::UseAfterFree => "use-after-free",
            Self::Misaligned => "misaligned",
            Self::WriteToReadOnly => "write-to-read-only",
            Self::WriteToNonCoherent => "write-to-non-coherent",
            Self::WrongSpace => "wrong-space",
            Self::Uninitialised => "uninitialised",
            Self::Race => "race",
            Self::SameValueRace => "same-value-race",
            Self::BarrierDivergence => "barrier-divergence",
            Self::BadBarrier => "bad-barrier",
            Self::BadMask => "bad-mask",
            Self::BadFree => "bad-free",
        }
    }

    /// The name in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OutOfBounds => "out of bounds",
            Self::UseAfterFree => "use after free",
            Self::Misaligned => "misaligned",
            Self::WriteToReadOnly => "write to read-only memory",
            Self::WriteToNonCoherent => "write to memory read as non-coherent",
            Self::WrongSpace => "address of another space",
            Self::Uninitialised => "uninitialised read",
            Self::Race => "race",
            Self::SameValueRace => "race of equal writes",
            Self::BarrierDivergence => "barrier divergence",
            Self::BadBarrier => "bad barrier",
            Self::BadMask => "bad member mask",
            Self::BadFree => "bad free",
        }
    }
}

/// A thread of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Thread {
    /// `blockIdx`.
    pub block: [u32; 3],
    /// `threadIdx`.
    pub thread: [u32; 3],
}

/// The allocation that an address belongs to or lies near to.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Near {
    /// Its first address.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    /// The variable's name, if it is one of a module.
    pub name: Option<String>,
    /// Whether it was freed.
    pub freed: bool,
}

/// The second access of a race.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Other {
    /// Who.
    pub thread: Thread,
    /// Where.
    pub place: Option<Place>,
    /// `read`, `write` or `atomic`.
    pub access: &'static str,
}

/// What a check found, with everything that is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Finding {
    /// What is wrong.
    pub kind: Kind,
    /// The kernel.
    pub kernel: String,
    /// Source line, if the PTX has line information.
    pub place: Option<Place>,
    /// The thread.
    pub thread: Thread,
    /// The instruction, as the PTX has it.
    pub instruction: String,
    /// The address in `space`.
    pub address: Option<u64>,
    /// Bytes of the access.
    pub size: u32,
    /// The state space: `global`, `shared`.
    pub space: Option<&'static str>,
    /// The allocation concerned.
    pub allocation: Option<Near>,
    /// The other access of a race.
    pub other: Option<Other>,
    /// One sentence.
    pub text: String,
}

/// `(1, 0, 0)`.
struct Triple([u32; 3]);

impl fmt::Display for Triple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.0;
        write!(f, "({x}, {y}, {z})")
    }
}

impl fmt::Display for Thread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "block {} thread {}",
            Triple(self.block),
            Triple(self.thread)
        )
    }
}

impl fmt::Display for Near {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let freed = if self.freed { "freed " } else { "" };
        write!(
            f,
            "{freed}allocation of {} bytes at {:#x}",
            self.bytes, self.address
        )?;
        self.name
            .as_ref()
            .map_or(Ok(()), |name| write!(f, ", variable `{name}`"))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.as_str(), self.text)?;
        write!(f, "\n  kernel `{}`, {}", self.kernel, self.thread)?;
        if let Some(place) = &self.place {
            write!(f, "\n  at {place}")?;
        }
        write!(f, "\n  instruction `{}`", self.instruction)?;
        if let Some(near) = &self.allocation {
            write!(f, "\n  {near}")?;
        }
        if let Some(other) = &self.other {
            write!(f, "\n  other {}: {}", other.access, other.thread)?;
            if let Some(place) = &other.place {
                write!(f, " at {place}")?;
            }
        }
        Ok(())
    }
}
