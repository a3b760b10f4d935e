//! The variable by which an image tells which checks it was made with.

use std::fmt::Write;

use gpuk_device::table;

use crate::generate::slashed;
use crate::site::SiteRecord;

/// PTX with the variable behind it, if it has checks.
pub(super) fn mark(mut text: String, sites: &[SiteRecord]) -> String {
    if sites.is_empty() {
        return text;
    }
    let bytes = table::variable(sites.iter().map(hash));
    let bytes: Vec<_> = bytes.iter().map(u8::to_string).collect();
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\n.visible .global .align 8 .b8 {}[{}] = {{{}}};\n",
        table::SYMBOL,
        table::SIZE,
        bytes.join(", ")
    );
    text
}

/// As the run time makes it of the generated table.
fn hash(site: &SiteRecord) -> u64 {
    let place = table::Site {
        kind: &format!("{:?}", site.kind),
        function: &site.function,
        file: &slashed(&site.place.file),
        line: site.place.line,
        condition: &site.condition,
        format: site.format.as_deref(),
        types: &site.types,
    };
    let files: Vec<_> = site.calls.iter().map(|call| slashed(&call.file)).collect();
    let calls = site
        .calls
        .iter()
        .zip(&files)
        .map(|(call, file)| table::Call {
            function: &call.function,
            file,
            lines: &call.lines,
        });
    table::entry(&place, calls)
}
