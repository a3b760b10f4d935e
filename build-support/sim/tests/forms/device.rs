//! What a device gave for every form, kept in `tests/recorded`, against the simulator.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use crate::every::expand;
use crate::form::{Form, Is, sim};

/// The recorded forms whose results are the same bits, and those that PTX defines approximately.
const EXACT: &str = include_str!("../recorded/exact.txt");
const APPROX: &str = include_str!("../recorded/approx.txt");

/// Parts of a form's results that have a hash each, and results that are kept.
const PARTS: usize = 16;
const KEPT: usize = 12;

/// What is kept of a form's results.
pub(crate) struct Recorded {
    /// Of each part; none if all results are kept.
    hashes: Vec<u16>,
    /// Evenly spread over the results.
    kept: Vec<u64>,
}

/// FNV-1a, folded to 16 bits.
fn hash(values: &[u64]) -> u16 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in values.iter().flat_map(|value| value.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    (hash ^ hash >> 16 ^ hash >> 32 ^ hash >> 48) as u16
}

/// The place of the kept result with that number.
fn place(at: usize, kept: usize, count: usize) -> usize {
    at * count / kept
}

impl Recorded {
    pub(crate) fn of(form: &Form, values: &[u64]) -> Self {
        if form.approximate() {
            return Self {
                hashes: Vec::new(),
                kept: values.to_vec(),
            };
        }
        let count = values.len();
        Self {
            hashes: values.chunks(count.div_ceil(PARTS)).map(hash).collect(),
            kept: (0..KEPT).map(|at| values[place(at, KEPT, count)]).collect(),
        }
    }

    /// As a line of the file.
    pub(crate) fn line(&self, form: &Form) -> String {
        let digits = form.result.digits();
        let mut line = format!("{}\t", form.text);
        for hash in &self.hashes {
            write!(line, "{hash:04x}").unwrap();
        }
        line.push('\t');
        for value in &self.kept {
            write!(line, "{value:0digits$x}").unwrap();
        }
        line
    }

    fn parse(hashes: &str, kept: &str, digits: usize) -> Self {
        let numbers = |text: &str, digits: usize| -> Vec<u64> {
            let numbers = text.as_bytes().chunks(digits);
            numbers
                .map(|digits| {
                    u64::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap()
                })
                .collect()
        };
        Self {
            hashes: numbers(hashes, 4).iter().map(|hash| *hash as u16).collect(),
            kept: numbers(kept, digits),
        }
    }

    /// The first results that are others, for a reader.
    fn differences(&self, form: &Form, inputs: &[[u64; 3]], found: &[u64]) -> String {
        let mut out = String::new();
        let count = found.len();
        let mut shown = 0;
        for (at, device) in self.kept.iter().enumerate() {
            let place = place(at, self.kept.len(), count);
            let ours = found[place];
            if !close(form, *device, ours) && shown < 4 {
                shown += 1;
                writeln!(
                    out,
                    "{}: device {device:#x}, simulator {ours:#x}",
                    form.of(inputs[place])
                )
                .unwrap();
            }
        }
        let parts = found.chunks(count.div_ceil(PARTS)).map(hash);
        let part = parts
            .zip(&self.hashes)
            .position(|(ours, device)| ours != *device);
        if let (0, Some(part)) = (shown, part) {
            let first = part * count.div_ceil(PARTS);
            writeln!(
                out,
                "{}: among {} results from this on one is not the device's; here the simulator gives {:#x}. \
                 `alone_record` on a device shows which",
                form.of(inputs[first]),
                count.div_ceil(PARTS),
                found[first],
            )
            .unwrap();
        }
        out
    }
}

/// What may lie between the device's result and the simulator's: so many units of the last place, or so much.
struct Bound(u64, f64);

/// Of forms that PTX defines approximately. The first that a form's text begins with counts.
const BOUNDS: &[(&str, Bound)] = &[
    // The last place of the upper half.
    ("rcp.approx.ftz.f64", Bound(1 << 32, 0.0)),
    ("rsqrt.approx.ftz.f64", Bound(1 << 32, 0.0)),
    ("rsqrt.approx.f64", Bound(1, 0.0)),
    ("rcp.approx", Bound(1, 0.0)),
    ("sqrt.approx", Bound(1, 0.0)),
    ("rsqrt.approx", Bound(2, 0.0)),
    ("div.", Bound(2, 0.0)),
    ("ex2.approx.f32", Bound(2, 0.0)),
    ("ex2.approx.ftz.f32", Bound(2, 0.0)),
    ("ex2.approx", Bound(1, 0.0)),
    // 2^-22, near one where logarithms are small.
    ("lg2.approx", Bound(1, 2.384_185_8e-7)),
    // 2^-21.
    ("sin.approx", Bound(1, 4.768_371_6e-7)),
    ("cos.approx", Bound(1, 4.768_371_6e-7)),
    ("tanh.approx.f32", Bound(134, 0.0)),
    ("tanh.approx", Bound(1, 0.0)),
];

