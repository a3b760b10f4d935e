//! What the threads of a warp and of a block do together: shuffles, votes, barriers, and going apart.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

mod common;

use common::Sim;
use gpuk_sim::{Fault, Kind, Launch, Options};

const HEAD: &str = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// A kernel that has its thread's number in `%r1` and stores `%r2` at it.
fn kernel(body: &str) -> String {
    format!(
        "{HEAD}.visible .entry k(.param .u64 a)\n{{\n\
         .reg .pred %p<8>; .reg .b32 %r<32>; .reg .b64 %rd<16>; .shared .align 16 .b8 sh[1024];\n\
         ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4;\n\
         add.s64 %rd3, %rd1, %rd2; mov.u32 %r2, 0;\n\
         {body}\nst.global.u32 [%rd3], %r2;\nret;\n}}\n"
    )
}

fn launch(body: &str, threads: u32, options: Options) -> Result<Vec<u32>, Fault> {
    let sim = Sim::with(&kernel(body), options);
    let a = sim.upload(&vec![0xdead_u32; threads as usize]);
    sim.launch("k", [1, 1, 1], [threads, 1, 1], args![a])?;
    Ok(sim.download(a, threads as usize))
}

fn run(body: &str, threads: u32) -> Vec<u32> {
    match launch(body, threads, Options::default()) {
        Ok(found) => found,
        Err(fault) => panic!("{body}: {fault}"),
    }
}

/// What each lane of a warp is expected to have.
fn lanes(f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..32).map(f).collect()
}

#[test]
fn shuffles() {
    let value = |lane: u32| lane * 10 + 1;
    let body = |form: &str| format!("mad.lo.u32 %r3, %r1, 10, 1; {form}");
    let shuffle = |form: &str| run(&body(form), 32);
    assert_eq!(
        shuffle("shfl.sync.bfly.b32 %r2, %r3, 5, 31, -1;"),
        lanes(|lane| value(lane ^ 5))
    );
    assert_eq!(
        shuffle("shfl.sync.down.b32 %r2|%p1, %r3, 3, 31, -1; @!%p1 mov.u32 %r2, 7;"),
        lanes(|lane| if lane + 3 < 32 { value(lane + 3) } else { 7 })
    );
    assert_eq!(
        shuffle("shfl.sync.up.b32 %r2|%p1, %r3, 3, 0, -1; @!%p1 add.u32 %r2, %r2, 1;"),
        lanes(|lane| if lane >= 3 {
            value(lane - 3)
        } else {
            value(lane) + 1
        })
    );
    assert_eq!(
        shuffle("shfl.sync.idx.b32 %r2, %r3, 9, 31, 0xffffffff;"),
        lanes(|_| value(9))
    );
    // Segments of eight: the mask of a segment's bits above, and the clamp.
    assert_eq!(
        shuffle("shfl.sync.idx.b32 %r2, %r3, 9, 0x181f, -1;"),
        lanes(|lane| value(lane / 8 * 8 + 1))
    );
    assert_eq!(
        shuffle("shfl.sync.down.b32 %r2, %r3, 6, 0x1807, -1;"),
        lanes(|lane| if lane % 8 + 6 < 8 {
            value(lane + 6)
        } else {
            value(lane)
        })
    );
    assert_eq!(
        shuffle("shfl.sync.up.b32 %r2, %r3, 6, 0x1800, -1;"),
        lanes(|lane| if lane % 8 >= 6 {
            value(lane - 6)
        } else {
            value(lane)
        })
    );
    // Each lane with an amount of its own.
    assert_eq!(
        shuffle("sub.u32 %r4, 31, %r1; shfl.sync.idx.b32 %r2, %r3, %r4, 31, -1;"),
        lanes(|lane| value(31 - lane))
    );
    // Halves of the warp, each with its own mask, at one instruction.
    let halves = "setp.lt.u32 %p1, %r1, 16; selp.b32 %r5, 0xffff, 0xffff0000, %p1;\n\
        shfl.sync.bfly.b32 %r2, %r3, 1, 31, %r5;";
    assert_eq!(shuffle(halves), lanes(|lane| value(lane ^ 1)));
}

