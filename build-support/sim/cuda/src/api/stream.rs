//! Streams.

use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::api::context::PRIORITIES;
use crate::boundary::{In, Out, exported};
use crate::capture::Joined;
use crate::capture::refuse_captured;
use crate::code::Code;
use crate::driver::driver;
use crate::event::Recorded;
use crate::graph::Body;
use crate::refusal::Answer;
use crate::stream::{NON_BLOCKING, PER_THREAD, Stream};
use crate::work::{Callback, HostFunction, Op, Opaque};

/// `CUlaunchAttributeValue`, of which a stream's attributes use the first words.
pub type AttributeValue = [u32; 16];

/// A stream's attributes.
mod attribute {
    pub(super) const ACCESS_POLICY: u32 = 1;
    pub(super) const SYNCHRONIZATION_POLICY: u32 = 3;
    pub(super) const PRIORITY: u32 = 8;
}

fn create(place: Out<usize>, flags: u32, priority: i32) -> Answer {
    place.check()?;
    let driver = driver()?;
    let context = driver.current()?;
    if flags & !NON_BLOCKING != 0 {
        return Err(Code::INVALID_VALUE.because(format!("flags {flags:#x}")));
    }
    let (least, greatest) = PRIORITIES;
    let priority = priority.clamp(greatest, least);
    let stream = driver
        .streams
        .insert(|handle| Stream::new(handle, context, flags, priority));
    place.put(stream.handle)
}

/// Lets a stream's later work wait for what an event was recorded behind.
fn wait_event(stream: &Arc<Stream>, event: usize, flags: u32) -> Answer {
    let driver = driver()?;
    if flags > 1 {
        return Err(Code::INVALID_VALUE.because(format!("flags {flags:#x}")));
    }
    let event = driver.event(event)?;
    if stream.is_legacy() {
        driver.captures.permit_legacy(&stream.context)?;
    }
    let recorded = event.recorded().clone();
    let mut place = stream.capture();
    if let Some(joined) = &mut *place {
        if flags == 1 {
            let after: Vec<_> = joined.after.iter().map(|node| node.handle).collect();
            let body = Body::Op(Op::Wait);
            joined.after = vec![joined.capture.graph.add(driver, body, &after)?];
            return Ok(());
        }
        return match recorded {
            Recorded::Never => Ok(()),
            Recorded::Work { .. } => {
                joined.capture.invalidate();
                Err(Code::STREAM_CAPTURE_ISOLATION.because(
                    "the stream is being captured, and the event was recorded outside; the capture is invalid now",
                ))
            }
            Recorded::Captured(other) if other.capture.id != joined.capture.id => {
                joined.capture.invalidate();
                other.capture.invalidate();
                Err(Code::STREAM_CAPTURE_MERGE
                    .because("the event was recorded in another capture; both are invalid now"))
            }
            Recorded::Captured(other) => {
                for node in other.after {
                    if !joined.after.iter().any(|known| known.handle == node.handle) {
                        joined.after.push(node);
                    }
                }
                Ok(())
            }
        };
    }
    match recorded {
        Recorded::Never => Ok(()),
        Recorded::Work { after, .. } => {
            drop(place);
            stream.wait_for(&driver.queue, &after);
            Ok(())
        }
        Recorded::Captured(joined) => {
            if !driver.captures.is_under_way(&joined.capture) {
                return Err(
                    Code::INVALID_VALUE.because("the event was recorded in a capture that is over")
                );
            }
            if stream.is_legacy() {
                joined.capture.invalidate();
                return Err(Code::STREAM_CAPTURE_IMPLICIT
                    .because("the legacy default stream cannot be captured"));
            }
            joined.capture.join(stream);
            *place = Some(Joined {
                capture: joined.capture,
                after: joined.after,
            });
            Ok(())
        }
    }
}

