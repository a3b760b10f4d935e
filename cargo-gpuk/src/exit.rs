//! Exit codes, stable and documented in the book.

use std::process::ExitCode;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All went well.
    Success,
    /// Something that is nobody's input failed: a file could not be written.
    Internal,
    /// The command line makes no sense.
    Usage,
    /// A kernel did not compile or was refused.
    Build,
    /// The workspace or a manifest cannot be read.
    Metadata,
    /// There is no CUDA compiler that can be used, or the wrapper that it is to run through is not there.
    Toolchain,
    /// The selected packages have no kernels.
    NothingSelected,
    /// There is no device to run the program on.
    NoDevice,
    /// The simulator or compute-sanitizer has findings, or the simulator lacks instructions of a kernel.
    Findings,
    /// The program that was run ended with this code.
    Program(u8),
}

impl Exit {
    /// A program's own code; 1 where a signal ended it.
    pub(crate) fn of_program(status: std::process::ExitStatus) -> Self {
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Self::Program(code.unwrap_or(1))
    }

    /// The number: 2 as clap has it, 101 as cargo and nextest have it for a failed build.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Success => 0,
            Self::Internal => 1,
            Self::Usage => 2,
            Self::Build => 101,
            Self::Metadata => 102,
            Self::Toolchain => 103,
            Self::NothingSelected => 104,
            Self::NoDevice => 105,
            Self::Findings => 106,
            Self::Program(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
