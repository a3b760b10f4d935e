//! Modules and functions.

use std::ffi::{CStr, CString, c_char};
use std::fmt::Write as _;

use crate::Scenario;
use crate::say::{Driver, quietly, say};
use crate::setup::{KERNELS, function, module, primary};

pub(crate) const SCENARIOS: &[Scenario] = &[
    ("images", images),
    ("fatbins", fatbins),
    ("refused_ptx", refused_ptx),
    ("jit_logs", jit_logs),
    ("files", files),
    ("functions", functions),
    ("globals", globals),
    ("unloaded", unloaded),
    ("unloaded_function", unloaded_function),
    ("unloaded_launch", unloaded_launch),
    ("attributes", attributes),
    ("parameters", parameters),
    ("occupancy", occupancy),
];

fn images(d: &mut Driver) {
    primary(d);
    let (mut m, mut n) = (0_usize, 0_usize);
    say!(d, cuModuleLoadData(&mut m, 0));
    say!(d, cuModuleLoadData(0, KERNELS));
    say!(d, cuModuleLoadData(&mut m, c""));
    say!(d, cuModuleLoadData(&mut m, c"what is this"));
    say!(d, cuModuleLoadData(&mut m, c"not machine code"));
    say!(d, cuModuleLoadData(&mut m, c"// nothing\n"));
    say!(d, cuModuleLoadData(&mut m, KERNELS));
    say!(d, cuModuleLoadData(&mut n, KERNELS) => m != n);
    say!(d, cuModuleLoadDataEx(&mut n, KERNELS, 0, 0, 0));
    let mut elf = [0_u8; 64];
    elf[..4].copy_from_slice(b"\x7fELF");
    say!(d, cuModuleLoadData(&mut n, &elf));
    elf[4..7].copy_from_slice(&[2, 1, 1]);
    elf[18] = 190;
    say!(d, cuModuleLoadData(&mut n, &elf));
    let mut number = 0_u32;
    say!(d, cuModuleGetFunctionCount(&mut number, m) => number);
    say!(d, cuModuleGetFunctionCount(&mut number, 0));
    let mut all = [0_usize; 32];
    say!(d, cuModuleEnumerateFunctions(&mut all, 32, m) => all.iter().filter(|f| **f != 0).count());
    for f in all.into_iter().filter(|f| *f != 0) {
        let mut name = 0_usize;
        say!(d, cuFuncGetName(&mut name, f) => text(name));
    }
    let mut mode = 0_u32;
    say!(d, cuModuleGetLoadingMode(&mut mode) => mode);
}

fn fatbins(d: &mut Driver) {
    primary(d);
    let images: [(&str, &[u8]); 5] = [
        ("zstd", include_bytes!("images/zstd.fatbin")),
        ("lz4", include_bytes!("images/lz4.fatbin")),
        ("plain", include_bytes!("images/plain.fatbin")),
        ("sm_80 alone", include_bytes!("images/sm_80.fatbin")),
        ("cubin of sm_80", include_bytes!("images/sm_80.cubin")),
    ];
    for (what, image) in images {
        let (mut m, mut f, mut version) = (0_usize, 0_usize, 0_i32);
        let code = quietly!(d, cuModuleLoadData(&mut m, image.as_ptr()));
        d.write(&format!("{what} = {code}"));
        let code = quietly!(d, cuModuleLoadFatBinary(&mut m, image.as_ptr()));
        d.write(&format!("{what} as fatbin = {code}"));
        if code == 0 {
            say!(d, cuModuleGetFunction(&mut f, m, c"store"));
            say!(d, cuFuncGetAttribute(&mut version, 5, f) => version);
            say!(d, cuFuncGetAttribute(&mut version, 6, f) => version);
        }
    }
}

fn text(pointer: usize) -> String {
    // SAFETY: the driver's names end with a zero and stay.
    unsafe { CStr::from_ptr(pointer as *const c_char) }
        .to_string_lossy()
        .into_owned()
}

