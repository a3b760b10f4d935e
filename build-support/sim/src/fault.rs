//! What ends a launch.

use std::fmt;

use crate::finding::{Finding, Kind, Thread};
use crate::place::Place;

/// Why a launch did not run to its end, or not at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A check found something.
    #[error("{0}")]
    Finding(Box<Finding>),
    /// `trap`.
    #[error("trap\n  {0}")]
    Trap(Box<Site>),
    /// A failed `assert`.
    #[error("assertion `{message}` failed, {file}:{line}: {function}\n  {site}")]
    Assert {
        /// The condition.
        message: String,
        /// The source file.
        file: String,
        /// The source line.
        line: u32,
        /// The function.
        function: String,
        /// Who.
        site: Box<Site>,
    },
    /// An instruction that the simulator does not have.
    #[error("the simulator does not have `{instruction}`\n  {site}", instruction = .0.instruction, site = .0)]
    Unsupported(Box<Site>),
    /// A call through a pointer that is no function of the module.
    #[error("call of address {address:#x}, where no function is\n  {site}")]
    BadCall {
        /// The pointer.
        address: u64,
        /// Who.
        site: Box<Site>,
    },
    /// Too deep a recursion, or too large local arrays.
    #[error("a thread needs more than {limit} bytes of local memory\n  {site}")]
    Stack {
        /// Bytes a thread may have.
        limit: u32,
        /// Who.
        site: Box<Site>,
    },
    /// No thread can go on.
    #[error("{0}")]
    Deadlock(Box<Deadlock>),
    /// The launch's budget of instructions is used up.
    #[error("kernel `{kernel}` did not end within {budget} thread instructions")]
    Budget {
        /// The kernel.
        kernel: String,
        /// The option's value.
        budget: u64,
    },
    /// The launch cannot be.
    #[error("kernel `{kernel}` cannot be launched: {text}")]
    Launch {
        /// The kernel.
        kernel: String,
        /// What is wrong.
        text: String,
        /// What a driver returns.
        code: u32,
    },
}

impl Fault {
    /// The `CUresult` that a driver gives for it.
    #[must_use]
    pub const fn code(&self) -> u32 {
        match self {
            Self::Finding(finding) => match finding.kind {
                Kind::OutOfBounds | Kind::UseAfterFree | Kind::WriteToReadOnly => 700,
                Kind::Misaligned => 716,
                Kind::WrongSpace => 717,
                _ => 719,
            },
            Self::Trap(_) => 719,
            Self::Assert { .. } => 710,
            Self::Unsupported(_) => 715,
            Self::BadCall { .. } => 718,
            Self::Stack { .. } => 714,
            Self::Deadlock(_) | Self::Budget { .. } => 702,
            Self::Launch { code, .. } => *code,
        }
    }
}

/// An instruction that a thread executed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The kernel.
    pub kernel: String,
    /// The instruction, as the PTX has it.
    pub instruction: String,
    /// Source line, if the PTX has line information.
    pub place: Option<Place>,
    /// Who.
    pub thread: Thread,
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel `{}`, {}", self.kernel, self.thread)?;
        match &self.place {
            Some(place) => write!(f, "\n  at {place}"),
            None => Ok(()),
        }
    }
}

/// Who waits for what, when no thread can go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deadlock {
    /// The kernel.
    pub kernel: String,
    /// Groups of threads that wait at one instruction; the first ones, if there are many.
    pub waiting: Vec<Waiting>,
    /// How many more there are.
    pub more: usize,
}

/// Threads of a warp that wait at one instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The first of them.
    pub first: Thread,
    /// How many.
    pub threads: u32,
    /// The instruction, as the PTX has it.
    pub instruction: String,
    /// Source line, if the PTX has line information.
    pub place: Option<Place>,
    /// What they wait for.
    pub what: String,
}

impl fmt::Display for Deadlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "deadlock: kernel `{}` cannot go on", self.kernel)?;
        for waiting in &self.waiting {
            let plural = if waiting.threads == 1 { "" } else { "s" };
            write!(
                f,
                "\n  {} thread{plural} from {} wait at `{}` for {}",
                waiting.threads, waiting.first, waiting.instruction, waiting.what
            )?;
            if let Some(place) = &waiting.place {
                write!(f, ", {place}")?;
            }
        }
        if self.more > 0 {
            write!(f, "\n  and {} more", self.more)?;
        }
        Ok(())
    }
}
