//! Random kernels with checks, laid out as nvcc lays them out.

use std::fmt::Write;

use crate::common::Random;

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

struct Writer {
    text: String,
    strings: String,
    number: usize,
    depth: usize,
    checks: bool,
}

impl Writer {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.text, "\t{text}");
    }

    /// Gives what follows a line of its own, of a function that is inlined or not.
    fn loc(&mut self) {
        let n = self.fresh();
        let place = format!("{CALLER} {n} 1");
        if n.is_multiple_of(3) {
            self.line(&format!(".loc\t{CALLER} {n} 1"));
            self.line(&format!(
                ".loc\t{CALLEE} {n} 2, function_name $name, inlined_at {place}"
            ));
        } else {
            self.line(&format!(".loc\t{place}"));
        }
    }

    fn fresh(&mut self) -> usize {
        self.number += 1;
        self.number
    }

    fn all(&mut self, body: &[Statement]) {
        for statement in body {
            self.statement(statement);
        }
    }

    /// The name of a register that holds a source.
    fn source(&mut self, source: Source) -> String {
        match source {
            Source::Counter(times, more) if self.depth > 0 => {
                let (m, n, counter) = (self.fresh(), self.fresh(), self.depth - 1);
                self.line(&format!("mul.lo.s32 \t%t{m}, %i{counter}, {times};"));
                self.line(&format!("add.s32 \t%t{n}, %t{m}, {more};"));
                format!("%t{n}")
            }
            Source::Counter(..) => "%r2".to_owned(),
            Source::Register(n) => format!("%r{n}"),
        }
    }

    fn bound(&mut self, bound: Bound, mask: i32) -> String {
        match bound {
            Bound::Constant(n) => n.to_string(),
            Bound::Parameter => "%n".to_owned(),
            Bound::Register(register) => {
                let n = self.fresh();
                self.line(&format!("and.b32 \t%t{n}, %r{register}, {mask};"));
                format!("%t{n}")
            }
        }
    }

    fn check(&mut self, kind: &str, compare: &str, a: &str, b: &str, values: u64) {
        if !self.checks {
            return;
        }
        let n = self.fresh();
        let site = format!(
            "{kind}\u{1f}a.cu\u{1f}{n}\u{1f}c\u{1f}{}",
            "{} ".repeat(values as usize).trim()
        );
        let bytes: Vec<String> = site
            .bytes()
            .chain([0])
            .map(|byte| byte.to_string())
            .collect();
        let _ = writeln!(
            self.strings,
            ".global .align 1 .b8 $str${n}[{}] = {{{}}};",
            bytes.len(),
            bytes.join(", ")
        );
        // i32, u32, i64
        let types = [0, 5, 5 | 9 << 4, 5 | 9 << 4 | 6 << 8][values as usize];
        self.line(&format!("setp.{compare} \t%p{n}, {a}, {b};"));
        self.line(&format!("@%p{n} bra \t$OK_{n};"));
        self.loc();
        self.line(&format!("cvt.s64.s32 \t%d{n}, {a};"));
        self.line(&format!("cvt.s64.s32 \t%f{n}, {b};"));
        self.line(&format!("mov.u64 \t%e{n}, $str${n};"));
        self.line(&format!("cvta.global.u64 \t%s{n}, %e{n};"));
        self.line(&format!("{{ // callseq {n}, 0"));
        let value = |at: u64| match at {
            1 if at < values => format!("%f{n}"),
            _ if at < values => format!("%d{n}"),
            _ => "0".to_owned(),
        };
        let args: Vec<String> = [format!("%s{n}"), types.to_string()]
            .into_iter()
            .chain((0..8).map(value))
            .collect();
        for (at, arg) in args.iter().enumerate() {
            self.line(&format!(".param .b64 param{at};"));
            self.line(&format!("st.param.b64 \t[param{at}+0], {arg};"));
        }
        let names: Vec<String> = (0..10).map(|at| format!("param{at}")).collect();
        self.line(&format!(
            "call.uni \n\t__gpuk_fail, \n\t({});",
            names.join(", ")
        ));
        self.line(&format!("}} // callseq {n}"));
        let _ = writeln!(self.text, "\n$OK_{n}:");
    }

    fn load(&mut self, to: u64, index: &str) {
        self.load_to(&format!("%r{to}"), index);
    }

    fn load_to(&mut self, to: &str, index: &str) {
        let n = self.fresh();
        self.line(&format!("mul.wide.s32 \t%d{n}, {index}, 4;"));
        self.line(&format!("add.s64 \t%e{n}, %in, %d{n};"));
        self.line(&format!("ld.global.nc.u32 \t{to}, [%e{n}];"));
    }

    fn statement(&mut self, statement: &Statement) {
        self.loc();
        match statement {
            Statement::Compute {
                to,
                op,
                a,
                b,
                constant,
            } => {
                let b = constant.map_or(format!("%r{b}"), |constant| constant.to_string());
                self.line(&format!("{op} \t%r{to}, %r{a}, {b};"));
            }
            Statement::Check {
                kind,
                compare,
                a,
                bound,
                values,
            } => {
                let a = self.source(*a);
                let b = self.bound(*bound, 255);
                self.check(kind, compare, &a, &b, *values);
            }
            Statement::Guarded { to, index, between } => {
                let from = self.source(*index);
                let n = self.fresh();
                self.line(&format!("mov.u32 \t%t{n}, {from};"));
                self.check("check", "lt.u32", &format!("%t{n}"), "%n", 2);
                self.all(between);
                self.load(*to, &format!("%t{n}"));
            }
            Statement::Load { to, index } => {
                let n = self.fresh();
                self.line(&format!("and.b32 \t%t{n}, %r{index}, 31;"));
                self.load(*to, &format!("%t{n}"));
            }
            Statement::Store { slot, from } => {
                self.line(&format!("st.global.u32 \t[%out+{}], %r{from};", slot * 4))
            }
            Statement::Shared { to, from } => {
                self.line(&format!("st.shared.u32 \t[%sh], %r{from};"));
                self.line(&format!("ld.shared.u32 \t%r{to}, [%sh];"));
            }
            Statement::Add { slot, from } => {
                self.line(&format!(
                    "red.global.add.u32 \t[%sums+{}], %r{from};",
                    slot * 4
                ));
            }
            Statement::Walk {
                to,
                start,
                rounds,
                body,
            } => {
                let (n, left, value) = (self.fresh(), self.fresh(), self.fresh());
                self.line(&format!("and.b32 \t%t{left}, %r{rounds}, 31;"));
                self.line(&format!("add.s32 \t%t{left}, %t{left}, 1;"));
                self.line(&format!("add.s64 \t%s{n}, %in, {};", start * 4));
                let _ = writeln!(self.text, "\n$LOOP_{n}:");
                self.line(&format!("ld.global.nc.u32 \t%t{value}, [%s{n}];"));
                self.check("check", "lt.u32", &format!("%t{value}"), "%n", 2);
                let index = self.fresh();
                self.load_to(&format!("%t{index}"), &format!("%t{value}"));
                self.all(body);
                self.line(&format!("add.s32 \t%r{to}, %r{to}, %t{index};"));
                self.line(&format!("add.s64 \t%s{n}, %s{n}, 4;"));
                self.line(&format!("add.s32 \t%t{left}, %t{left}, -1;"));
                self.line(&format!("setp.ne.s32 \t%p{n}, %t{left}, 0;"));
                self.line(&format!("@%p{n} bra \t$LOOP_{n};"));
            }
            Statement::Barrier => self.line("bar.sync \t0;"),
            Statement::If {
                compare,
                a,
                constant,
                body,
            } => {
                let n = self.fresh();
                self.line(&format!("setp.{compare} \t%p{n}, %r{a}, {constant};"));
                self.line(&format!("@%p{n} bra \t$SKIP_{n};"));
                self.all(body);
                let _ = writeln!(self.text, "\n$SKIP_{n}:");
            }
            Statement::Loop {
                rounds,
                step,
                test,
                body,
            } => {
                let (n, counter) = (self.fresh(), self.depth);
                let bound = self.bound(*rounds, 15);
                let kept = self.fresh();
                self.line(&format!("mov.u32 \t%t{kept}, {bound};"));
                let (start, step) = match test {
                    Test::Down => (format!("%t{kept}"), -step),
                    Test::Less => ("0".to_owned(), *step),
                    // The bound is made a multiple, and not 0.
                    Test::NotEqual => {
                        self.line(&format!("max.s32 \t%t{kept}, %t{kept}, 1;"));
                        self.line(&format!("mul.lo.s32 \t%t{kept}, %t{kept}, {step};"));
                        ("0".to_owned(), *step)
                    }
                };
                self.line(&format!("mov.u32 \t%i{counter}, {start};"));
                let _ = writeln!(self.text, "\n$LOOP_{n}:");
                self.depth += 1;
                self.all(body);
                self.depth -= 1;
                self.line(&format!("add.s32 \t%i{counter}, %i{counter}, {step};"));
                let compare = match test {
                    Test::Less => format!("setp.lt.s32 \t%p{n}, %i{counter}, %t{kept};"),
                    Test::NotEqual => format!("setp.ne.s32 \t%p{n}, %i{counter}, %t{kept};"),
                    Test::Down => format!("setp.gt.s32 \t%p{n}, %i{counter}, 0;"),
                };
                self.line(&compare);
                self.line(&format!("@%p{n} bra \t$LOOP_{n};"));
            }
        }
    }
}

