//! GPUK0006: a check stops a thread that others wait for.
//!
//! A thread that leaves is not missed at `__syncthreads()`, at shuffles and at the cluster's barrier (measured on an
//! H200); elsewhere the others wait for ever. A hang tells nothing, so it is refused.

use gpuk_ptx::functionalize::{Leaving, Wait, leaving};

use crate::check::{Subject, translate};
use crate::config::CheckMode;
use crate::diagnostic::{Code, Diagnostic, Place};

pub(in crate::check) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    // A trap ends everything, and where nothing is left to fail nobody leaves.
    let trapping = subject.package.config.checks == CheckMode::Trap;
    if trapping || subject.sites.iter().all(|site| !site.kind.stops()) {
        return Vec::new();
    }
    let is_meant = |found: &Leaving| {
        let settings = subject
            .package
            .config
            .kernel
            .get(subject.name(&found.entry));
        settings.is_some_and(|it| it.allow.contains_key(&Code::STOP_WHERE_OTHERS_WAIT))
    };
    let found = leaving(subject.module).into_iter();
    let found: Vec<_> = found.filter(|found| !is_meant(found)).collect();
    let same = |a: &Leaving, b: &Leaving| a.place == b.place && a.entry == b.entry;
    let checks = found.chunk_by(same);
    checks.filter_map(|waits| finding(subject, waits)).collect()
}

/// About a check, by what a thread of it does not come to.
fn finding(subject: &Subject<'_>, waits: &[Leaving]) -> Option<Diagnostic> {
    let found = waits.first()?;
    let kernel = subject.name(&found.entry);
    let kind = translate::kind(found.kind);
    let message = format!("`{kind}` stops a thread of kernel `{kernel}` that others wait for");
    let place = Place::line(&found.place.file, found.place.line);
    let mut finding = Diagnostic::error(Code::STOP_WHERE_OTHERS_WAIT, message)
        .at(place, "a thread that fails leaves here");
    if let Some(at) = &found.at {
        finding = finding.at(subject.place(at), "the others wait here");
    }
    let (expect, of_block) = match kind.is_debug() {
        true => ("GPUK_DEBUG_EXPECT", "GPUK_DEBUG_CHECK_BLOCK"),
        false => ("GPUK_EXPECT", "GPUK_CHECK_BLOCK"),
    };
    let mut finding = finding
        .note(format!("it does not come to {}", missed(found)))
        .help(format!(
            "write `{expect}`: a failure is recorded and the thread goes on"
        ));
    // One of a block does not stand here for such a wait.
    if waits.iter().all(|found| found.wait.is_within_block()) {
        finding = finding.help(format!(
            "or write `{of_block}` where all threads of the block come to it: they leave together, and nobody waits"
        ));
    }
    let finding = finding
        .help("or move the check behind the last place where threads wait")
        .help(format!(
            "or, if it cannot fail where others wait, say why: `kernel.{kernel}.allow.{} = \"…\"`",
            Code::STOP_WHERE_OTHERS_WAIT
        ));
    Some(finding)
}

fn missed(found: &Leaving) -> String {
    let instruction = &found.instruction;
    match found.wait {
        Wait::CountedBarrier => {
            format!("`{instruction}`, which counts warps, those that have left among them")
        }
        Wait::Arrival => {
            format!("`{instruction}`, an arrival at an mbarrier whose number of arrivals is fixed")
        }
        Wait::Grid => "`grid.sync()`, where each block's first thread arrives for all".to_owned(),
        Wait::Spin => {
            format!(
                "the loop around `{instruction}`, in which threads wait for each other's writes"
            )
        }
        Wait::Cluster => format!(
            "`{instruction}`, and the shared memory that other blocks read goes with a block that has left"
        ),
        Wait::Registers => {
            format!("`{instruction}`, by which warps pass registers on to each other")
        }
    }
}