/// Texts that are not to be loaded, and the empty kernel in some headers.
fn refusals() -> Vec<(&'static str, String)> {
    let with = |version: &str, target: &str, body: &str| {
        format!(".version {version}\n.target {target}\n.address_size 64\n{body}\n")
    };
    let empty = ".visible .entry f() { ret; }";
    vec![
        ("sm_75", with("7.0", "sm_75", empty)),
        ("newest", with("9.0", "sm_90", empty)),
        ("newer version", with("9.9", "sm_75", empty)),
        ("far version", with("42.0", "sm_75", empty)),
        ("higher target", with("8.8", "sm_100", empty)),
        ("family target", with("8.8", "sm_100f", empty)),
        ("sm_90a", with("8.0", "sm_90a", empty)),
        ("sm_80a", with("8.0", "sm_80a", empty)),
        ("unknown target", with("8.0", "sm_777", empty)),
        ("old target", with("6.0", "sm_30", empty)),
        (
            "32 bit",
            ".version 7.0\n.target sm_75\n.address_size 32\n.visible .entry f() { ret; }"
                .to_owned(),
        ),
        ("debug target", with("7.0", "sm_75, debug", empty)),
        (
            "no version",
            ".target sm_75\n.address_size 64\n.visible .entry f() { ret; }".to_owned(),
        ),
        ("no entry", with("7.0", "sm_75", "")),
        (
            "undeclared",
            with("7.0", "sm_75", ".visible .entry f() { call nothing; ret; }"),
        ),
        (
            "unknown instruction",
            with(
                "7.0",
                "sm_75",
                ".visible .entry f() { frobnicate.u32 %r1; ret; }",
            ),
        ),
        (
            "undeclared register",
            with(
                "7.0",
                "sm_75",
                ".visible .entry f() { mov.u32 %r1, 1; ret; }",
            ),
        ),
        (
            "type mismatch",
            with(
                "7.0",
                "sm_75",
                ".visible .entry f() { .reg .b64 %rd<2>; mov.u32 %rd1, 1; ret; }",
            ),
        ),
        (
            "later instruction",
            with(
                "7.0",
                "sm_75",
                ".visible .entry f() { .reg .b32 %r<2>; redux.sync.add.u32 %r1, 1, -1; ret; }",
            ),
        ),
        (
            "unresolved",
            with(
                "7.0",
                "sm_75",
                ".extern .func g; .visible .entry f() { call g; ret; }",
            ),
        ),
        (
            "unresolved variable",
            with(
                "7.0",
                "sm_75",
                ".extern .global .u32 g; .visible .entry f() { .reg .b64 %rd<2>; mov.u64 %rd1, g; st.global.u64 [%rd1], %rd1; ret; }",
            ),
        ),
        (
            "too much shared",
            with(
                "7.0",
                "sm_75",
                ".visible .entry f() { .shared .b8 s[60000]; .reg .b64 %rd<2>; mov.u64 %rd1, s; st.u64 [%rd1], %rd1; ret; }",
            ),
        ),
        (
            "truncated",
            with("7.0", "sm_75", ".visible .entry f() { ret;"),
        ),
        (
            "twice",
            with(
                "7.0",
                "sm_75",
                ".visible .entry f() { ret; } .visible .entry f() { ret; }",
            ),
        ),
        (
            "bytes behind",
            with("7.0", "sm_75", ".visible .entry f() { ret; } \u{1}\u{2}"),
        ),
    ]
}

fn refused_ptx(d: &mut Driver) {
    primary(d);
    for (what, text) in refusals() {
        let mut m = 0_usize;
        let text = CString::new(text).unwrap();
        let code = quietly!(d, cuModuleLoadData(&mut m, text.as_c_str()));
        d.write(&format!("{what} = {code}"));
    }
}

fn jit_logs(d: &mut Driver) {
    primary(d);
    for (what, source) in refusals() {
        let source = CString::new(source).unwrap();
        let (mut info, mut error) = ([0_u8; 512], [0_u8; 512]);
        let options = [3_u32, 4, 5, 6, 12];
        let mut values = [
            info.as_mut_ptr() as usize,
            512,
            error.as_mut_ptr() as usize,
            512,
            1,
        ];
        let mut m = 0_usize;
        let code = quietly!(
            d,
            cuModuleLoadDataEx(
                &mut m,
                source.as_c_str(),
                5,
                &options,
                values.as_mut_ptr() as usize
            )
        );
        let info = CStr::from_bytes_until_nul(&info)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let error = CStr::from_bytes_until_nul(&error)
            .unwrap()
            .to_string_lossy()
            .into_owned();
        let mut line = format!("{what} = {code}, sizes {} {}", values[1], values[3]);
        for (log, text) in [("error", error), ("info", info)] {
            if !text.is_empty() {
                write!(line, ", {log}: {}", text.replace('\n', " | ")).unwrap();
            }
        }
        d.write(&line);
    }
    let mut m = 0_usize;
    let options = [5_u32, 6];
    let mut error = [7_u8; 8];
    let mut values = [error.as_mut_ptr() as usize, 8];
    say!(d, cuModuleLoadDataEx(&mut m, c".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry f() { call nothing; ret; }", 2, &options, values.as_mut_ptr() as usize));
    d.write(&format!("{error:?} {}", values[1]));
    say!(
        d,
        cuModuleLoadDataEx(&mut m, KERNELS, 1, &[99_u32], values.as_mut_ptr() as usize)
    );
    say!(
        d,
        cuModuleLoadDataEx(
            &mut m,
            KERNELS,
            1,
            &[9_u32],
            [90_usize].as_mut_ptr() as usize
        )
    );
    say!(
        d,
        cuModuleLoadDataEx(
            &mut m,
            KERNELS,
            1,
            &[9_u32],
            [75_usize].as_mut_ptr() as usize
        )
    );
    say!(
        d,
        cuModuleLoadDataEx(
            &mut m,
            KERNELS,
            1,
            &[0_u32],
            [32_usize].as_mut_ptr() as usize
        )
    );
    say!(
        d,
        cuModuleLoadDataEx(
            &mut m,
            KERNELS,
            1,
            &[7_u32],
            [4_usize].as_mut_ptr() as usize
        )
    );
}

