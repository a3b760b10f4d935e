//! What the functionalizing pass says, in the words of findings and reports.

use std::path::Path;

use gpuk_device::abi::Kind;
use gpuk_ptx::functionalize::{Refusal, Site, SiteKind as PassKind};

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::site::{SiteKind, SiteRecord};

/// A site of the pass as it is kept.
pub(crate) fn site(site: &Site) -> SiteRecord {
    SiteRecord {
        kind: match site.kind {
            PassKind::Check(Kind::Check) => SiteKind::Check,
            PassKind::Check(Kind::Expect) => SiteKind::Expect,
            PassKind::Check(Kind::DebugCheck) => SiteKind::DebugCheck,
            PassKind::Check(Kind::DebugExpect) => SiteKind::DebugExpect,
            PassKind::Assert => SiteKind::Assert,
        },
        function: site.function.clone(),
        place: Place::line(&site.file, site.line),
        condition: site.condition.clone(),
        format: site.format.clone(),
        types: site.types.clone(),
        entries: site.entries.clone(),
    }
}
