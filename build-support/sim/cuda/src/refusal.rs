//! Why a call fails: the driver's code, and the sentence for the log.

use std::borrow::Cow;

use crate::code::Code;

/// A failed call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code}: {why}")]
pub(crate) struct Refusal {
    /// What the function returns.
    pub(crate) code: Code,
    /// What was wrong with the call; empty where the code says it all.
    pub(crate) why: Cow<'static, str>,
}

impl Code {
    /// The failure with this code.
    pub(crate) fn because(self, why: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal {
            code: self,
            why: why.into(),
        }
    }
}

impl From<Code> for Refusal {
    fn from(code: Code) -> Self {
        code.because("")
    }
}

/// What calls give.
pub(crate) type Answer<T = ()> = Result<T, Refusal>;