#[test]
fn lanes_meet_at_different_instructions() {
    // The halves of the warp go apart and shuffle with one another all the same.
    let body = "mul.lo.u32 %r3, %r1, 10; setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW;\n\
        add.u32 %r3, %r3, 1; shfl.sync.bfly.b32 %r2, %r3, 16, 31, -1; add.u32 %r2, %r2, 1000; bra END;\n\
        LOW: add.u32 %r3, %r3, 2; add.u32 %r3, %r3, 3; shfl.sync.bfly.b32 %r2, %r3, 16, 31, -1;\n\
        END: bar.warp.sync -1;";
    let expected = lanes(|lane| {
        let other = (lane ^ 16) * 10;
        if lane < 16 {
            other + 1
        } else {
            other + 5 + 1000
        }
    });
    assert_eq!(run(body, 32), expected);
    // One that leaves before does not keep the others.
    let body = "setp.eq.u32 %p1, %r1, 3; @%p1 exit; vote.sync.ballot.b32 %r2, 1, -1;";
    let expected = lanes(|lane| if lane == 3 { 0xdead } else { !8 });
    assert_eq!(run(body, 32), expected);
    let body = "setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW; vote.sync.ballot.b32 %r2, 1, -1; bra END;\n\
        LOW: exit; END:";
    let expected = lanes(|lane| if lane < 16 { 0xdead } else { 0xffff_0000 });
    assert_eq!(run(body, 32), expected);
}

#[test]
fn votes_and_matches() {
    let odd = "and.b32 %r3, %r1, 1; setp.eq.u32 %p1, %r3, 1;";
    let vote = |form: &str| run(&format!("{odd} {form}"), 32);
    assert_eq!(
        vote("vote.sync.ballot.b32 %r2, %p1, -1;"),
        lanes(|_| 0xaaaa_aaaa)
    );
    assert_eq!(
        vote("vote.sync.ballot.b32 %r2, !%p1, -1;"),
        lanes(|_| 0x5555_5555)
    );
    assert_eq!(
        vote("vote.sync.any.pred %p2, %p1, -1; selp.u32 %r2, 1, 0, %p2;"),
        lanes(|_| 1)
    );
    assert_eq!(
        vote("vote.sync.all.pred %p2, %p1, -1; selp.u32 %r2, 1, 0, %p2;"),
        lanes(|_| 0)
    );
    assert_eq!(
        vote("vote.sync.uni.pred %p2, %p1, -1; selp.u32 %r2, 1, 0, %p2;"),
        lanes(|_| 0)
    );
    // The odd ones among themselves.
    let body = "@!%p1 bra END; vote.sync.all.pred %p2, %p1, 0xaaaaaaaa; selp.u32 %r2, 1, 0, %p2;\n\
        activemask.b32 %r3; add.u32 %r2, %r2, %r3; END:";
    assert_eq!(
        vote(body),
        lanes(|lane| if lane & 1 == 1 { 0xaaaa_aaab } else { 0 })
    );
    // A guard keeps lanes out as a branch does.
    assert_eq!(
        vote("@%p1 activemask.b32 %r2;"),
        lanes(|lane| if lane & 1 == 1 { 0xaaaa_aaaa } else { 0 })
    );
    assert_eq!(
        vote("shr.u32 %r4, %r1, 2; match.any.sync.b32 %r2, %r4, -1;"),
        lanes(|lane| 0xf << (lane & !3))
    );
    assert_eq!(
        vote("cvt.u64.u32 %rd4, %r3; match.any.sync.b64 %r2, %rd4, -1;"),
        lanes(|lane| 0x5555_5555 << (lane & 1))
    );
    assert_eq!(
        vote("match.all.sync.b32 %r2|%p2, %r3, -1; @%p2 mov.u32 %r2, 9;"),
        lanes(|_| 0)
    );
    assert_eq!(
        vote("mov.u32 %r4, 6; match.all.sync.b32 %r2|%p2, %r4, -1; @!%p2 mov.u32 %r2, 9;"),
        lanes(|_| u32::MAX)
    );
    assert_eq!(
        vote("elect.sync %r2|%p2, -1; @%p2 mov.u32 %r2, 77;"),
        lanes(|lane| if lane == 0 { 77 } else { 0 })
    );
}

