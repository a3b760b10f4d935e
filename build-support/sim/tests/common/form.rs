//! One instruction at a time: its form is put into a kernel whose threads each have operands of their own, and
//! what they get is compared with what Rust computes.

#![allow(dead_code, reason = "each test uses some of it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::fmt::Write;

use super::Sim;

/// What an operand is, which decides what values are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Is {
    B16,
    B32,
    B64,
    F16,
    Bf16,
    F16x2,
    Bf16x2,
    F32,
    F64,
    /// A small number: an amount to shift by, a place of a bit.
    Small,
    Pred,
}

impl Is {
    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::B16 | Self::F16 | Self::Bf16 => 16,
            Self::B64 | Self::F64 => 64,
            _ => 32,
        }
    }

    /// Values at which instructions differ.
    fn special(self) -> Vec<u64> {
        let ints = |bits: u32| {
            let top = 1_u64 << (bits - 1);
            let mask = u64::MAX >> (64 - bits);
            let mut list = vec![0, 1, 2, 3, 7, 31, 32, 33, 63, 64, 100, 255, 256];
            list.extend([top, top - 1, top + 1, mask, mask - 1, mask - 2, top >> 1]);
            list.extend([0x5555_5555_5555_5555 & mask, 0x1234_5678_9abc_def0 & mask]);
            list.extend([
                mask >> (bits / 2),
                1 << (bits / 2),
                (mask << (bits / 2)) & mask,
            ]);
            list
        };
        let floats = |exponent: u32, mantissa: u32| {
            let one = ((1_u64 << (exponent - 1)) - 1) << mantissa;
            let infinity = ((1_u64 << exponent) - 1) << mantissa;
            let least = 1_u64 << mantissa;
            let mut list = vec![0, 1, 2, least - 1, least, least + 1, least + least / 2];
            list.extend([
                one,
                one - 1,
                one + 1,
                one + least,
                one + least / 2,
                one - least,
            ]);
            list.extend([infinity - 1, infinity - 2, infinity - least, infinity]);
            list.extend([infinity + 1, infinity + least / 2, infinity + least - 1]);
            // 31, 32 and numbers that no integer type holds.
            for power in [5, 8, 15, 16, 23, 24, 31, 32, 53, 63, 64, 100] {
                let bits = one + power * least;
                if bits < infinity {
                    list.extend([bits, bits - 1, bits + 1]);
                }
            }
            // Halves, where ties are.
            list.extend([one - least + least / 2, one + least + least / 4]);
            let sign = 1_u64 << (exponent + mantissa);
            let negative: Vec<u64> = list.iter().map(|bits| bits | sign).collect();
            list.extend(negative);
            list
        };
        let packed = |list: Vec<u64>| {
            let count = list.len();
            let pair = |at: usize| list[at] << 16 | list[(at * 7 + 3) % count];
            (0..count).map(pair).collect()
        };
        match self {
            Self::B16 => ints(16),
            Self::B32 => ints(32),
            Self::B64 => ints(64),
            Self::F16 => floats(5, 10),
            Self::Bf16 => floats(8, 7),
            Self::F16x2 => packed(floats(5, 10)),
            Self::Bf16x2 => packed(floats(8, 7)),
            Self::F32 => floats(8, 23),
            Self::F64 => floats(11, 52),
            Self::Small => (0..70).chain([255, 256, u64::from(u32::MAX)]).collect(),
            Self::Pred => vec![0, 1],
        }
    }

    /// A value made of random bits, half of the time one near the special ones.
    fn random(self, random: &mut Random) -> u64 {
        let bits = random.next();
        let value = match self {
            Self::Small => bits % 72,
            Self::Pred => bits & 1,
            // Exponents near one another make sums that round.
            Self::F32 if bits & 1 == 0 => {
                let exponent = 127 - 30 + (bits >> 8) % 60;
                (bits >> 32) & 0x807f_ffff | exponent << 23
            }
            Self::F64 if bits & 1 == 0 => {
                let exponent = 1023 - 60 + random.next() % 120;
                bits & 0x800f_ffff_ffff_ffff | exponent << 52
            }
            _ => bits,
        };
        match self.bits() {
            64 => value,
            bits => value & ((1 << bits) - 1),
        }
    }

    const fn register(self) -> &'static str {
        match self.bits() {
            16 => "b16",
            64 => "b64",
            _ => "b32",
        }
    }
}

