//! The text of random kernels, laid out as nvcc lays it out.

use std::fmt::Write;

use super::{Bound, CALLEE, CALLER, Source, Statement, Test};

pub(super) struct Writer {
    pub(super) text: String,
    pub(super) strings: String,
    pub(super) number: usize,
    pub(super) depth: usize,
    pub(super) checks: bool,
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

    pub(super) fn all(&mut self, body: &[Statement]) {
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
