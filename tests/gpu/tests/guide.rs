//! The examples of the book's guide to checks.

use std::error::Error;
use std::sync::Arc;

use gpuk::{CudaSlice, CudaStream, ErrorPayload, FailedCheck, Launch, Scope, Value};
use gpuk_gpu_tests::scopes::Kernels;

struct Device {
    stream: Arc<CudaStream>,
    kernels: Kernels,
}

impl Device {
    fn new() -> Self {
        let context = gpuk::device(0).unwrap();
        // SAFETY: each test has one stream.
        unsafe { context.disable_event_tracking() };
        Self {
            stream: context.new_stream().unwrap(),
            kernels: Kernels::load(&context).unwrap(),
        }
    }
}

const N: i32 = 1000;

fn launch() -> Launch {
    Kernels::ADD.launch().elements(N as usize)
}

// ANCHOR: scope
/// Adds twice; the outcome is that of both launches.
fn add_twice(
    kernels: &Kernels,
    stream: &Arc<CudaStream>,
    x: CudaSlice<i32>,
    by: i32,
) -> Result<(ErrorPayload, CudaSlice<i32>), gpuk::LaunchError> {
    gpuk::checkify(stream, |scope| {
        // SAFETY: `x` has N elements.
        let x = unsafe { kernels.add(scope, launch(), x, N, by, 100) }?;
        unsafe { kernels.add(scope, launch(), x, N, by, 100) }
    })
}
// ANCHOR_END: scope

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_guide_scopes() {
    let Device { stream, kernels } = &Device::new();
    let x = stream.clone_htod(&[0; N as usize]).unwrap();
    let (payload, x) = add_twice(kernels, stream, x, 50).unwrap();
    payload.check().unwrap();
    assert_eq!(stream.clone_dtoh(&x).unwrap(), [100; N as usize]);
    let (payload, _) = add_twice(kernels, stream, x, 1).unwrap();
    assert_eq!(payload.check().unwrap_err().launch, Some(0));
}

// ANCHOR: after
/// Adds, unless what it comes after failed, and stops at the first failure of its own.
fn add_after(
    kernels: &Kernels,
    stream: &Arc<CudaStream>,
    prior: ErrorPayload,
    x: &mut CudaSlice<i32>,
) -> Result<ErrorPayload, gpuk::LaunchError> {
    let scope = Scope::new(stream).after(prior).skip_if_failed();
    for by in [1, 2, 3] {
        // SAFETY: `x` has N elements.
        unsafe { kernels.add(&scope, launch(), &mut *x, N, by, 100) }?;
    }
    Ok(scope.finish())
}
// ANCHOR_END: after

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_guide_prior_errors() {
    let Device { stream, kernels } = &Device::new();
    for (code, expected) in [(0, 6), (7, 0)] {
        let mut x = stream.clone_htod(&[0; N as usize]).unwrap();
        // SAFETY: the kernel accesses no memory.
        let (prior, ()) = unsafe { kernels.fail_with(stream, Launch::default(), code) }.unwrap();
        let payload = add_after(kernels, stream, prior, &mut x).unwrap();
        let failed = payload.get();
        assert_eq!(stream.clone_dtoh(&x).unwrap(), [expected; N as usize]);
        assert_eq!(
            failed.map(|failed| failed.values.clone()),
            (code != 0).then(|| vec![Value::I32(code)])
        );
    }
}

// ANCHOR: join
/// Waits for all, and says which failed first in this order.
fn all(payloads: Vec<ErrorPayload>) -> Result<(), FailedCheck> {
    ErrorPayload::join(payloads).check()
}
// ANCHOR_END: join

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_guide_joined() {
    let Device { stream, kernels } = &Device::new();
    let run = |code| {
        // SAFETY: the kernel accesses no memory.
        unsafe { kernels.fail_with(stream, Launch::default(), code) }
            .unwrap()
            .0
    };
    all(vec![run(0), run(0)]).unwrap();
    assert_eq!(
        all(vec![run(0), run(2), run(1)]).unwrap_err().values,
        [Value::I32(2)]
    );
}

// ANCHOR: graph
/// Captures once, launches often.
fn replay(
    kernels: &Kernels,
    stream: &Arc<CudaStream>,
    x: &mut CudaSlice<i32>,
    times: usize,
) -> Result<Vec<ErrorPayload>, Box<dyn Error>> {
    let (mut graph, ()) = gpuk::capture(stream, |scope| {
        // SAFETY: `x` has N elements, and stays until the last launch is over.
        unsafe { kernels.add(scope, launch(), &mut *x, N, 1, 100) }?;
        unsafe { kernels.add(scope, launch(), &mut *x, N, 2, 100) }?;
        Ok::<_, gpuk::LaunchError>(())
    })?;
    let mut payloads = Vec::new();
    for _ in 0..times {
        payloads.push(graph.launch()?);
    }
    Ok(payloads)
}
// ANCHOR_END: graph

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_guide_graphs() {
    let Device { stream, kernels } = &Device::new();
    let mut x = stream.clone_htod(&[94; N as usize]).unwrap();
    let payloads = replay(kernels, stream, &mut x, 3).unwrap();
    let failed: Vec<_> = payloads
        .iter()
        .map(|it| it.get().map(|failed| failed.launch))
        .collect();
    // 94 + 1 + 2 + 1 + 2 is 100: the third time both launches fail.
    assert_eq!(failed, [None, None, Some(Some(0))]);
    stream.synchronize().unwrap();
}
