//! Names for wrappers and structs: from the C++ name, unique in the module.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use crate::ctype::{Arg, CType, Name, Part};
use crate::diagnostic::{Code, Diagnostic, Level};
use crate::kernel::{Enum, Kernel, Struct, Symbol};

use super::overload;

/// Longer names are cut, and told apart by a digest.
const LONGEST: usize = 80;

/// The last part of a name with its template arguments, as an identifier: `scale_float`.
pub(super) fn plain(name: &Name) -> String {
    let last = name.last().map_or_else(String::new, part);
    cut(last, name)
}

/// As [`plain`], with the namespaces: `ns_scale_float`.
pub(super) fn qualified(name: &Name) -> String {
    let named = name.0.iter().filter(|part| part.word != Part::UNNAMED);
    let parts: Vec<_> = named.map(part).collect();
    cut(parts.join("_"), name)
}

fn part(part: &Part) -> String {
    let mut text = part.word.clone();
    for arg in part.args.iter().flatten() {
        text.push('_');
        text += &argument(arg);
    }
    text
}

fn argument(arg: &Arg) -> String {
    match arg {
        Arg::Type(ty) => words(&type_words(ty)),
        Arg::Value(text) => value(text),
    }
}

/// `-3` as `minus_3`, `(ns::Mode)2` as `Mode_2`, `&ns::twice(int)` as `twice`.
fn value(text: &str) -> String {
    if let Some(function) = text.strip_prefix('&') {
        let name = function.split('(').next().unwrap_or(function);
        return words(name.rsplit("::").next().unwrap_or(name));
    }
    let (cast, value) = text
        .strip_prefix('(')
        .and_then(|rest| rest.split_once(')'))
        .unwrap_or(("", text));
    let cast = cast.rsplit("::").next().unwrap_or(cast);
    let sign = if value.starts_with('-') { "minus " } else { "" };
    words(&format!("{cast} {sign}{value}"))
}

fn type_words(ty: &CType) -> String {
    match ty {
        CType::Named(name, _) => name.last().map_or_else(String::new, part),
        CType::Pointer(to, _) => format!("{}_ptr", type_words(to)),
        CType::Reference(to) => format!("{}_ref", type_words(to)),
        other => other.to_string(),
    }
}

/// The text with every run of what an identifier cannot have as one `_`.
pub(super) fn words(text: &str) -> String {
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// A text that is short enough, by what it stands for if it was not.
pub(super) fn cut(text: String, whole: &impl Display) -> String {
    if text.chars().count() <= LONGEST {
        return text;
    }
    let short: String = text.chars().take(LONGEST - 9).collect();
    format!("{short}_{:08x}", digest(&settled(&whole.to_string())))
}

/// The name without the namespaces that nvcc makes of a file's contents for what is `static`: they change with it.
fn settled(name: &str) -> String {
    let mut parts = name.split("_INTERNAL_");
    let first = parts.next().unwrap_or_default().to_owned();
    let behind = |part: &str| {
        part.split_once("::")
            .map_or_else(String::new, |(_, rest)| rest.to_owned())
    };
    parts.fold(first, |settled, part| settled + &behind(part))
}

/// FNV-1a, 32 bits: the same everywhere and always.
fn digest(text: &str) -> u32 {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    text.bytes().fold(0x811c_9dc5, step)
}

/// A kernel with what its name is made of.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) kernel: Kernel,
    pub(super) name: Name,
    /// Of the parameters.
    pub(super) types: Vec<CType>,
    /// Whether nobody asked for it by name.
    pub(super) implicit: bool,
    /// Whether its name says types of its parameters, as those of overloads do.
    pub(super) told: bool,
}

/// Gives every kernel a name of its own; those that cannot have one are findings.
pub(super) fn name(mut kernels: Vec<Named>) -> (Vec<Kernel>, Vec<Diagnostic>) {
    for group in alike(&kernels).into_values() {
        let names: BTreeSet<_> = group
            .iter()
            .map(|&at| qualified(&kernels[at].name))
            .collect();
        for at in group.into_iter().filter(|_| names.len() > 1) {
            kernels[at].kernel.name = qualified(&kernels[at].name);
        }
    }
    overload::tell_apart(&mut kernels);
    let groups = alike(&kernels);
    let findings = groups.values().map(|group| {
        let group: Vec<_> = group.iter().filter_map(|&at| kernels.get(at)).collect();
        clash(&group)
    });
    let findings = findings.collect();
    kernels.retain(|it| !groups.contains_key(&it.kernel.name));
    (kernels.into_iter().map(|it| it.kernel).collect(), findings)
}

