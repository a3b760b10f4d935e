//! Races in random kernels, against vector clocks written plainly: there is a race if and only if the simulator
//! finds one, however warps take turns.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use std::fmt::Write;

use common::Sim;
use gpuk_sim::{Kind, Options, Races};

const WARPS: usize = 4;
const THREADS: usize = WARPS * 32;
const BYTES: u32 = 512;

/// splitmix64
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum What {
    Load,
    Store,
    Atomic,
}

/// What all threads do one after the other, each step with the lanes in its masks.
#[derive(Debug, Clone)]
enum Step {
    /// At `(thread * factor + offset) % count`, in units of the width.
    Access {
        what: What,
        bytes: u32,
        factor: u32,
        offset: u32,
        masks: [u32; WARPS],
    },
    /// `bar.sync 0`.
    Block,
    /// `bar.warp.sync` of some lanes of a warp.
    Lanes { warp: usize, lanes: u32 },
    /// A barrier of some warps, at which others arrive without waiting.
    Warps {
        number: usize,
        wait: [bool; WARPS],
        arrive: [bool; WARPS],
    },
}

fn steps(random: &mut Random) -> Vec<Step> {
    // The wildest nearly always race.
    let wild = random.below(4);
    let width = random.of(&[1, 2, 4, 4]);
    let count = 4 + random.below(10) as usize;
    let mut steps = Vec::new();
    for number in 1..=count {
        let masks = match random.below(4) {
            0 => std::array::from_fn(|_| random.next() as u32),
            1 => {
                let warp = random.below(WARPS as u64) as usize;
                std::array::from_fn(|at| {
                    if at == warp {
                        random.of(&[u32::MAX, 0xffff, 1])
                    } else {
                        0
                    }
                })
            }
            _ => [u32::MAX; WARPS],
        };
        let bytes = if wild == 0 {
            random.of(&[1, 2, 4])
        } else {
            width
        };
        let atomic = if bytes == 4 { What::Atomic } else { What::Load };
        let what = random.of(&[What::Load, What::Load, What::Store, atomic]);
        steps.push(Step::Access {
            what,
            bytes,
            factor: if wild == 0 { random.of(&[0, 1, 3]) } else { 1 },
            offset: match wild {
                0 => random.below(40) as u32,
                1 => random.of(&[0, 0, 1, 32]),
                _ => 0,
            },
            masks,
        });
        steps.push(match random.below(8) {
            0 => Step::Lanes {
                warp: random.below(WARPS as u64) as usize,
                lanes: random.of(&[u32::MAX, 0xffff, 0xffff_0000, 0xff, 0xf0f0_f0f0]),
            },
            1 => {
                let role: [u64; WARPS] = std::array::from_fn(|_| random.below(3));
                let mut wait = role.map(|role| role == 0);
                wait[0] |= !wait.contains(&true);
                let arrive = std::array::from_fn(|warp| role[warp] == 1 && !wait[warp]);
                Step::Warps {
                    number,
                    wait,
                    arrive,
                }
            }
            2 if wild == 0 => continue,
            _ => Step::Block,
        });
    }
    steps
}

fn place(step: u32, factor: u32, offset: u32, bytes: u32) -> u32 {
    (step * factor + offset) % (BYTES / bytes) * bytes
}

fn has(masks: &[u32; WARPS], thread: usize) -> bool {
    masks[thread / 32] >> (thread % 32) & 1 == 1
}

/// Whether two accesses are in conflict and neither comes before the other.
fn oracle(steps: &[Step]) -> bool {
    let mut clocks = vec![[0_u32; THREADS]; THREADS];
    for (thread, clock) in clocks.iter_mut().enumerate() {
        clock[thread] = 1;
    }
    let mut done: Vec<(usize, u32, u32, u32, What)> = Vec::new();
    let meet = |clocks: &mut Vec<[u32; THREADS]>, wait: &[usize], arrive: &[usize]| {
        let mut all = [0; THREADS];
        for thread in wait.iter().chain(arrive) {
            for (all, one) in all.iter_mut().zip(&clocks[*thread]) {
                *all = (*all).max(*one);
            }
        }
        for thread in wait {
            clocks[*thread] = all;
        }
        for thread in wait.iter().chain(arrive) {
            clocks[*thread][*thread] += 1;
        }
    };
    for step in steps {
        match step {
            Step::Access {
                what,
                bytes,
                factor,
                offset,
                masks,
            } => {
                for thread in (0..THREADS).filter(|thread| has(masks, *thread)) {
                    let at = place(thread as u32, *factor, *offset, *bytes);
                    for (other, time, from, len, did) in &done {
                        let overlap = *from < at + bytes && at < from + len;
                        let fine = *what == *did && *what != What::Store;
                        let before = *time <= clocks[thread][*other];
                        if overlap && !fine && !before && *other != thread {
                            return true;
                        }
                    }
                    done.push((thread, clocks[thread][thread], at, *bytes, *what));
                }
            }
            Step::Block => meet(&mut clocks, &(0..THREADS).collect::<Vec<_>>(), &[]),
            Step::Lanes { warp, lanes } => {
                let all = (0..32).filter(|lane| lanes >> lane & 1 == 1);
                meet(
                    &mut clocks,
                    &all.map(|lane| warp * 32 + lane).collect::<Vec<_>>(),
                    &[],
                );
            }
            Step::Warps { wait, arrive, .. } => {
                let of = |roles: &[bool; WARPS]| -> Vec<usize> {
                    (0..THREADS).filter(|thread| roles[thread / 32]).collect()
                };
                meet(&mut clocks, &of(wait), &of(arrive));
            }
        }
    }
    false
}

