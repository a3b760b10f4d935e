//! Events.

use std::sync::Arc;

use crate::boundary::{Out, exported};
use crate::capture::Joined;
use crate::code::Code;
use crate::driver::{Driver, driver};
use crate::event::{DISABLE_TIMING, Event, Recorded, Stamp};
use crate::graph::Body;
use crate::refusal::Answer;
use crate::work::Op;

/// `CU_EVENT_INTERPROCESS`.
const INTERPROCESS: u32 = 4;
/// Blocking, without timing, between processes.
const FLAGS: u32 = 7;

fn record(event: usize, stream: usize, external: bool) -> Answer {
    let driver = driver()?;
    let event = driver.event(event)?;
    let stream = driver.stream(stream)?;
    if !Arc::ptr_eq(&stream.context, &event.context) {
        return Err(Code::INVALID_HANDLE.because("event and stream are of different contexts"));
    }
    if stream.is_legacy() {
        driver.captures.permit_legacy(&stream.context)?;
    }
    let mut place = stream.capture();
    if let Some(joined) = &mut *place {
        if external {
            let after: Vec<_> = joined.after.iter().map(|node| node.handle).collect();
            let body = Body::Op(Op::Record(event));
            joined.after = vec![joined.capture.graph.add(driver, body, &after)?];
        } else {
            *event.recorded() = Recorded::Captured(joined.clone());
        }
        return Ok(());
    }
    drop(place);
    if external {
        return Err(Code::ILLEGAL_STATE
            .because("an event is recorded as external only while the stream is being captured"));
    }
    let stamp = event.is_timed().then(Stamp::default);
    if let Some(stamp) = &stamp {
        driver.submit_short(&stream, Op::Stamp(Arc::clone(stamp)))?;
    }
    let mut after = stream.frontier();
    driver.queue.prune(&mut after);
    *event.recorded() = Recorded::Work { after, stamp };
    Ok(())
}

/// What an event was recorded behind, if it can be waited for.
fn state(driver: &Driver, event: &Event) -> Answer<Recorded> {
    let recorded = event.recorded().clone();
    if let Recorded::Captured(Joined { capture, .. }) = &recorded {
        if driver.captures.is_under_way(capture) {
            capture.invalidate();
            return Err(Code::CAPTURED_EVENT
                .because("the event was last recorded in a capture, which is invalid now"));
        }
        return Err(
            Code::INVALID_VALUE.because("the event was last recorded in a capture that is over")
        );
    }
    driver.captures.permit()?;
    Ok(recorded)
}

fn elapsed(ms: Out<f32>, start: usize, end: usize) -> Answer {
    let driver = driver()?;
    let (start, end) = (driver.event(start)?, driver.event(end)?);
    if ms.is_null() {
        return Err(Code::INVALID_HANDLE.because("the place for the result is null"));
    }
    let when = |event: &Event| {
        let recorded = event.recorded().clone();
        match recorded {
            Recorded::Captured(_) => {
                Err(Code::CAPTURED_EVENT.because("an event was last recorded in a capture"))
            }
            Recorded::Never => Err(Code::INVALID_HANDLE.because("an event was never recorded")),
            Recorded::Work { after, stamp } => {
                let stamp = stamp.ok_or_else(|| {
                    Code::INVALID_HANDLE.because("an event was created without timing")
                })?;
                if !driver.queue.are_done(&after) {
                    return Err(Code::NOT_READY.into());
                }
                stamp.get().copied().ok_or_else(|| Code::NOT_READY.into())
            }
        }
    };
    let (start, end) = (when(&start)?, when(&end)?);
    let seconds = if end >= start {
        (end - start).as_secs_f64()
    } else {
        -(start - end).as_secs_f64()
    };
    ms.put((seconds * 1e3) as f32)
}

exported! {
    /// Creates an event.
    fn cuEventCreate(event: Out<usize>, flags: u32) {
        event.check()?;
        let driver = driver()?;
        let context = driver.current()?;
        if flags & !FLAGS != 0 || (flags & INTERPROCESS != 0 && flags & DISABLE_TIMING == 0) {
            return Err(Code::INVALID_VALUE.because(format!("flags {flags:#x}")));
        }
        if flags & INTERPROCESS != 0 {
            return Err(Code::NOT_SUPPORTED.because("events are of one process"));
        }
        let mut made = 0;
        driver.events.insert(|handle| {
            made = handle;
            Event::new(context, flags)
        });
        event.put(made)
    }

    /// Destroys an event.
    fn cuEventDestroy_v2(event: usize) {
        let driver = driver()?;
        driver.event(event)?;
        driver.events.remove(event);
        Ok(())
    }

    /// Records an event behind the stream's work.
    fn cuEventRecord(event: usize, stream: usize) {
        record(event, stream, false)
    }

    /// As `cuEventRecord`; as external, in a graph.
    fn cuEventRecordWithFlags(event: usize, stream: usize, flags: u32) {
        if flags > 1 {
            return Err(Code::INVALID_VALUE.because(format!("flags {flags:#x}")));
        }
        record(event, stream, flags == 1)
    }

    /// Whether what the event was recorded behind is done.
    fn cuEventQuery(event: usize) {
        let driver = driver()?;
        match state(driver, &*driver.event(event)?)? {
            Recorded::Work { after, .. } if !driver.queue.are_done(&after) => Err(Code::NOT_READY.into()),
            _ => driver.check(),
        }
    }

    /// Waits until it is.
    fn cuEventSynchronize(event: usize) {
        let driver = driver()?;
        match state(driver, &*driver.event(event)?)? {
            Recorded::Work { after, .. } => driver.wait(&after),
            _ => driver.check(),
        }
    }

    /// Milliseconds between two events, as this machine took them.
    fn cuEventElapsedTime(ms: Out<f32>, start: usize, end: usize) {
        elapsed(ms, start, end)
    }

    /// As `cuEventElapsedTime`.
    fn cuEventElapsedTime_v2(ms: Out<f32>, start: usize, end: usize) {
        elapsed(ms, start, end)
    }
}
