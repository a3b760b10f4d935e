//! Where a kernel is launched.

use std::sync::Arc;

use cudarc::driver::CudaStream;

use crate::error::LaunchError;
use crate::launch::Launch;
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

/// Where a kernel with a launch shape of its own, `GPUK_LAUNCH`, is launched: as [`On`], which takes that shape, or with
/// another: `(&stream, launch)`.
///
/// ```ignore
/// kernels.saxpy(&stream, a, &x, y)?;
/// kernels.saxpy((&stream, Kernels::SAXPY.launch().elements(n)), a, &x, y)?;
/// ```
pub trait Shaped {
    /// What a launch with these outputs returns.
    type Returned<T>;

    /// For generated code.
    #[doc(hidden)]
    fn target(&self) -> Target<'_>;

    /// For generated code.
    #[doc(hidden)]
    fn launch(&self) -> Option<Launch>;

    /// For generated code.
    #[doc(hidden)]
    fn returned<T>(
        &self,
        payload: ErrorPayload,
        outputs: T,
    ) -> Result<Self::Returned<T>, LaunchError>;
}

impl<O: On> Shaped for O {
    type Returned<T> = O::Returned<T>;

    fn target(&self) -> Target<'_> {
        O::target(self)
    }

    fn launch(&self) -> Option<Launch> {
        None
    }

    fn returned<T>(
        &self,
        payload: ErrorPayload,
        outputs: T,
    ) -> Result<Self::Returned<T>, LaunchError> {
        O::returned(self, payload, outputs)
    }
}

impl<O: On, L: Into<Launch> + Copy> Shaped for (O, L) {
    type Returned<T> = O::Returned<T>;

    fn target(&self) -> Target<'_> {
        self.0.target()
    }

    fn launch(&self) -> Option<Launch> {
        Some(self.1.into())
    }

    fn returned<T>(
        &self,
        payload: ErrorPayload,
        outputs: T,
    ) -> Result<Self::Returned<T>, LaunchError> {
        self.0.returned(payload, outputs)
    }
}