#[test]
fn reductions() {
    let value = |lane: u32| lane.wrapping_mul(0x9e37_79b9);
    let reduce = |op: &str| {
        run(
            &format!("mul.lo.u32 %r3, %r1, 0x9e3779b9; redux.sync.{op} %r2, %r3, -1;"),
            32,
        )[5]
    };
    let all = || (0..32).map(value);
    assert_eq!(reduce("add.u32"), all().fold(0, u32::wrapping_add));
    assert_eq!(reduce("add.s32"), all().fold(0, u32::wrapping_add));
    assert_eq!(reduce("min.u32"), all().min().unwrap());
    assert_eq!(reduce("max.u32"), all().max().unwrap());
    assert_eq!(
        reduce("min.s32"),
        all().map(|v| v as i32).min().unwrap() as u32
    );
    assert_eq!(
        reduce("max.s32"),
        all().map(|v| v as i32).max().unwrap() as u32
    );
    assert_eq!(reduce("and.b32"), all().fold(u32::MAX, |a, b| a & b));
    assert_eq!(reduce("or.b32"), all().fold(0, |a, b| a | b));
    assert_eq!(reduce("xor.b32"), all().fold(0, |a, b| a ^ b));
}

#[test]
fn special_registers() {
    assert_eq!(
        run("mov.u32 %r2, %laneid;", 64),
        [lanes(|l| l), lanes(|l| l)].concat()
    );
    assert_eq!(
        run("mov.u32 %r2, %lanemask_lt;", 32),
        lanes(|l| (1 << l) - 1)
    );
    assert_eq!(
        run("mov.u32 %r2, %lanemask_le;", 32),
        lanes(|l| ((1_u64 << (l + 1)) - 1) as u32)
    );
    assert_eq!(run("mov.u32 %r2, %lanemask_eq;", 32), lanes(|l| 1 << l));
    assert_eq!(
        run("mov.u32 %r2, %lanemask_ge;", 32),
        lanes(|l| !((1 << l) - 1))
    );
    assert_eq!(
        run("mov.u32 %r2, %lanemask_gt;", 32),
        lanes(|l| !((1_u64 << (l + 1)) - 1) as u32)
    );
    assert_eq!(run("mov.u32 %r2, %warpid;", 96)[70], 2);
    assert_eq!(run("mov.u32 %r2, %nwarpid;", 96)[70], 3);
    // A special register as an operand of something else.
    assert_eq!(
        run("mad.lo.u32 %r2, %tid.x, %ntid.x, 1;", 32),
        lanes(|l| l * 32 + 1)
    );
    let sim = Sim::new(&kernel(
        "mov.u32 %r4, %tid.y; mov.u32 %r5, %tid.z; mov.u32 %r6, %ntid.x; mov.u32 %r7, %ntid.y;\n\
         mad.lo.u32 %r8, %r5, %r7, %r4; mad.lo.u32 %r2, %r8, %r6, %r1;\n\
         mul.wide.u32 %rd2, %r2, 4; add.s64 %rd3, %rd1, %rd2;",
    ));
    let a = sim.upload(&[0_u32; 120]);
    sim.launch("k", [1, 1, 1], [5, 6, 4], args![a]).unwrap();
    assert!(sim.download::<u32>(a, 120).into_iter().eq(0..120));
    // Clocks rise.
    let body = "mov.u64 %rd4, %clock64; mov.u64 %rd5, %globaltimer; mov.u64 %rd6, %clock64;\n\
        setp.gt.u64 %p1, %rd6, %rd4; setp.ne.and.u64 %p1, %rd5, 0, %p1; selp.u32 %r2, 1, 0, %p1;";
    assert_eq!(run(body, 1), [1]);
}

#[test]
fn loops_of_different_lengths_meet_again() {
    let body = "mov.u32 %r3, 0; LOOP: setp.ge.u32 %p1, %r3, %r1; @%p1 bra DONE;\n\
        add.u32 %r3, %r3, 1; bra LOOP; DONE: activemask.b32 %r4; add.u32 %r2, %r3, %r4;";
    assert_eq!(run(body, 32), lanes(|lane| lane.wrapping_add(u32::MAX)));
}

#[test]
fn indexed_branches() {
    let body = "and.b32 %r3, %r1, 3; { TABLE: .branchtargets A, B, C, D; brx.idx %r3, TABLE; }\n\
        A: mov.u32 %r2, 10; bra END; B: mov.u32 %r2, 11; bra END;\n\
        C: mov.u32 %r2, 12; bra END; D: mov.u32 %r2, 13; END:";
    assert_eq!(run(body, 32), lanes(|lane| 10 + (lane & 3)));
}

