//! GPUK0005: a call of a function that no module defines.
//!
//! nvcc prints such PTX without a word; ptxas, which refuses it, knows neither the source nor the plain name.

use gpuk_device::abi;
use gpuk_ptx::{Function, StatementKind};

use crate::check::Subject;
use crate::diagnostic::{Code, Diagnostic, Place};
use crate::signature;

/// What the driver defines for every module (CUDA programming guide, "Formatted output", "Dynamic global
/// memory allocation", "Assertion").
pub(in crate::check) const OF_DRIVER: [&str; 4] = ["vprintf", "malloc", "free", abi::ASSERT_FAIL];

pub(in crate::check) fn check(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let declared = subject
        .module
        .functions()
        .filter(|function| function.body.is_none());
    let unresolved = declared.filter(|function| {
        let name = &*function.name;
        name != abi::FAIL && !OF_DRIVER.contains(&name) && !is_defined(subject, name)
    });
    unresolved
        .filter_map(|function| finding(subject, function))
        .collect()
}

fn is_defined(subject: &Subject<'_>, name: &str) -> bool {
    let mut functions = subject.module.functions();
    functions.any(|function| &*function.name == name && function.body.is_some())
}

/// `None` for a function that is declared and never called.
fn finding(subject: &Subject<'_>, function: &Function) -> Option<Diagnostic> {
    let callers = subject
        .module
        .functions()
        .filter(|caller| calls(caller, &function.name));
    let callers: Vec<_> = callers.map(|caller| caller.name.to_string()).collect();
    let first = callers.first()?;
    let name = signature::readable(&function.name);
    let caller = signature::readable(first);
    let message = format!("`{caller}` calls `{name}`, which is defined nowhere");
    let mut kernels = subject.signatures.kernels.iter();
    let place = match kernels.find(|kernel| callers.contains(&kernel.entry)) {
        Some(kernel) => kernel.place.clone(),
        None => Place::line(subject.source, 1),
    };
    Some(
        Diagnostic::error(Code::UNRESOLVED_FUNCTION, message)
            .at(place, "")
            .note("a module is compiled by itself: definitions in other `.cu` files are not seen")
            .help(
                "include the definition, as a header of `__device__` functions, or link the files: `link.NAME`",
            ),
    )
}

fn calls(caller: &Function, name: &str) -> bool {
    let mut found = false;
    if let Some(body) = &caller.body {
        body.walk(&mut |statement| {
            if let StatementKind::Instruction(instruction) = &statement.kind {
                let call = instruction.call.as_ref().and_then(|call| call.function());
                found |= call.is_some_and(|called| &**called == name);
            }
        });
    }
    found
}
