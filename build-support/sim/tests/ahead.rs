//! Checks that are made before the place where they stand, against those that stand where they were written:
//! over random kernels, both leave the same memory and the same record.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

#[path = "common/checked.rs"]
mod checked;
mod common;
#[path = "common/program.rs"]
mod program;

use std::collections::{HashMap, HashSet};

use checked::Checked;
use common::{Bytes, Random};
use gpuk_ptx::functionalize::{EARLY, Options, functionalize};
use gpuk_sim::Launch;
use program::{Program, SLOTS, VALUES};

const BLOCK: u32 = 48;
const GRID: u32 = 2;

/// All that can be seen of a run: memory, and line, key, values and count of the failure.
#[derive(Debug, PartialEq)]
struct Seen {
    out: Vec<i32>,
    sums: Vec<i32>,
    failure: Option<(u32, u64, Vec<u64>, u64)>,
}

fn run(ptx: &str, ahead: bool, data: &[i32], n: i32) -> Seen {
    let checked = Checked::with(ptx, ahead);
    let sim = &checked.sim;
    let input = sim.upload(data);
    let out = sim.upload(&vec![-7_i32; (BLOCK * GRID) as usize * SLOTS]);
    let sums = sim.upload(&[0_i32; SLOTS]);
    let launch = Launch::new([GRID, 1, 1], [BLOCK, 1, 1], Vec::new());
    let args = [input.bytes(), out.bytes(), sums.bytes(), n.bytes()];
    let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
    if !checked.sites.is_empty() {
        checked.launch("k", launch, &args);
    } else {
        let report = sim.launch_with("k", launch, &args).unwrap();
        assert!(report.findings.is_empty());
    }
    Seen {
        out: sim.download(out, (BLOCK * GRID) as usize * SLOTS),
        sums: sim.download(sums, SLOTS),
        failure: checked.failure().map(|found| {
            let site = &checked.sites[found.site];
            (site.line, found.key, found.values, found.count)
        }),
    }
}

/// Whether the forms agree; the text of what differs if not.
fn differs(program: &Program, seed: u64) -> Option<String> {
    let mut random = Random(seed);
    let n = VALUES as i32 - (random.next() % 3) as i32;
    // Mostly indices that are in bounds, so that threads come far; and sometimes none is out.
    let wild = [1_u64 << 60, 4000, 300, 40][(random.next() % 4) as usize];
    let data: Vec<i32> = (0..VALUES)
        .map(|_| match random.next() % wild {
            0 => random.next() as i32,
            _ => (random.next() % n as u64) as i32,
        })
        .collect();
    let ptx = program.ptx(true);
    let result = std::panic::catch_unwind(|| {
        let now = run(&ptx, false, &data, n);
        let early = run(&ptx, true, &data, n);
        let plain = now
            .failure
            .is_none()
            .then(|| run(&program.ptx(false), false, &data, n));
        (now, early, plain)
    });
    let Ok((now, early, plain)) = result else {
        return Some(format!("a launch failed\n{ptx}"));
    };
    let failure = (&now.failure, &early.failure);
    if now != early {
        return Some(format!("{failure:?}, or memory differs\n{ptx}"));
    }
    match plain {
        Some(plain) if plain != now => Some(format!("the kernel without checks differs\n{ptx}")),
        _ => None,
    }
}

/// The file and line of each instruction, by its text.
fn lines(ptx: &str) -> HashMap<&str, HashSet<&str>> {
    let mut found: HashMap<_, HashSet<_>> = HashMap::new();
    let mut known = HashSet::new();
    let mut line = "";
    for text in ptx.lines().map(str::trim) {
        if let Some(place) = text.strip_prefix(".loc\t") {
            let (own, call) = place.split_once(',').unwrap_or((place, ""));
            if let Some((_, call)) = call.split_once("inlined_at ") {
                // What ptxas asks for.
                assert!(known.contains(call), "no line is at {call}\n{ptx}");
            }
            known.insert(own);
            line = own;
        } else if text.ends_with(';') && text.contains('%') && !text.starts_with(['.', '@']) {
            found.entry(text).or_default().insert(line);
        }
    }
    found
}

/// What is moved or copied is still of the line that it was of.
fn same_lines(before: &str, after: &str) {
    let (before, after) = (lines(before), lines(after));
    for (text, places) in before {
        if let Some(found) = after.get(text) {
            assert!(
                found.is_subset(&places),
                "{text}: {found:?}, not {places:?}"
            );
        }
    }
}

/// Compares `count` kernels; a difference is shown with as few statements as it takes.
fn compare(first: u64, count: u64) -> [u64; 2] {
    let mut outcomes = [0; 2];
    for seed in first..first + count {
        let program = Program::random(&mut Random(seed));
        if differs(&program, seed).is_some() {
            let mut small = program;
            while let Some(smaller) =
                (small.smaller().into_iter()).find(|smaller| differs(smaller, seed).is_some())
            {
                small = smaller;
            }
            panic!("seed {seed}: {}", differs(&small, seed).unwrap());
        }
        let module = gpuk_ptx::Module::parse(program.ptx(true)).unwrap();
        let options = |ahead| Options {
            asserts: true,
            ahead,
        };
        let text = |ahead| functionalize(&module, &options(ahead)).unwrap().text;
        same_lines(&program.ptx(true), &text(true));
        outcomes[usize::from(text(true) != text(false))] += 1;
    }
    outcomes
}

#[test]
fn nobody_can_tell_when_checks_are_made() {
    let [_, moved] = compare(1, 200);
    assert!(moved > 100, "only {moved} kernels of 200 were rewritten");
}

#[test]
#[ignore = "takes minutes; `cargo test -p gpuk-sim --release --test ahead -- --ignored`"]
fn nobody_can_tell_in_many_kernels() {
    let [_, moved] = compare(1_000, 4_000);
    assert!(
        moved > 2_000,
        "only {moved} kernels of 4,000 were rewritten"
    );
}

#[test]
fn checks_of_a_counter_are_decided_before_the_loop() {
    let mut fails = 0;
    for (seed, program) in Program::ranges().into_iter().enumerate() {
        if let Some(text) = differs(&program, seed as u64) {
            panic!("{text}");
        }
        let ptx = program.ptx(true);
        fails += usize::from(run(&ptx, true, &[0; VALUES], 60).failure.is_some());
    }
    // Of 240, some pass in all rounds and some do not.
    assert!((60..200).contains(&fails), "{fails}");
}

/// A list that ends where its memory ends, with a check that says so: the loop would go on behind it.
#[test]
fn a_load_before_its_check_is_no_fault() {
    let ptx = program::walk();
    let module = gpuk_ptx::Module::parse(&*ptx).unwrap();
    let options = Options {
        asserts: true,
        ahead: true,
    };
    let text = functionalize(&module, &options).unwrap().text;
    assert!(text.contains(EARLY));
    for ahead in [false, true] {
        let checked = Checked::with(&ptx, ahead);
        let sim = &checked.sim;
        let mut list: Vec<i32> = (0..19).collect();
        list.push(-1);
        let (list, out) = (sim.upload(&list), sim.upload(&[0_i32; 32]));
        let launch = Launch::new([1, 1, 1], [32, 1, 1], Vec::new());
        let args = [list.bytes(), out.bytes(), 64_i32.bytes(), 19_i32.bytes()];
        let args: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
        checked.launch("walk", launch, &args);
        let failure = checked.failure().unwrap();
        assert_eq!((failure.key, failure.count), (0, 32), "{ahead}");
        assert_eq!(failure.values, [u64::from(u32::MAX)]);
    }
}
