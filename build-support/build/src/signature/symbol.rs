//! Mangled names (Itanium C++ ABI, 5.1).

use cpp_demangle::Symbol;

use crate::ctype::{self, CType, Name};

/// A C++ function's symbol, read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: Name,
    pub(super) params: Vec<CType>,
}

/// Reads a symbol; nothing if it is none of a C++ function, or one that is beyond this reader.
pub(super) fn function(symbol: &str) -> Option<Function> {
    if !symbol.starts_with("_Z") {
        return None;
    }
    let text = Symbol::new(symbol).ok()?.demangle().ok()?;
    let (name, params) = ctype::function_name(&text).ok()?;
    Some(Function { name, params })
}

/// A symbol as C++ writes it, `helper(float)`; one that is not mangled stays as it is.
pub(crate) fn readable(symbol: &str) -> String {
    let demangled = Symbol::new(symbol)
        .ok()
        .and_then(|symbol| symbol.demangle().ok());
    demangled.unwrap_or_else(|| symbol.to_owned())
}
