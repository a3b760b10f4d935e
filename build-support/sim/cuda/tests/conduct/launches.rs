//! Launches: shapes, arguments, attributes.

use std::ffi::c_void;

use crate::Scenario;
use crate::say::{Driver, quietly, say};
use crate::setup::{alloc, function, launch, module, pointer, primary, stream};

pub(crate) const SCENARIOS: &[Scenario] = &[
    ("shapes", shapes),
    ("bounds", bounds),
    ("shared_memory", shared_memory),
    ("arguments", arguments),
    ("missing_arguments", missing_arguments),
    ("extra", extra),
    ("cooperative", cooperative),
    ("with_attributes", with_attributes),
    ("clusters", clusters),
    ("handles", handles),
    ("results", results),
];

macro_rules! shape {
    ($d:expr, $f:expr, $grid:expr, $block:expr, $shared:expr) => {{
        let (grid, block): ([u32; 3], [u32; 3]) = ($grid, $block);
        let code = quietly!(
            $d,
            cuLaunchKernel(
                $f,
                grid[0],
                grid[1],
                grid[2],
                block[0],
                block[1],
                block[2],
                $shared as u32,
                0,
                0,
                0
            )
        );
        let after = quietly!($d, cuCtxSynchronize());
        $d.write(&format!(
            "{grid:?} {block:?} {}: {code}, then {after}",
            $shared
        ));
    }};
}

fn shapes(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let f = function(d, m, c"nothing");
    for (grid, block) in [
        ([1, 1, 1], [1, 1, 1]),
        ([0, 1, 1], [1, 1, 1]),
        ([1, 0, 1], [1, 1, 1]),
        ([1, 1, 1], [0, 1, 1]),
        ([1, 1, 1], [1024, 1, 1]),
        ([1, 1, 1], [1025, 1, 1]),
        ([1, 1, 1], [1, 1025, 1]),
        ([1, 1, 1], [32, 32, 1]),
        ([1, 1, 1], [32, 33, 1]),
        ([1, 1, 1], [1, 1, 64]),
        ([1, 1, 1], [1, 1, 65]),
        ([1, 65_535, 1], [1, 1, 1]),
        ([1, 65_536, 1], [1, 1, 1]),
        ([1, 1, 65_536], [1, 1, 1]),
        ([0x8000_0000, 1, 1], [1, 1, 1]),
    ] {
        shape!(d, f, grid, block, 0);
    }
}

fn bounds(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let (bounded, required) = (function(d, m, c"bounded"), function(d, m, c"required"));
    shape!(d, bounded, [1, 1, 1], [64, 1, 1], 0);
    shape!(d, bounded, [1, 1, 1], [1, 64, 1], 0);
    shape!(d, bounded, [1, 1, 1], [65, 1, 1], 0);
    shape!(d, required, [1, 1, 1], [32, 2, 1], 0);
    shape!(d, required, [1, 1, 1], [64, 1, 1], 0);
    shape!(d, required, [1, 1, 1], [32, 1, 1], 0);
    shape!(d, required, [1, 1, 1], [128, 1, 1], 0);
}

fn shared_memory(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let f = function(d, m, c"nothing");
    for shared in [49_152, 49_153, 232_448, 232_449, -1] {
        shape!(d, f, [1, 1, 1], [1, 1, 1], shared);
    }
    say!(d, cuFuncSetAttribute(f, 8, 100_000));
    for shared in [49_153, 100_000, 100_001] {
        shape!(d, f, [1, 1, 1], [1, 1, 1], shared);
    }
}

fn arguments(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let f = function(d, m, c"store");
    let mut a = alloc(d, 4);
    let (mut value, mut out) = (77_u32, 0_u32);
    let mut args = [pointer(&mut a), pointer(&mut value)];
    let code = launch(d, f, 0, &mut args);
    d.write(&format!("{code}"));
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
    say!(d, cuCtxSynchronize());
}

fn missing_arguments(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let f = function(d, m, c"store");
    let mut a = alloc(d, 4);
    let mut args = [pointer(&mut a), std::ptr::null_mut::<c_void>()];
    let code = launch(d, f, 0, &mut args);
    d.write(&format!("{code}"));
    say!(d, cuCtxSynchronize());
}

fn extra(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let f = function(d, m, c"store");
    let a = alloc(d, 4);
    #[repr(C)]
    struct Arguments {
        p: u64,
        value: u32,
    }
    let mut arguments = Arguments { p: a, value: 78 };
    let mut out = 0_u32;
    let buffer = pointer(&mut arguments) as usize;
    for size in [12_usize, 16, 8, 0, 4096] {
        let mut size = size;
        let mut list = [1_usize, buffer, 2, pointer(&mut size) as usize, 0];
        quietly!(d, cuMemsetD32_v2(a, 0, 1));
        let list = list.as_mut_ptr() as usize;
        let code = quietly!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, list));
        let after = quietly!(d, cuMemcpyDtoH_v2(&mut out, a, 4));
        d.write(&format!("{size} bytes: {code}, then {after} {out}"));
    }
    let mut size = 12_usize;
    let mut list = [1_usize, buffer, 2, pointer(&mut size) as usize, 0];
    let mut args = [pointer(&mut arguments.p), pointer(&mut arguments.value)];
    let both = list.as_mut_ptr() as usize;
    say!(
        d,
        cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, args.as_mut_ptr() as usize, both)
    );
    let mut list = [77_usize, 0, 0];
    let unknown = list.as_mut_ptr() as usize;
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, unknown));
    let mut list = [0_usize];
    let empty = list.as_mut_ptr() as usize;
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, empty));
    say!(d, cuCtxSynchronize());
}