exported! {
    /// Creates a stream.
    fn cuStreamCreate(stream: Out<usize>, flags: u32) {
        create(stream, flags, 0)
    }

    /// Creates a stream with a priority, which is noted and changes nothing.
    fn cuStreamCreateWithPriority(stream: Out<usize>, flags: u32, priority: i32) {
        create(stream, flags, priority)
    }

    /// Destroys a stream. Its work is done all the same.
    fn cuStreamDestroy_v2(stream: usize) {
        let driver = driver()?;
        if stream <= PER_THREAD {
            return Err(Code::INVALID_HANDLE.because("a default stream is not destroyed"));
        }
        let stream = driver.stream(stream)?;
        let joined = stream.capture().clone();
        if let Some(joined) = joined {
            driver.captures.drop(&joined.capture);
        }
        driver.streams.remove(stream.handle);
        Ok(())
    }

    /// Whether the stream's work is done.
    fn cuStreamQuery(stream: usize) {
        let driver = driver()?;
        let stream = driver.stream(stream)?;
        refuse_captured(&stream)?;
        if stream.is_legacy() {
            driver.captures.permit_legacy(&stream.context)?;
        }
        driver.captures.permit()?;
        if driver.queue.are_done(&stream.frontier()) {
            driver.check()
        } else {
            Err(Code::NOT_READY.into())
        }
    }

    /// Waits for the stream's work.
    fn cuStreamSynchronize(stream: usize) {
        let driver = driver()?;
        let stream = driver.stream(stream)?;
        refuse_captured(&stream)?;
        if stream.is_legacy() {
            driver.captures.permit_legacy(&stream.context)?;
        }
        driver.captures.permit()?;
        driver.wait(&stream.frontier())
    }

    /// Lets the stream's later work wait for an event.
    fn cuStreamWaitEvent(stream: usize, event: usize, flags: u32) {
        let stream = driver()?.stream(stream)?;
        wait_event(&stream, event, flags)
    }

    /// How the stream was created.
    fn cuStreamGetFlags(stream: usize, flags: Out<u32>) {
        let stream = driver()?.stream(stream)?;
        refuse_captured(&stream)?;
        flags.put(stream.flags)
    }

    /// The stream's priority.
    fn cuStreamGetPriority(stream: usize, priority: Out<i32>) {
        priority.put(driver()?.stream(stream)?.priority)
    }

    /// A number that no other stream of the process has.
    fn cuStreamGetId(stream: usize, id: Out<u64>) {
        id.check()?;
        let stream = driver()?.stream(stream)?;
        refuse_captured(&stream)?;
        id.put(stream.id)
    }

    /// The stream's context.
    fn cuStreamGetCtx(stream: usize, context: Out<usize>) {
        context.put(driver()?.stream(stream)?.context.handle)
    }

    /// The stream's context, and its green context, which is none.
    fn cuStreamGetCtx_v2(stream: usize, context: Out<usize>, green: Out<usize>) {
        context.put(driver()?.stream(stream)?.context.handle)?;
        green.put_if_any(0);
        Ok(())
    }

    /// The stream's device.
    fn cuStreamGetDevice(stream: usize, device: Out<i32>) {
        driver()?.stream(stream)?;
        device.put(0)
    }

    /// An attribute of the stream.
    fn cuStreamGetAttribute(stream: usize, attribute: u32, value: Out<AttributeValue>) {
        let stream = driver()?.stream(stream)?;
        let mut known = [0; 16];
        known[0] = match attribute {
            attribute::ACCESS_POLICY => 0,
            attribute::SYNCHRONIZATION_POLICY => match stream.policy.load(Ordering::Acquire) {
                0 => u32::MAX,
                policy => policy,
            },
            attribute::PRIORITY => stream.priority.cast_unsigned(),
            _ => return Err(Code::INVALID_VALUE.because(format!("streams have no attribute {attribute}"))),
        };
        value.put(known)
    }

    /// Sets an attribute of the stream.
    fn cuStreamSetAttribute(stream: usize, attribute: u32, value: In<AttributeValue>) {
        let stream = driver()?.stream(stream)?;
        let [first, ..] = value.get()?;
        match attribute {
            attribute::SYNCHRONIZATION_POLICY if (1..=4).contains(&first) => {
                stream.policy.store(first, Ordering::Release);
                Ok(())
            }
            // Of the cache, which there is none of.
            attribute::ACCESS_POLICY => Ok(()),
            _ => Err(Code::INVALID_VALUE.because(format!("attribute {attribute} of a stream cannot be set to {first}"))),
        }
    }

    /// Gives a stream another one's attributes.
    fn cuStreamCopyAttributes(to: usize, from: usize) {
        let driver = driver()?;
        let (to, from) = (driver.stream(to)?, driver.stream(from)?);
        to.policy.store(from.policy.load(Ordering::Acquire), Ordering::Release);
        Ok(())
    }

    /// Calls a function of the program when the stream's earlier work is done.
    fn cuLaunchHostFunc(stream: usize, function: Option<unsafe extern "C" fn(*mut c_void)>, data: Opaque) {
        let driver = driver()?;
        let function = function.ok_or_else(|| Code::INVALID_VALUE.because("the function is null"))?;
        let stream = driver.stream(stream)?;
        driver.submit(&stream, Op::Host(HostFunction { function, data }))
    }

    /// As `cuLaunchHostFunc`; the function is called after faults too, and told of them.
    fn cuStreamAddCallback(
        stream: usize,
        function: Option<unsafe extern "C" fn(usize, u32, *mut c_void)>,
        data: Opaque,
        flags: u32,
    ) {
        let driver = driver()?;
        let function = function.ok_or_else(|| Code::INVALID_VALUE.because("the function is null"))?;
        if flags != 0 {
            return Err(Code::INVALID_VALUE.because("the flags are not 0"));
        }
        let stream = driver.stream(stream)?;
        refuse_captured(&stream)?;
        let handle = stream.handle;
        driver.submit(&stream, Op::Callback(Callback { function, stream: handle, data }))
    }
}
