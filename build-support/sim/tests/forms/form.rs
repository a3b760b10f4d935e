//! One instruction at a time: its form is put into a kernel whose threads each have operands of their own, and
//! what they get is compared with what Rust computes, or a device.

use std::fmt::Write;

use crate::common::{Random, Sim};

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
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let all = [
            Self::B16,
            Self::B32,
            Self::B64,
            Self::F16,
            Self::Bf16,
            Self::F16x2,
            Self::Bf16x2,
            Self::F32,
            Self::F64,
            Self::Small,
            Self::Pred,
        ];
        all.into_iter().find(|is| format!("{is:?}") == name)
    }

    pub(crate) const fn bits(self) -> u32 {
        match self {
            Self::B16 | Self::F16 | Self::Bf16 => 16,
            Self::B64 | Self::F64 => 64,
            _ => 32,
        }
    }

    /// Hexadecimal digits of a value.
    pub(crate) const fn digits(self) -> usize {
        match self {
            Self::Pred => 1,
            _ => self.bits() as usize / 4,
        }
    }

    /// Exponent and mantissa, of floating-point numbers.
    const fn format(self) -> Option<(u32, u32)> {
        Some(match self {
            Self::F16 | Self::F16x2 => (5, 10),
            Self::Bf16 | Self::Bf16x2 => (8, 7),
            Self::F32 => (8, 23),
            Self::F64 => (11, 52),
            _ => return None,
        })
    }

    /// Steps between two values, of packed ones the larger number; a NaN is far from everything else.
    pub(crate) fn ulps(self, a: u64, b: u64) -> u64 {
        let Some((exponent, mantissa)) = self.format() else {
            return if a == b { 0 } else { u64::MAX };
        };
        let width = 1 + exponent + mantissa;
        let one = |a: u64, b: u64| {
            let sign = 1 << (width - 1);
            let infinity = ((1 << exponent) - 1) << mantissa;
            let order = |bits: u64| {
                let magnitude = (bits & (sign - 1)) as i128;
                if bits & sign == 0 {
                    magnitude
                } else {
                    -magnitude
                }
            };
            let nan = |bits: u64| bits & (sign - 1) > infinity;
            match (a == b, nan(a) || nan(b)) {
                (true, _) => 0,
                (false, true) => u64::MAX,
                _ => order(a).abs_diff(order(b)) as u64,
            }
        };
        if width == self.bits() {
            return one(a, b);
        }
        let mask = (1 << width) - 1;
        one(a & mask, b & mask).max(one(a >> width, b >> width))
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
            list.extend([infinity + 1, infinity + least / 2]);
            list.extend([infinity + least - 2, infinity + least - 1]);
            // Two whose product is hardly less than the least normal number.
            let half = one - ((1 << (exponent - 2)) - 1) * least;
            let bit = 1 << (mantissa - mantissa / 2 - 2);
            list.extend([half + bit, half - 2 * bit]);
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
        // And the NaN of places out of bounds.
        let halves = |exponent: u32, mantissa: u32| {
            let mut list = floats(exponent, mantissa);
            list.extend([0x7ff7, 0xfff7]);
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
            Self::F16 => halves(5, 10),
            Self::Bf16 => halves(8, 7),
            Self::F16x2 => packed(halves(5, 10)),
            Self::Bf16x2 => packed(halves(8, 7)),
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

/// Threads of a block.
pub(crate) const BLOCK: usize = 128;

/// Operands of a form that are recorded, and of one whose results are all kept.
const MOST: usize = 8192;
const MOST_KEPT: usize = 1024;

/// What comes out; `None` where that is not for this test to say.
type Expected = Box<dyn Fn(u64, u64, u64) -> Option<u64>>;

/// A form of an instruction.
pub(crate) struct Form {
    /// With `%d` for the result and `%a`, `%b`, `%c` for the operands; several instructions may stand there.
    pub(crate) text: &'static str,
    pub(crate) result: Is,
    pub(crate) operands: Vec<Is>,
    /// What Rust computes; without it the form is for a device to tell.
    pub(crate) expected: Option<Expected>,
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
        expected: Some(Box::new(move |a, b, c| expected(a, b, c).into())),
    }
}

/// A form whose results only a device tells.
pub(crate) fn untold(text: &'static str, result: Is, operands: &[Is]) -> Form {
    Form {
        text,
        result,
        operands: operands.to_vec(),
        expected: None,
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
        list.extend((0..2048).map(|_| self.random(&mut random)));
        list
    }

    fn random(&self, random: &mut Random) -> [u64; 3] {
        let mut values = [0; 3];
        for (value, is) in values.iter_mut().zip(&self.operands) {
            *value = is.random(random);
        }
        values
    }

    /// Whether a device computes it from tables that are not published.
    pub(crate) fn approximate(&self) -> bool {
        self.text.contains(".approx") || self.text.contains(".full")
    }

    /// The form with these operands, for a reader.
    pub(crate) fn of(&self, values: [u64; 3]) -> String {
        let mut out = self.text.to_owned();
        for (name, value) in ["a", "b", "c"].iter().zip(values).take(self.operands.len()) {
            write!(out, "  {name} {value:#x}").unwrap();
        }
        out
    }

    /// Operands to record: of those above not more than some thousands, and enough for whole blocks of threads.
    pub(crate) fn recorded_inputs(&self) -> Vec<[u64; 3]> {
        let all = self.inputs();
        let mut random = Random(1 + self.operands.len() as u64);
        let most = if self.approximate() { MOST_KEPT } else { MOST };
        let mut list: Vec<_> = if all.len() <= most {
            all
        } else {
            (0..most)
                .map(|_| all[(random.next() % all.len() as u64) as usize])
                .collect()
        };
        while list.len() % BLOCK != 0 {
            list.push(self.random(&mut random));
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
    pub(crate) fn run(
        &self,
        sim: &Sim,
        name: &str,
        inputs: &[[u64; 3]],
    ) -> Result<Vec<u64>, gpuk_sim::Fault> {
        let count = inputs.len();
        let out = Self::upload(sim, self.result, &vec![0; count]);
        let mut args = vec![out.to_le_bytes().to_vec()];
        for (at, is) in self.operands.iter().enumerate() {
            let column: Vec<u64> = inputs.iter().map(|values| values[at]).collect();
            args.push(Self::upload(sim, *is, &column).to_le_bytes().to_vec());
        }
        args.push((count as u32).to_le_bytes().to_vec());
        let args: Vec<&[u8]> = args.iter().map(|arg| &**arg).collect();
        let grid = [count.div_ceil(BLOCK) as u32, 1, 1];
        sim.launch(name, grid, [BLOCK as u32, 1, 1], &args)?;
        Ok(match self.result.bits() {
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
        })
    }
}

/// What a module of forms begins with.
pub(crate) fn head(target: &str) -> String {
    format!(".version 9.0\n.target {target}\n.address_size 64\n")
}

/// A module of all forms.
pub(crate) fn module(forms: &[Form]) -> String {
    let mut text = head("sm_120a");
    for (at, form) in forms.iter().enumerate() {
        text.push_str(&form.kernel(&format!("k{at}")));
    }
    text
}

/// A device of the simulator that has every form.
pub(crate) fn sim(forms: &[Form]) -> Sim {
    let options = gpuk_sim::Options {
        capability: (12, 0),
        ..gpuk_sim::Options::default()
    };
    Sim::with(&module(forms), options)
}

/// Runs every form on every input, and shows the first that are not as expected.
pub(crate) fn check(forms: &[Form]) {
    let sim = sim(forms);
    let mut wrong = String::new();
    for (at, form) in forms.iter().enumerate() {
        let Some(expect) = &form.expected else {
            continue;
        };
        let inputs = form.inputs();
        let found = match form.run(&sim, &format!("k{at}"), &inputs) {
            Ok(found) => found,
            Err(fault) => {
                writeln!(wrong, "{}: {fault}", form.text).unwrap();
                continue;
            }
        };
        let mask = u64::MAX >> (64 - form.result.bits());
        let mut shown = 0;
        for (values, found) in inputs.iter().zip(&found) {
            let [a, b, c] = *values;
            let Some(expected) = expect(a, b, c) else {
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