fn cooperative(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let f = function(d, m, c"nothing");
    for (grid, block) in [
        (1, 1),
        (132, 1024),
        (264, 1024),
        (265, 1024),
        (4224, 1),
        (4225, 1),
        (0, 1),
    ] {
        let code = quietly!(
            d,
            cuLaunchCooperativeKernel(f, grid, 1, 1, block, 1, 1, 0, 0, 0)
        );
        d.write(&format!("{grid} {block}: {code}"));
    }
    say!(d, cuCtxSynchronize());
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Default)]
struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: usize,
    attributes: usize,
    count: u32,
}

/// `CUlaunchAttribute`.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Attribute {
    id: u32,
    pad: u32,
    value: [u32; 16],
}

fn attribute(id: u32, words: &[u32]) -> Attribute {
    let mut value = [0; 16];
    value[..words.len()].copy_from_slice(words);
    Attribute { id, pad: 0, value }
}

fn launch_with(
    d: &mut Driver,
    what: &str,
    f: usize,
    grid: u32,
    block: u32,
    attributes: &[Attribute],
) {
    let config = Config {
        grid: [grid, 1, 1],
        block: [block, 1, 1],
        attributes: attributes.as_ptr() as usize,
        count: u32::try_from(attributes.len()).unwrap(),
        ..Config::default()
    };
    let code = quietly!(d, cuLaunchKernelEx(&config, f, 0, 0));
    let after = quietly!(d, cuCtxSynchronize());
    let mut count = -1_i32;
    let occupancy = quietly!(d, cuOccupancyMaxActiveClusters(&mut count, f, &config));
    d.write(&format!(
        "{what}: {code}, then {after}; active clusters {occupancy} {count}"
    ));
}

fn with_attributes(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let f = function(d, m, c"nothing");
    launch_with(d, "none", f, 1, 1, &[]);
    launch_with(d, "ignored", f, 1, 1, &[attribute(0, &[])]);
    launch_with(d, "cooperative", f, 132, 1024, &[attribute(2, &[1])]);
    launch_with(
        d,
        "cooperative, too large",
        f,
        300,
        1024,
        &[attribute(2, &[1])],
    );
    launch_with(d, "priority", f, 1, 1, &[attribute(8, &[0])]);
    launch_with(
        d,
        "programmatic serialization",
        f,
        1,
        1,
        &[attribute(6, &[1])],
    );
    launch_with(d, "unknown", f, 1, 1, &[attribute(99, &[1])]);
    launch_with(d, "sync policy", f, 1, 1, &[attribute(3, &[1])]);
    launch_with(d, "carveout", f, 1, 1, &[attribute(14, &[50])]);
    say!(d, cuLaunchKernelEx(0, f, 0, 0));
    let config = Config {
        grid: [1, 1, 1],
        block: [1, 1, 1],
        count: 1,
        ..Config::default()
    };
    say!(d, cuLaunchKernelEx(&config, f, 0, 0));
}

fn clusters(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let f = function(d, m, c"nothing");
    launch_with(d, "2 of 4", f, 4, 32, &[attribute(4, &[2, 1, 1])]);
    launch_with(d, "8 of 8", f, 8, 32, &[attribute(4, &[8, 1, 1])]);
    launch_with(d, "3 of 4", f, 4, 32, &[attribute(4, &[3, 1, 1])]);
    launch_with(d, "16 of 16", f, 16, 32, &[attribute(4, &[16, 1, 1])]);
    launch_with(d, "0 of 4", f, 4, 32, &[attribute(4, &[0, 1, 1])]);
    launch_with(d, "1 of 4", f, 4, 1024, &[attribute(4, &[1, 1, 1])]);
    launch_with(d, "y 2 of 1", f, 4, 32, &[attribute(4, &[1, 2, 1])]);
    say!(d, cuFuncSetAttribute(f, 14, 1));
    launch_with(
        d,
        "16 of 16, allowed",
        f,
        16,
        32,
        &[attribute(4, &[16, 1, 1])],
    );
    launch_with(
        d,
        "32 of 32, allowed",
        f,
        32,
        32,
        &[attribute(4, &[32, 1, 1])],
    );
    launch_with(
        d,
        "2 of 4, cooperative",
        f,
        4,
        32,
        &[attribute(4, &[2, 1, 1]), attribute(2, &[1])],
    );
    let mut size = -1_i32;
    let config = Config {
        grid: [64, 1, 1],
        block: [128, 1, 1],
        ..Config::default()
    };
    say!(d, cuOccupancyMaxPotentialClusterSize(&mut size, f, &config) => size);
}

fn handles(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let f = function(d, m, c"nothing");
    let s = stream(d);
    say!(d, cuLaunchKernel(0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 2, 0, 0));
    say!(d, cuCtxSetCurrent(0));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, 0, 0));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
    say!(d, cuStreamSynchronize(s));
}

fn results(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let f = function(d, m, c"count");
    let mut a = alloc(d, 4);
    let mut out = 0_u32;
    quietly!(d, cuMemsetD32_v2(a, 0, 1));
    let mut args = [pointer(&mut a)];
    let args = args.as_mut_ptr() as usize;
    say!(d, cuLaunchKernel(f, 3, 2, 5, 7, 4, 2, 0, 0, args, 0));
    say!(
        d,
        cuLaunchCooperativeKernel(f, 3, 2, 5, 7, 4, 2, 0, 0, args)
    );
    say!(d, cuMemcpyDtoH_v2(&mut out, a, 4) => out);
}
