//! What cannot be vendored at all.

use std::path::Path;

use crate::diagnostic::{Code, Diagnostic, Place};
use crate::discover::discover;
use crate::package::Package;

/// Host functions of the package: their objects are linked for one target and one C++ library, so that another machine's
/// build could not take them.
pub(super) fn finding(package: &Package) -> Option<Diagnostic> {
    if package.config.host_objects.is_empty() {
        return None;
    }
    let sources = discover(package, &mut Vec::new()).ok()?.host;
    let (first, rest) = sources.split_first()?;
    let message = format!("{}, which cannot be vendored", holders(first, rest.len()));
    let finding = Diagnostic::error(Code::HOST_FUNCTIONS_VENDORED, message)
        .at(Place::line(first, 1), "")
        .note("an object is linked for one target and one C++ library; PTX and cubins serve all of them")
        .help("keep the kernels that are to be vendored in a package without `host-objects`")
        .help("or do without `gpuk-vendor`: then users of the package need a CUDA compiler");
    Some(finding)
}

fn holders(first: &Path, others: usize) -> String {
    let first = first.display();
    match others {
        0 => format!("`{first}` has host functions"),
        1 => format!("`{first}` and another source have host functions"),
        others => format!("`{first}` and {others} other sources have host functions"),
    }
}
