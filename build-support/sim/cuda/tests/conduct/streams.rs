//! Streams and events.

use std::ffi::c_void;

use crate::Scenario;
use crate::say::{Driver, quietly, say};
use crate::setup::{Gate, alloc, event, primary, stream};

pub(crate) const SCENARIOS: &[Scenario] = &[
    ("properties", properties),
    ("pending", pending),
    ("destroyed_query", destroyed_query),
    ("destroyed_synchronize", destroyed_synchronize),
    ("destroyed_copy", destroyed_copy),
    ("destroyed_record", destroyed_record),
    ("destroyed_wait", destroyed_wait),
    ("destroyed_twice", destroyed_twice),
    ("no_stream", no_stream),
    ("destroy_default", destroy_default),
    ("events", events),
    ("event_destroyed_twice", event_destroyed_twice),
    ("event_destroyed_query", event_destroyed_query),
    ("event_null", event_null),
    ("times", times),
    ("calls_from_host_function", calls_from_host_function),
    ("callbacks", callbacks),
    ("attributes", attributes),
];

fn properties(d: &mut Driver) {
    let context = primary(d);
    let (mut s, mut number, mut id, mut of) = (0_usize, 0_i32, 0_u64, 0_usize);
    say!(d, cuStreamCreate(&mut s, 2));
    say!(d, cuStreamCreate(0, 0));
    say!(d, cuStreamCreate(&mut s, 0));
    say!(d, cuStreamGetFlags(s, &mut number) => number);
    say!(d, cuStreamGetPriority(s, &mut number) => number);
    say!(d, cuStreamGetId(0, &mut id) => id);
    say!(d, cuStreamGetId(1, &mut id) => id);
    say!(d, cuStreamGetId(2, &mut id) => id);
    say!(d, cuStreamGetId(s, &mut id) => id);
    say!(d, cuStreamGetId(s, 0));
    say!(d, cuStreamGetFlags(0, &mut number) => number);
    say!(d, cuStreamGetFlags(2, &mut number) => number);
    say!(d, cuStreamGetPriority(0, &mut number) => number);
    for priority in [-9, -5, -1, 0, 1] {
        say!(d, cuStreamCreateWithPriority(&mut s, 1, priority));
        say!(d, cuStreamGetPriority(s, &mut number) => number);
        say!(d, cuStreamGetId(s, &mut id) => id);
    }
    say!(d, cuStreamGetFlags(s, &mut number) => number);
    say!(d, cuStreamGetCtx(s, &mut of) => of == context);
    say!(d, cuStreamGetCtx(2, &mut of) => of == context);
    say!(d, cuStreamGetDevice(s, &mut number) => number);
    say!(d, cuStreamQuery(s));
    say!(d, cuStreamQuery(0));
    say!(d, cuStreamQuery(2));
    say!(d, cuStreamSynchronize(s));
    say!(d, cuStreamDestroy_v2(s));
}

fn pending(d: &mut Driver) {
    primary(d);
    let (s, other) = (stream(d), stream(d));
    let mut blocking = 0_usize;
    quietly!(d, cuStreamCreate(&mut blocking, 0));
    let (e, before, timed) = (event(d), event(d), event(d));
    quietly!(d, cuEventRecord(before, s));
    quietly!(d, cuStreamSynchronize(s));
    let gate = Gate::close(d, s);
    say!(d, cuEventRecord(e, s));
    say!(d, cuStreamQuery(s));
    say!(d, cuStreamQuery(other));
    say!(d, cuStreamQuery(0));
    say!(d, cuEventQuery(e));
    say!(d, cuEventQuery(before));
    let mut ms = 0_f32;
    say!(d, cuEventElapsedTime(&mut ms, before, e));
    say!(d, cuStreamWaitEvent(other, e, 0));
    say!(d, cuEventRecord(timed, other));
    say!(d, cuEventQuery(timed));
    say!(d, cuStreamDestroy_v2(other));
    say!(d, cuEventDestroy_v2(e));
    gate.open();
    say!(d, cuStreamSynchronize(s));
    say!(d, cuStreamQuery(s));
    say!(d, cuCtxSynchronize());
    say!(d, cuEventQuery(timed));
}