fn files(d: &mut Driver) {
    primary(d);
    let mut m = 0_usize;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("kernels.ptx");
    std::fs::write(&path, KERNELS.to_bytes()).unwrap();
    let path = CString::new(path.to_str().unwrap()).unwrap();
    say!(d, cuModuleLoad(&mut m, c"/no/such/file"));
    say!(d, cuModuleLoad(&mut m, 0));
    say!(d, cuModuleLoad(&mut m, c"/"));
    say!(d, cuModuleLoad(&mut m, path.as_c_str()));
}

fn functions(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let (mut f, mut g) = (0_usize, 0_usize);
    say!(d, cuModuleGetFunction(&mut f, m, c"nothing"));
    say!(d, cuModuleGetFunction(&mut g, m, c"nothing") => f == g);
    say!(d, cuModuleGetFunction(&mut f, m, c"something"));
    say!(d, cuModuleGetFunction(&mut f, m, c""));
    say!(d, cuModuleGetFunction(&mut f, m, 0));
    say!(d, cuModuleGetFunction(&mut f, 0, c"nothing"));
    say!(d, cuModuleGetFunction(0, m, c"nothing"));
    say!(d, cuModuleGetFunction(&mut f, m, c"counter"));
    let mut of = 0_usize;
    say!(d, cuFuncGetModule(&mut of, g) => of == m);
    let mut state = 9_u32;
    say!(d, cuFuncIsLoaded(&mut state, g) => state);
    say!(d, cuFuncLoad(g));
    say!(d, cuFuncIsLoaded(&mut state, g) => state);
    say!(d, cuFuncSetCacheConfig(g, 1));
    say!(d, cuFuncSetCacheConfig(g, 9));
    say!(d, cuFuncSetSharedMemConfig(g, 1));
}

fn globals(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let (mut a, mut bytes) = (0_u64, 0_usize);
    let mut value = [0_u32; 4];
    say!(d, cuModuleGetGlobal_v2(&mut a, &mut bytes, m, c"counter") => bytes);
    say!(d, cuMemcpyDtoH_v2(&mut value, a, 8) => format!("{value:?}"));
    say!(d, cuModuleGetGlobal_v2(&mut a, 0, m, c"factors"));
    say!(d, cuModuleGetGlobal_v2(0, &mut bytes, m, c"factors") => bytes);
    say!(d, cuMemcpyDtoH_v2(&mut value, a, 16) => format!("{value:x?}"));
    say!(d, cuMemcpyHtoD_v2(a, &value, 16));
    say!(d, cuMemFree_v2(a));
    say!(d, cuModuleGetGlobal_v2(0, 0, m, c"factors"));
    say!(d, cuModuleGetGlobal_v2(&mut a, &mut bytes, m, c"nothing"));
    say!(d, cuModuleGetGlobal_v2(&mut a, &mut bytes, m, 0));
    say!(d, cuModuleGetGlobal_v2(&mut a, &mut bytes, 0, c"factors"));
}

fn unloaded(d: &mut Driver) {
    primary(d);
    let m = module(d);
    say!(d, cuModuleUnload(0));
    say!(d, cuModuleUnload(m));
    say!(d, cuModuleUnload(m));
}

fn unloaded_function(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let mut f = 0_usize;
    say!(d, cuModuleUnload(m));
    say!(d, cuModuleGetFunction(&mut f, m, c"nothing"));
}

fn unloaded_launch(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let f = function(d, m, c"nothing");
    say!(d, cuModuleUnload(m));
    say!(d, cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0));
}

