//! `printf` on the device (CUDA programming guide, "Formatted output").
//!
//! The format is C's. Arguments lie one after the other at multiples of their size: `int` and what is promoted
//! to it take 4 bytes, `long`, `double` and pointers 8.

use std::fmt::Write;

use super::{read, string};
use crate::context::Cx;
use crate::shadow::Shadow;

/// Flags, width and precision of a conversion.
#[derive(Debug, Default, Clone, Copy)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
}

/// The text of a lane's `printf`, and how many arguments it took.
pub(super) fn format<S: Shadow>(
    cx: &Cx<'_, S>,
    format: &str,
    list: u64,
    lane: usize,
) -> (String, usize) {
    let mut at = list;
    let next = |bytes: u64| {
        at = at.next_multiple_of(bytes);
        let mut buffer = [0; 8];
        // What is not there reads as zero.
        let _ = read(cx, at, &mut buffer[..bytes as usize], lane);
        at += bytes;
        u64::from_le_bytes(buffer)
    };
    text(format, next, |address| string(cx, address, lane))
}

/// The text, and how many arguments it took. `next` gives an argument of so many bytes, `string` what an address
/// points to.
fn text(
    format: &str,
    mut next: impl FnMut(u64) -> u64,
    string: impl Fn(u64) -> String,
) -> (String, usize) {
    let mut count = 0;
    let mut next = |bytes: u64| {
        count += 1;
        next(bytes)
    };
    let mut out = String::new();
    let mut chars = format.chars().peekable();
    while let Some(found) = chars.next() {
        if found != '%' {
            out.push(found);
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let mut spec = Spec::default();
        while let Some(flag) = chars.next_if(|c| "-+ #0".contains(*c)) {
            match flag {
                '-' => spec.left = true,
                '+' => spec.plus = true,
                ' ' => spec.space = true,
                '#' => spec.alternate = true,
                _ => spec.zero = true,
            }
        }
        let mut number = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>| {
            if chars.next_if_eq(&'*').is_some() {
                return next(4) as i32;
            }
            let mut value = 0_i32;
            while let Some(digit) = chars.peek().and_then(|c| c.to_digit(10)) {
                value = value.saturating_mul(10).saturating_add(digit as i32);
                chars.next();
            }
            value
        };
        const WIDEST: u32 = 4096;
        let width = number(&mut chars);
        spec.left |= width < 0;
        spec.width = width.unsigned_abs().min(WIDEST) as usize;
        if chars.next_if_eq(&'.').is_some() {
            let precision = number(&mut chars);
            spec.precision = u32::try_from(precision)
                .ok()
                .map(|found| found.min(WIDEST) as usize);
        }
        let mut long = false;
        let mut short = 0;
        while let Some(length) = chars.next_if(|c| "hljztL".contains(*c)) {
            match length {
                'h' => short += 1,
                _ => long = true,
            }
        }
        let Some(conversion) = chars.next() else {
            break;
        };
        let mut integer = || if long { next(8) } else { next(4) };
        let text = match conversion {
            'd' | 'i' => {
                let value = integer();
                let value = match (long, short) {
                    (true, _) => value.cast_signed(),
                    (false, 0) => i64::from(value as i32),
                    (false, 1) => i64::from(value as i16),
                    (false, _) => i64::from(value as i8),
                };
                signed(value, spec)
            }
            'u' | 'x' | 'X' | 'o' => {
                let value = integer();
                let value = match short {
                    0 => value,
                    1 => value & 0xffff,
                    _ => value & 0xff,
                };
                unsigned(value, conversion, spec)
            }
            'c' => pad(&char::from(integer() as u8).to_string(), "", spec, false),
            's' => {
                let text = string(next(8));
                let shown = spec.precision.unwrap_or(usize::MAX);
                let text: String = text.chars().take(shown).collect();
                pad(&text, "", spec, false)
            }
            'p' => pad(&format!("{:#x}", next(8)), "", spec, false),
            'f' | 'F' | 'e' | 'E' | 'g' | 'G' | 'a' | 'A' => {
                float(f64::from_bits(next(8)), conversion, spec)
            }
            other => format!("%{other}"),
        };
        out.push_str(&text);
    }
    (out, count)
}

/// Fills up to the width, with zeros behind the sign if `zero`.
fn pad(digits: &str, sign: &str, spec: Spec, zero: bool) -> String {
    let length = digits.chars().count() + sign.len();
    let fill = spec.width.saturating_sub(length);
    if spec.left {
        format!("{sign}{digits}{}", " ".repeat(fill))
    } else if zero {
        format!("{sign}{}{digits}", "0".repeat(fill))
    } else {
        format!("{}{sign}{digits}", " ".repeat(fill))
    }
}

const fn sign(negative: bool, spec: Spec) -> &'static str {
    match (negative, spec.plus, spec.space) {
        (true, ..) => "-",
        (false, true, _) => "+",
        (false, false, true) => " ",
        _ => "",
    }
}

