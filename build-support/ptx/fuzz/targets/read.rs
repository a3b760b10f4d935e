//! Reading, writing, functionalizing and loading any text: an error or a module, never a panic.
#![no_main]

use std::sync::Arc;

use gpuk_ptx::Module;
use gpuk_ptx::functionalize::{Options, functionalize};
use gpuk_sim::Device;
use libfuzzer_sys::{fuzz_mutator, fuzz_target};

fuzz_target!(|text: &str| {
    let Ok(module) = Module::parse(text) else {
        return;
    };
    assert_eq!(
        module.to_string(),
        text,
        "what is read is written as it was"
    );
    for variable in module.variables() {
        let _ = (variable.string(), variable.bytes(), variable.size());
    }
    let options = Options { asserts: true, ahead: true };
    match functionalize(&module, &options) {
        Ok(done) => {
            let again = Module::parse(done.text).expect("what is written can be read");
            let again = functionalize(&again, &options).expect("no check is left");
            assert!(again.sites.is_empty(), "no check is left");
        }
        Err(refusals) => assert!(
            !refusals.is_empty()
                && refusals
                    .iter()
                    .all(|refusal| !refusal.to_string().is_empty())
        ),
    }
    let device = Arc::new(Device::new(gpuk_sim::Options {
        capability: (12, 1),
        memory: 16 << 20,
        ..gpuk_sim::Options::default()
    }));
    if let Ok(module) = device.load(text) {
        let _ = module.unsupported();
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max: usize, seed: u32| {
    gpuk_ptx_fuzz::mutate(data, size, max, seed)
});