/// splitmix64: the same values in every run.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }
}

/// What comes out; `None` where that is not for this test to say.
type Expected = Box<dyn Fn(u64, u64, u64) -> Option<u64>>;

/// A form of an instruction.
pub(crate) struct Form {
    /// With `%d` for the result and `%a`, `%b`, `%c` for the operands; several instructions may stand there.
    pub(crate) text: &'static str,
    pub(crate) result: Is,
    pub(crate) operands: Vec<Is>,
    pub(crate) expected: Expected,
}

/// Shorthand for a list of forms: `form("add.u32 %d, %a, %b;", B32, [B32, B32], |a, b, _| …)`.
pub(crate) fn form<R: Into<Option<u64>>>(
    text: &'static str,
    result: Is,
    operands: impl Into<Vec<Is>>,
    expected: impl Fn(u64, u64, u64) -> R + 'static,
) -> Form {
    Form {
        text,
        result,
        operands: operands.into(),
        expected: Box::new(move |a, b, c| expected(a, b, c).into()),
    }
}

impl Form {
    /// Operands to try: special values with one another, then random ones.
    pub(crate) fn inputs(&self) -> Vec<[u64; 3]> {
        let mut list = Vec::new();
        let special: Vec<Vec<u64>> = self.operands.iter().map(|is| is.special()).collect();
        match &*special {
            [] => list.push([0; 3]),
            [a] => list.extend(a.iter().map(|a| [*a, 0, 0])),
            [a, b] => {
                for a in a {
                    list.extend(b.iter().map(|b| [*a, *b, 0]));
                }
            }
            [a, b, c, ..] => {
                // Not all of them with all: every third and fifth.
                for (i, a) in a.iter().enumerate() {
                    for (j, b) in b.iter().enumerate() {
                        let c = c.iter().skip((i + j) % 5).step_by(5);
                        list.extend(c.map(|c| [*a, *b, *c]));
                    }
                }
            }
        }
        let mut random = Random(self.text.len() as u64);
        for _ in 0..2048 {
            let mut values = [0; 3];
            for (value, is) in values.iter_mut().zip(&self.operands) {
                *value = is.random(&mut random);
            }
            list.push(values);
        }
        list
    }

    /// The kernel's body: parameters are the arrays of results and operands.
    pub(crate) fn kernel(&self, name: &str) -> String {
        let mut out = String::new();
        let arrays = 1 + self.operands.len();
        let params: Vec<String> = (0..arrays).map(|at| format!(".param .u64 p{at}")).collect();
        write!(
            out,
            ".visible .entry {name}({}, .param .u32 n)\n{{\n\
             .reg .pred out; .reg .b32 i, t, m; .reg .b64 at, wide;\n\
             mov.u32 i, %ctaid.x; mov.u32 t, %ntid.x; mov.u32 m, %tid.x;\n\
             mad.lo.u32 i, i, t, m; ld.param.u32 m, [n]; setp.ge.u32 out, i, m; @out ret;\n",
            params.join(", ")
        )
        .unwrap();
        for (at, is) in self.operands.iter().enumerate() {
            let name = ["%a", "%b", "%c"][at];
            let (ty, bytes) = (is.register(), is.bits() / 8);
            let place = format!(
                "ld.param.u64 at, [p{}]; mul.wide.u32 wide, i, {bytes}; add.s64 at, at, wide;",
                at + 1
            );
            if *is == Is::Pred {
                writeln!(
                    out,
                    ".reg .pred {name}; {place} ld.global.b32 t, [at]; setp.ne.u32 {name}, t, 0;"
                )
                .unwrap();
            } else {
                writeln!(
                    out,
                    ".reg .{ty} {name}; {place} ld.global.{ty} {name}, [at];"
                )
                .unwrap();
            }
        }
        let (ty, bytes) = (self.result.register(), self.result.bits() / 8);
        let place =
            format!("ld.param.u64 at, [p0]; mul.wide.u32 wide, i, {bytes}; add.s64 at, at, wide;");
        if self.result == Is::Pred {
            writeln!(
                out,
                ".reg .pred %d; {} {place} selp.u32 t, 1, 0, %d; st.global.b32 [at], t;",
                self.text
            )
            .unwrap();
        } else {
            writeln!(
                out,
                ".reg .{ty} %d; {} {place} st.global.{ty} [at], %d;",
                self.text
            )
            .unwrap();
        }
        out.push_str("ret;\n}\n");
        out
    }