/// At least as many digits as the precision says; none for zero if it says none.
fn digits(digits: String, spec: Spec) -> String {
    match spec.precision {
        Some(0) if digits == "0" => String::new(),
        Some(precision) => format!("{digits:0>precision$}"),
        None => digits,
    }
}

fn signed(value: i64, spec: Spec) -> String {
    let text = digits(value.unsigned_abs().to_string(), spec);
    let zero = spec.zero && spec.precision.is_none();
    pad(&text, sign(value < 0, spec), spec, zero)
}

fn unsigned(value: u64, conversion: char, spec: Spec) -> String {
    let (text, prefix) = match conversion {
        'x' => (format!("{value:x}"), "0x"),
        'X' => (format!("{value:X}"), "0X"),
        'o' => (format!("{value:o}"), "0"),
        _ => (value.to_string(), ""),
    };
    let prefix = if spec.alternate && value != 0 {
        prefix
    } else {
        ""
    };
    let zero = spec.zero && spec.precision.is_none();
    pad(&digits(text, spec), prefix, spec, zero)
}

fn float(value: f64, conversion: char, spec: Spec) -> String {
    let sign = sign(value.is_sign_negative(), spec);
    let upper = conversion.is_ascii_uppercase();
    let magnitude = value.abs();
    if !value.is_finite() {
        let text = if value.is_nan() { "nan" } else { "inf" };
        let text = if upper {
            text.to_uppercase()
        } else {
            text.to_owned()
        };
        return pad(&text, sign, spec, false);
    }
    let text = match conversion.to_ascii_lowercase() {
        'f' => fixed(magnitude, spec.precision.unwrap_or(6), spec.alternate),
        'e' => scientific(magnitude, spec.precision.unwrap_or(6), spec.alternate),
        'g' => general(magnitude, spec),
        _ => hexadecimal(magnitude, spec),
    };
    let text = if upper { text.to_uppercase() } else { text };
    pad(&text, sign, spec, spec.zero)
}

fn fixed(value: f64, precision: usize, point: bool) -> String {
    let mut text = format!("{value:.precision$}");
    if precision == 0 && point {
        text.push('.');
    }
    text
}

/// `d.ddde±dd`, with two digits of exponent at least.
fn scientific(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if exponent < 0 { '-' } else { '+' };
    let dot = if precision == 0 && point { "." } else { "" };
    format!("{mantissa}{dot}e{sign}{:02}", exponent.unsigned_abs())
}

/// `%g`: the shorter of the two, without zeros at the end.
fn general(value: f64, spec: Spec) -> String {
    let precision = spec.precision.unwrap_or(6).max(1);
    let rounded = format!("{value:.*e}", precision - 1);
    let exponent = rounded
        .split_once('e')
        .map_or("0", |(_, exponent)| exponent);
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let small = exponent < -4 || exponent >= precision as i32;
    let text = if small {
        scientific(value, precision - 1, spec.alternate)
    } else {
        let places = (precision as i32 - 1 - exponent).max(0) as usize;
        fixed(value, places, spec.alternate)
    };
    if spec.alternate {
        return text;
    }
    let (mantissa, exponent) = match text.split_once('e') {
        Some((mantissa, exponent)) => (mantissa.to_owned(), Some(exponent.to_owned())),
        None => (text, None),
    };
    let mantissa = if mantissa.contains('.') {
        mantissa
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned()
    } else {
        mantissa
    };
    exponent.map_or(mantissa.clone(), |exponent| {
        format!("{mantissa}e{exponent}")
    })
}