fn destroyed_query(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    say!(d, cuStreamDestroy_v2(s));
    say!(d, cuStreamQuery(s));
}

fn destroyed_synchronize(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    say!(d, cuStreamDestroy_v2(s));
    say!(d, cuStreamSynchronize(s));
}

fn destroyed_copy(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let a = alloc(d, 16);
    say!(d, cuStreamDestroy_v2(s));
    say!(d, cuMemsetD8Async(a, 0, 16, s));
}

fn destroyed_record(d: &mut Driver) {
    primary(d);
    let (s, e) = (stream(d), event(d));
    say!(d, cuStreamDestroy_v2(s));
    say!(d, cuEventRecord(e, s));
}

fn destroyed_wait(d: &mut Driver) {
    primary(d);
    let (s, e) = (stream(d), event(d));
    say!(d, cuStreamDestroy_v2(s));
    say!(d, cuStreamWaitEvent(s, e, 0));
}

fn destroyed_twice(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    say!(d, cuStreamDestroy_v2(s));
    say!(d, cuStreamDestroy_v2(s));
}

fn no_stream(d: &mut Driver) {
    primary(d);
    say!(d, cuStreamQuery(0x1234_5678_9000_usize));
}

fn destroy_default(d: &mut Driver) {
    primary(d);
    say!(d, cuStreamDestroy_v2(0));
    say!(d, cuStreamDestroy_v2(1));
    say!(d, cuStreamDestroy_v2(2));
}

fn events(d: &mut Driver) {
    primary(d);
    let s = stream(d);
    let (mut e, mut other, mut untimed) = (0_usize, 0_usize, 0_usize);
    let mut ms = 0_f32;
    say!(d, cuEventCreate(&mut e, 0x10));
    say!(d, cuEventCreate(&mut e, 4));
    say!(d, cuEventCreate(0, 0));
    say!(d, cuEventCreate(&mut e, 0));
    say!(d, cuEventCreate(&mut other, 1));
    say!(d, cuEventCreate(&mut untimed, 2));
    say!(d, cuEventQuery(e));
    say!(d, cuEventSynchronize(e));
    say!(d, cuStreamWaitEvent(s, e, 0));
    say!(d, cuStreamWaitEvent(s, e, 2));
    say!(d, cuEventElapsedTime(&mut ms, e, other));
    say!(d, cuEventRecord(e, s));
    say!(d, cuEventRecord(untimed, s));
    say!(d, cuEventSynchronize(untimed));
    say!(d, cuEventElapsedTime(&mut ms, e, other));
    say!(d, cuEventElapsedTime(&mut ms, e, untimed));
    say!(d, cuEventElapsedTime(&mut ms, e, e) => ms);
    say!(d, cuEventElapsedTime(0, e, e));
    say!(d, cuEventElapsedTime_v2(&mut ms, e, e) => ms);
    say!(d, cuEventRecordWithFlags(e, s, 0));
    say!(d, cuEventRecordWithFlags(e, s, 1));
    say!(d, cuEventRecordWithFlags(e, s, 2));
    say!(d, cuEventRecord(e, 0));
    say!(d, cuEventDestroy_v2(e));
}

fn event_destroyed_twice(d: &mut Driver) {
    primary(d);
    let e = event(d);
    say!(d, cuEventDestroy_v2(e));
    say!(d, cuEventDestroy_v2(e));
}

fn event_destroyed_query(d: &mut Driver) {
    primary(d);
    let e = event(d);
    say!(d, cuEventDestroy_v2(e));
    say!(d, cuEventQuery(e));
}

fn event_null(d: &mut Driver) {
    primary(d);
    say!(d, cuEventQuery(0));
    say!(d, cuEventRecord(0, 0));
    say!(d, cuEventSynchronize(0));
    say!(d, cuStreamWaitEvent(0, 0, 0));
    say!(d, cuEventDestroy_v2(0));
}

fn times(d: &mut Driver) {
    primary(d);
    let (s, start, end) = (stream(d), event(d), event(d));
    let gate = Gate::close(d, s);
    quietly!(d, cuEventRecord(start, s));
    let second = Gate::close(d, s);
    quietly!(d, cuEventRecord(end, s));
    gate.open();
    std::thread::sleep(std::time::Duration::from_millis(100));
    second.open();
    quietly!(d, cuStreamSynchronize(s));
    let mut ms = 0_f32;
    say!(d, cuEventElapsedTime(&mut ms, start, end) => ms > 50.0 && ms < 1000.0);
    say!(d, cuEventElapsedTime(&mut ms, end, start) => ms < 0.0);
}

