//! A failed check as data, to be written to a log and read elsewhere (feature `serde`).

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use gpuk_device::abi::ValueType;

use crate::category::Category;
use crate::driver::DriverError;
use crate::failure::FailedCheck;
use crate::site::Call;
use crate::value::Value;

/// What a [`FailedCheck`] says, owned. It is what one is serialized as, and what is read back.
///
/// The names of the fields stay; others may be added. As JSON:
///
/// ```
/// # let json = r#"
/// {
///   "text": "check failed in kernel `gather`: row -3 of 4\n  --> kernels/gather.cu:14",
///   "kernel": "gather",
///   "message": "row -3 of 4",
///   "category": "check",
///   "site": "9f86d081884c7d65",
///   "condition": "k >= 0 && k < rows",
///   "file": "kernels/gather.cu",
///   "line": 14,
///   "function": "row_of",
///   "calls": [{ "function": "", "file": "kernels/gather.cu", "lines": [33] }],
///   "block": [937, 0, 1],
///   "thread": [29, 3, 0],
///   "values": [
///     { "type": "i32", "bits": "fffffffd", "text": "-3" },
///     { "type": "i32", "bits": "00000004", "text": "4" }
///   ],
///   "failed_threads": 262144,
///   "launched_at": { "file": "src/main.rs", "line": 42, "column": 19 },
///   "launch": null,
///   "device": 1,
///   "device_name": "NVIDIA H200",
///   "stream": 13,
///   "fault": null
/// }
/// # "#;
/// # let failed: gpuk::FailureReport = serde_json::from_str(json).unwrap();
/// # assert_eq!(failed.values[0], gpuk::Value::I32(-3));
/// # let again = serde_json::to_value(&failed).unwrap();
/// # assert_eq!(again, serde_json::from_str::<serde_json::Value>(json).unwrap());
/// ```
///
/// A value's bits are hexadecimal text, as many as its type has: numbers of 64 bits and NaNs arrive as they were,
/// whatever reads the JSON. `text` is for people, and is not read back for values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailureReport {
    /// The whole message, as a [`FailedCheck`] prints.
    pub text: String,
    /// See [`Failure::kernel`](crate::Failure::kernel); so it goes on.
    pub kernel: String,
    /// What failed, with the captured values.
    pub message: String,
    /// `check`, `expect`, `debug_check`, `debug_expect`, `assert`, `trap`, `check_block`, `check_warp`,
    /// `debug_check_block`, `debug_check_warp`, `fault`.
    pub category: String,
    /// The check's number, 16 hexadecimal digits.
    #[serde(with = "hexadecimal")]
    pub site: u64,
    /// The condition that did not hold.
    pub condition: String,
    /// The file of the check.
    pub file: String,
    /// Its line.
    pub line: u32,
    /// The device function it stands in; empty where that is the kernel itself.
    pub function: String,
    /// The calls that it was inlined through, the nearest first.
    #[serde(default)]
    pub calls: Vec<CallReport>,
    /// `blockIdx` of the failing thread.
    pub block: [u32; 3],
    /// `threadIdx` of the failing thread.
    pub thread: [u32; 3],
    /// The captured values.
    pub values: Vec<Value>,
    /// How often a check failed.
    pub failed_threads: u64,
    /// The call that launched the kernel.
    pub launched_at: CallSite,
    /// Which launch of its scope it was.
    pub launch: Option<u32>,
    /// The device's number.
    pub device: usize,
    /// The device's name.
    pub device_name: String,
    /// The stream's number.
    pub stream: u64,
    /// What the driver says, if the launch did not end as launches do.
    pub fault: Option<FaultReport>,
}

/// A call that a check was inlined through; see [`Call`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallReport {
    /// The device function that the call stands in.
    pub function: String,
    /// The file.
    pub file: String,
    /// The line, or those that it can be.
    pub lines: Vec<u32>,
}

impl From<&Call> for CallReport {
    fn from(call: &Call) -> Self {
        Self {
            function: call.function.to_owned(),
            file: call.file.to_owned(),
            lines: call.lines.to_vec(),
        }
    }
}

