//! Where a kernel is launched.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::error::LaunchError;
use crate::payload::ErrorPayload;
use crate::scope::Scope;

/// Where a kernel is launched: on a stream, `&Arc<CudaStream>`, or in a scope, [`&Scope`](Scope).
///
/// A launch on a stream returns its [`ErrorPayload`] with its outputs, one in a scope its outputs alone.
pub trait On {
    /// What a launch with these outputs returns.
    type Returned<T>;

    /// For generated code.
    #[doc(hidden)]
    fn target(&self) -> Target<'_>;

    /// For generated code.
    #[doc(hidden)]
    fn returned<T>(
        &self,
        payload: ErrorPayload,
        outputs: T,
    ) -> Result<Self::Returned<T>, LaunchError>;
}

/// A stream, and the scope on it.
#[derive(Debug, Clone, Copy)]
pub struct Target<'a> {
    /// The stream.
    pub stream: &'a Arc<CudaStream>,
    pub(crate) scope: Option<&'a Scope>,
}

impl On for &Arc<CudaStream> {
    type Returned<T> = (ErrorPayload, T);

    fn target(&self) -> Target<'_> {
        Target {
            stream: self,
            scope: None,
        }
    }

    fn returned<T>(
        &self,
        payload: ErrorPayload,
        outputs: T,
    ) -> Result<Self::Returned<T>, LaunchError> {
        Ok((payload, outputs))
    }
}

impl On for &Scope {
    type Returned<T> = T;

    fn target(&self) -> Target<'_> {
        Target {
            stream: self.stream(),
            scope: Some(self),
        }
    }

    /// The scope has the launch's outcome; this payload says nothing.
    fn returned<T>(&self, _payload: ErrorPayload, outputs: T) -> Result<T, LaunchError> {
        Ok(outputs)
    }
}

impl<O: On> On for &O {
    type Returned<T> = O::Returned<T>;

    fn target(&self) -> Target<'_> {
        O::target(self)
    }

    fn returned<T>(
        &self,
        payload: ErrorPayload,
        outputs: T,
    ) -> Result<Self::Returned<T>, LaunchError> {
        O::returned(self, payload, outputs)
    }
}
