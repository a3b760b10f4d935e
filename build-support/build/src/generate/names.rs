//! Names of a module's items: unique, and the source's own wherever Rust lets them be.
//!
//! A name that is taken, by Rust, by the wrapper or by a name before it, gets `_` appended until it is free.
//! So a kernel `load` becomes the method `load_`, and a parameter `stream` becomes `stream_`. Names that need
//! no change are given first: they never move because of one that does.

use std::collections::{BTreeMap, BTreeSet};

use super::ident::{camel, ident, plain, screaming};
use super::shared::{Generic, Shared};
use super::template;
use crate::kernel::{Enum, Kernel, ParamType, Signatures, Struct, Symbol};

/// Values that are in scope where parameters and fields stand: a parameter cannot shadow them.
pub(super) const VALUES: &[&str] = &["Err", "IMAGES", "None", "Ok", "Some"];

/// Types that generated code names without a path.
const PRIMITIVES: &[&str] = &[
    "bool", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "u8", "u16", "u32", "u64", "u128",
];

/// Crates that the code around the modules names.
const CRATES: &[&str] = &["alloc", "core", "gpuk", "std"];

/// Items of a module that no kernel or struct names.
const ITEMS: &[&str] = &["Kernels", "seal"];

/// The names of one module.
pub(super) struct Names {
    /// By [`Kernel::entry`].
    kernels: BTreeMap<String, KernelNames>,
    /// Of the templates whose instances share a method, in their order.
    shared: Vec<Shared>,
    /// By [`Struct::path`], and enums by theirs.
    structs: BTreeMap<String, String>,
    /// By [`Symbol::symbol`].
    symbols: BTreeMap<String, SymbolNames>,
}

/// The names of one variable.
pub(super) struct SymbolNames {
    /// The method, and the field it shows.
    pub(super) method: String,
    /// The associated constant.
    pub(super) constant: String,
}

/// The names of one kernel.
pub(super) struct KernelNames {
    /// The method, and the field it launches.
    pub(super) method: String,
    /// The associated constant.
    pub(super) constant: String,
    /// What says which architectures have the kernel, and the method that asks the loaded image, where not all do.
    pub(super) variants: String,
    pub(super) has: String,
    /// The parameters, in order.
    pub(super) params: Vec<String>,
    /// For each parameter the kernel may write, its type parameter.
    pub(super) generics: Vec<Option<String>>,
    /// The local variable that holds the payload.
    pub(super) payload: String,
    /// The type parameter of where it is launched.
    pub(super) on: String,
    /// Of a method that a template's instances share.
    pub(super) generic: Option<Generic>,
    /// What its annotations say, and the method that is passed the buffers that the other allocates.
    pub(super) annotations: String,
    pub(super) into: String,
    pub(super) locals: Locals,
}

/// Local variables of a kernel with annotations.
pub(super) struct Locals {
    pub(super) lengths: String,
    pub(super) values: String,
    pub(super) extents: String,
}

impl Names {
    /// Names everything in a module.
    pub(super) fn of(signatures: &Signatures) -> Self {
        let mut types = Scope::new(ITEMS.iter().chain(PRIMITIVES));
        let structs = signatures.structs.iter().map(|it| (&it.path, &it.name));
        let enums = signatures.enums.iter().map(|it| (&it.path, &it.name));
        let (paths, wanted): (Vec<_>, Vec<_>) = structs.chain(enums).unzip();
        let given = types.claim_all(wanted.into_iter().map(String::as_str));
        let structs: BTreeMap<_, _> = paths.into_iter().cloned().zip(given).collect();

        // Methods and associated constants share a namespace.
        let mut values = Scope::new(&["load"]);
        let templates = template::all(signatures);
        let (instances, alone): (Vec<_>, Vec<_>) = (signatures.kernels.iter())
            .partition(|kernel| templates.iter().any(|template| template.has(kernel)));
        let wanted = alone.iter().map(|it| it.name.as_str());
        let wanted = wanted.chain(templates.iter().map(|it| it.name.as_str()));
        let mut methods = values.claim_all(wanted);
        let of_templates = methods.split_off(alone.len());
        methods.extend(values.claim_all(instances.iter().map(|it| it.name.as_str())));
        let methods: BTreeMap<_, _> = (alone.iter().chain(&instances))
            .map(|kernel| kernel.entry.as_str())
            .zip(methods)
            .collect();
        let named = signatures.kernels.iter().map(|kernel| {
            let method = methods[kernel.entry.as_str()].clone();
            let constant = values.claim(screaming(&method));
            let variants = values.claim(format!("{}_VARIANTS", plain(&constant)));
            let has = values.claim(format!("has_{}", plain(&method)));
            let mut names = KernelNames::of(kernel, method, constant, types.clone());
            (names.variants, names.has) = (variants, has);
            (kernel.entry.clone(), names)
        });
        let mut kernels: BTreeMap<_, _> = named.collect();
        for kernel in alone.iter().filter(|it| !it.annotations.is_empty()) {
            if let Some(names) = kernels.get_mut(&kernel.entry) {
                names.claim_annotations(&mut values);
            }
        }

        let traits: Vec<_> = templates
            .iter()
            .map(|template| types.claim(camel(&template.name)))
            .collect();
        let wanted = signatures.symbols.iter().map(|it| it.name.as_str());
        let methods = values.claim_all(wanted);
        let symbols = signatures.symbols.iter().zip(methods).map(|(it, method)| {
            let constant = values.claim(screaming(&method));
            (it.symbol.clone(), SymbolNames { method, constant })
        });
        let symbols = symbols.collect();
        let shared = templates.iter().zip(traits.into_iter().zip(of_templates));
        let shared = shared.filter_map(|(template, (name, method))| {
            let instances = template.instances.iter();
            let constants = instances.map(|(kernel, _)| kernels[&kernel.entry].constant.clone());
            let constants = constants.collect();
            Shared::of(signatures, template, name, method, constants, types.clone())
        });
        let mut shared: Vec<_> = shared.collect();
        for shared in &mut shared {
            if !shared.kernel.annotations.is_empty() {
                shared.names.claim_annotations(&mut values);
            }
        }
        Self {
            shared,
            kernels,
            structs,
            symbols,
        }
    }

