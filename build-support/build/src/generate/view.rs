//! Methods for what lies in a struct's bytes: bit-fields, and the members of unions.

use super::expr::{call, params, row, text};
use super::names::views;
use super::out::Out;
use super::types::{Types, cpp};
use crate::kernel::{Scalar, Struct, Type, View, ViewPlace};

/// Draws the methods of a struct whose fields have these names.
pub(super) fn methods(out: &mut Out, types: Types<'_>, it: &Struct, name: &str, fields: &[String]) {
    let named = it.views.iter().zip(views(it));
    let typed: Vec<_> = named.filter(|(view, _)| is_typed(view)).collect();
    if typed.is_empty() {
        return;
    }
    out.line("");
    out.braced(format!("impl {name}"), |out| {
        for (nth, (view, (read, with))) in typed.iter().enumerate() {
            if nth > 0 {
                out.line("");
            }
            let field = fields.get(view.field).map_or("", String::as_str);
            reader(out, types, view, field, read);
            out.line("");
            changer(out, types, view, field, read, with);
        }
    });
}

fn reader(out: &mut Out, types: Types<'_>, view: &View, field: &str, name: &str) {
    out.docs([format!("{}.", described(view))]);
    out.line("#[must_use]");
    let ty = types.rust(&view.ty);
    let head = [
        params(format!("pub fn {name}("), vec![text("&self")]),
        text(format!(" -> {ty} {{")),
    ];
    out.statement(&row(head), "");
    out.indented(|out| {
        let method = match view.place {
            ViewPlace::Byte(_) => "get",
            ViewPlace::Bits { .. } => "bits",
        };
        let value = call(format!("self.{field}.{method}("), place(view));
        let value = match view.ty {
            Type::Enum(_) => call(format!("{ty}("), vec![value]),
            _ => value,
        };
        out.statement(&value, "");
    });
    out.line("}");
}

fn changer(out: &mut Out, types: Types<'_>, view: &View, field: &str, read: &str, with: &str) {
    let cut = match view.place {
        ViewPlace::Byte(_) => "",
        ViewPlace::Bits { .. } => "; what does not fit its bits is cut off",
    };
    out.docs([format!("The same with another `{}`{cut}.", view.name)]);
    out.line("#[must_use]");
    let value = text(format!("{read}: {}", types.rust(&view.ty)));
    let head = [
        params(format!("pub fn {with}("), vec![text("mut self"), value]),
        text(" -> Self {"),
    ];
    out.statement(&row(head), "");
    out.indented(|out| {
        let method = match view.place {
            ViewPlace::Byte(_) => "set",
            ViewPlace::Bits { .. } => "set_bits",
        };
        let number = match view.ty {
            Type::Enum(_) => format!("{read}.0"),
            _ => read.to_owned(),
        };
        let arguments = place(view).into_iter().chain([text(number)]).collect();
        out.statement(&call(format!("self.{field}.{method}("), arguments), ";");
        out.line("self");
    });
    out.line("}");
}

fn place(view: &View) -> Vec<super::expr::Expr> {
    let numbers = match view.place {
        ViewPlace::Byte(at) => vec![at],
        ViewPlace::Bits { first, width } => vec![first, width],
    };
    let numbers = numbers.into_iter();
    numbers.map(|number| text(number.to_string())).collect()
}

/// `` `mode`, 3 bits of `unsigned int` ``.
fn described(view: &View) -> String {
    let ty = cpp(&view.ty);
    match view.place {
        ViewPlace::Byte(_) => format!("`{}`, `{ty}`", view.name),
        ViewPlace::Bits { width: 1, .. } => format!("`{}`, 1 bit of `{ty}`", view.name),
        ViewPlace::Bits { width, .. } => format!("`{}`, {width} bits of `{ty}`", view.name),
    }
}

/// Whether bytes can be read as one: all values of its bits are values of its type, or made so.
fn is_typed(view: &View) -> bool {
    fn number(ty: &Type) -> bool {
        match ty {
            Type::Scalar(_) | Type::Vector(_) | Type::Address => true,
            Type::Array(item, _) => number(item),
            Type::Enum(_) | Type::Struct(_) | Type::Bytes(_) | Type::Generic(_) => false,
        }
    }
    let integer = |scalar: &Scalar| {
        use Scalar::{Bool, I8, I16, I32, I64, U8, U16, U32, U64};
        matches!(scalar, Bool | I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64)
    };
    match (&view.place, &view.ty) {
        (_, Type::Enum(_)) => true,
        (ViewPlace::Byte(_), ty) => number(ty),
        (ViewPlace::Bits { .. }, Type::Scalar(scalar)) => integer(scalar),
        (ViewPlace::Bits { .. }, _) => false,
    }
}

/// What a field of bytes is said to hold.
pub(super) fn held(it: &Struct, field: usize) -> String {
    let held = it.views.iter().filter(|view| view.field == field);
    let held: Vec<_> = held.map(|view| format!("`{}`", view.name)).collect();
    match held.as_slice() {
        [] => "of which no more is known".to_owned(),
        some => format!("which hold {}", some.join(", ")),
    }
}
