//! What a host function is to Rust: how a launcher in a `.cu` file is called.
//!
//! These are values. Reading them is the business of `signature`, drawing them that of `generate`.

use serde::{Deserialize, Serialize};

use crate::diagnostic::Place;
use crate::kernel::Type;

/// An `extern "C"` function of the host that a source defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its name, which is its symbol.
    pub name: String,
    /// Lines of the comment above the definition, markers removed.
    pub docs: Vec<String>,
    /// Where the source defines it.
    pub place: Place,
    /// In the order of the declaration.
    pub params: Vec<FunctionParam>,
    /// What it returns as the compiler prints it, and to Rust; `None` for `void`.
    pub returns: Option<(String, HostType)>,
}

/// A parameter of a [`Function`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionParam {
    /// As the source names it; `param_2` where the source gives none. Not yet a Rust identifier.
    pub name: String,
    /// The type as the compiler prints it: `const float *`.
    pub declared: String,
    /// The type to Rust.
    pub ty: HostType,
}

/// A type in a call from the host to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum HostType {
    /// By value.
    Value(Type),
    /// An address; the declaration does not say in whose memory.
    Pointer {
        /// What lies there; `None` for `void` and for what Rust cannot know.
        to: Option<Box<HostType>>,
        /// Whether the function may write it.
        mutable: bool,
    },
    /// A handle of the driver's, by its name there: `CUstream`.
    Handle(Handle),
}

/// A handle that the runtime and the driver share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Handle {
    /// `cudaStream_t`.
    Stream,
    /// `cudaEvent_t`.
    Event,
}

impl Handle {
    /// Its name among the driver's types.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Stream => "CUstream",
            Self::Event => "CUevent",
        }
    }
}

impl HostType {
    /// The type that is passed, or lies at the end of the pointers.
    #[must_use]
    pub fn innermost(&self) -> Option<&Type> {
        match self {
            Self::Value(ty) => Some(ty),
            Self::Pointer { to, .. } => to.as_ref()?.innermost(),
            Self::Handle(_) => None,
        }
    }
}