    /// What the instances of the module's templates share, in the order of [`template::all`].
    pub(super) fn shared(&self) -> &[Shared] {
        &self.shared
    }

    /// The names of a kernel.
    pub(super) fn kernel(&self, kernel: &Kernel) -> Option<&KernelNames> {
        self.kernels.get(&kernel.entry)
    }

    /// The names of a variable.
    pub(super) fn symbol(&self, symbol: &Symbol) -> Option<&SymbolNames> {
        self.symbols.get(&symbol.symbol)
    }

    /// The name of a struct or an enum.
    pub(super) fn structure(&self, path: &str) -> String {
        self.structs
            .get(path)
            .cloned()
            .unwrap_or_else(|| ident(path))
    }
}

impl KernelNames {
    fn claim_annotations(&mut self, values: &mut Scope) {
        for name in [&mut self.annotations, &mut self.into] {
            *name = values.claim(std::mem::take(name));
        }
    }

    pub(super) fn of(kernel: &Kernel, method: String, constant: String, mut types: Scope) -> Self {
        let mut values = Scope::new(["launch", "on", "stream", "target"].iter().chain(VALUES));
        let on = types.claim("On".to_owned());
        let params = values.claim_all(kernel.params.iter().map(|it| it.name.as_str()));
        let generics = kernel
            .params
            .iter()
            .zip(&params)
            .map(|(param, name)| match param.ty {
                ParamType::Pointer { mutable: true, .. } => Some(types.claim(camel(name))),
                _ => None,
            })
            .collect();
        Self {
            annotations: format!("{}_ANNOTATIONS", plain(&screaming(&method))),
            into: format!("{}_into", plain(&method)),
            method,
            constant,
            variants: String::new(),
            has: String::new(),
            params,
            generics,
            payload: values.claim("payload".to_owned()),
            on,
            generic: None,
            locals: Locals {
                lengths: values.claim("lengths".to_owned()),
                values: values.claim("values".to_owned()),
                extents: values.claim("extents".to_owned()),
            },
        }
    }
}

/// Names of a struct's fields, and of as many fields of padding.
pub(super) fn fields(structure: &Struct, paddings: usize) -> (Vec<String>, Vec<String>) {
    let mut values = Scope::new(VALUES);
    let fields = values.claim_all(structure.fields.iter().map(|it| it.name.as_str()));
    let paddings = (0..paddings)
        .map(|index| values.claim(format!("_pad{index}")))
        .collect();
    (fields, paddings)
}

/// Names of the methods that read a struct's views and of those that change them.
pub(super) fn views(structure: &Struct) -> Vec<(String, String)> {
    let mut methods = Scope::new(&["clone", "clone_from", "default", "eq", "fmt", "ne", "new"]);
    let views = structure.views.iter().map(|it| it.name.as_str());
    let read = methods.claim_all(views);
    let with = read
        .iter()
        .map(|name| methods.claim(ident(&format!("with_{}", plain(name)))))
        .collect::<Vec<_>>();
    read.into_iter().zip(with).collect()
}