/// A kernel that follows a list of `k_param_2` elements at most, each an index below `k_param_3`.
pub(crate) fn walk() -> String {
    let mut writer = Writer {
        text: String::new(),
        strings: String::new(),
        number: 0,
        depth: 0,
        checks: true,
    };
    writer.check("check", "lt.u32", "%c", "%n", 1);
    let Writer {
        text,
        strings,
        number,
        ..
    } = writer;
    format!(
        ".version 8.0\n.target sm_80\n.address_size 64
.extern .func __gpuk_fail(.param .b64 a, .param .b64 b, .param .b64 c, .param .b64 d, .param .b64 e,
  .param .b64 f, .param .b64 g, .param .b64 h, .param .b64 i, .param .b64 j) ;
{strings}.visible .entry walk(
\t.param .u64 k_param_0,\n\t.param .u64 k_param_1,\n\t.param .u32 k_param_2,\n\t.param .u32 k_param_3
)
{{
\t.reg .pred \t%p<{count}>, %q;
\t.reg .b32 \t%left, %n, %c, %v, %sum;
\t.reg .b64 \t%list, %at, %e<{count}>, %d<{count}>, %f<{count}>, %s<{count}>, %x;
\tld.param.u64 \t%list, [k_param_0];\n\tcvta.to.global.u64 \t%list, %list;
\tld.param.u64 \t%x, [k_param_1];\n\tcvta.to.global.u64 \t%x, %x;
\tld.param.u32 \t%left, [k_param_2];\n\tld.param.u32 \t%n, [k_param_3];
\tmov.u64 \t%at, %list;\n\tmov.u32 \t%sum, 0;\n
$NEXT:
\tld.global.u32 \t%c, [%at];
{text}\tmul.wide.u32 \t%d0, %c, 4;\n\tadd.s64 \t%e0, %list, %d0;
\tld.global.u32 \t%v, [%e0];
\tadd.s32 \t%sum, %sum, %v;
\tadd.s64 \t%at, %at, 4;
\tadd.s32 \t%left, %left, -1;
\tsetp.ne.s32 \t%q, %left, 0;
\t@%q bra \t$NEXT;
\tst.global.u32 \t[%x], %sum;
\tret;
}}
",
        count = number + 1,
    )
}
