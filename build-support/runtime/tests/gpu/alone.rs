//! What needs the device for itself: a fault, and times.

use std::time::Instant;

use gpuk::cudarc::driver::{LaunchConfig, PushKernelArg};
use gpuk::{Address, Category, Launch, LaunchError, Module};

use crate::Device;

#[test]
#[ignore = "needs an NVIDIA GPU, and makes its context unusable"]
fn alone_a_fault_is_an_error_value() {
    let device = Device::new();
    let stream = device.context.new_stream().unwrap();
    let unread_before = device.spin(&stream, 0, true);
    let src = stream.alloc_zeros::<f32>(4).unwrap();
    let idx = stream.alloc_zeros::<i32>(1).unwrap();
    let nowhere = Address::<f32>::new(0x10);
    // SAFETY: none; that is the test.
    let (payload, _) = unsafe {
        device
            .kernels
            .gather(&stream, Launch::default(), &src, &idx, nowhere, 1, 4)
    }
    .unwrap();
    let failed = payload.check().unwrap_err();
    println!("{failed}");
    assert_eq!(failed.category, Category::Fault);
    assert_eq!(failed.fault.map(gpuk::DriverError::code), Some(700));
    // A check that failed before is still told.
    let failed = unread_before.check().unwrap_err();
    println!("{failed}");
    assert_eq!(failed.category, Category::Expect);
    assert_eq!(failed.fault.map(gpuk::DriverError::code), Some(700));
    // SAFETY: the kernel accesses nothing.
    let refused = unsafe { device.kernels.spin(&stream, Launch::default(), 0, false) };
    assert!(matches!(refused, Err(LaunchError::Driver { .. })));
}

/// What a launch costs the host, as the median over rounds of 100 launches, waiting after each round.
#[test]
#[ignore = "needs an NVIDIA GPU, and prints times"]
fn measure_launches() {
    const LAUNCHES: u32 = 100;
    let device = Device::new();
    let Device {
        context, kernels, ..
    } = &device;
    for (name, stream) in [
        ("default stream", context.default_stream()),
        ("two streams, events tracked", context.new_stream().unwrap()),
    ] {
        let src = stream.alloc_zeros::<f32>(4).unwrap();
        let idx = stream.alloc_zeros::<i32>(1).unwrap();
        let mut dst = stream.alloc_zeros::<f32>(1).unwrap();
        let measure = |what: &str, launch: &mut dyn FnMut()| {
            let mut rounds: Vec<_> = (0..300)
                .map(|_| {
                    let start = Instant::now();
                    for _ in 0..LAUNCHES {
                        launch();
                    }
                    let time = start.elapsed() / LAUNCHES;
                    stream.synchronize().unwrap();
                    time
                })
                .collect();
            rounds.sort();
            println!("{name}: {what}: {:?}", rounds[rounds.len() / 2]);
        };
        let raw = Module::load(context, kernels.images()).unwrap();
        let function = raw.cudarc().load_function("shared_bytes").unwrap();
        let mut bytes = stream.alloc_zeros::<u32>(1).unwrap();
        let config = LaunchConfig {
            grid_dim: (1, 1, 1),
            block_dim: (1, 1, 1),
            shared_mem_bytes: 64,
        };
        measure("cudarc's builder, one buffer", &mut || {
            // SAFETY: there is an item, and a byte for the thread.
            unsafe {
                stream
                    .launch_builder(&function)
                    .arg(&mut bytes)
                    .launch(config)
            }
            .unwrap();
        });
        measure("unchecked, one buffer, dropped", &mut || {
            // SAFETY: there is an item, and a byte for the thread.
            drop(unsafe { kernels.shared_bytes(&stream, config, &mut bytes) }.unwrap());
        });
        let gather = raw.cudarc().load_function("gather").unwrap();
        let none = 0_u64;
        measure("cudarc's builder, gather", &mut || {
            let (n, rows) = (0_i32, 4_i32);
            let mut builder = stream.launch_builder(&gather);
            builder
                .arg(&src)
                .arg(&idx)
                .arg(&mut dst)
                .arg(&n)
                .arg(&rows)
                .arg(&none);
            // SAFETY: with `n = 0` the kernel accesses nothing.
            unsafe { builder.launch(config) }.unwrap();
        });
        measure("checked, gather, dropped", &mut || {
            // SAFETY: with `n = 0` the kernel accesses nothing.
            drop(unsafe { kernels.gather(&stream, config, &src, &idx, &mut dst, 0, 4) }.unwrap());
        });
        let mut payloads = Vec::with_capacity(LAUNCHES as usize);
        measure("checked, gather, kept and asked after 100", &mut || {
            // SAFETY: with `n = 0` the kernel accesses nothing.
            let launched = unsafe { kernels.gather(&stream, config, &src, &idx, &mut dst, 0, 4) };
            payloads.push(launched.unwrap().0);
            if payloads.len() == LAUNCHES as usize {
                payloads
                    .drain(..)
                    .for_each(|payload| payload.check().unwrap());
            }
        });
        measure("checked, gather, asked at once", &mut || {
            // SAFETY: with `n = 0` the kernel accesses nothing.
            let launched = unsafe { kernels.gather(&stream, config, &src, &idx, &mut dst, 0, 4) };
            launched.unwrap().0.check().unwrap();
        });
        measure("cudarc's builder, gather, waited for at once", &mut || {
            let (n, rows) = (0_i32, 4_i32);
            let mut builder = stream.launch_builder(&gather);
            builder
                .arg(&src)
                .arg(&idx)
                .arg(&mut dst)
                .arg(&n)
                .arg(&rows)
                .arg(&none);
            // SAFETY: with `n = 0` the kernel accesses nothing.
            unsafe { builder.launch(config) }.unwrap();
            stream.synchronize().unwrap();
        });
    }
}