/// Names of an enum's constants.
pub(super) fn values(enumeration: &Enum) -> Vec<String> {
    let names = enumeration.values.iter().map(|(name, _)| name.as_str());
    Scope::new([]).claim_all(names)
}

/// Names the modules of a package's sources: each its file's stem (`2d-conv.cu` → `_2d_conv`).
///
/// Sources with the same stem get as many of their folders in front as tell them apart (`a/x.cu` and `b/x.cu`
/// → `a_x` and `b_x`). What would hide a crate or a primitive type gets `_` appended. Paths are relative to the package's folder, with `/`.
pub fn module_names(sources: &[impl AsRef<str>]) -> Vec<String> {
    let sources: Vec<_> = sources.iter().map(AsRef::as_ref).collect();
    let longest = sources.iter().map(|it| it.split('/').count()).max();
    let mut depths = vec![1; sources.len()];
    for depth in 1..longest.unwrap_or(1) {
        let names: Vec<_> = sources
            .iter()
            .zip(&depths)
            .map(|(source, depth)| tail(source, *depth))
            .collect();
        for (index, name) in names.iter().enumerate() {
            if names.iter().filter(|other| *other == name).count() > 1 {
                depths[index] = depth + 1;
            }
        }
    }
    let mut scope = Scope::new(
        CRATES
            .iter()
            .chain(PRIMITIVES)
            .chain(&["char", "isize", "str", "usize"]),
    );
    let names: Vec<_> = sources
        .iter()
        .zip(&depths)
        .map(|(source, depth)| tail(source, *depth))
        .collect();
    scope.claim_all(names.iter().map(String::as_str))
}

/// The last `depth` components of a path, joined as an identifier, without the extension.
fn tail(source: &str, depth: usize) -> String {
    let stem = match source.rsplit_once('.') {
        Some((stem, extension)) if !extension.contains('/') && !stem.is_empty() => stem,
        _ => source,
    };
    let components: Vec<_> = stem
        .split('/')
        .filter(|it| !matches!(*it, "" | "." | ".."))
        .collect();
    let first = components.len().saturating_sub(depth);
    plain(&ident(&components[first..].join("_"))).to_owned()
}

/// Names in use.
#[derive(Clone)]
pub(super) struct Scope(BTreeSet<String>);

impl Scope {
    pub(super) fn new<'a>(reserved: impl IntoIterator<Item = &'a &'a str>) -> Self {
        Self(reserved.into_iter().map(|it| (*it).to_owned()).collect())
    }

    /// Takes a name, or the free one nearest to it.
    pub(super) fn claim(&mut self, mut name: String) -> String {
        while is_site_table(&name) || self.0.contains(&name) {
            name = ident(&format!("{}_", plain(&name)));
        }
        self.0.insert(name.clone());
        name
    }

    /// Takes many, first those that stay what they are.
    fn claim_all<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Vec<String> {
        let wanted: Vec<_> = names.map(|name| (name, ident(name))).collect();
        let mut given = vec![None; wanted.len()];
        for (slot, (name, ident)) in given.iter_mut().zip(&wanted) {
            if plain(ident) == *name && !self.0.contains(ident) {
                *slot = Some(self.claim(ident.clone()));
            }
        }
        given
            .into_iter()
            .zip(wanted)
            .map(|(given, (_, ident))| given.unwrap_or_else(|| self.claim(ident)))
            .collect()
    }
}

/// Whether a static of the module may have the name.
fn is_site_table(name: &str) -> bool {
    name.strip_prefix("SITES_")
        .is_some_and(|index| !index.is_empty() && index.bytes().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_are_named_by_what_tells_them_apart() {
        let named = |sources: &[&str]| module_names(sources).join(" ");
        assert_eq!(named(&["kernels/gather.cu"]), "gather");
        assert_eq!(named(&["k/2d-conv.cu", "k/type.cu"]), "_2d_conv r#type");
        assert_eq!(named(&["a/x.cu", "b/x.cu", "y.cu"]), "a_x b_x y");
        assert_eq!(named(&["a/c/x.cu", "b/c/x.cu"]), "a_c_x b_c_x");
        assert_eq!(named(&["x.cu", "b/x.cu"]), "x b_x");
        assert_eq!(named(&["a-b.cu", "a_b.cu"]), "a_b a_b_");
        assert_eq!(named(&["a/b.x.cu"]), "b_x");
        assert_eq!(named(&["f32.cu", "gpuk.cu"]), "f32_ gpuk_");
    }

    #[test]
    fn names_that_fit_do_not_move() {
        let mut scope = Scope::new(&["stream"]);
        let names = ["stream", "stream_", "SITES_0", "a"];
        assert_eq!(
            scope.claim_all(names.into_iter()),
            ["stream__", "stream_", "SITES_0_", "a"]
        );
    }
}