    fn upload(sim: &Sim, is: Is, values: &[u64]) -> u64 {
        match is.bits() {
            16 => sim.upload(&values.iter().map(|v| *v as u16).collect::<Vec<_>>()),
            64 => sim.upload(values),
            _ => sim.upload(&values.iter().map(|v| *v as u32).collect::<Vec<_>>()),
        }
    }

    /// What the threads get.
    pub(crate) fn run(&self, sim: &Sim, name: &str, inputs: &[[u64; 3]]) -> Vec<u64> {
        let count = inputs.len();
        let out = Self::upload(sim, self.result, &vec![0; count]);
        let mut args = vec![out.to_le_bytes().to_vec()];
        for (at, is) in self.operands.iter().enumerate() {
            let column: Vec<u64> = inputs.iter().map(|values| values[at]).collect();
            args.push(Self::upload(sim, *is, &column).to_le_bytes().to_vec());
        }
        args.push((count as u32).to_le_bytes().to_vec());
        let args: Vec<&[u8]> = args.iter().map(|arg| &**arg).collect();
        let grid = [count.div_ceil(128) as u32, 1, 1];
        if let Err(fault) = sim.launch(name, grid, [128, 1, 1], &args) {
            panic!("{}: {fault}", self.text);
        }
        match self.result.bits() {
            16 => sim
                .download::<u16>(out, count)
                .into_iter()
                .map(u64::from)
                .collect(),
            64 => sim.download::<u64>(out, count),
            _ => sim
                .download::<u32>(out, count)
                .into_iter()
                .map(u64::from)
                .collect(),
        }
    }
}

/// A module of all forms.
pub(crate) fn module(forms: &[Form]) -> String {
    let mut text = ".version 9.0\n.target sm_120a\n.address_size 64\n".to_owned();
    for (at, form) in forms.iter().enumerate() {
        text.push_str(&form.kernel(&format!("k{at}")));
    }
    text
}

/// Runs every form on every input, and shows the first that are not as expected.
pub(crate) fn check(forms: &[Form]) {
    let options = gpuk_sim::Options {
        capability: (12, 0),
        ..gpuk_sim::Options::default()
    };
    let sim = Sim::with(&module(forms), options);
    let mut wrong = String::new();
    for (at, form) in forms.iter().enumerate() {
        let inputs = form.inputs();
        let found = form.run(&sim, &format!("k{at}"), &inputs);
        let mask = u64::MAX >> (64 - form.result.bits());
        let mut shown = 0;
        for (values, found) in inputs.iter().zip(&found) {
            let [a, b, c] = *values;
            let Some(expected) = (form.expected)(a, b, c) else {
                continue;
            };
            let expected = expected & mask;
            if expected != *found && shown < 5 {
                shown += 1;
                writeln!(
                    wrong,
                    "{}  a {a:#x} b {b:#x} c {c:#x}: found {found:#x}, expected {expected:#x}",
                    form.text
                )
                .unwrap();
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}