/// Whether the results are within the form's bound; those of forms that are not approximate are the same bits.
pub(crate) fn close(form: &Form, device: u64, ours: u64) -> bool {
    if device == ours || !form.approximate() {
        return device == ours;
    }
    let bound = BOUNDS.iter().find(|(name, _)| form.text.starts_with(name));
    let Some((_, Bound(ulps, absolute))) = bound else {
        return false;
    };
    let value = |bits: u64| f64::from(f32::from_bits(bits as u32));
    form.result.ulps(device, ours) <= *ulps
        || form.result == Is::F32 && (value(device) - value(ours)).abs() <= *absolute
}

/// Forms for which a device's compiler, which makes them of other instructions, departs from PTX ISA 9.7.20; the
/// simulator follows the ISA.
const DEVIATIONS: &[&str] = &[
    // The upper half gets the upper half of the result.
    "<vadd|vsub|vabsdiff|vmin|vmax>.<u32|s32>.s32.u32<|.sat> %d.h1, %a, %b, %c;",
    "vmax.s32.s32.s32.sat %d.h1, %a.b3, %b.h0, %c;",
    // Some negative results are taken for large ones.
    "<vadd|vsub|vmin>.<u32|s32>.s32.u32.sat %d.<b0|b3|h0>, %a, %b, %c;",
    // Sums and differences of 33 bits lose one before they are made to fit.
    "vadd.u32.<s32.u32|u32.s32|u32.u32>.sat %d, %a, %b;",
    "vsub.u32.u32.s32.sat %d, %a, %b;",
    "vabsdiff.u32.<s32.u32|u32.s32>.sat %d, %a, %b;",
    // What is shifted out is not seen, or makes the result the least number.
    "vshl.<u32|s32>.<u32|s32>.u32.sat.<clamp|wrap> %d, %a, %b;",
    // The third operand is taken to have a sign.
    "<vadd|vsub>.u32.s32.s32.sat.<min|max> %d, %a, %b.b0, %c;",
    "vset.s32.s32.<lt|ge>.<min|max> %d, %a, %b.b1, %c;",
    "vmad.<u32|s32>.u32.<u32|s32><.sat|.shr7|.shr15|.sat.shr7|.sat.shr15> %d, %a, %b.h0, %c;",
    "vmad.u32.u32.u32.po<.sat|.shr7|.shr15|.sat.shr7|.sat.shr15> %d, %a.h0, %b.b1, %c;",
    "vmad.u32.u32.u32.po.shr7 %d, %a.h0, %b.h0, %c;",
];

#[test]
fn every_form_gives_what_a_device_gave() {
    let mut recorded: HashMap<&str, Option<(&str, &str)>> = HashMap::new();
    for line in [EXACT, APPROX].iter().flat_map(|file| file.lines()) {
        if line.starts_with('#') {
            continue;
        }
        let mut columns = line.split('\t');
        let text = columns.next().unwrap();
        recorded.insert(text, columns.next().zip(columns.next()));
    }
    let mut deviations: HashSet<String> = DEVIATIONS.iter().flat_map(|text| expand(text)).collect();
    let forms = crate::all();
    let mut wrong = String::new();
    let (mut compared, mut other) = (0, 0);
    for forms in forms.chunks(64) {
        let sim = sim(forms);
        for (at, form) in forms.iter().enumerate() {
            let Some(columns) = recorded.remove(form.text) else {
                writeln!(wrong, "{} is not recorded", form.text).unwrap();
                continue;
            };
            let Some((hashes, kept)) = columns else {
                other += 1;
                continue;
            };
            compared += 1;
            let inputs = form.recorded_inputs();
            let found = match form.run(&sim, &format!("k{at}"), &inputs) {
                Ok(found) => found,
                Err(fault) => {
                    writeln!(wrong, "{}: {fault}", form.text).unwrap();
                    continue;
                }
            };
            let device = Recorded::parse(hashes, kept, form.result.digits());
            let different = device.differences(form, &inputs, &found);
            if !deviations.remove(form.text) {
                wrong.push_str(&different);
            } else if different.is_empty() {
                writeln!(wrong, "{} does not deviate", form.text).unwrap();
            }
        }
    }
    for text in recorded.keys() {
        writeln!(wrong, "{text} is recorded, but no form").unwrap();
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(deviations.is_empty(), "no forms: {deviations:?}");
    // The file says how many the device has.
    assert!(
        compared > 20 * other,
        "{compared} compared, {other} not on the device"
    );
}

/// Forms of a later version than the others.
const LATER: [&str; 2] = [
    "{ .reg .b16 t; cvt.rn.satfinite.e2m3x2.f16x2 t, %a; cvt.u32.u16 %d, t; }",
    "{ .reg .b16 t; cvt.rn.satfinite.e3m2x2.f16x2 t, %a; cvt.u32.u16 %d, t; }",
];

#[test]
#[ignore = "needs a CUDA compiler"]
fn nvcc_ptxas_takes_every_form() {
    let mut forms = crate::all();
    forms.retain(|form| !LATER.contains(&form.text));
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("forms.ptx");
    std::fs::write(&file, crate::form::module(&forms)).unwrap();
    let root = std::env::var_os("CUDA_HOME").expect("CUDA_HOME names a compiler");
    let ptxas = std::path::Path::new(&root).join("bin/ptxas");
    #[expect(clippy::disallowed_methods, reason = "a test asks the assembler")]
    let output = std::process::Command::new(ptxas)
        .args(["-arch", "sm_120a", "-O0", "-o", "/dev/null"])
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
