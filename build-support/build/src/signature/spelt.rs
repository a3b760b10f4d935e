//! Whether a parameter's text spells a type, as far as text can say: overloads are told apart by it.

use crate::ctype::{CType, Name, Qualifiers};
use crate::source::Declarations;

use super::types::is_fundamental;

/// Aliases of aliases that are followed.
const DEPTH: usize = 8;

/// Whether a declaration's text is a type of the compiler's; nothing where its names do not say.
pub(super) fn spells(declarations: &Declarations, text: &str, ty: &CType) -> Option<bool> {
    let spelt = decayed(text.parse().ok()?);
    is(declarations, &spelt, &decayed(ty.clone()), DEPTH)
}

fn is(declarations: &Declarations, spelt: &CType, ty: &CType, depth: usize) -> Option<bool> {
    match (spelt, ty) {
        _ if spelt == ty => Some(true),
        (CType::Pointer(a, _), CType::Pointer(b, _))
        | (CType::Reference(a), CType::Reference(b)) => is(declarations, a, b, depth),
        (CType::Named(name, own), _) => {
            if own.constant && !is_constant(ty) {
                return Some(false);
            }
            match name.as_simple() {
                Some(word) if is_fundamental(word) => Some(false),
                _ if is_same(name, ty) && is_constant(ty) == own.constant => Some(true),
                _ => means(declarations, name, *own, ty, depth),
            }
        }
        (_, CType::Named(..)) => Some(false),
        _ => None,
    }
}

/// What the aliases of a name say.
fn means(
    declarations: &Declarations,
    name: &Name,
    qualifiers: Qualifiers,
    ty: &CType,
    depth: usize,
) -> Option<bool> {
    let word = &name.last().filter(|part| part.args.is_none())?.word;
    let meanings = declarations.aliases.get(word)?;
    let meanings = meanings.iter().filter(|_| depth > 0);
    let said = meanings.map(|meaning| {
        let meaning: CType = meaning.parse().ok()?;
        is(declarations, &with(meaning, qualifiers), ty, depth - 1)
    });
    let said: Vec<_> = said.collect();
    match said.contains(&Some(true)) {
        true => Some(true),
        false if said.is_empty() || said.contains(&None) => None,
        false => Some(false),
    }
}

/// Whether a type is of the name, its namespaces left out: a text is not written with all of them.
fn is_same(name: &Name, ty: &CType) -> bool {
    matches!(ty, CType::Named(other, _) if other.last() == name.last())
}

fn is_constant(ty: &CType) -> bool {
    matches!(ty, CType::Named(_, own) | CType::Pointer(_, own) if own.constant)
}

fn with(ty: CType, more: Qualifiers) -> CType {
    let both = |own: Qualifiers| Qualifiers {
        constant: own.constant || more.constant,
        volatile: own.volatile || more.volatile,
        restrict: own.restrict || more.restrict,
    };
    match ty {
        CType::Named(name, own) => CType::Named(name, both(own)),
        CType::Pointer(to, own) => CType::Pointer(to, both(own)),
        other => other,
    }
}

/// The type as a function's type has it: arrays are pointers, qualifiers of the parameter itself are gone.
pub(super) fn decayed(ty: CType) -> CType {
    match ty {
        CType::Named(name, _) => CType::Named(name, Default::default()),
        CType::Pointer(to, _) | CType::Array(to, _) => CType::Pointer(to, Default::default()),
        CType::Function(..) => CType::Pointer(Box::new(ty), Default::default()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_spells_a_type_or_another_or_cannot_say() {
        let source = "typedef float real; using more = real; struct P { int x; };\n\
            namespace ns { struct P { int x; }; }\n";
        let declarations = Declarations::read(source);
        let says = |text: &str, ty: &str| spells(&declarations, text, &ty.parse().unwrap());
        for (text, ty) in [
            ("float *", "float *"),
            ("more *", "float *"),
            ("const more *", "const float *"),
            ("real", "float"),
            ("const int", "int"),
            ("int [ 4 ]", "int *"),
            ("P", "ns::P"),
        ] {
            assert_eq!(says(text, ty), Some(true), "{text} is {ty}");
        }
        for (text, ty) in [
            ("int *", "float *"),
            ("more *", "int *"),
            ("float *", "const float *"),
            ("const float *", "float *"),
            ("const more *", "float *"),
            ("float", "float *"),
            ("float *", "float"),
        ] {
            assert_eq!(says(text, ty), Some(false), "{text} is not {ty}");
        }
        assert_eq!(says("unknown *", "float *"), None);
        assert_eq!(says("typename T :: it *", "float *"), None);
    }
}
