//! What can be set for a single kernel.

use std::collections::BTreeMap;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::CheckMode;
use crate::code::Code;
use crate::ctype::CType;
use crate::source::{Declarations, DeclaredKernel, annotation};

/// `[…metadata.gpuk.kernel.NAME]`. What is not set is the package's.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelConfig {
    /// `kernel.NAME.checks`: its own mode, `functional` or `off`.
    pub checks: Option<CheckMode>,
    /// `kernel.NAME.debug-checks`: whether it has debug checks.
    pub debug_checks: Option<bool>,
    /// `kernel.NAME.traps`: what becomes of its traps.
    pub traps: Option<TrapMode>,
    /// `kernel.NAME.signature`: for PTX, its parameters as C declares them.
    pub signature: Option<Signature>,
    /// `kernel.NAME.allow`: findings that are right and not meant, each with the reason.
    pub allow: BTreeMap<Code, String>,
}

/// The codes that `allow` takes: what they say may be known not to happen.
pub(crate) const ALLOWABLE: [Code; 1] = [Code::STOP_WHERE_OTHERS_WAIT];

/// What becomes of a `trap` or `brkpt` instruction that belongs to no `assert`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TrapMode {
    /// It stays, and ends the context when it is executed.
    Keep,
    /// It is a check: it comes back as a value.
    Check,
    /// It may not exist.
    Refuse,
}

impl FromStr for TrapMode {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "keep" => Ok(Self::Keep),
            "check" => Ok(Self::Check),
            "refuse" => Ok(Self::Refuse),
            _ => Err("`keep`, `check` or `refuse`"),
        }
    }
}

/// A kernel's parameters as a C declaration has them: `void scale(float *y, float by, int n)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Signature {
    text: String,
    declared: DeclaredKernel,
    types: Vec<CType>,
}

impl Signature {
    /// The declaration.
    pub(crate) fn declared(&self) -> &DeclaredKernel {
        &self.declared
    }

    /// The types of its parameters.
    pub(crate) fn types(&self) -> &[CType] {
        &self.types
    }
}

impl FromStr for Signature {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        const EXPECTED: &str = "a C declaration such as `void scale(float *y, float by, int n)`";
        let declaration = text.trim().trim_end_matches(';');
        let (ahead, rest) = match declaration.strip_prefix("void ") {
            Some(rest) => ("", rest),
            None => declaration.split_once(") void ").ok_or(EXPECTED)?,
        };
        let ahead = match ahead {
            "" => String::new(),
            ahead if ahead.starts_with("GPUK_LAUNCH(") => annotation::marked(&format!("{ahead})")),
            _ => return Err(EXPECTED),
        };
        if !rest.trim_end().ends_with(')') || rest.contains([';', '{']) {
            return Err(EXPECTED);
        }
        let rest = annotation::marked(rest);
        let global = "__attribute__((global)) void";
        let mut read = Declarations::read(&format!("extern \"C\" {ahead} {global} {rest};"));
        let (Some(declared), true) = (read.kernels.pop(), read.kernels.is_empty()) else {
            return Err(EXPECTED);
        };
        let types = declared.params.iter().map(|param| {
            let ty = unaliased(&param.text).parse();
            ty.map_err(|_| EXPECTED)
        });
        Ok(Self {
            types: types.collect::<Result<_, _>>()?,
            text: text.to_owned(),
            declared,
        })
    }
}

/// The names of `<cstdint>` and the short ones of CUDA's headers, which no compiler resolves here.
fn unaliased(text: &str) -> String {
    const ALIASES: [(&str, &str); 12] = [
        ("int8_t", "signed char"),
        ("int16_t", "short"),
        ("int32_t", "int"),
        ("int64_t", "long long"),
        ("uint8_t", "unsigned char"),
        ("uint16_t", "unsigned short"),
        ("uint32_t", "unsigned int"),
        ("uint64_t", "unsigned long long"),
        ("size_t", "unsigned long long"),
        ("half", "__half"),
        ("nv_bfloat16", "__nv_bfloat16"),
        ("bfloat16", "__nv_bfloat16"),
    ];
    let words = text.split_whitespace().map(|word| {
        let alias = ALIASES.iter().find(|(alias, _)| *alias == word);
        alias.map_or(word, |(_, meant)| meant)
    });
    words.collect::<Vec<_>>().join(" ")
}

impl From<Signature> for String {
    fn from(signature: Signature) -> Self {
        signature.text
    }
}

impl TryFrom<String> for Signature {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_read_as_c_has_them() {
        let signature: Signature = "void f(const float *x, uint32_t n, half*, size_t stride[]);"
            .parse()
            .unwrap();
        assert_eq!(signature.declared().name, "f");
        let names = signature.declared().params.iter();
        let names = names.map(|param| param.name.as_deref().unwrap_or("_"));
        let types = signature.types().iter().map(ToString::to_string);
        let params: Vec<_> = names.zip(types).collect();
        let expected = [
            ("x", "const float *"),
            ("n", "unsigned int"),
            ("_", "__half *"),
            ("stride", "unsigned long long []"),
        ];
        assert_eq!(params, expected.map(|(name, ty)| (name, ty.to_owned())));
    }

    #[test]
    fn declarations_have_annotations() {
        let text = "GPUK_LAUNCH(block = (8, 4), grid = 1) void f(GPUK_IN(n * (2 + 1)) const int *x, int n)";
        let signature: Signature = text.parse().unwrap();
        let found = signature.declared().annotations.iter();
        let found = found.map(|it| (it.word.as_str(), it.param, it.written.as_str()));
        let expected = [
            ("launch", None, "block = (8, 4), grid = 1"),
            ("in", Some(0), "n * (2 + 1)"),
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(signature.types()[0].to_string(), "const int *");
    }

    #[test]
    fn what_is_no_declaration_of_a_kernel_is_refused() {
        for text in [
            "",
            "void",
            "void f",
            "void f(",
            "int f(int)",
            "f(int)",
            "void f(int) {}",
            "void f(a b c)",
            "GPUK_IN(n) void f(int n)",
            "static (int) void f(int n)",
            "void f(int); void g(int)",
        ] {
            assert!(text.parse::<Signature>().is_err(), "{text}");
        }
    }
}
