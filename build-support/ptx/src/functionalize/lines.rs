//! What goes together with a statement that goes: its line, and what the compiler wrote behind it.

use crate::module::Module;
use crate::span::Span;

/// The span, with its line if nothing else stands on it.
pub(super) fn whole(module: &Module, span: Span) -> Span {
    let before = module.at(Span::new(0, span.start));
    let start = before.trim_end_matches([' ', '\t']).len();
    let line = module.with_line_end(span);
    let alone = line.end > span.end && (start == 0 || before[..start].ends_with('\n'));
    if alone {
        Span::new(start, line.end)
    } else {
        span
    }
}

/// The span with the compiler's comment behind its closing brace.
pub(super) fn with_comment(module: &Module, span: Span) -> Span {
    let rest = module.text().get(span.end..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    if line.trim_start().starts_with("// callseq") {
        Span::new(span.start, span.end + line.len())
    } else {
        span
    }
}