fn attributes(d: &mut Driver) {
    primary(d);
    let m = module(d);
    for name in [
        c"nothing",
        c"store",
        c"many",
        c"bounded",
        c"required",
        c"shares",
    ] {
        let f = function(d, m, name);
        for attribute in 0..17 {
            let mut value = -9_i32;
            let code = quietly!(d, cuFuncGetAttribute(&mut value, attribute, f));
            d.write(&format!(
                "{} {attribute}: {code} {value}",
                name.to_string_lossy()
            ));
        }
    }
    let f = function(d, m, c"shares");
    let mut value = 0_i32;
    for (attribute, ask) in [
        (8, 100_000),
        (8, 186_368),
        (8, 186_369),
        (8, 232_448),
        (8, 232_449),
        (8, -1),
        (8, 0),
        (9, 50),
        (9, -1),
        (9, 101),
        (9, -2),
        (0, 64),
        (4, 1),
        (99, 1),
        (14, 1),
        (11, 2),
        (13, 1),
        (10, 1),
    ] {
        let code = quietly!(d, cuFuncSetAttribute(f, attribute, ask));
        let also = quietly!(d, cuFuncGetAttribute(&mut value, attribute, f));
        d.write(&format!(
            "{attribute} to {ask}: {code}, then {also} {value}"
        ));
    }
    say!(d, cuFuncGetAttribute(0, 0, f));
    say!(d, cuFuncGetAttribute(&mut value, 0, 0));
    say!(d, cuFuncSetAttribute(0, 8, 0));
}

fn parameters(d: &mut Driver) {
    primary(d);
    let m = module(d);
    let (mut offset, mut size) = (0_usize, 0_usize);
    for name in [c"nothing", c"store", c"many"] {
        let f = function(d, m, name);
        for index in 0..6 {
            let code = quietly!(d, cuFuncGetParamInfo(f, index, &mut offset, &mut size));
            d.write(&format!(
                "{} {index}: {code} {offset} {size}",
                name.to_string_lossy()
            ));
        }
        let mut count = 99_usize;
        say!(d, cuFuncGetParamCount(f, &mut count) => count);
    }
    let f = function(d, m, c"store");
    say!(d, cuFuncGetParamInfo(f, 1, &mut offset, 0) => offset);
    say!(d, cuFuncGetParamInfo(f, 1, 0, &mut size));
    say!(d, cuFuncGetParamInfo(0, 1, &mut offset, &mut size));
}

fn occupancy(d: &mut Driver) {
    unsafe extern "C" fn by_threads(threads: i32) -> usize {
        threads as usize * 64
    }
    primary(d);
    let m = module(d);
    let (mut blocks, mut least, mut bytes) = (0_i32, 0_i32, 0_usize);
    for name in [c"nothing", c"store", c"bounded", c"shares"] {
        let f = function(d, m, name);
        d.write(&name.to_string_lossy());
        for (threads, shared) in [
            (1, 0_usize),
            (32, 0),
            (33, 0),
            (64, 1),
            (128, 0),
            (256, 1024),
            (256, 10_000),
            (512, 49_152),
            (1024, 0),
            (1025, 0),
            (0, 0),
            (-1, 0),
            (32, 200_000),
            (32, 300_000),
        ] {
            let code = quietly!(
                d,
                cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, f, threads, shared)
            );
            d.write(&format!(
                "{threads} {shared}: {code} {}",
                if code == 0 { blocks } else { -1 }
            ));
        }
        for (shared, limit) in [(0_usize, 0), (0, 100), (10_000, 0), (0, 2000), (100_000, 0)] {
            let code = quietly!(
                d,
                cuOccupancyMaxPotentialBlockSize(&mut least, &mut blocks, f, 0, shared, limit)
            );
            d.write(&format!(
                "potential {shared} {limit}: {code} {least} {blocks}"
            ));
        }
        say!(d, cuOccupancyMaxPotentialBlockSizeWithFlags(&mut least, &mut blocks, f, by_threads as *const () as usize, 0_usize, 0, 0) => format!("{least} {blocks}"));
        for (count, threads) in [
            (1, 128),
            (2, 128),
            (8, 256),
            (32, 64),
            (33, 64),
            (4, 1024),
            (0, 128),
            (1, 0),
        ] {
            let code = quietly!(
                d,
                cuOccupancyAvailableDynamicSMemPerBlock(&mut bytes, f, count, threads)
            );
            d.write(&format!("available {count} {threads}: {code} {bytes}"));
        }
    }
    let f = function(d, m, c"nothing");
    say!(d, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&mut blocks, f, 128, 0, 1) => blocks);
    say!(
        d,
        cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&mut blocks, f, 128, 0, 2)
    );
    say!(
        d,
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, 0, 128, 0)
    );
    say!(d, cuOccupancyMaxActiveBlocksPerMultiprocessor(0, f, 128, 0));
}
