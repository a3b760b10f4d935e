//! What the functionalizing pass says, in the words of findings and reports.

use std::path::PathBuf;

use gpuk_device::abi::Kind;
use gpuk_ptx::functionalize::{Call, Refusal, Site, SiteKind as PassKind};

use crate::diagnostic::{Code, Diagnostic, Level, Place};
use crate::signature;
use crate::site::{CallRecord, SiteKind, SiteRecord};

/// A site of the pass as it is kept.
pub(crate) fn site(site: &Site) -> SiteRecord {
    SiteRecord {
        kind: kind(site.kind),
        form: site.form,
        function: match site.entries.contains(&site.function) {
            // In the kernel itself, whichever of a template's instances that is.
            true => String::new(),
            false => signature::short(&site.function),
        },
        place: Place::line(&site.file, site.line),
        calls: site.calls.iter().map(call).collect(),
        condition: site.condition.clone(),
        format: site.format.clone(),
        types: site.types.clone(),
        entries: site.entries.clone(),
    }
}

fn call(call: &Call) -> CallRecord {
    let function = call.function.as_deref();
    CallRecord {
        function: function.map_or_else(String::new, signature::short),
        file: PathBuf::from(&call.file),
        lines: call.lines.clone(),
    }
}

/// A kind of the pass as it is kept.
pub(crate) fn kind(kind: PassKind) -> SiteKind {
    match kind {
        PassKind::Check(Kind::Check) => SiteKind::Check,
        PassKind::Check(Kind::Expect) => SiteKind::Expect,
        PassKind::Check(Kind::DebugCheck) => SiteKind::DebugCheck,
        PassKind::Check(Kind::DebugExpect) => SiteKind::DebugExpect,
        PassKind::Check(Kind::Trap) => SiteKind::Trap,
        PassKind::Check(Kind::CheckBlock) => SiteKind::CheckBlock,
        PassKind::Check(Kind::CheckWarp) => SiteKind::CheckWarp,
        PassKind::Check(Kind::DebugCheckBlock) => SiteKind::DebugCheckBlock,
        PassKind::Check(Kind::DebugCheckWarp) => SiteKind::DebugCheckWarp,
        PassKind::Assert => SiteKind::Assert,
    }
}

/// A refusal of the pass as a finding.
pub(crate) fn refusal(refusal: &Refusal) -> Diagnostic {
    let code = match refusal {
        Refusal::IndirectCall { .. } => Some(Code::CHECK_BEHIND_INDIRECT_CALL),
        Refusal::SiteUnreadable { .. } => Some(Code::SITE_UNREADABLE),
        Refusal::FormatMismatch { .. } => Some(Code::FORMAT_MISMATCH),
        Refusal::Target { .. } => Some(Code::CHECK_NOT_HONOURED),
        Refusal::Sites { .. } | Refusal::Rewrite { .. } => None,
    };
    let finding = Diagnostic::new(code, Level::Error, refusal.to_string()).help(refusal.help());
    match refusal.place() {
        Some(place) => finding.at(Place::line(&place.file, place.line), ""),
        // The source is named in everything that has no place.
        None => finding,
    }
}
