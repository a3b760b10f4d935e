//! Names for kernels that would share one: told apart by the types of their parameters.
//!
//! A name takes on the types of the first parameter that differs, then of the next one, until no two are left alike:
//! `scale_float` and `scale_double`. A parameter that a kernel lacks adds nothing, and a kernel with C linkage keeps its
//! name, which no other can have. So one more overload of another first type moves no name.

use crate::ctype::{CType, Qualifiers};

use super::names::{self, Named};

/// Gives those of one name names of their own, where their types say more than others may say in the same words.
pub(super) fn tell_apart(kernels: &mut [Named]) {
    for group in names::alike(kernels).into_values() {
        let free = group
            .into_iter()
            .filter(|&at| !keeps_its_name(&kernels[at]));
        split(kernels, &free.collect::<Vec<_>>(), 0);
    }
    // `f(float *)` beside a kernel that the source calls `f_float`.
    for group in names::alike(kernels).into_values() {
        for at in group {
            let it = &mut kernels[at];
            if it.told {
                let types = it.types.iter().map(|ty| words(ty, Length::Whole));
                let text = format!("{}_{}", names::qualified(&it.name), join(types));
                it.kernel.name = cut(text, it);
            }
        }
    }
}

fn join(words: impl Iterator<Item = String>) -> String {
    words.collect::<Vec<_>>().join("_")
}

fn cut(text: String, it: &Named) -> String {
    let types = join(it.types.iter().map(ToString::to_string));
    names::cut(text, &format!("{} {types}", it.name))
}

/// Whether its symbol is its name.
fn keeps_its_name(it: &Named) -> bool {
    it.kernel.entry == it.kernel.path
}

/// Appends to the names of the kernels, which agree about the parameters before `from`.
fn split(kernels: &mut [Named], group: &[usize], from: usize) {
    let types = |at: usize, param: usize| kernels[at].types.get(param);
    let most = group.iter().map(|&at| kernels[at].types.len()).max();
    let differs = |&param: &usize| {
        let mut types = group.iter().map(|&at| types(at, param));
        let first = types.next();
        types.any(|ty| Some(ty) != first)
    };
    let alone = group.len() == 1 && from == 0;
    let Some(param) = (from..most.unwrap_or(0)).find(|param| alone || differs(param)) else {
        return;
    };
    let mut parts: Vec<(Option<CType>, Vec<usize>)> = Vec::new();
    for &at in group {
        let ty = types(at, param);
        match parts.iter_mut().find(|(known, _)| known.as_ref() == ty) {
            Some((_, part)) => part.push(at),
            None => parts.push((ty.cloned(), vec![at])),
        }
    }
    let all: Vec<_> = parts.iter().filter_map(|(ty, _)| ty.clone()).collect();
    for (ty, part) in parts {
        if let Some(ty) = ty {
            let word = shortest(&ty, &all);
            for &at in &part {
                let it = &mut kernels[at];
                it.kernel.name = cut(format!("{}_{word}", it.kernel.name), it);
                it.told = true;
            }
        }
        if part.len() > 1 {
            split(kernels, &part, param + 1);
        }
    }
}

/// How much of a type is said.
#[derive(Clone, Copy)]
enum Length {
    /// What it points to: `float`.
    Bare,
    /// `const_float_ptr`.
    Whole,
    /// With the namespaces: `const_ns_P_ptr`.
    Qualified,
}

/// The fewest words that are those of no other type.
fn shortest(ty: &CType, all: &[CType]) -> String {
    let lengths = [Length::Bare, Length::Whole, Length::Qualified];
    let said = lengths.into_iter().find_map(|length| {
        let word = words(ty, length);
        let mut others = all.iter().filter(|other| *other != ty);
        others
            .all(|other| words(other, length) != word)
            .then_some(word)
    });
    said.unwrap_or_else(|| words(ty, Length::Qualified))
}

