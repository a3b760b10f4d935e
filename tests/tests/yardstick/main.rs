//! What share of the kernels that people have gets a wrapper: the `.cu` files of published crates, fetched by cargo when
//! the tests run. The result is `tests/third-party.md`.
//!
//! The crates that compile in seconds are counted in continuous integration and compared with the file; `UPDATE=1`
//! rewrites their rows. `whole_…` counts all of them, by hand, or those that `GPUK_CRATES=hvm,sppark` names.

mod count;
mod crates;
mod report;

use crates::{CRATES, Crate};
use report::Report;

#[test]
#[ignore = "needs nvcc"]
fn nvcc_third_party_kernels_have_wrappers_as_the_report_says() {
    let mut report = Report::read();
    for it in CRATES.iter().filter(|it| it.quick) {
        report.count(it, &count::count(it));
    }
    report.settle(std::env::var_os("UPDATE").is_some());
}

#[test]
#[ignore = "takes an hour of compiling"]
fn whole_third_party_report() {
    let wanted = std::env::var("GPUK_CRATES").unwrap_or_default();
    let wanted: Vec<_> = wanted.split(',').filter(|name| !name.is_empty()).collect();
    let is_wanted = |it: &&Crate| wanted.is_empty() || wanted.contains(&it.name);
    for it in CRATES.iter().filter(is_wanted) {
        let counted = count::count(it);
        let mut report = Report::read();
        report.count(it, &counted);
        report.settle(true);
    }
}

#[test]
fn the_report_is_as_it_would_be_written() {
    Report::read().settle(false);
}
