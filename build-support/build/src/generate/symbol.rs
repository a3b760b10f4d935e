//! The handles of a module's variables: a constant, a field and a method each.

use super::docs::markdown;
use super::expr::{self, Expr, WIDTH, call, columns, field, literal, params, quoted, row, text};
use super::ident::plain;
use super::image::slashed;
use super::names::SymbolNames;
use super::out::Out;
use super::types::Types;
use crate::kernel::{Access, Symbol};

/// Columns in front of a method.
const INDENT: usize = 8;

/// Draws the constant.
pub(super) fn info(out: &mut Out, symbol: &Symbol, names: &SymbolNames) {
    let value = literal(
        "::gpuk::SymbolInfo {",
        vec![
            field("name", quoted(plain(&names.method))),
            field("symbol", quoted(&symbol.symbol)),
            field("source", quoted(&place(symbol))),
        ],
    );
    out.docs([format!(
        "What is known of [`{0}`](Self::{0}).",
        names.method
    )]);
    let name = format!("pub const {}", names.constant);
    out.assign(&name, "::gpuk::SymbolInfo", &value);
}

/// Draws the field of `Kernels`.
pub(super) fn member(out: &mut Out, types: Types<'_>, symbol: &Symbol, names: &SymbolNames) {
    out.docs([format!("[`{0}`](Self::{0}).", names.method)]);
    out.member(&names.method, &handle("", types, symbol));
}

/// What `load` sets the field to.
pub(super) fn found(names: &SymbolNames) -> Expr {
    let info = text(format!("&Self::{}", names.constant));
    let symbol = call("::gpuk::Module::symbol(", vec![text("&module"), info]);
    field(&names.method, row([symbol, text("?")]))
}

/// Draws the method.
pub(super) fn method(out: &mut Out, types: Types<'_>, symbol: &Symbol, names: &SymbolNames) {
    let mut docs = markdown(&symbol.docs);
    if docs.is_empty() {
        docs.push(format!("The variable `{}`.", symbol.path));
    }
    let memory = match symbol.access {
        Access::Constant => "in constant memory",
        Access::Global => "in global memory",
        Access::Fixed => "not to be written",
    };
    let what = format!(
        "`{}`, {memory}, declared at `{}`.",
        symbol.declared,
        place(symbol)
    );
    docs.extend([String::new(), what]);
    out.docs(docs);
    out.line("#[must_use]");
    let head = format!("pub const fn {}(", names.method);
    let returns = row([text(") -> "), handle("&", types, symbol)]);
    let flat = returns.flat().unwrap_or_default();
    let line = format!("{head}&self{flat} {{");
    if INDENT + columns(&line) <= WIDTH {
        out.line(line);
    } else {
        out.line(head);
        out.indented(|out| out.line("&self,"));
        // rustfmt counts the indentation twice here.
        let last = INDENT + columns(&flat) + " {".len();
        if last <= WIDTH && last > WIDTH - INDENT {
            out.line(flat);
            out.line("{");
        } else {
            out.statement(&returns, " {");
        }
    }
    out.indented(|out| out.statement(&expr::member("&self", &names.method), ""));
    out.line("}");
}

fn handle(reference: &str, types: Types<'_>, symbol: &Symbol) -> Expr {
    let mut arguments = vec![text(types.rust(&symbol.ty))];
    match symbol.access {
        Access::Constant => {}
        Access::Global => arguments.push(text("::gpuk::Global")),
        Access::Fixed => arguments.push(text("::gpuk::Fixed")),
    }
    params(format!("{reference}::gpuk::Symbol<"), arguments)
}

/// `file:line` of the declaration.
fn place(symbol: &Symbol) -> String {
    format!("{}:{}", slashed(&symbol.place.file), symbol.place.line)
}
