//! Scopes and payloads of two devices. The simulator has one, so these are named `alone_`.

use std::sync::Arc;

use gpuk::{CudaSlice, CudaStream, ErrorPayload, FailedCheck, Launch, LaunchError, Scope};
use gpuk_gpu_tests::scopes::Kernels;

/// Cycles of some tens of milliseconds.
const LONG: u64 = 50_000_000;

struct Device {
    stream: Arc<CudaStream>,
    kernels: Kernels,
}

impl Device {
    fn new(ordinal: usize) -> Self {
        let context = gpuk::device(ordinal).unwrap();
        let device = Self {
            stream: context.new_stream().unwrap(),
            kernels: Kernels::load(&context).unwrap(),
        };
        // What the driver loads and allocates once in a context, it waits for until all devices are idle.
        let mut x = device.stream.clone_htod(&[0; 100]).unwrap();
        for skips in [false, true] {
            let scope = Scope::new(&device.stream).after(device.slow(0));
            let scope = if skips { scope.skip_if_failed() } else { scope };
            device.add(&scope, &mut x, 0, 1);
            scope.finish().check().unwrap();
        }
        device
    }

    /// A scope that takes its time, and fails then with that code if it is not 0.
    fn slow(&self, code: i32) -> ErrorPayload {
        let (payload, ()) = gpuk::checkify(&self.stream, |scope| -> Result<_, LaunchError> {
            self.wait(scope, code);
            Ok(())
        })
        .unwrap();
        payload
    }

    fn wait(&self, scope: &Scope, code: i32) {
        let one = Launch::default().block([1, 1, 1]);
        // SAFETY: the kernel accesses no memory.
        unsafe { self.kernels.wait(scope, one, LONG, code) }.unwrap();
    }

    /// Adds to a hundred numbers.
    fn add(&self, scope: &Scope, x: &mut CudaSlice<i32>, by: i32, limit: i32) {
        let launch = Launch::default().block([32, 1, 1]).elements(100);
        // SAFETY: there are as many.
        unsafe { self.kernels.add(scope, launch, x, 100, by, limit) }.unwrap();
    }
}

/// The device, and the code or number that its message ends with.
fn said(failed: &FailedCheck) -> (usize, &str) {
    let last = failed.message.rsplit(' ').next();
    (failed.device, last.unwrap_or_default())
}

#[test]
#[ignore = "needs two NVIDIA GPUs"]
fn alone_payloads_of_two_devices_join() {
    let (first, second) = (Device::new(0), Device::new(1));
    let join = |a: i32, b: i32| ErrorPayload::join([first.slow(a), second.slow(b)]);
    for _ in 0..10 {
        join(0, 0).check().unwrap();
        assert_eq!(said(&join(0, 4).check().unwrap_err()), (1, "4"));
        assert_eq!(said(&join(3, 0).check().unwrap_err()), (0, "3"));
        // The order given decides, not who fails first.
        assert_eq!(said(&join(3, 4).check().unwrap_err()), (0, "3"));
        let turned = ErrorPayload::join([second.slow(4), first.slow(3)]);
        assert_eq!(said(&turned.check().unwrap_err()), (1, "4"));
    }
}

#[test]
#[ignore = "needs two NVIDIA GPUs"]
fn alone_a_scope_comes_after_one_of_another_device() {
    let (first, second) = (Device::new(0), Device::new(1));
    for skips in [false, true] {
        for code in [0, 6] {
            let mut x = second.stream.clone_htod(&[1; 100]).unwrap();
            let prior = first.slow(code);
            let scope = Scope::new(&second.stream).after(prior);
            let scope = if skips { scope.skip_if_failed() } else { scope };
            // Nothing waited: the other device is still at it.
            let (payload, ()) = scope
                .run(|scope| -> Result<_, LaunchError> {
                    second.add(scope, &mut x, 2, 10);
                    second.add(scope, &mut x, 20, 10);
                    Ok(())
                })
                .unwrap();
            assert_eq!(payload.try_check(), None);
            let failed = payload.check().unwrap_err();
            let numbers = second.stream.clone_dtoh(&x).unwrap();
            if code == 0 {
                assert_eq!((failed.device, failed.launch), (1, Some(1)));
                assert_eq!(failed.failed_threads, 100);
            } else {
                assert_eq!(said(&failed), (0, "6"));
            }
            let ran = code == 0 || !skips;
            assert_eq!(numbers, [if ran { 3 } else { 1 }; 100], "{skips} {code}");
        }
    }
}

#[test]
#[ignore = "needs two NVIDIA GPUs"]
fn alone_an_error_of_another_device_takes_its_place_among_launches() {
    let (first, second) = (Device::new(0), Device::new(1));
    let mut x = second.stream.clone_htod(&[1; 100]).unwrap();
    let scope = Scope::new(&second.stream).skip_if_failed();
    second.add(&scope, &mut x, 1, 10);
    gpuk::check_error(&scope, first.slow(9));
    second.add(&scope, &mut x, 1, 0);
    let failed = scope.finish().check().unwrap_err();
    assert_eq!(said(&failed), (0, "9"));
    assert_eq!(second.stream.clone_dtoh(&x).unwrap(), [2; 100]);
}
