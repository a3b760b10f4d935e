//! Random kernels with checks. Their text is written in `writer`.

mod writer;

use crate::common::Random;
use writer::Writer;
pub(crate) use writer::walk;

/// Elements of the input that the kernels read.
pub(crate) const VALUES: usize = 64;
/// Elements that each thread writes, and sums that all add to.
pub(crate) const SLOTS: usize = 4;

const REGISTERS: u64 = 6;

/// Indices of source files.
const CALLER: u32 = 1;
const CALLEE: u32 = 2;

/// A kernel.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    body: Vec<Statement>,
}

#[derive(Debug, Clone)]
enum Statement {
    /// A register from two others.
    Compute {
        to: u64,
        op: &'static str,
        a: u64,
        b: u64,
        constant: Option<i32>,
    },
    /// A check that holds while register `a` compares so; some values are captured.
    Check {
        kind: &'static str,
        compare: &'static str,
        a: Source,
        bound: Bound,
        values: u64,
    },
    /// A check of an index, something else, and the load that the check guards.
    Guarded {
        to: u64,
        index: Source,
        between: Vec<Self>,
    },
    /// An element that is always there.
    Load {
        to: u64,
        index: u64,
    },
    Store {
        slot: u64,
        from: u64,
    },
    Shared {
        to: u64,
        from: u64,
    },
    Add {
        slot: u64,
        from: u64,
    },
    If {
        compare: &'static str,
        a: u64,
        constant: i32,
        body: Vec<Self>,
    },
    /// Rounds by a counter, which the body may read.
    Loop {
        rounds: Bound,
        step: i32,
        test: Test,
        body: Vec<Self>,
    },
    /// Rounds over elements that follow each other, each the index of another, which a check is of.
    Walk {
        to: u64,
        start: u64,
        rounds: u64,
        body: Vec<Self>,
    },
    Barrier,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Register(u64),
    /// The innermost loop's counter, times a number, and a number more.
    Counter(i32, i32),
}

#[derive(Debug, Clone, Copy)]
enum Bound {
    Constant(i32),
    /// The kernel's parameter.
    Parameter,
    /// The low bits of a register.
    Register(u64),
}

#[derive(Debug, Clone, Copy)]
enum Test {
    Less,
    NotEqual,
    Down,
}

impl Program {
    pub(crate) fn random(random: &mut Random) -> Self {
        let count = 3 + random.next() % 6;
        let body = (0..count).map(|_| statement(random, 0)).collect();
        Self { body }
    }

    /// Loops whose only check is of their counter, and holds in all rounds, in the first ones, or in none.
    pub(crate) fn ranges() -> Vec<Self> {
        let mut all = Vec::new();
        for test in [Test::Less, Test::NotEqual, Test::Down] {
            for (rounds, step) in [(1, 1), (7, 1), (7, 3), (14, 2)] {
                for (times, more) in [(1, 0), (1, 8), (-1, 0), (-1, 9), (2, -3)] {
                    for (compare, bound) in [
                        ("lt.u32", 4),
                        ("lt.u32", 1000),
                        ("ge.s32", 2),
                        ("le.s32", 12),
                    ] {
                        let check = Statement::Check {
                            kind: "check",
                            compare,
                            a: Source::Counter(times, more),
                            bound: Bound::Constant(bound),
                            values: 1,
                        };
                        let body = vec![check, Statement::Load { to: 1, index: 1 }];
                        let rounds = Bound::Constant(rounds);
                        all.push(Self {
                            body: vec![Statement::Loop {
                                rounds,
                                step,
                                test,
                                body,
                            }],
                        });
                    }
                }
            }
        }
        all
    }

    /// The same with a statement less, or with what stands in it in its place.
    pub(crate) fn smaller(&self) -> Vec<Self> {
        smaller(&self.body)
            .into_iter()
            .map(|body| Self { body })
            .collect()
    }

    /// The module, with its checks or without.
    pub(crate) fn ptx(&self, checks: bool) -> String {
        let mut writer = Writer {
            text: String::new(),
            strings: String::new(),
            number: 0,
            depth: 0,
            checks,
        };
        writer.all(&self.body);
        let Writer {
            text,
            strings,
            number,
            ..
        } = writer;
        let slots = SLOTS * 4;
        format!(
            ".version 8.0\n.target sm_80\n.address_size 64
.extern .func __gpuk_fail(.param .b64 a, .param .b64 b, .param .b64 c, .param .b64 d, .param .b64 e,
  .param .b64 f, .param .b64 g, .param .b64 h, .param .b64 i, .param .b64 j) ;
{strings}.visible .entry k(
\t.param .u64 k_param_0,\n\t.param .u64 k_param_1,\n\t.param .u64 k_param_2,\n\t.param .u32 k_param_3
)
{{
\t.reg .pred \t%p<{number}>;
\t.reg .b32 \t%r<{REGISTERS}>, %i<8>, %n, %t<{number}>, %me, %c;
\t.reg .b64 \t%in, %out, %sums, %d<{number}>, %e<{number}>, %f<{number}>, %sh, %s<{number}>;
\t.shared .align 4 .b8 shared[{shared}];
\t.loc\t{CALLER} 1 1
\tld.param.u64 \t%in, [k_param_0];\n\tcvta.to.global.u64 \t%in, %in;
\tld.param.u64 \t%out, [k_param_1];\n\tcvta.to.global.u64 \t%out, %out;
\tld.param.u64 \t%sums, [k_param_2];\n\tcvta.to.global.u64 \t%sums, %sums;
\tld.param.u32 \t%n, [k_param_3];
\tmov.u32 \t%me, %tid.x;\n\tmov.u32 \t%c, %ctaid.x;
\tmad.lo.s32 \t%c, %c, 48, %me;
\tmul.wide.u32 \t%d0, %c, {slots};\n\tadd.s64 \t%out, %out, %d0;
\tmul.wide.u32 \t%d0, %me, 4;\n\tmov.u64 \t%sh, shared;\n\tadd.s64 \t%sh, %sh, %d0;
\tst.shared.u32 \t[%sh], %me;
\tmov.u32 \t%r0, %me;\n\tmov.u32 \t%r1, 3;\n\tand.b32 \t%r2, %c, 31;\n\tmov.u32 \t%r3, 17;\n\tmov.u32 \t%r4, 60;\n\tmov.u32 \t%r5, %c;
{text}\tst.global.u32 \t[%out], %r1;
\tret;
}}
.file {CALLER} \"a.cu\"
.file {CALLEE} \"b.cuh\"
.section .debug_str {{
$name:
.b8 110,0
}}
",
            shared = 4 * 64,
            number = number + 1,
        )
    }
}