/// A place in a Rust source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallSite {
    /// The file, as the compiler was given it.
    pub file: String,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// An answer of the driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FaultReport {
    /// The `CUresult`.
    pub code: u32,
    /// Its name and meaning.
    pub text: String,
}

impl From<&FailedCheck> for FailureReport {
    fn from(failed: &FailedCheck) -> Self {
        let at = failed.launched_at;
        Self {
            text: failed.to_string(),
            kernel: failed.kernel.to_owned(),
            message: failed.message.clone(),
            category: name(failed.category),
            site: failed.site,
            condition: failed.condition.to_owned(),
            file: failed.file.to_owned(),
            line: failed.line,
            function: failed.function.to_owned(),
            calls: failed.calls.iter().map(CallReport::from).collect(),
            block: failed.block,
            thread: failed.thread,
            values: failed.values.clone(),
            failed_threads: failed.failed_threads,
            launched_at: CallSite {
                file: at.file().to_owned(),
                line: at.line(),
                column: at.column(),
            },
            launch: failed.launch,
            device: failed.device,
            device_name: failed.device_name.clone(),
            stream: failed.stream,
            fault: failed
                .fault
                .as_ref()
                .map(|error: &DriverError| FaultReport {
                    code: error.code(),
                    text: error.to_string(),
                }),
        }
    }
}

impl fmt::Display for FailureReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for FailureReport {}

impl Serialize for FailedCheck {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        FailureReport::from(self).serialize(to)
    }
}

/// `DebugCheck` → `debug_check`.
fn name(category: Category) -> String {
    let mut name = String::new();
    for letter in format!("{category:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[derive(Serialize, Deserialize)]
struct ValueReport {
    #[serde(rename = "type")]
    ty: String,
    bits: String,
    text: String,
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (ty, bits, width) = self.encode();
        let report = ValueReport {
            ty: ty.as_str().to_owned(),
            bits: format!("{bits:0width$x}", width = width / 4),
            text: self.to_string(),
        };
        report.serialize(to)
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let ValueReport { ty, bits, .. } = ValueReport::deserialize(from)?;
        let known = ValueType::from_name(&ty)
            .ok_or_else(|| D::Error::custom(format!("`{ty}` is no type of a value")))?;
        Ok(Self::decode(known, hexadecimal::parse(&bits)?))
    }
}

mod hexadecimal {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn parse<E: Error>(digits: &str) -> Result<u64, E> {
        u64::from_str_radix(digits, 16)
            .map_err(|_| E::custom(format!("`{digits}` is no hexadecimal number of 64 bits")))
    }

    pub(super) fn serialize<S: Serializer>(bits: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{bits:016x}"))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        parse(&String::deserialize(from)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_to_the_last_bit() {
        let nan = f64::from_bits(0xfff4_0000_0000_beef);
        let values = [
            Value::Bool(true),
            Value::Char(0xfe),
            Value::I8(-1),
            Value::I16(i16::MIN),
            Value::I32(-3),
            Value::I64(i64::MIN + 1),
            Value::U8(255),
            Value::U16(65_535),
            Value::U32(u32::MAX),
            Value::U64(u64::MAX - 1),
            Value::F32(f32::MIN_POSITIVE / 2.0),
            Value::F32(f32::from_bits(0x7fa0_0001)),
            Value::F64(-0.0),
            Value::F64(nan),
        ];
        let json = serde_json::to_string(&values).unwrap();
        let again: Vec<Value> = serde_json::from_str(&json).unwrap();
        assert_eq!(again.len(), values.len());
        for (value, again) in values.iter().zip(&again) {
            // `NaN != NaN`: by their bits.
            assert_eq!(value.encode(), again.encode());
        }
        assert!(
            json.contains(
                r#"{"type":"i64","bits":"8000000000000001","text":"-9223372036854775807"}"#
            )
        );
        assert!(serde_json::from_str::<Value>(r#"{"type":"i128","bits":"0","text":""}"#).is_err());
        assert!(serde_json::from_str::<Value>(r#"{"type":"i64","bits":"x","text":""}"#).is_err());
    }

    #[test]
    fn categories_have_names_in_small_letters() {
        assert_eq!(name(Category::DebugExpect), "debug_expect");
        assert_eq!(name(Category::Fault), "fault");
    }
}
