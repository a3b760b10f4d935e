//! Launches captured into a CUDA graph, each of whose launches has a payload of its own.
//!
//! The kernels of a graph have the same slots each time. Behind each launch of the graph a kernel of gpuk's (`relay`)
//! moves what they say into a slot of its own, in the order of the stream, and makes them as new for the next.

use std::fmt;
use std::sync::Arc;

use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{CudaGraph, CudaStream};
use thiserror::Error;

use crate::call::{self, Current};
use crate::driver::DriverError;
use crate::flight::{Flight, Parts};
use crate::launched::{By, Chain, Launched};
use crate::payload::ErrorPayload;
use crate::scope::Scope;
use crate::slot::Slot;

/// Captures launches into a graph: as [`checkify`](crate::checkify), except that they run when the graph is launched,
/// as often as it is.
///
/// ```ignore
/// let (mut graph, ()) = gpuk::capture(&stream, |scope| {
///     unsafe { kernels.gather(scope, launch, &src, &idx, &mut dst, n, rows) }?;
///     Ok::<_, gpuk::LaunchError>(())
/// })?;
/// let first = graph.launch()?;
/// let second = graph.launch()?;
/// second.check()?;                       // says nothing of the first
/// first.check()?;
/// ```
///
/// The stream is one that can be captured, not the context's default one. The capture is the thread's
/// (`CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`), and freed memory is given back with each launch
/// (`CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH`). cudarc's event tracking has launches wait for events from
/// before the capture, which cannot be captured: switch it off, with `CudaContext::disable_event_tracking`.
///
/// # Errors
///
/// The closure's, and those of the capture.
pub fn capture<T, E>(
    stream: &Arc<CudaStream>,
    run: impl FnOnce(&Scope) -> Result<T, E>,
) -> Result<(Graph, T), CaptureError<E>> {
    Scope::new(stream).capture(run)
}

/// Why launches did not become a graph.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CaptureError<E> {
    /// What should have been captured failed.
    #[error(transparent)]
    Run(#[from] E),
    /// The stream cannot be captured.
    #[error("the stream cannot be captured into a graph: {0}")]
    Begin(#[source] DriverError),
    /// Something that cannot be captured was done, on this stream or one that it waits for.
    #[error("the capture did not become a graph: {0}")]
    End(#[source] DriverError),
    /// Nothing was captured.
    #[error("nothing was captured: the stream has no work in the graph")]
    Nothing,
    /// A payload was made the scope's.
    #[error(
        "a payload of launches that are not part of the graph was made the scope's: join it with those of the graph's launches"
    )]
    Outside,
}

/// A CUDA graph of launches with checks; see [`capture`].
pub struct Graph {
    graph: CudaGraph,
    flight: Flight,
    slots: Vec<Slot>,
    chain: Arc<Chain>,
}

// SAFETY: CUDA's graphs may be used from any thread, one at a time (CUDA driver API, graph object thread safety):
// every use here takes the graph by `&mut`, and a borrow of cudarc's stays in its thread.
#[expect(unsafe_code, reason = "cudarc's graph is a raw pointer")]
unsafe impl Send for Graph {}

impl Graph {
    /// Launches the graph on the stream that was captured. The payload is that of this launch alone.
    ///
    /// # Errors
    ///
    /// If the driver refuses.
    pub fn launch(&mut self) -> Result<ErrorPayload, DriverError> {
        self.graph.launch()?;
        let Flight {
            stream,
            origin,
            pool,
            ..
        } = &self.flight;
        let mut parts = Parts::Nothing;
        if let Some(pool) = pool {
            let slot = pool.take()?;
            let by = By::Replay(Arc::clone(&self.chain));
            parts = Parts::One(Launched { slot, by });
            let carried = pool
                .relay()
                .and_then(|relay| relay.carry(stream, &self.slots, slot));
            if let Err(error) = carried {
                pool.give(slot);
                return Err(error);
            }
        }
        let captured = call::is_capturing(stream);
        let flight = Flight::new(stream, *origin, pool.clone(), parts, captured);
        Ok(ErrorPayload::new(flight))
    }

    /// cudarc's graph, to be uploaded or looked at.
    ///
    /// What it is launched by hand is told by the payload of the next [`launch`](Self::launch).
    #[must_use]
    pub const fn cudarc(&mut self) -> &CudaGraph {
        &self.graph
    }
}

impl Drop for Graph {
    /// Its slots are free when what was launched is over.
    fn drop(&mut self) {
        self.flight.captured = false;
        self.flight.retire();
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Graph")
            .field("checked_launches", &self.chain.origins.len())
            .finish_non_exhaustive()
    }
}

impl Scope {
    /// As [`capture`].
    ///
    /// # Errors
    ///
    /// As there.
    pub fn capture<T, E>(
        self,
        run: impl FnOnce(&Self) -> Result<T, E>,
    ) -> Result<(Graph, T), CaptureError<E>> {
        let stream = Arc::clone(self.stream());
        let mode = CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        let begun = stream.begin_capture(mode);
        begun.map_err(|error| CaptureError::Begin(error.into()))?;
        let outputs = run(&self);
        // What a closure that failed has begun is ended too.
        let flags = CUgraphInstantiate_flags::CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
        let graph = stream.end_capture(flags);
        let mut flight = self.take();
        let made = outputs.map_err(CaptureError::Run).and_then(|outputs| {
            if flight.has_payloads() {
                return Err(CaptureError::Outside);
            }
            match graph {
                Ok(Some(graph)) => Ok((graph, outputs)),
                Ok(None) => Err(CaptureError::Nothing),
                Err(error) => Err(CaptureError::End(error.into())),
            }
        });
        match made {
            Ok((graph, outputs)) => {
                flight.captured = true;
                let graph = Graph {
                    graph,
                    slots: flight.slots(),
                    chain: Arc::new(flight.chain()),
                    flight,
                };
                Ok((graph, outputs))
            }
            Err(error) => {
                let _current = Current::enter(stream.context());
                flight.captured = false;
                flight.retire();
                Err(error)
            }
        }
    }
}
