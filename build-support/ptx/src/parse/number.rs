//! Constants (PTX ISA 4.6).

use crate::variable::Value;

/// An integer constant; `None` if it is none or does not fit 64 bits.
pub(super) fn integer(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('U').unwrap_or(text);
    let radix = |prefix: [&str; 2], radix| {
        prefix
            .iter()
            .find_map(|prefix| digits.strip_prefix(prefix))
            .map(|digits| unsigned(digits, radix))
    };
    radix(["0x", "0X"], 16)
        .or_else(|| radix(["0b", "0B"], 2))
        .or_else(|| match digits.strip_prefix('0') {
            Some(octal) if !octal.is_empty() => Some(unsigned(octal, 8)),
            _ => None,
        })
        .unwrap_or_else(|| unsigned(digits, 10))
}

/// As [`u64::from_str_radix`], which would take a sign.
fn unsigned(digits: &str, radix: u32) -> Option<u64> {
    let first = digits.chars().next()?;
    first.is_digit(radix).then_some(())?;
    u64::from_str_radix(digits, radix).ok()
}

/// Any constant.
pub(super) fn number(text: &str) -> Option<Value> {
    let bits = |prefix: [&str; 2], len: usize| {
        prefix
            .iter()
            .find_map(|prefix| text.strip_prefix(prefix))
            .filter(|digits| digits.len() == len)
            .and_then(|digits| unsigned(digits, 16))
    };
    if let Some(single) = bits(["0f", "0F"], 8) {
        return u32::try_from(single).ok().map(Value::F32);
    }
    if let Some(double) = bits(["0d", "0D"], 16) {
        return Some(Value::F64(double));
    }
    if let Some(value) = integer(text) {
        return Some(Value::Int(value));
    }
    let decimal = text.contains(['.', 'e', 'E']) && text.starts_with(|c: char| c.is_ascii_digit());
    decimal
        .then(|| text.parse::<f64>().ok())
        .flatten()
        .map(|value| Value::F64(value.to_bits()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants() {
        for (text, value) in [
            ("0", Some(Value::Int(0))),
            ("42U", Some(Value::Int(42))),
            ("0x1E5", Some(Value::Int(0x1e5))),
            ("017", Some(Value::Int(15))),
            ("0b11", Some(Value::Int(3))),
            ("18446744073709551615", Some(Value::Int(u64::MAX))),
            ("18446744073709551616", None),
            ("0f3F800000", Some(Value::F32(1.0_f32.to_bits()))),
            ("0f3F8", None),
            ("0d3FF0000000000000", Some(Value::F64(1.0_f64.to_bits()))),
            ("1.5", Some(Value::F64(1.5_f64.to_bits()))),
            ("2e3", Some(Value::F64(2000.0_f64.to_bits()))),
            ("08", None),
            ("0x", None),
        ] {
            assert_eq!(number(text), value, "{text}");
        }
    }
}
