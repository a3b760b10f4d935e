//! The hidden parameter: which functions take it, and who passes it on.

use std::collections::BTreeSet;

use super::before::Shared;
use super::code::Prefix;
use super::reach::Reach;
use crate::edit::Edits;
use crate::function::{Function, FunctionKind, Param};
use crate::module::Module;
use crate::name::Name;
use crate::span::Span;
use crate::statement::StatementKind;
use crate::words::Words;

/// The name of a function's hidden parameter.
pub(super) fn name(words: &Words<'_>, function: &Function) -> String {
    words.free_name(&format!("{}_gpuk", function.name))
}

/// Gives a function its hidden parameter, the last one.
pub(super) fn declare(edits: &mut Edits, function: &Function, name: &str) {
    let ty = match function.kind {
        FunctionKind::Entry => "u64",
        FunctionKind::Func => "b64",
    };
    let param = format!(".param .{ty} {name}");
    match (function.params.last(), function.params_span) {
        (Some(last), _) => edits.insert(last.span.end, format!(",\n\t{param}")),
        (None, Some(list)) => edits.replace(list, format!("(\n\t{param}\n)")),
        (None, None) => edits.insert(function.name_span.end, format!("(\n\t{param}\n)")),
    }
}

/// Passes the gate on wherever the function calls one that can come to a check, or could through a pointer.
pub(super) fn pass(
    edits: &mut Edits,
    module: &Module,
    prefix: &Prefix,
    reach: &Reach,
    shared: &Shared,
    function: &Function,
    name: &str,
) {
    let Some(body) = &function.body else {
        return;
    };
    let r = &prefix.register;
    let mut number = 0_usize;
    let mut prototypes: BTreeSet<&Name> = BTreeSet::new();
    body.walk(&mut |statement| {
        let call = statement
            .instruction()
            .and_then(|found| found.call.as_ref());
        let Some(call) = call else {
            return;
        };
        match call.function() {
            Some(callee) if reach.contains(callee) => {}
            None if reach.pointers() => prototypes.extend(&call.prototype),
            _ => return,
        }
        // Numbered, for one scope can hold several calls.
        let (arg, register) = (format!("{r}_arg_{number}"), format!("{r}_pass_{number}"));
        number += 1;
        let load = shared.pass(function, &register, name);
        edits.insert(
            statement.span.start,
            format!(
                ".reg .b64 \t{register};
\t{load}
\t.param .b64 {arg};
\tst.param.b64 \t[{arg}+0], {register};
\t"
            ),
        );
        match call.args_span {
            Some(list) if call.args.is_empty() => edits.replace(list, format!("({arg})")),
            Some(list) => {
                let inside = module.at(Span::new(list.start, list.end.saturating_sub(1)));
                let end = list.start + inside.trim_end().len();
                edits.insert(end, format!(", \n\t{arg}"));
            }
            None => edits.insert(call.target_span.end, format!(", ({arg})")),
        }
    });
    body.walk(&mut |statement| {
        if let StatementKind::CallPrototype { label, params, .. } = &statement.kind
            && prototypes.contains(label)
        {
            prototype(edits, module, statement.span, params.last());
        }
    });
}

/// Gives a prototype the hidden parameter.
fn prototype(edits: &mut Edits, module: &Module, span: Span, last: Option<&Param>) {
    if let Some(last) = last {
        edits.insert(last.span.end, ", .param .b64 _");
        return;
    }
    // The name of the function, which is none, and perhaps an empty list.
    let text = module.at(span);
    let name = text.rfind('_').map_or(text.len(), |at| at + 1);
    match text[name..].rfind(')') {
        Some(at) => edits.insert(span.start + name + at, ".param .b64 _"),
        None => edits.insert(span.start + name, " (.param .b64 _)"),
    }
}