fn smaller(body: &[Statement]) -> Vec<Vec<Statement>> {
    let mut all = Vec::new();
    for at in 0..body.len() {
        let with = |new: Vec<Statement>| {
            let mut copy = body.to_vec();
            copy.splice(at..=at, new);
            copy
        };
        all.push(with(Vec::new()));
        let inner = match &body[at] {
            Statement::If { body, .. }
            | Statement::Loop { body, .. }
            | Statement::Walk { body, .. }
            | Statement::Guarded { between: body, .. } => body,
            _ => continue,
        };
        for less in smaller(inner) {
            let mut changed = body[at].clone();
            match &mut changed {
                Statement::If { body, .. }
                | Statement::Loop { body, .. }
                | Statement::Walk { body, .. }
                | Statement::Guarded { between: body, .. } => *body = less,
                _ => {}
            }
            all.push(with(vec![changed]));
        }
    }
    all
}

const COMPARES: [&str; 10] = [
    "lt.u32", "lt.u32", "lt.u32", "ge.s32", "ne.s32", "le.s32", "gt.u32", "lt.s32", "le.u32",
    "ge.u32",
];

fn statement(random: &mut Random, depth: usize) -> Statement {
    let mut below = |n: u64| random.next() % n;
    let (to, a, b) = (below(REGISTERS), below(REGISTERS), below(REGISTERS));
    let source = if depth > 0 && below(3) > 0 {
        Source::Counter([1, 1, 2, -1, 4][below(5) as usize], below(20) as i32 - 2)
    } else {
        Source::Register(a)
    };
    let bound = match below(5) {
        0 | 1 => Bound::Constant([3, 9, 20, 1000][below(4) as usize]),
        2 => Bound::Register(b),
        _ => Bound::Parameter,
    };
    let kind = ["check", "check", "check", "check", "expect"][below(5) as usize];
    let nested = depth < 2 && below(3) == 0;
    match below(if nested { 18 } else { 12 }) {
        0 | 1 => Statement::Compute {
            to,
            op: [
                "add.s32",
                "sub.s32",
                "mul.lo.s32",
                "xor.b32",
                "min.s32",
                "and.b32",
            ][below(6) as usize],
            a,
            b,
            constant: (below(2) == 0).then(|| below(40) as i32 - 8),
        },
        2..=4 => Statement::Check {
            kind,
            compare: COMPARES[below(10) as usize],
            a: source,
            bound,
            values: below(4),
        },
        5 | 6 => {
            let count = below(3);
            Statement::Guarded {
                to,
                index: source,
                between: (0..count).map(|_| statement(random, 2)).collect(),
            }
        }
        7 | 8 => Statement::Load { to, index: a },
        9 => Statement::Store {
            slot: below(SLOTS as u64),
            from: a,
        },
        10 => Statement::Shared { to, from: a },
        11 if depth == 0 && below(2) == 0 => Statement::Barrier,
        11 => Statement::Add {
            slot: below(SLOTS as u64),
            from: a,
        },
        12 => {
            let (compare, constant) = (COMPARES[below(10) as usize], below(64) as i32);
            let count = 1 + below(4);
            let body = (0..count).map(|_| statement(random, depth + 1)).collect();
            Statement::If {
                compare,
                a,
                constant,
                body,
            }
        }
        13 | 14 => {
            let (start, rounds) = (below(8), below(REGISTERS));
            let count = below(3);
            let body = (0..count).map(|_| statement(random, 2)).collect();
            Statement::Walk {
                to,
                start,
                rounds,
                body,
            }
        }
        _ => {
            let rounds = match below(3) {
                0 => Bound::Constant(1 + below(9) as i32),
                1 => Bound::Register(b),
                _ => Bound::Parameter,
            };
            let step = [1, 1, 1, 2, 3, 4][below(6) as usize];
            let test = [Test::Less, Test::NotEqual, Test::Down][below(3) as usize];
            let count = 1 + below(5);
            let body = (0..count).map(|_| statement(random, depth + 1)).collect();
            Statement::Loop {
                rounds,
                step,
                test,
                body,
            }
        }
    }
}
