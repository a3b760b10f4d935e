//! A page for every diagnostic code: the one text behind `cargo gpuk explain`, its JSON and the book.
//!
//! The pages are the `.md` files beside this one, all with the same sections. Raising the codes is the business of
//! whoever finds something.

mod page;

use std::collections::BTreeSet;

pub use page::{ExampleFile, Page, PageError};

use crate::code::Code;

macro_rules! texts {
    ($($name:literal)+) => {
        &[$(($name, include_str!(concat!($name, ".md")))),+]
    };
}

/// The pages as they are written, by code.
const TEXTS: &[(&str, &str)] = texts! {
    "GPUK0001" "GPUK0002" "GPUK0003" "GPUK0004" "GPUK0005" "GPUK0006" "GPUK0007" "GPUK0008"
    "GPUK0010" "GPUK0011" "GPUK0012" "GPUK0013" "GPUK0014" "GPUK0015" "GPUK0016"
    "GPUK0020" "GPUK0021"
    "GPUK0024" "GPUK0025"
    "GPUK0030" "GPUK0031" "GPUK0032" "GPUK0033" "GPUK0035" "GPUK0036" "GPUK0037" "GPUK0038"
    "GPUK0040" "GPUK0041" "GPUK0042" "GPUK0043" "GPUK0044" "GPUK0050" "GPUK0051"
    "GPUK0060" "GPUK0061"
};

/// The page of a code as Markdown; every code has one.
#[must_use]
pub fn text(code: Code) -> &'static str {
    let name = code.to_string();
    let found = TEXTS.iter().find(|(known, _)| *known == name);
    found.map_or("", |(_, text)| text)
}

/// The page of a code, its sections apart.
///
/// # Errors
/// The page lacks a section.
pub fn page(code: Code) -> Result<Page, PageError> {
    Page::read(code, text(code))
}

/// The line that says where to read on, once for everything a run has shown.
#[must_use]
pub fn pointer(codes: &BTreeSet<Code>) -> Option<String> {
    let codes: Vec<_> = codes.iter().map(ToString::to_string).collect();
    let pointer = format!(
        "for more information: `cargo gpuk explain {}`",
        codes.join(" ")
    );
    (!codes.is_empty()).then_some(pointer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_page_with_every_section() {
        for (code, meaning) in Code::ALL {
            let page = page(*code).unwrap_or_else(|error| panic!("{code}: {error}"));
            assert_eq!(page.title, meaning.trim(), "{code}");
            let known = |code: &&Code| !Code::ALL.iter().any(|(known, _)| known == *code);
            assert_eq!(page.related.iter().find(known), None, "{code}");
            assert!(!page.related.contains(code), "{code} is related to itself");
            let mut prose = text(*code).split("```").step_by(2).flat_map(str::lines);
            let long = prose.find(|line| line.len() > 120);
            assert_eq!(long, None, "{code}");
        }
        assert_eq!(TEXTS.len(), Code::ALL.len(), "a page without a code");
    }

    #[test]
    fn several_codes_share_the_line() {
        let codes = BTreeSet::from([Code::FORMAT_MISMATCH, Code::CHECK_NOT_HONOURED]);
        let line = "for more information: `cargo gpuk explain GPUK0001 GPUK0004`";
        assert_eq!(pointer(&codes).as_deref(), Some(line));
        assert_eq!(pointer(&BTreeSet::new()), None);
    }
}
