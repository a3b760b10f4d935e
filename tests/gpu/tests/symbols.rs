//! Variables of a module, from both sides. `tests/README.md` says how to run these on a device.

use std::sync::Arc;

use gpuk::{CudaContext, CudaStream, Image, Launch, LoadError, SymbolError, SymbolInfo};
use gpuk_gpu_tests::symbols::{Kernels, Step};

fn load() -> (Arc<CudaStream>, Kernels) {
    let context: Arc<CudaContext> = gpuk::device(0).unwrap();
    let kernels = Kernels::load(&context).unwrap();
    (context.new_stream().unwrap(), kernels)
}

fn threads(count: u32) -> Launch {
    Launch::default().block([count, 1, 1])
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_constants_are_written_in_the_order_of_the_stream() {
    let (stream, kernels) = load();
    let coefficients = kernels.coefficients();
    assert_eq!(coefficients.read(&stream).unwrap(), [1.0, 0.5, 0.0, 0.0]);
    let x = stream.clone_htod(&[0.0_f32, 1.0, 2.0]).unwrap();
    let before = stream.alloc_zeros::<f32>(3).unwrap();
    let after = stream.alloc_zeros::<f32>(3).unwrap();
    // SAFETY: three threads, three items; all on one stream.
    let (before, after) = unsafe {
        let (payload, before) = kernels.polynomial(&stream, threads(3), &x, before).unwrap();
        drop(payload);
        let mut value = [3.0, 0.0, 0.0, 2.0];
        coefficients.write(&stream, &value).unwrap();
        value.fill(100.0);
        let (payload, after) = kernels.polynomial(&stream, threads(3), &x, after).unwrap();
        payload.check().unwrap();
        (before, after)
    };
    assert_eq!(stream.clone_dtoh(&before).unwrap(), [1.0, 1.5, 2.0]);
    assert_eq!(stream.clone_dtoh(&after).unwrap(), [3.0, 5.0, 19.0]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_what_kernels_write_is_read() {
    let (stream, kernels) = load();
    assert_eq!(kernels.counter().read(&stream).unwrap(), 40);
    assert_eq!(kernels.limit().read(&stream).unwrap(), 11);
    assert!(!kernels.stopped().read(&stream).unwrap());
    // SAFETY: the kernel touches the module's variables alone, on one stream.
    unsafe {
        kernels.counter().write(&stream, &1).unwrap();
        for by in [10, 11] {
            let (payload, ()) = kernels.count(&stream, threads(5), by).unwrap();
            payload.check().unwrap();
        }
    }
    let mut counted = 0;
    kernels.counter().read_into(&stream, &mut counted).unwrap();
    assert_eq!(counted, 51);
    assert!(kernels.stopped().read(&stream).unwrap());
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_structs_arrays_and_addresses_arrive() {
    let (stream, kernels) = load();
    let step = kernels.step().read(&stream).unwrap();
    assert_eq!((step.kind, step.by, step.at), (7, 0.25, [1, 2, 3]));
    let out = stream.alloc_zeros::<f32>(3).unwrap();
    let (address, _used) = gpuk::cudarc::driver::DevicePtr::device_ptr(&out, &stream);
    // SAFETY: three threads, three items at `target`; all on one stream.
    unsafe {
        let step = Step {
            kind: -2,
            by: 0.5,
            at: [30, 20, 10],
        };
        kernels.step().write(&stream, &step).unwrap();
        kernels.target().write(&stream, &address).unwrap();
        let (payload, ()) = kernels.spread(&stream, threads(3), 8.0).unwrap();
        payload.check().unwrap();
    }
    assert_eq!(stream.clone_dtoh(&out).unwrap(), [6.5; 3]);
    let secret = kernels.secret().read(&stream).unwrap();
    assert_eq!(secret, [[0; 3], [33, 23, 13]]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_variable_is_an_argument() {
    let (stream, kernels) = load();
    let out = stream.alloc_zeros::<f32>(8).unwrap();
    // SAFETY: eight threads, eight items; all on one stream.
    let out = unsafe {
        let buffer = kernels.buffer().items();
        let (payload, _) = kernels.fill(&stream, threads(8), buffer, 2.5).unwrap();
        drop(payload);
        let (payload, out) = kernels.collect(&stream, threads(8), out).unwrap();
        payload.check().unwrap();
        out
    };
    assert_eq!(stream.clone_dtoh(&out).unwrap(), [2.5; 8]);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_every_load_has_variables_of_its_own() {
    let (stream, kernels) = load();
    let (_, other) = load();
    // SAFETY: no kernel runs.
    unsafe { kernels.counter().write(&stream, &5) }.unwrap();
    assert_eq!(kernels.counter().read(&stream).unwrap(), 5);
    assert_eq!(other.counter().read(&stream).unwrap(), 40);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_variables_of_another_size_or_name_are_refused() {
    static OTHER: SymbolInfo = SymbolInfo {
        name: "other",
        symbol: "other",
        source: "",
    };
    static IMAGES: [Image; 1] = [Image::Ptx {
        arch: "sm_50",
        version: (6, 0),
        bytes: b".version 6.0\n.target sm_50\n.address_size 64\n.global .u64 counter = 40;\n",
        sites: &[],
    }];
    let context = gpuk::device(0).unwrap();
    let module = gpuk::Module::load(&context, &IMAGES).unwrap();
    let symbol = module.symbol::<u32, gpuk::Global>(&Kernels::COUNTER);
    let found = symbol.map(drop).unwrap_err();
    assert!(
        matches!(
            found,
            LoadError::Variable {
                found: Some(8),
                expected: 4,
                ..
            }
        ),
        "{found}"
    );
    let found = module
        .symbol::<u32, gpuk::Global>(&OTHER)
        .map(drop)
        .unwrap_err();
    assert!(
        matches!(found, LoadError::Variable { found: None, .. }),
        "{found}"
    );
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_a_capture_takes_no_copies() {
    let (stream, kernels) = load();
    let captured = gpuk::capture(&stream, |_| {
        // SAFETY: no kernel runs.
        let refused = unsafe { kernels.counter().write(&stream, &5) };
        assert!(matches!(
            refused,
            Err(SymbolError::Driver {
                symbol: "counter",
                ..
            })
        ));
        assert!(kernels.counter().read(&stream).is_err());
        Ok::<_, gpuk::LaunchError>(())
    });
    captured.unwrap();
    assert_eq!(kernels.counter().read(&stream).unwrap(), 40);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn gpu_managed_variables_are_read_and_written() {
    let (stream, kernels) = load();
    let managed = kernels.managed();
    assert_eq!(managed.read(&stream).unwrap(), 3);
    // SAFETY: one thread changes it, and one stream orders all.
    unsafe {
        drop(kernels.raise(&stream, threads(1)).unwrap());
        assert_eq!(managed.read(&stream).unwrap(), 4);
        managed.write(&stream, &40).unwrap();
        drop(kernels.raise(&stream, threads(1)).unwrap());
    }
    assert_eq!(managed.read(&stream).unwrap(), 41);
}