fn words(ty: &CType, length: Length) -> String {
    let decorated = |qualifiers: &Qualifiers, text: String| {
        let marks = [
            (qualifiers.constant, "const_"),
            (qualifiers.volatile, "volatile_"),
        ];
        let marks = marks
            .iter()
            .filter(|(has, _)| *has && !matches!(length, Length::Bare));
        marks.map(|(_, mark)| *mark).collect::<String>() + &text
    };
    let behind = |to: &CType, mark: &str| match length {
        Length::Bare => words(to, length),
        _ => words(to, length) + mark,
    };
    match ty {
        CType::Named(name, qualifiers) => {
            let text = match length {
                Length::Qualified => names::qualified(name),
                _ => names::plain(name),
            };
            decorated(qualifiers, names::words(&text))
        }
        CType::Pointer(to, qualifiers) => decorated(qualifiers, behind(to, "_ptr")),
        CType::Reference(to) => behind(to, "_ref"),
        other => names::words(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotation::Annotations;
    use crate::diagnostic::Place;
    use crate::kernel::{Bounds, Kernel};
    use crate::signature::symbol;

    /// The wrappers' names of entries, in their order; the functions are in the comments.
    fn named(entries: &[&str]) -> String {
        let kernels = entries.iter().map(|&entry| {
            let (name, types) = match symbol::function(entry) {
                Some(function) => (function.name, function.params),
                None => (crate::ctype::Name::simple(entry), Vec::new()),
            };
            let kernel = Kernel {
                name: names::plain(&name),
                path: name.path(),
                entry: entry.to_owned(),
                docs: Vec::new(),
                place: Place::line("k.cu", 1),
                params: Vec::new(),
                bounds: Bounds::default(),
                instance: None,
                annotations: Annotations::default(),
            };
            Named {
                kernel,
                name,
                types,
                implicit: false,
                told: false,
            }
        });
        let (kernels, clashes) = names::name(kernels.collect());
        let mut names: Vec<_> = kernels.into_iter().map(|it| it.name).collect();
        names.extend(clashes.into_iter().map(|it| it.message));
        names.join(" ")
    }

    #[test]
    fn overloads_are_named_by_the_first_types_that_differ() {
        // f(float *, int), f(double *, int)
        assert_eq!(named(&["_Z1fPfi", "_Z1fPdi"]), "f_float f_double");
        // And f(float *, int, int): the others keep their names.
        let more = ["_Z1fPfi", "_Z1fPdi", "_Z1fPfii"];
        assert_eq!(named(&more), "f_float f_double f_float_int");
        // f(int, float *), f(int, float), f(int, const float *)
        let one_base = ["_Z1fiPf", "_Z1fif", "_Z1fiPKf"];
        assert_eq!(named(&one_base), "f_float_ptr f_float f_const_float_ptr");
        // f(a::P), f(b::P)
        assert_eq!(named(&["_Z1fN1a1PE", "_Z1fN1b1PE"]), "f_a_P f_b_P");
        // f(), f(unsigned long long)
        assert_eq!(named(&["_Z1fv", "_Z1fy"]), "f f_unsigned_long_long");
    }

    #[test]
    fn names_that_others_have_stay_theirs() {
        // extern "C" f, f(int *, int)
        assert_eq!(named(&["f", "_Z1fPii"]), "f f_int");
        // f_float(int), f(float *), f(int)
        let taken = ["_Z7f_floati", "_Z1fPf", "_Z1fi"];
        assert_eq!(named(&taken), "f_float f_float_ptr f_int");
        // a::f(int), b::f(int), b::f(float)
        let scopes = ["_ZN1a1fEi", "_ZN1b1fEi", "_ZN1b1fEf"];
        assert_eq!(named(&scopes), "a_f b_f_int b_f_float");
        // void f<float>(float *), void f<float>(float *, int)
        let instances = ["_Z1fIfEvPT_", "_Z1fIfEvPT_i"];
        assert_eq!(named(&instances), "f_float f_float_int");
    }

    #[test]
    fn what_types_do_not_tell_apart_is_a_clash() {
        // void f<a::P>(int), void f<b::P>(int)
        let instances = ["_Z1fIN1a1PEEvi", "_Z1fIN1b1PEEvi", "_Z1gi"];
        let said = "g 2 kernels would all get the wrapper `f_P`";
        assert_eq!(named(&instances), said);
        // extern "C" f, and f(): neither has a parameter.
        let said = "2 kernels would all get the wrapper `f`";
        assert_eq!(named(&["f", "_Z1fv"]), said);
    }

    #[test]
    fn long_names_of_overloads_differ() {
        let base = "a".repeat(90);
        let [one, other] = ["i", "f"].map(|ty| format!("_Z90{base}{ty}"));
        let names = named(&[&one, &other]);
        let (one, other) = names.split_once(' ').unwrap();
        assert!(one.len() == 80 && other.len() == 80 && one != other);
    }
}