/// The kernels that share a name, by it.
pub(super) fn alike(kernels: &[Named]) -> BTreeMap<String, Vec<usize>> {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, Named { kernel, .. }) in kernels.iter().enumerate() {
        groups.entry(kernel.name.clone()).or_default().push(at);
    }
    groups.retain(|_, group| group.len() > 1);
    groups
}

/// Tells variables of one name apart by their namespaces.
pub(super) fn name_symbols(symbols: &mut [Symbol]) {
    for symbol in doubles(symbols, |symbol| &symbol.name) {
        symbol.name = match symbol.path.parse() {
            Ok(CType::Named(name, _)) => qualified(&name),
            _ => symbol.path.clone(),
        };
    }
}

/// Gives every struct and every enum a name of its own.
pub(super) fn name_types(structs: &mut [Struct], enums: &mut [Enum]) {
    let parse = |path: &str| match path.parse() {
        Ok(CType::Named(name, _)) => name,
        _ => Name::simple(path),
    };
    let structs = structs
        .iter_mut()
        .map(|it| (&mut it.name, it.path.as_str()));
    let enums = enums.iter_mut().map(|it| (&mut it.name, it.path.as_str()));
    let mut all: Vec<_> = structs.chain(enums).collect();
    for (name, path) in doubles(&mut all, |(name, _)| name) {
        **name = qualified(&parse(path));
    }
    // `a::b_c` and `a_b::c`: paths differ, so numbers do.
    let mut taken = BTreeMap::new();
    for (name, _) in all {
        let count = taken.entry(name.clone()).or_insert(0u32);
        *count += 1;
        if *count > 1 {
            *name = format!("{name}_{count}");
        }
    }
}

/// Those that share their name with another.
fn doubles<T>(all: &mut [T], name: impl Fn(&T) -> &String) -> Vec<&mut T> {
    let mut counts = BTreeMap::new();
    for one in all.iter() {
        *counts.entry(name(one).clone()).or_insert(0u32) += 1;
    }
    let double = |one: &&mut T| counts.get(name(one)).is_some_and(|count| *count > 1);
    all.iter_mut().filter(double).collect()
}

fn clash(group: &[&Named]) -> Diagnostic {
    let name = group.first().map_or("", |it| it.kernel.name.as_str());
    // Instances that host code makes were not made for wrappers.
    let level = match group.iter().all(|it| it.implicit) {
        true => Level::Note,
        false => Level::Error,
    };
    let message = format!("{} kernels would all get the wrapper `{name}`", group.len());
    let mut finding = Diagnostic::new(Some(Code::NAME_CLASH), level, message);
    for Named { kernel, .. } in group {
        let types: Vec<_> = kernel
            .params
            .iter()
            .map(|param| param.declared.as_str())
            .collect();
        let text = format!("`{}({})`", kernel.path, types.join(", "));
        finding = finding.at(kernel.place.clone(), text);
    }
    finding.help("rename one of them, or a type that they are made with")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As nvcc 13.0 prints them, of two versions of a file.
    #[test]
    fn names_do_not_change_with_the_rest_of_the_file() {
        let named = |hash: &str, more: &str| {
            let name = format!(
                "ns::moe<32, {more}&_INTERNAL_{hash}_11_moe_cu_{hash}::dot(void const*, int)>"
            );
            let CType::Named(name, _) = name.parse().unwrap() else {
                panic!("a name");
            };
            plain(&name)
        };
        assert_eq!(named("602bdd95", ""), "moe_32_dot");
        let long = "a_block_with_a_name_that_is_so_long_that_nobody_would_want_to_write_it_twice, ";
        let cut = named("602bdd95", long);
        assert_eq!(cut.chars().count(), LONGEST);
        assert_eq!(cut, named("2c4098ac", long));
    }
}