/// The kernel in PTX, in shared or global memory.
fn kernel(steps: &[Step], shared: bool) -> String {
    let (space, memory) = if shared {
        ("shared", "")
    } else {
        ("global", ".global .align 16 .b8 s[512];\n")
    };
    let mut text =
        format!(".version 8.0\n.target sm_90\n.address_size 64\n{memory}.visible .entry k() {{\n");
    text += ".reg .u32 %t, %w, %m, %v;\n.reg .u64 %a, %b;\n.reg .u16 %h;\n.reg .pred %p, %q;\n";
    if shared {
        text += ".shared .align 16 .b8 s[512];\n";
    }
    text += "mov.u32 %t, %tid.x;\nshr.u32 %w, %t, 5;\n";
    let choose = |text: &mut String, masks: &[u32; WARPS]| {
        text.push_str("mov.u32 %m, 0;\n");
        for (warp, mask) in masks.iter().enumerate() {
            writeln!(
                text,
                "setp.eq.u32 %q, %w, {warp};\nselp.u32 %m, {mask}, %m, %q;"
            )
            .unwrap();
        }
        text.push_str("and.b32 %v, %t, 31;\nshr.u32 %m, %m, %v;\nand.b32 %m, %m, 1;\nsetp.ne.u32 %p, %m, 0;\n");
    };
    let of = |roles: &[bool; WARPS]| roles.map(|role| if role { u32::MAX } else { 0 });
    for (number, step) in steps.iter().enumerate() {
        match step {
            Step::Access {
                what,
                bytes,
                factor,
                offset,
                masks,
            } => {
                choose(&mut text, masks);
                let count = BYTES / bytes;
                writeln!(
                    text,
                    "mad.lo.u32 %v, %t, {factor}, {offset};\nrem.u32 %v, %v, {count};\nmul.lo.u32 %v, %v, {bytes};\n\
                     cvt.u64.u32 %a, %v;\nmov.u64 %b, s;\nadd.u64 %a, %a, %b;\nadd.u32 %v, %t, {};",
                    number * 1000
                )
                .unwrap();
                let bits = bytes * 8;
                let line = match what {
                    What::Load => format!("ld.{space}.u{bits} %v, [%a];"),
                    What::Store => format!("st.{space}.u{bits} [%a], %v;"),
                    What::Atomic => format!("red.{space}.add.u32 [%a], %v;"),
                };
                writeln!(text, "@%p {line}").unwrap();
            }
            Step::Block => text += "bar.sync 0;\n",
            Step::Lanes { warp, lanes } => {
                let masks = std::array::from_fn(|at| if at == *warp { *lanes } else { 0 });
                choose(&mut text, &masks);
                writeln!(text, "@%p bar.warp.sync {lanes};").unwrap();
            }
            Step::Warps {
                number,
                wait,
                arrive,
            } => {
                let count = wait.iter().chain(arrive).filter(|role| **role).count() * 32;
                choose(&mut text, &of(arrive));
                writeln!(text, "@%p bar.arrive {number}, {count};").unwrap();
                choose(&mut text, &of(wait));
                writeln!(text, "@%p bar.sync {number}, {count};").unwrap();
            }
        }
    }
    text += "ret;\n}\n";
    text
}

#[test]
fn races_are_found_if_and_only_if_they_are_there() {
    let mut racy = 0;
    const CASES: u64 = 400;
    for case in 0..CASES {
        let steps = steps(&mut Random(case));
        let expected = oracle(&steps);
        racy += u64::from(expected);
        let text = kernel(&steps, case % 2 == 0);
        let options = Options {
            races: Races::All,
            seed: case % 3,
            ..Options::default()
        };
        let report = Sim::with(&text, options).launch("k", [1, 1, 1], [THREADS as u32, 1, 1], &[]);
        let report = report.unwrap_or_else(|fault| panic!("case {case}: {fault}\n{text}"));
        let kinds = [Kind::Race, Kind::SameValueRace];
        assert!(
            report
                .findings
                .iter()
                .all(|finding| kinds.contains(&finding.kind))
        );
        assert_eq!(
            !report.findings.is_empty(),
            expected,
            "case {case}: {steps:?}\n{report:?}"
        );
    }
    // Both happen.
    assert!(
        racy > CASES / 5 && racy < CASES * 4 / 5,
        "{racy} of {CASES}"
    );
}