static ANSWERS: std::sync::Mutex<Vec<(&str, u32)>> = std::sync::Mutex::new(Vec::new());

fn calls_from_host_function(d: &mut Driver) {
    unsafe extern "C" fn call(driver: *mut c_void) {
        // SAFETY: the scenario waits for the call.
        let d = unsafe { &*driver.cast::<Driver>() };
        let mut answers = ANSWERS.lock().unwrap();
        let (mut number, mut handle) = (0_i32, 0_usize);
        let mut a = 0_u64;
        answers.push(("cuMemAlloc_v2", quietly!(d, cuMemAlloc_v2(&mut a, 16))));
        answers.push(("cuStreamQuery", quietly!(d, cuStreamQuery(0))));
        answers.push(("cuCtxGetCurrent", quietly!(d, cuCtxGetCurrent(&mut handle))));
        answers.push(("cuCtxSetCurrent", quietly!(d, cuCtxSetCurrent(0))));
        answers.push((
            "cuDriverGetVersion",
            quietly!(d, cuDriverGetVersion(&mut number)),
        ));
        answers.push((
            "cuDeviceGetCount",
            quietly!(d, cuDeviceGetCount(&mut number)),
        ));
        answers.push((
            "cuDeviceGetAttribute",
            quietly!(d, cuDeviceGetAttribute(&mut number, 1, 0)),
        ));
        answers.push(("cuEventDestroy_v2", quietly!(d, cuEventDestroy_v2(0))));
    }
    primary(d);
    let s = stream(d);
    let driver: *mut c_void = std::ptr::from_mut(d).cast();
    say!(
        d,
        cuLaunchHostFunc(s, call as unsafe extern "C" fn(*mut c_void), driver)
    );
    say!(d, cuStreamSynchronize(s));
    for (name, code) in ANSWERS.lock().unwrap().iter() {
        d.write(&format!("{name} = {code}"));
    }
    say!(d, cuLaunchHostFunc(s, 0, 0));
}

static CALLED: std::sync::Mutex<Option<(bool, u32, bool)>> = std::sync::Mutex::new(None);

fn callbacks(d: &mut Driver) {
    unsafe extern "C" fn called(stream: *mut c_void, code: u32, data: *mut c_void) {
        *CALLED.lock().unwrap() = Some((stream.is_null(), code, data as usize == 77));
    }
    primary(d);
    let s = stream(d);
    say!(
        d,
        cuStreamAddCallback(s, called as *const () as usize, 77_usize, 0)
    );
    say!(
        d,
        cuStreamAddCallback(s, called as *const () as usize, 77_usize, 1)
    );
    say!(d, cuStreamSynchronize(s));
    let answer = format!("{:?}", *CALLED.lock().unwrap());
    d.write(&answer);
    say!(
        d,
        cuStreamAddCallback(0, called as *const () as usize, 77_usize, 0)
    );
    say!(d, cuStreamSynchronize(0));
    let answer = format!("{:?}", *CALLED.lock().unwrap());
    d.write(&answer);
}

fn attributes(d: &mut Driver) {
    primary(d);
    let (s, other) = (stream(d), stream(d));
    for attribute in [1, 3, 8, 99] {
        let mut value = [7_u32; 16];
        let code = quietly!(d, cuStreamGetAttribute(s, attribute, &mut value));
        d.write(&format!(
            "{attribute}: {code} {}",
            if code == 0 { value[0] } else { 0 }
        ));
    }
    let mut value = [0_u32; 16];
    value[0] = 2;
    say!(d, cuStreamSetAttribute(s, 3, &value));
    say!(d, cuStreamCopyAttributes(other, s));
    value[0] = 9;
    say!(d, cuStreamGetAttribute(other, 3, &mut value) => value[0]);
    value[0] = 9;
    say!(d, cuStreamSetAttribute(s, 3, &value));
    say!(d, cuStreamSetAttribute(s, 99, &value));
}
