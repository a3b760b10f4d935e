//! Capturing a stream's work into a graph, and what may not be called meanwhile.
//!
//! The rules are those of the CUDA driver API, stream capture, as far as they are written, and of driver 580 where
//! they are not (`tests/conduct/recorded/capture.txt`).

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

use crate::code::Code;
use crate::context::Context;
use crate::graph::{Graph, Node};
use crate::refusal::Answer;
use crate::stream::Stream;

/// `CUstreamCaptureMode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Global,
    ThreadLocal,
    Relaxed,
}

impl Mode {
    pub(crate) const fn new(mode: u32) -> Option<Self> {
        Some(match mode {
            0 => Self::Global,
            1 => Self::ThreadLocal,
            2 => Self::Relaxed,
            _ => return None,
        })
    }
}

/// A capture under way.
#[derive(Debug)]
pub(crate) struct Capture {
    /// What `cuStreamGetCaptureInfo` gives.
    pub(crate) id: u64,
    pub(crate) mode: Mode,
    /// The thread that began it.
    pub(crate) thread: ThreadId,
    pub(crate) context: Arc<Context>,
    /// The id of the stream that it began in.
    pub(crate) origin: u64,
    pub(crate) graph: Arc<Graph>,
    invalid: AtomicBool,
    streams: Mutex<Vec<Arc<Stream>>>,
}

/// A stream's or an event's place in a capture.
#[derive(Debug, Clone)]
pub(crate) struct Joined {
    pub(crate) capture: Arc<Capture>,
    /// What comes next depends on these.
    pub(crate) after: Vec<Arc<Node>>,
}

impl Capture {
    pub(crate) fn is_invalid(&self) -> bool {
        self.invalid.load(Ordering::Acquire)
    }

    /// Fails if it is invalid.
    pub(crate) fn check(&self) -> Answer {
        if self.is_invalid() {
            return Err(Code::STREAM_CAPTURE_INVALIDATED.because("the stream's capture is invalid"));
        }
        Ok(())
    }

    /// Makes it fail at its end.
    pub(crate) fn invalidate(&self) {
        self.invalid.store(true, Ordering::Release);
    }

    fn streams(&self) -> MutexGuard<'_, Vec<Arc<Stream>>> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a stream take part.
    pub(crate) fn join(&self, stream: &Arc<Stream>) {
        let mut streams = self.streams();
        if !streams.iter().any(|known| known.id == stream.id) {
            streams.push(Arc::clone(stream));
        }
    }

    /// Nodes that streams other than the first end in and that nothing in that one waits for.
    fn unjoined(&self) -> bool {
        let streams: Vec<_> = self.streams().iter().map(Arc::clone).collect();
        let after_of = |stream: &Stream| match &*stream.capture() {
            Some(joined) => joined.after.iter().map(|node| node.handle).collect(),
            None => Vec::new(),
        };
        let (first, others): (Vec<_>, Vec<_>) =
            streams.iter().partition(|stream| stream.id == self.origin);
        let reached = first
            .first()
            .map(|stream| self.graph.reached_from(&after_of(stream)));
        let reached = reached.unwrap_or_default();
        let mut ends = others.iter().flat_map(|stream| after_of(stream));
        ends.any(|node| !reached.contains(&node))
    }
}

/// The captures under way.
#[derive(Debug, Default)]
pub(crate) struct Captures {
    all: Mutex<Vec<Arc<Capture>>>,
    /// How many, for the many calls that need only know that there is none.
    count: AtomicUsize,
}

impl Captures {
    fn all(&self) -> MutexGuard<'_, Vec<Arc<Capture>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether that one is still under way.
    pub(crate) fn is_under_way(&self, capture: &Capture) -> bool {
        self.all().iter().any(|known| known.id == capture.id)
    }

    fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Begins one in a stream that takes part in none.
    pub(crate) fn begin(&self, stream: &Arc<Stream>, mode: Mode, graph: Arc<Graph>) -> Answer {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        let mut place = stream.capture();
        if place.is_some() {
            return Err(Code::ILLEGAL_STATE.because("the stream is being captured"));
        }
        let capture = Arc::new(Capture {
            id: COUNT.fetch_add(1, Ordering::Relaxed),
            mode,
            thread: thread::current().id(),
            context: Arc::clone(&stream.context),
            origin: stream.id,
            graph,
            invalid: AtomicBool::new(false),
            streams: Mutex::new(vec![Arc::clone(stream)]),
        });
        *place = Some(Joined {
            capture: Arc::clone(&capture),
            after: Vec::new(),
        });
        self.all().push(capture);
        self.count.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// Ends the one that the stream takes part in, and gives its graph.
    pub(crate) fn end(&self, stream: &Stream) -> Answer<Arc<Graph>> {
        let joined = stream.capture().clone();
        let Some(Joined { capture, .. }) = joined else {
            return Err(Code::ILLEGAL_STATE.because("the stream is not being captured"));
        };
        if capture.origin != stream.id {
            capture.invalidate();
            return Err(Code::STREAM_CAPTURE_UNMATCHED
                .because("the capture began in another stream, and is invalid now"));
        }
        let unjoined = capture.unjoined();
        self.drop(&capture);
        if capture.is_invalid() {
            return Err(Code::STREAM_CAPTURE_INVALIDATED
                .because("a call during the capture had made it invalid"));
        }
        if capture.mode != Mode::Relaxed && capture.thread != thread::current().id() {
            return Err(Code::STREAM_CAPTURE_WRONG_THREAD.because(
                "only a relaxed capture may be ended by another thread than the one that began it",
            ));
        }
        if unjoined {
            return Err(Code::STREAM_CAPTURE_UNJOINED
                .because("another stream's captured work is not waited for by the first stream"));
        }
        Ok(Arc::clone(&capture.graph))
    }

    /// Lets go of a capture without an end.
    pub(crate) fn drop(&self, capture: &Arc<Capture>) {
        let streams = std::mem::take(&mut *capture.streams());
        for stream in streams {
            stream.capture().take();
        }
        let mut all = self.all();
        all.retain(|known| known.id != capture.id);
        self.count.store(all.len(), Ordering::Release);
    }

    /// Those of a context that is destroyed.
    pub(crate) fn drop_of(&self, context: &Context) {
        let of_context: Vec<_> = self
            .all()
            .iter()
            .filter(|capture| capture.context.handle == context.handle)
            .map(Arc::clone)
            .collect();
        for capture in of_context {
            self.drop(&capture);
        }
    }

    /// Makes those invalid of which that is so, and returns whether there is one.
    fn invalidate(&self, is_meant: impl Fn(&Capture) -> bool) -> bool {
        if self.is_empty() {
            return false;
        }
        let all = self.all();
        let meant = all.iter().filter(|capture| is_meant(capture));
        meant.map(|capture| capture.invalidate()).count() > 0
    }

    /// What is "potentially unsafe" while something is captured (`cuThreadExchangeStreamCaptureMode`) asks here first.
    pub(crate) fn permit(&self) -> Answer {
        if self.is_empty() {
            return Ok(());
        }
        let thread = thread::current().id();
        let own = thread_mode();
        let forbids = |capture: &Capture| match own {
            Mode::Relaxed => false,
            Mode::ThreadLocal => capture.thread == thread && capture.mode != Mode::Relaxed,
            Mode::Global if capture.thread == thread => capture.mode != Mode::Relaxed,
            Mode::Global => capture.mode == Mode::Global,
        };
        if self.invalidate(forbids) {
            return Err(Code::STREAM_CAPTURE_UNSUPPORTED.because(
                "a stream is being captured, which this call might disturb; the capture is invalid now",
            ));
        }
        Ok(())
    }

    /// What waits for a whole context asks here first.
    pub(crate) fn permit_wait_for(&self, context: &Context) -> Answer {
        if self.invalidate(|capture| capture.context.handle == context.handle) {
            return Err(Code::STREAM_CAPTURE_UNSUPPORTED.because(
                "a stream of the context is being captured, and its work is not done now; the capture is invalid now",
            ));
        }
        Ok(())
    }

    /// What gives work to the legacy default stream, or asks for its state, asks here first.
    pub(crate) fn permit_legacy(&self, context: &Context) -> Answer {
        let is_blocking = |capture: &Capture| {
            capture.context.handle == context.handle
                && capture.streams().iter().any(|stream| stream.is_blocking())
        };
        if self.invalidate(is_blocking) {
            return Err(Code::STREAM_CAPTURE_IMPLICIT.because(
                "the legacy default stream would wait for a stream that is being captured; the capture is invalid now",
            ));
        }
        Ok(())
    }
}

/// What cannot be asked of a stream that is being captured.
pub(crate) fn refuse_captured(stream: &Stream) -> Answer {
    match &*stream.capture() {
        None => Ok(()),
        Some(joined) => {
            joined.capture.invalidate();
            Err(Code::STREAM_CAPTURE_UNSUPPORTED
                .because("the stream is being captured; the capture is invalid now"))
        }
    }
}

thread_local! {
    static MODE: Cell<u32> = const { Cell::new(0) };
}

/// What the thread lets itself do while something is captured. The driver takes numbers that are no mode, too.
fn thread_mode() -> Mode {
    let mode = MODE.try_with(Cell::get).unwrap_or(0);
    Mode::new(mode).unwrap_or(Mode::Relaxed)
}

/// Sets it, and returns what it was.
pub(crate) fn exchange_thread_mode(mode: u32) -> u32 {
    MODE.try_with(|own| own.replace(mode)).unwrap_or(0)
}