/// `%a`: `0x1.8p+1`.
fn hexadecimal(value: f64, spec: Spec) -> String {
    let bits = value.to_bits();
    let field = (bits >> 52 & 0x7ff) as i32;
    let mut fraction = bits & ((1 << 52) - 1);
    let mut first = u64::from(field != 0);
    let exponent = match (field, fraction) {
        (0, 0) => 0,
        (0, _) => -1022,
        _ => field - 1023,
    };
    let mut places = 13;
    if let Some(precision) = spec.precision.filter(|precision| *precision < 13) {
        let cut = 4 * (13 - precision as u32);
        let whole = first << 52 | fraction;
        let half = 1_u64 << (cut - 1);
        let rest = whole & ((1 << cut) - 1);
        let kept = whole >> cut;
        let up = rest > half || rest == half && kept & 1 != 0;
        let kept = (kept + u64::from(up)) << cut;
        first = kept >> 52;
        fraction = kept & ((1 << 52) - 1);
        places = precision;
    }
    let mut text = format!("{fraction:013x}");
    text.truncate(places);
    match spec.precision {
        None => text = text.trim_end_matches('0').to_owned(),
        Some(precision) => {
            while text.len() < precision {
                text.push('0');
            }
        }
    }
    let mut out = format!("0x{first}");
    if !text.is_empty() || spec.alternate {
        out.push('.');
    }
    // Writing to a string does not fail.
    let _ = write!(out, "{text}p{exponent:+}");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints with one argument; what C prints is beside it in each test.
    fn print(format: &str, argument: u64) -> String {
        let next = |bytes| {
            if bytes == 4 {
                argument & 0xffff_ffff
            } else {
                argument
            }
        };
        text(format, next, |_| "word".to_owned()).0
    }

    fn double(format: &str, argument: f64) -> String {
        print(format, argument.to_bits())
    }

    #[test]
    fn integers() {
        for (format, argument, expected) in [
            ("%d", -5_i64, "-5"),
            ("%5d|", 42, "   42|"),
            ("%-5d|", 42, "42   |"),
            ("%05d", -42, "-0042"),
            ("%+d % d", 7, "+7  7"),
            ("%.3d", 7, "007"),
            ("%6.3d", -7, "  -007"),
            ("%.0d|", 0, "|"),
            ("%u", -1, "4294967295"),
            ("%lu", -1, "18446744073709551615"),
            ("%llx", -1, "ffffffffffffffff"),
            ("%x %X %#x %o %#o", 255, "ff FF 0xff 377 0377"),
            ("%#x", 0, "0"),
            ("%hd %hhd", 0x1_ffff, "-1 -1"),
            ("%hu %hhu", -1, "65535 255"),
            ("%zu", 5, "5"),
            ("%c%c", 65, "AA"),
            ("%p", 0x7f00, "0x7f00"),
            ("100%% %i", 3, "100% 3"),
            ("%s|%8s|%-8s|%.2s", 1, "word|    word|word    |wo"),
            ("%y", 1, "%y"),
            ("%", 1, ""),
        ] {
            assert_eq!(
                print(format, argument.cast_unsigned()),
                expected,
                "{format}"
            );
        }
    }

    #[test]
    fn floating_point() {
        for (format, argument, expected) in [
            ("%f", 1.5, "1.500000"),
            ("%.2f", 2.675, "2.67"),
            ("%8.3f|", -1.0, "  -1.000|"),
            ("%08.3f", -1.0, "-001.000"),
            ("%.0f %#.0f", 2.5, "2 2."),
            ("%e", 12345.678, "1.234568e+04"),
            ("%.0e", 0.00015, "1e-04"),
            ("%E", 1e-300, "1.000000E-300"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%g", 1_234_567.0, "1.23457e+06"),
            ("%g", 123_456.0, "123456"),
            ("%g", 100.0, "100"),
            ("%#g", 100.0, "100.000"),
            ("%.3g", 9999.0, "1e+04"),
            ("%.10g", 0.1, "0.1"),
            ("%a", 1.0, "0x1p+0"),
            ("%a", 0.1, "0x1.999999999999ap-4"),
            ("%.2a", 1.999, "0x2.00p+0"),
            ("%a", 0.0, "0x0p+0"),
            ("%f %F", f64::INFINITY, "inf INF"),
            ("%5.1f|", f64::NAN, "  nan|"),
            ("%+f", 0.0, "+0.000000"),
        ] {
            assert_eq!(double(format, argument), expected, "{format} {argument}");
        }
    }

    #[test]
    fn widths_from_arguments() {
        let mut arguments = [8, 3, 1.5_f64.to_bits()].into_iter();
        let next = |_| arguments.next().unwrap_or(0);
        let (text, count) = text("%*.*f", next, |_| String::new());
        assert_eq!((&*text, count), ("   1.500", 3));
    }
}
