//! What share of the kernels that people have gets a wrapper: the `.cu` files of published crates, fetched by cargo when
//! the tests run. The result is `tests/third-party.md`.
//!
//! The crates that compile in seconds are counted in continuous integration and compared with the file; `UPDATE=1`
//! rewrites their rows and all that is no row. `whole_third_party_report` counts all of them, by hand, or those that `GPUK_CRATES=hvm,dfdx` names, and
//! `whole_both_engines_make_the_same` compiles them with each engine.

mod bring;
mod count;
mod crates;
mod engines;
mod report;

use crates::{CRATES, Crate};
use report::Report;

/// The command under test.
const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// What is kept from run to run.
const TMP: &str = env!("CARGO_TARGET_TMPDIR");

#[test]
#[ignore = "needs nvcc"]
fn nvcc_third_party_kernels_have_wrappers_as_the_report_says() {
    let mut report = Report::read();
    for it in CRATES.iter().filter(|it| it.quick) {
        report.count(it, &count::count(it));
    }
    report.settle(std::env::var_os("UPDATE").is_some());
}

/// Those that `GPUK_CRATES` names, or all.
fn wanted() -> impl Iterator<Item = &'static Crate> {
    let wanted = std::env::var("GPUK_CRATES").unwrap_or_default();
    let wanted: Vec<_> = wanted.split(',').map(str::to_owned).collect();
    let is_all = wanted.iter().all(String::is_empty);
    let mut crates = CRATES.iter();
    std::iter::from_fn(move || {
        crates.find(|it| is_all || wanted.iter().any(|name| name == it.name))
    })
}

#[test]
#[ignore = "takes an hour of compiling"]
fn whole_third_party_report() {
    for it in wanted() {
        let counted = count::count(it);
        let mut report = Report::read();
        report.count(it, &counted);
        report.settle(true);
    }
}

/// What came of it stands in the book.
#[test]
#[ignore = "takes an hour of compiling"]
fn whole_both_engines_make_the_same() {
    for it in wanted() {
        let of = engines::compare(it);
        println!(
            "| {} {} | {} | {} | {} | {} |",
            it.name,
            it.version,
            of.short,
            of.kernels,
            of.kernels - of.different.len(),
            of.different.len(),
        );
        assert!(
            of.again == 0 && of.different.is_empty(),
            "{:#?}",
            of.different
        );
    }
}

#[test]
fn the_report_is_as_it_would_be_written() {
    Report::read().settle(std::env::var_os("UPDATE").is_some());
}
