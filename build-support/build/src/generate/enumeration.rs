//! The enums that kernels take: numbers with names for some values.
//!
//! A Rust enum they cannot be: C++ may hold any number in one.

use super::expr::text;
use super::names::{Names, values};
use super::out::Out;
use super::types::{Types, cpp};
use crate::kernel::{Enum, Scalar, Type};

/// Draws one enum with its values.
pub(super) fn enumeration(out: &mut Out, names: &Names, it: &Enum) {
    let name = names.structure(&it.path);
    let scalar = Type::Scalar(it.scalar);
    let number = Types::code(names).rust(&scalar);
    out.line("");
    out.docs([
        format!("`{}`, an enum over `{}`.", it.path, cpp(&scalar)),
        String::new(),
        "It holds any number, as in C++.".to_owned(),
    ]);
    out.line("#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]");
    out.line("#[repr(transparent)]");
    out.line(format!("pub struct {name}(pub {number});"));
    if !it.values.is_empty() {
        out.line("");
        out.braced(format!("impl {name}"), |out| {
            for (constant, (original, value)) in values(it).iter().zip(&it.values) {
                out.docs([format!("`{original}`.")]);
                let value = text(format!("Self({})", shown(it.scalar, *value)));
                out.assign(&format!("pub const {constant}"), "Self", &value);
            }
        });
    }
    out.line("");
    out.line("// SAFETY: a number, laid out as one.");
    out.line(format!("unsafe impl ::gpuk::DeviceRepr for {name} {{}}"));
    out.line("");
    out.line("// SAFETY: zero is a number.");
    out.line(format!(
        "unsafe impl ::gpuk::ValidAsZeroBits for {name} {{}}"
    ));
}

/// A value of which the lowest bits are known to be those of a number.
fn shown(scalar: Scalar, value: u64) -> String {
    match scalar {
        Scalar::Bool => (value != 0).to_string(),
        Scalar::I8 => (value as i8).to_string(),
        Scalar::I16 => (value as i16).to_string(),
        Scalar::I32 => (value as i32).to_string(),
        Scalar::I64 => (value as i64).to_string(),
        _ => value.to_string(),
    }
}