#[test]
fn a_lane_can_spin_until_another_lets_it_go() {
    // A lock taken by every lane of the warp in turn.
    let body = "mov.u32 %r3, sh; setp.ne.u32 %p1, %r1, 0; @!%p1 st.shared.u64 [%r3], 0;\n\
        bar.warp.sync -1;\n\
        SPIN: atom.shared.cas.b32 %r4, [%r3], 0, 1; setp.ne.u32 %p2, %r4, 0; @%p2 bra SPIN;\n\
        ld.shared.u32 %r2, [%r3+4]; add.u32 %r5, %r2, 1; st.shared.u32 [%r3+4], %r5;\n\
        atom.shared.exch.b32 %r6, [%r3], 0;";
    let mut found = run(body, 32);
    found.sort_unstable();
    assert_eq!(found, lanes(|lane| lane));
    // A flag that a lane further on sets, while others spin behind.
    let body = "mov.u32 %r3, sh; st.shared.u32 [%r3], 0; bar.warp.sync -1;\n\
        setp.eq.u32 %p1, %r1, 31; @%p1 bra SET;\n\
        SPIN: ld.volatile.shared.u32 %r2, [%r3]; setp.eq.u32 %p2, %r2, 0; @%p2 bra SPIN; bra END;\n\
        SET: st.volatile.shared.u32 [%r3], 5; END:";
    assert_eq!(run(body, 32), lanes(|lane| if lane == 31 { 0 } else { 5 }));
}

#[test]
fn barriers() {
    // Every thread sees what the one across the block wrote.
    let body = "mov.u32 %r3, sh; shl.b32 %r4, %r1, 2; add.u32 %r5, %r3, %r4; st.shared.u32 [%r5], %r1;\n\
        bar.sync 0; mov.u32 %r6, %ntid.x; shl.b32 %r6, %r6, 2; sub.u32 %r7, %r6, %r4;\n\
        add.u32 %r8, %r3, %r7; ld.shared.u32 %r2, [%r8+-4];";
    assert!(run(body, 200).into_iter().eq((0..200).rev()));
    let same = body.replace("bar.sync 0", "barrier.cta.sync.aligned 3, 224");
    assert!(run(&same, 200).into_iter().eq((0..200).rev()));
    // One half of the block makes, the other takes.
    let body = "mov.u32 %r3, sh; and.b32 %r9, %r1, 63; shl.b32 %r4, %r9, 2; add.u32 %r5, %r3, %r4;\n\
        setp.lt.u32 %p1, %r1, 64; @%p1 bra TAKE;\n\
        add.u32 %r6, %r1, 1000; st.shared.u32 [%r5], %r6; bar.arrive 1, 128; bra END;\n\
        TAKE: bar.sync 1, 128; ld.shared.u32 %r2, [%r5]; END:";
    let expected: Vec<u32> = (0..128)
        .map(|i| if i < 64 { 1064 + i } else { 0 })
        .collect();
    assert_eq!(run(body, 128), expected);
    // Counting at the barrier.
    let body = "setp.lt.u32 %p1, %r1, 50; bar.red.popc.u32 %r3, 0, %p1; bar.red.or.pred %p2, 0, %p1;\n\
        bar.red.and.pred %p3, 0, %p1; bar.red.and.pred %p4, 1, !%p5; selp.u32 %r4, 100, 0, %p2;\n\
        selp.u32 %r5, 1000, 0, %p3; add.u32 %r2, %r3, %r4; add.u32 %r2, %r2, %r5;";
    let body = format!("setp.ne.u32 %p5, %r1, %r1; {body}");
    assert_eq!(run(&body, 96), vec![150; 96]);
    // Threads that left are not waited for.
    let body = "setp.lt.u32 %p1, %r1, 40; @%p1 exit; bar.sync 0; mov.u32 %r2, 1;";
    let expected: Vec<u32> = (0..96).map(|i| if i < 40 { 0xdead } else { 1 }).collect();
    assert_eq!(run(body, 96), expected);
    // The two ways of a branch may each have the barrier without the order of lanes mattering to the block,
    // as long as it is not said to be aligned.
    let body = "setp.lt.u32 %p1, %r1, 7; @%p1 bra A; barrier.sync 0; mov.u32 %r2, 2; bra END;\n\
        A: barrier.sync 0; mov.u32 %r2, 1; END:";
    let expected: Vec<u32> = (0..64).map(|i| if i < 7 { 1 } else { 2 }).collect();
    assert_eq!(run(body, 64), expected);
}

fn fault(body: &str, threads: u32) -> Fault {
    let options = Options {
        budget: Some(10_000_000),
        ..Options::default()
    };
    launch(body, threads, options).unwrap_err()
}

fn kind(body: &str, threads: u32) -> (Kind, String) {
    match fault(body, threads) {
        Fault::Finding(found) => (found.kind, found.text),
        fault => panic!("{fault}"),
    }
}

