//! Broken and hostile modules: an error, never a panic, and bounded time and memory.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use std::sync::Arc;

use common::Random;
use common::Sim;
use gpuk_sim::{Device, Fault, Launch, LoadError, Options};

const FILES: [&str; 6] = [
    include_str!("ptx/basic.ptx"),
    include_str!("ptx/checks.ptx"),
    include_str!("ptx/cub.ptx"),
    include_str!("ptx/groups.ptx"),
    include_str!("ptx/params.ptx"),
    include_str!("ptx/reduce.ptx"),
];

fn options() -> Options {
    Options {
        budget: Some(200_000),
        memory: 64 << 20,
        threads: 1,
        ..Options::default()
    }
}

/// Loads a text and launches every kernel that it has; only panics count.
fn try_all(text: &str) {
    let device = Arc::new(Device::new(options()));
    let Ok(module) = device.load(text) else {
        return;
    };
    let _ = module.unsupported();
    for function in module.functions() {
        let params = vec![0; function.param_bytes() as usize];
        let mut launch = Launch::new([2, 1, 1], [40, 1, 1], params);
        launch.shared = 256;
        if let Err(fault) = device.launch(&function, &launch) {
            let _ = fault.to_string();
        }
    }
}

/// The words of a text, with what stands between them.
fn words(text: &str) -> Vec<&str> {
    let mut list = Vec::new();
    let mut start = 0;
    let mut inside = false;
    for (at, c) in text.char_indices() {
        let word = c.is_alphanumeric() || "%_$.".contains(c);
        if at > start && (word != inside || !word) {
            list.push(&text[start..at]);
            start = at;
        }
        inside = word;
    }
    list.push(&text[start..]);
    list
}

#[test]
fn words_in_other_places() {
    let mut random = Random(1);
    for round in 0..60 {
        let text = FILES[round % FILES.len()];
        let mut list = words(text);
        for _ in 0..1 + random.next() % 4 {
            let mut at = || (random.next() % list.len() as u64) as usize;
            let (from, to) = (at(), at());
            match random.next() % 4 {
                0 => list[to] = list[from],
                1 => list.swap(from, to),
                2 => list[to] = "",
                _ => list[to] = ["0", "-1", "4294967295", "%p1", "{", ";", "_"][from % 7],
            }
        }
        try_all(&list.concat());
    }
}

#[test]
fn cut_off_anywhere() {
    for text in FILES {
        for part in 1..12 {
            let mut end = text.len() * part / 12;
            while !text.is_char_boundary(end) {
                end += 1;
            }
            try_all(&text[..end]);
        }
    }
}

fn load(text: &str) -> LoadError {
    let device = Arc::new(Device::new(options()));
    device.load(text).unwrap_err()
}

const HEAD: &str = ".version 9.0\n.target sm_90\n.address_size 64\n";

#[test]
fn modules_that_cannot_be() {
    let kernel = |body: &str| format!("{HEAD}.visible .entry k()\n{{\n{body}\nret;\n}}\n");
    let error = load(&kernel(".reg .b32 %r<4000000000>;"));
    assert!(matches!(error, LoadError::Registers(_)), "{error}");
    let error = load(&format!("{HEAD}.global .b8 big[10000000000000];\n"));
    assert!(matches!(error, LoadError::Memory { .. }), "{error}");
    assert_eq!(error.code(), 2);
    let error = load(&format!("{HEAD}.global .u64 p = nothing;\n"));
    assert!(matches!(error, LoadError::Invalid(_)), "{error}");
    for space in [".global", ".const", ".shared"] {
        let error = load(&format!("{HEAD}{space} .b8 a[2];\n{space} .b8 a[4];\n"));
        assert!(matches!(error, LoadError::Invalid(_)), "{error}");
    }
    let error = load(&format!(
        "{HEAD}.global .b8 a = 1;\n.global .b8 a[4] = {{1, 2, 3, 4}};\n"
    ));
    assert!(matches!(error, LoadError::Invalid(_)), "{error}");
    let error = load(&HEAD.replace("sm_90", "sm_100"));
    assert_eq!(error.code(), 209);
    let error = load(&HEAD.replace("64\n", "32\n"));
    assert!(matches!(error, LoadError::AddressSize(32)), "{error}");
    assert_eq!(load("\u{7f}ELF").code(), 218);
}

#[test]
fn launches_that_cannot_be() {
    let text = format!(
        "{HEAD}.visible .entry k(.param .u64 a)\n.maxntid 64\n{{\n.local .b8 l[16];\n\
         .shared .b8 s[4096]; .reg .b64 %rd<2>; mov.u64 %rd1, s; ret;\n}}\n\
         .visible .entry deep()\n{{ .local .b8 l[2000000000]; ret; }}\n\
         .visible .entry exact()\n.reqntid 32, 2\n{{ ret; }}\n"
    );
    let sim = Sim::with(&text, options());
    let code = |name: &str, change: &dyn Fn(&mut Launch)| {
        let function = sim.module.function(name).unwrap();
        let params = vec![0; function.param_bytes() as usize];
        let mut launch = Launch::new([1, 1, 1], [32, 1, 1], params);
        change(&mut launch);
        match sim.device.launch(&function, &launch) {
            Ok(_) => 0,
            Err(fault @ Fault::Launch { .. }) => fault.code(),
            Err(fault) => panic!("{fault}"),
        }
    };
    assert_eq!(code("k", &|_| {}), 0);
    assert_eq!(code("k", &|launch| launch.params.clear()), 1);
    assert_eq!(code("k", &|launch| launch.grid = [0, 1, 1]), 1);
    assert_eq!(code("k", &|launch| launch.grid = [1, 65536, 1]), 1);
    assert_eq!(code("k", &|launch| launch.block = [1, 1, 65]), 1);
    assert_eq!(code("k", &|launch| launch.block = [65, 1, 1]), 701);
    assert_eq!(code("k", &|launch| launch.block = [1025, 1, 1]), 1);
    assert_eq!(code("k", &|launch| launch.shared = 300 << 10), 1);
    assert_eq!(code("k", &|launch| launch.shared = u32::MAX), 1);
    assert_eq!(code("k", &|launch| launch.cluster = [3, 1, 1]), 912);
    assert_eq!(code("deep", &|_| {}), 701);
    assert_eq!(code("exact", &|_| {}), 701);
    assert_eq!(code("exact", &|launch| launch.block = [32, 2, 1]), 0);
    let many = |launch: &mut Launch| {
        launch.cooperative = true;
        launch.grid = [100_000, 1, 1];
    };
    assert_eq!(code("k", &many), 720);
}

#[test]
fn endless_recursion_is_found() {
    let text = format!(
        "{HEAD}.func f()\n{{ call f; ret; }}\n.visible .entry k()\n{{ call f; ret; }}\n\
         .func g()\n{{ .local .b8 l[1000]; call g; ret; }}\n.visible .entry m()\n{{ call g; ret; }}\n"
    );
    let options = Options {
        budget: None,
        ..options()
    };
    let sim = Sim::with(&text, options);
    for name in ["k", "m"] {
        let fault = sim.launch(name, [1, 1, 1], [32, 1, 1], &[]).unwrap_err();
        assert!(matches!(fault, Fault::Stack { .. }), "{fault}");
        assert_eq!(fault.code(), 714);
    }
}
