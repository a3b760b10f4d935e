//! `Read -> Compiled`: the object from nvcc, the declarations from the compiler's answers.

use super::HostJob;
use super::read::Read;
use crate::diagnostic::{Code, Diagnostic, Level};
use crate::fs;
use crate::kernel::Signatures;
use crate::message;
use crate::signature;
use crate::source;
use crate::unit::{Shop, UnitError};

/// What came of a source.
pub(super) struct Compiled {
    pub(super) bytes: Vec<u8>,
    pub(super) signatures: Signatures,
    pub(super) findings: Vec<Diagnostic>,
}

/// What `gpuk.cuh` calls where a check fails; only gpuk's own PTX has it replaced.
const FAIL: &str = "__gpuk_fail";

/// Runs nvcc, then asks for types.
pub(super) fn compile(
    job: &HostJob<'_>,
    shop: &Shop<'_>,
    read: &Read,
) -> Result<Compiled, UnitError> {
    let object = job.scratch(shop, "o");
    let output = shop.compile(&job.nvcc(shop), &job.peak)?;
    let failed = !output.status.success();
    let said = [&*output.stderr, &String::from_utf8_lossy(&output.stdout)].join("\n");
    if failed && said.contains(FAIL) {
        return Err(UnitError::findings(checks(read)));
    }
    let mut findings: Vec<Diagnostic> = Vec::new();
    // Each architecture's pass says the same.
    for finding in message::findings(&said, failed) {
        if !findings.contains(&finding) {
            findings.push(finding);
        }
    }
    if failed {
        return Err(UnitError::findings(findings));
    }
    let bytes = fs::read(&object)?;
    let answers = match read.declarations.functions.is_empty() {
        true => Default::default(),
        false => job.ask(shop, read)?,
    };
    let (signatures, refused) = signature::of_host(&read.declarations, &answers);
    findings.extend(refused);
    Ok(Compiled {
        bytes,
        signatures,
        findings,
    })
}

/// The checks that nobody would hear of, where they stand.
fn checks(read: &Read) -> Vec<Diagnostic> {
    let text = String::from_utf8_lossy(&read.text);
    let places = source::checks(&text).into_iter();
    let finding = places.map(|place| {
        let message = "a check stands in a kernel that host functions launch";
        Diagnostic::new(
            Some(Code::CHECK_BEHIND_HOST_FUNCTION),
            Level::Error,
            message,
        )
        .at(place, "")
        .note("a failure comes back through the wrapper that launches; host code has none")
        .help("launch the kernel through its wrapper, or write `assert`, which ends the context")
    });
    finding.collect()
}