#[test]
fn barriers_used_wrongly() {
    let body = "setp.lt.u32 %p1, %r1, 7; @%p1 bra A; bar.sync 0; bra END; A: bar.sync 0; END:";
    assert_eq!(kind(body, 64).0, Kind::BarrierDivergence);
    assert_eq!(kind("bar.sync 16;", 32).0, Kind::BadBarrier);
    assert_eq!(kind("bar.sync 1, 40;", 64).0, Kind::BadBarrier);
    assert_eq!(kind("bar.sync 1, 128;", 64).0, Kind::BadBarrier);
    let body =
        "setp.lt.u32 %p1, %r1, 32; @%p1 bra A; bar.sync 1, 64; bra END; A: bar.sync 1, 96; END:";
    let (found, text) = kind(body, 96);
    assert_eq!(found, Kind::BadBarrier);
    assert!(
        text.contains("96 threads") && text.contains("64 threads"),
        "{text}"
    );
    let (found, text) = kind("vote.sync.ballot.b32 %r2, 1, 0xfffffffe;", 32);
    assert_eq!(found, Kind::BadMask);
    assert_eq!(
        text,
        "member mask 0xfffffffe does not name the lane 0 that executes it"
    );
}

#[test]
fn deadlocks_say_who_waits() {
    // A warp that never comes.
    let body = "setp.lt.u32 %p1, %r1, 32; @%p1 bra END; bar.sync 1, 64; END: bar.sync 0;";
    let Fault::Deadlock(deadlock) = fault(body, 64) else {
        panic!()
    };
    let waits: Vec<_> = (deadlock.waiting.iter())
        .map(|waiting| (waiting.first.thread[0], waiting.threads, &*waiting.what))
        .collect();
    assert_eq!(
        waits,
        [
            (0, 32, "barrier 0, to which 32 of 64 threads came"),
            (32, 32, "barrier 1, to which 32 of 64 threads came")
        ]
    );
    // A counted barrier of which a whole warp has left.
    let body = "setp.lt.u32 %p1, %r1, 32; @%p1 exit; bar.sync 1, 96;";
    assert!(matches!(fault(body, 96), Fault::Deadlock(_)));
    // Lanes that a mask names and that wait elsewhere.
    let body = "setp.lt.u32 %p1, %r1, 16; @%p1 bra LOW; bar.warp.sync -1; bra END;\n\
        LOW: bar.sync 0; END:";
    let Fault::Deadlock(deadlock) = fault(body, 32) else {
        panic!()
    };
    assert!(
        deadlock
            .to_string()
            .contains("the lanes of member mask 0xffffffff")
    );
    // Nobody waits, and nobody comes to an end.
    let body = "LOOP: bra LOOP;";
    assert!(matches!(fault(body, 32), Fault::Budget { .. }));
    assert_eq!(fault(body, 32).code(), 702);
}

#[test]
fn the_seed_changes_the_order_of_warps() {
    // The last warp to write wins.
    let body = "st.global.u32 [%rd1], %r1; setp.eq.u32 %p1, %r1, 0; ld.global.u32 %r2, [%rd1];";
    let with = |seed| {
        let options = Options {
            seed,
            ..Options::default()
        };
        launch(body, 512, options).unwrap()
    };
    assert_eq!(with(0), with(0));
    assert_eq!(with(5), with(5));
    assert!((1..20).any(|seed| with(seed) != with(0)));
}

#[test]
fn clusters() {
    // Every block writes into the next one's shared memory, and reads what was written to its own.
    let body = "mov.u32 %r3, %cluster_ctarank; mov.u32 %r4, %cluster_nctarank; add.u32 %r5, %r3, 1;\n\
        rem.u32 %r6, %r5, %r4; mov.u32 %r7, sh; mapa.shared::cluster.u32 %r8, %r7, %r6;\n\
        shl.b32 %r9, %r1, 2; add.u32 %r10, %r8, %r9; mad.lo.u32 %r11, %r3, 1000, %r1;\n\
        getctarank.shared::cluster.u32 %r12, %r8; setp.ne.u32 %p1, %r12, %r6; @%p1 trap;\n\
        st.shared::cluster.u32 [%r10], %r11; barrier.cluster.arrive.release.aligned;\n\
        barrier.cluster.wait.acquire.aligned; add.u32 %r13, %r7, %r9; ld.shared.u32 %r2, [%r13];\n\
        mov.u32 %r14, %ctaid.x; mov.u32 %r15, %ntid.x; mad.lo.u32 %r16, %r14, %r15, %r1;\n\
        mul.wide.u32 %rd4, %r16, 4; add.s64 %rd3, %rd1, %rd4;";
    let sim = Sim::new(&kernel(body));
    let a = sim.upload(&[0_u32; 8 * 64]);
    let launch = Launch {
        cluster: [4, 1, 1],
        ..Launch::new([8, 1, 1], [64, 1, 1], Vec::new())
    };
    sim.launch_with("k", launch, args![a]).unwrap();
    let expected: Vec<u32> = (0..8_u32)
        .flat_map(|block| (0..64).map(move |thread| (block % 4 + 3) % 4 * 1000 + thread))
        .collect();
    assert_eq!(sim.download::<u32>(a, 8 * 64), expected);
}

