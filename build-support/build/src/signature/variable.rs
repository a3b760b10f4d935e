//! The module's variables that host code can name.
//!
//! Their types are the compiler's (`probe`), their sizes the PTX's. What no declaration of the source or its own headers
//! declares is not the user's: string literals, the toolkit's tables, gpuk's own. A `static` inside a function has no
//! name outside it.

use cpp_demangle::Symbol as Mangled;
use gpuk_ptx::{Linkage, Module, Space};

use super::refusal::reason;
use super::types::{Types, Why};
use super::{names, symbol};
use crate::ctype::{CType, Name, Part};
use crate::diagnostic::{Code, Diagnostic, Level};
use crate::kernel::{Access, Memory, Symbol};
use crate::probe::Answers;
use crate::source::{Declarations, DeclaredVariable};

/// A variable of the PTX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Stored {
    /// Its symbol.
    pub(crate) symbol: String,
    /// In bytes.
    pub(crate) size: u64,
    /// Whether it lies in constant memory.
    pub(crate) constant: bool,
}

/// Those of a module that are there when it is loaded.
pub(super) fn stored(module: &Module) -> Vec<Stored> {
    let variables = module.variables();
    let placed = variables.filter(|it| {
        matches!(it.space, Space::Global | Space::Const) && it.linkage != Linkage::Extern
    });
    let stored = placed.filter_map(|variable| {
        Some(Stored {
            symbol: variable.name.to_string(),
            size: variable.size()?,
            constant: variable.space == Space::Const,
        })
    });
    stored.collect()
}

/// The handles of variables, and why some that are declared have none.
pub(super) fn symbols(
    declarations: &Declarations,
    answers: &Answers,
    variables: &[Stored],
    types: &mut Types<'_>,
) -> (Vec<Symbol>, Vec<Diagnostic>) {
    let (mut symbols, mut findings) = (Vec::new(), Vec::new());
    for stored in variables {
        let Some(name) = name_of(&stored.symbol) else {
            continue;
        };
        let mut bare = name.clone();
        if let Some(last) = bare.0.last_mut() {
            last.args = None;
        }
        let path = bare.path();
        let declared = || declarations.variables.iter().enumerate();
        let Some((_, place)) = declared().rfind(|(_, it)| it.path() == path) else {
            continue;
        };
        let answer = declared()
            .filter(|(_, it)| it.path() == path)
            .find_map(|(index, _)| answers.variables.get(&index));
        match handle(stored, &name, place, answer, types) {
            Ok(symbol) => symbols.push(symbol),
            Err(refusal) => findings.push(*refusal),
        }
    }
    names::name_symbols(&mut symbols);
    (symbols, findings)
}

fn handle(
    stored: &Stored,
    name: &Name,
    declared: &DeclaredVariable,
    answer: Option<&CType>,
    types: &mut Types<'_>,
) -> Result<Symbol, Box<Diagnostic>> {
    let path = name.path();
    let refused = |note: String, help: &str| {
        let code = Some(Code::VARIABLE_WITHOUT_HANDLE);
        let message = format!("variable `{path}` gets no handle");
        let finding = Diagnostic::new(code, Level::Note, message);
        Box::new(finding.at(declared.place.clone(), "").note(note).help(help))
    };
    if declared.template {
        let note = "it is an instance of a variable template".to_owned();
        return Err(refused(note, "declare a variable of its own for the type"));
    }
    let Some(answer) = answer else {
        let note = "its type could not be asked of the compiler".to_owned();
        return Err(refused(note, "give it a name that only one thing has"));
    };
    let (plain, fixed) = unqualified(answer);
    let ty = types.value(&plain).map_err(|why| {
        let note = match &why {
            Why::Reference => "it is a reference".to_owned(),
            why => reason(why),
        };
        let note = format!("it has type `{answer}`: {note}");
        refused(
            note,
            "declare it as a number, or as a struct or array of plain fields",
        )
    })?;
    match types.room(&ty) {
        Some(room) if room.size == stored.size => {}
        room => {
            let bytes = room.map_or(0, |room| room.size);
            let message = format!(
                "variable `{path}` has {bytes} bytes as `{answer}`, but {} in the PTX",
                stored.size
            );
            let finding = Diagnostic::error(Code::LAYOUT_DISAGREES, message);
            return Err(Box::new(finding.at(declared.place.clone(), "")));
        }
    }
    Ok(Symbol {
        name: names::plain(name),
        path,
        symbol: stored.symbol.clone(),
        docs: Vec::new(),
        place: declared.place.clone(),
        declared: answer.to_string(),
        ty,
        size: stored.size,
        memory: match stored.constant {
            true => Memory::Constant,
            false => Memory::Global,
        },
        access: match (stored.constant, fixed) {
            (_, true) => Access::Fixed,
            (true, false) => Access::Constant,
            (false, false) => Access::Global,
        },
    })
}

/// The type without what qualifies the variable itself, and whether that is `const`.
fn unqualified(ty: &CType) -> (CType, bool) {
    match ty {
        CType::Named(name, of) => (CType::Named(name.clone(), Default::default()), of.constant),
        CType::Pointer(to, of) => (CType::Pointer(to.clone(), Default::default()), of.constant),
        CType::Array(of, length) => {
            let (of, fixed) = unqualified(of);
            (CType::Array(Box::new(of), *length), fixed)
        }
        other => (other.clone(), false),
    }
}

/// The C++ name behind a variable's symbol; nothing for what is inside a function.
///
/// Names of the compiler's for anonymous namespaces are taken off.
fn name_of(symbol: &str) -> Option<Name> {
    let symbol = symbol::own(symbol);
    if !symbol.starts_with("_Z") {
        return Some(Name::simple(symbol));
    }
    if symbol.starts_with("_ZZ") {
        return None;
    }
    let text = Mangled::new(symbol).ok()?.demangle().ok()?;
    let Ok(CType::Named(mut name, _)) = text.parse::<CType>() else {
        return None;
    };
    let made =
        |part: &Part| part.word.starts_with("_INTERNAL_") || part.word.starts_with("_GLOBAL__N_");
    name.0.retain(|part| !made(part));
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nvcc 13.0 names them.
    #[test]
    fn symbols_are_read_back() {
        let anonymous = "_ZN33_INTERNAL_b73e0e8b_4_a_cu_counter2ns35_GLOBAL__N__b73e0e8b_4_a_cu_counter6secretE";
        let shared = format!("__nv_static_24__b73e0e8b_4_a_cu_counter_{anonymous}");
        for (symbol, path) in [
            ("coefficients", Some("coefficients")),
            ("_ZN2ns4pairE", Some("ns::pair")),
            (anonymous, Some("ns::secret")),
            (&shared, Some("ns::secret")),
            (
                "__nv_static_24__b73e0e8b_4_a_cu_counter_hidden",
                Some("hidden"),
            ),
            ("_Z4tvarIiE", Some("tvar<int>")),
            ("_ZZ1kE5local", None),
            ("__nv_static_99_x", Some("__nv_static_99_x")),
        ] {
            let read = name_of(symbol).map(|name| name.path());
            assert_eq!(read.as_deref(), path, "{symbol}");
        }
    }
}
