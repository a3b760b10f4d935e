//! Launching every kernel of any module, with nothing in its parameters: a report or a fault, never a panic.
#![no_main]

use std::sync::Arc;

use gpuk_sim::{Device, Launch, Options, OutOfBounds};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|text: &str| {
    let device = Arc::new(Device::new(Options {
        capability: (12, 1),
        memory: 16 << 20,
        heap: 1 << 16,
        stack: 16 << 10,
        threads: 1,
        budget: Some(20_000),
        // What a null pointer leads to is reached only so.
        out_of_bounds: OutOfBounds::Zero,
        ..Options::default()
    }));
    let Ok(module) = device.load(text) else {
        return;
    };
    for function in module.functions().into_iter().take(4) {
        let params = vec![0; function.param_bytes() as usize];
        let mut launch = Launch::new([2, 1, 1], [40, 1, 1], params);
        launch.shared = 256;
        if let Err(fault) = device.launch(&function, &launch) {
            assert!(!fault.to_string().is_empty());
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max: usize, seed: u32| {
    gpuk_ptx_fuzz::mutate(data, size, max, seed)
});