#[test]
fn traps_and_calls_of_nothing() {
    let found = fault("setp.eq.u32 %p1, %r1, 5; @%p1 trap;", 32);
    let Fault::Trap(site) = &found else {
        panic!("{found}")
    };
    assert_eq!((site.thread.thread, found.code()), ([5, 0, 0], 719));
    assert_eq!(site.instruction, "@%p1 trap;");
    let body = "mov.u64 %rd4, 77; { P: .callprototype _; call %rd4, P; }";
    assert!(matches!(
        fault(body, 32),
        Fault::BadCall { address: 77, .. }
    ));
    let found = fault("tex.1d.v4.f32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}];", 32);
    assert!(matches!(found, Fault::Unsupported(_)), "{found}");
    assert_eq!(found.code(), 715);
    // What is not executed is no error.
    run(
        "bra END; tex.1d.v4.f32.s32 {%r2, %r3, %r4, %r5}, [%rd1, {%r1}]; END:",
        32,
    );
}

#[test]
fn a_block_can_wait_for_a_later_one_that_fits_the_device() {
    let body = "mov.u32 %r3, %ctaid.x; setp.eq.u32 %p1, %r3, 3; @%p1 st.volatile.global.u32 [%rd1+4], 9;\n\
        @%p1 bra END; SPIN: ld.volatile.global.u32 %r2, [%rd1+4]; setp.eq.u32 %p2, %r2, 0;\n\
        @%p2 bra SPIN; END: setp.ne.u32 %p3, %r3, 0; @%p3 exit;";
    let options = Options {
        threads: 1,
        ..Options::default()
    };
    let sim = Sim::with(&kernel(body), options);
    let a = sim.upload(&[0_u32; 2]);
    sim.launch("k", [4, 1, 1], [1, 1, 1], args![a]).unwrap();
    assert_eq!(sim.download::<u32>(a, 2), [9, 9]);
}

#[test]
fn many_blocks_on_many_cores() {
    // Which block a core has last does not show in the result, not even when each is long.
    let body = "mov.u32 %r3, %ctaid.x; mov.u32 %r4, 0; LOOP: add.u32 %r4, %r4, 1; add.u32 %r2, %r2, %r3;\n\
        setp.lt.u32 %p1, %r4, 300; @%p1 bra LOOP; mad.lo.u32 %r5, %r3, 32, %r1;\n\
        mul.wide.u32 %rd4, %r5, 4; add.s64 %rd3, %rd1, %rd4;";
    let options = Options {
        threads: 7,
        ..Options::default()
    };
    let sim = Sim::with(&kernel(body), options);
    let a = sim.upload(&vec![0_u32; 32 * 500]);
    let report = sim.launch("k", [500, 1, 1], [32, 1, 1], args![a]).unwrap();
    let expected = (0..500 * 32).map(|i| i / 32 * 300);
    assert!(sim.download::<u32>(a, 32 * 500).into_iter().eq(expected));
    assert!(report.instructions > 500 * 32 * 1200);
}

#[test]
fn the_lowest_block_that_fails_is_reported() {
    let body = "mov.u32 %r3, %ctaid.x; setp.ge.u32 %p1, %r3, 37; @%p1 trap;";
    let options = Options {
        threads: 5,
        ..Options::default()
    };
    let sim = Sim::with(&kernel(body), options);
    let a = sim.upload(&[0_u32; 32]);
    for _ in 0..20 {
        let fault = sim
            .launch("k", [100, 1, 1], [32, 1, 1], args![a])
            .unwrap_err();
        let Fault::Trap(site) = fault else { panic!() };
        assert_eq!(site.thread.block, [37, 0, 0]);
    }
}
