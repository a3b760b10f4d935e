//! Bindings by hand, one per golden file.

pub(crate) mod annotated;
mod generics;
mod host;
pub(crate) mod random;
mod templates;
mod types;

use std::collections::{BTreeMap, BTreeSet};

use gpuk_build::annotation::Annotations;
use gpuk_build::diagnostic::Place;
use gpuk_build::generate::{ImageBinding, ImageKind, ModuleBindings, Variant};
use gpuk_build::kernel::{
    Access, Bounds, Field, Kernel, Memory, Param, ParamType, Scalar, Signatures, Struct, Symbol,
    Type,
};
use gpuk_build::site::{CallRecord, SiteKind, SiteRecord};
use gpuk_device::abi::ValueType;
use gpuk_ptx::functionalize::Form;

pub(crate) const F32: Type = Type::Scalar(Scalar::F32);
pub(crate) const I32: Type = Type::Scalar(Scalar::I32);
pub(crate) const U64: Type = Type::Scalar(Scalar::U64);

/// Every golden file: its name and the modules it holds.
pub(crate) fn all() -> Vec<(&'static str, Vec<ModuleBindings>)> {
    vec![
        ("gather", vec![gather()]),
        ("shapes", vec![shapes()]),
        ("structs", vec![types::structs()]),
        ("types", vec![types::types()]),
        ("members", vec![types::members()]),
        ("templates", vec![templates::templates()]),
        ("generics", vec![generics::generics()]),
        ("names", vec![names()]),
        ("many", vec![many()]),
        ("sites", vec![sites()]),
        ("variants", vec![variants()]),
        ("annotated", vec![annotated::annotated()]),
        ("symbols", vec![symbols()]),
        ("host", host::host()),
        ("empty", vec![module("empty", vec![], vec![])]),
        (
            "package",
            vec![gather(), checked(module("a_x", vec![axpy()], vec![]))],
        ),
    ]
}

pub(crate) fn module(name: &str, kernels: Vec<Kernel>, structs: Vec<Struct>) -> ModuleBindings {
    ModuleBindings {
        name: name.to_owned(),
        source: format!("kernels/{name}.cu"),
        digest: "5b1e…".replace('…', "c0de"),
        signatures: Signatures {
            kernels,
            structs,
            ..Signatures::default()
        },
        checked: BTreeSet::new(),
        variants: BTreeMap::new(),
        images: vec![],
    }
}

pub(crate) fn kernel(name: &str, params: Vec<Param>) -> Kernel {
    Kernel {
        name: name.to_owned(),
        path: name.to_owned(),
        entry: name.to_owned(),
        docs: vec![],
        place: Place::line("kernels/k.cu", 12),
        params,
        bounds: Bounds::default(),
        instance: None,
        annotations: Annotations::default(),
    }
}

pub(crate) fn value(declared: &str, name: &str, ty: Type) -> Param {
    Param {
        name: name.to_owned(),
        declared: declared.to_owned(),
        ty: ParamType::Value(ty),
    }
}

pub(crate) fn int(name: &str) -> Param {
    value("int", name, I32)
}

pub(crate) fn read(declared: &str, name: &str, to: Option<Type>) -> Param {
    Param {
        name: name.to_owned(),
        declared: declared.to_owned(),
        ty: ParamType::Pointer { to, mutable: false },
    }
}

pub(crate) fn write(declared: &str, name: &str, to: Option<Type>) -> Param {
    Param {
        name: name.to_owned(),
        declared: declared.to_owned(),
        ty: ParamType::Pointer { to, mutable: true },
    }
}

pub(crate) fn floats(name: &str) -> Param {
    read("const float *", name, Some(F32))
}

pub(crate) fn floats_out(name: &str) -> Param {
    write("float *", name, Some(F32))
}

pub(crate) fn structure(name: &str, size: u64, align: u64, fields: &[(&str, Type, u64)]) -> Struct {
    let field = |(name, ty, offset): &(&str, Type, u64)| Field {
        name: (*name).to_owned(),
        ty: ty.clone(),
        offset: *offset,
    };
    Struct {
        name: name.to_owned(),
        path: name.to_owned(),
        size,
        align,
        fields: fields.iter().map(field).collect(),
        views: vec![],
    }
}

fn vector(name: &str) -> Type {
    Type::Vector(name.to_owned())
}

fn array(item: Type, length: u64) -> Type {
    Type::Array(Box::new(item), length)
}

fn of(path: &str) -> Type {
    Type::Struct(path.to_owned())
}

fn checked(mut module: ModuleBindings) -> ModuleBindings {
    let entries = module.signatures.kernels.iter().map(|it| it.entry.clone());
    module.checked = entries.collect();
    module
}

fn axpy() -> Kernel {
    kernel(
        "axpy",
        vec![
            value("float", "a", F32),
            floats("x"),
            floats_out("y"),
            int("n"),
        ],
    )
}

fn site(kind: SiteKind, condition: &str, format: Option<&str>, types: &[ValueType]) -> SiteRecord {
    SiteRecord {
        kind,
        function: "gather".to_owned(),
        place: Place::line("kernels/gather.cu", 14),
        calls: vec![],
        condition: condition.to_owned(),
        format: format.map(str::to_owned),
        types: types.to_vec(),
        entries: vec![],
        form: Form::Exit,
    }
}

fn image(arch: &str, kind: ImageKind, sites: Vec<SiteRecord>) -> ImageBinding {
    let file = match kind {
        ImageKind::Cubin => format!("gather.{arch}.cubin"),
        ImageKind::Ptx { .. } => format!("gather.{arch}.ptx"),
    };
    ImageBinding {
        arch: arch.to_owned(),
        kind,
        file,
        sites,
    }
}

const PTX: ImageKind = ImageKind::Ptx { version: (9, 0) };

/// Kernels that the architectures do not have alike: one of them only, one of two names that clash, one with checks
/// for one architecture only.
fn variants() -> ModuleBindings {
    let names = [
        "everywhere",
        "fast",
        "fast_on_nothing_but_the_newest",
        "half_checked",
        "has_fast",
    ];
    let kernels = names.map(|name| kernel(name, vec![floats_out("y"), int("n")]));
    let mut module = module("variants", kernels.to_vec(), vec![]);
    let variant = |arch: &str, checked| Variant {
        arch: arch.to_owned(),
        checked,
    };
    module.checked = BTreeSet::from(["half_checked".to_owned()]);
    module.variants = BTreeMap::from([
        ("fast".to_owned(), vec![variant("sm_90", false)]),
        (
            names[2].to_owned(),
            vec![variant("sm_90", false), variant("sm_100f", false)],
        ),
        (
            "half_checked".to_owned(),
            vec![
                variant("sm_80", false),
                variant("sm_90", true),
                variant("sm_100f", true),
            ],
        ),
    ]);
    module.images = vec![
        image("sm_80", ImageKind::Cubin, vec![]),
        image("sm_80", PTX, vec![]),
        image("sm_90", ImageKind::Cubin, vec![]),
    ];
    module
}

/// The common case: documented, checked, two images that share a site table.
fn gather() -> ModuleBindings {
    let mut gather = kernel(
        "gather",
        vec![
            floats("src"),
            read("const int *", "idx", Some(I32)),
            floats_out("dst"),
            int("n"),
            int("rows"),
        ],
    );
    gather.docs = [
        "Gathers rows: `dst[i] = src[idx[i]]`.",
        "",
        "    src: [rows]",
        "    dst: [n]",
        "",
        "Works for std::vector<float> too.",
    ]
    .map(str::to_owned)
    .to_vec();
    gather.place = Place::line("kernels/gather.cu", 12);
    gather.bounds.max_threads = Some(256);
    let types = [ValueType::I32, ValueType::I32];
    let site = site(
        SiteKind::Check,
        "k >= 0 && k < rows",
        Some("row {} of {}"),
        &types,
    );
    let mut module = checked(module("gather", vec![gather], vec![]));
    module.images = vec![
        image("sm_90", ImageKind::Cubin, vec![site.clone()]),
        image("sm_80", PTX, vec![site]),
    ];
    module
}

/// No parameters, no output, one, several, untyped; what a launch must be.
fn shapes() -> ModuleBindings {
    let mut warp = kernel("warp", vec![]);
    warp.bounds.exact_block = Some([32, 1, 1]);
    warp.bounds.min_blocks = Some(2);
    warp.bounds.cluster = Some([2, 1, 1]);
    let split = vec![
        floats("x"),
        floats_out("positive"),
        floats_out("negative"),
        int("n"),
    ];
    module(
        "shapes",
        vec![
            warp,
            kernel("nothing_returned", vec![floats("x"), int("n")]),
            axpy(),
            kernel("split", split),
            kernel(
                "copy",
                vec![
                    read("const void *", "from", None),
                    write("void *", "to", None),
                ],
            ),
            kernel(
                "batched",
                vec![
                    read("const float *const *", "sources", Some(Type::Address)),
                    write("float **", "targets", Some(Type::Address)),
                ],
            ),
        ],
        vec![],
    )
}

/// Names that Rust, the wrapper or another name has taken.
fn names() -> ModuleBindings {
    let structs = vec![
        structure("Kernels", 4, 4, &[("None", I32, 0)]),
        structure("Out", 4, 4, &[("fn", I32, 0)]),
        structure("f32", 4, 4, &[("_pad0", F32, 0)]),
        structure("u8", 32, 16, &[("_pad0", F32, 0), ("IMAGES", F32, 16)]),
    ];
    let params = vec![
        int("self"),
        int("stream"),
        int("stream_"),
        int("launch"),
        int("payload"),
        int("type"),
        int("in"),
        int("_"),
        int("None"),
        int("IMAGES"),
        int("SITES_0"),
        int("größe"),
        int("module"),
        floats_out("out"),
        floats_out("Out_"),
        floats_out("ref"),
        floats_out("into"),
        floats_out("Into"),
        floats_out("self_"),
        value("Kernels", "k", of("Kernels")),
        value("Out", "o", of("Out")),
        value("f32", "f", of("f32")),
        value("u8", "u", of("u8")),
    ];
    let kernels = [
        "load",
        "load_",
        "new",
        "main",
        "Kernels",
        "fn",
        "self",
        "fmt",
        "clone",
        "scale",
        "Scale",
        "SCALE",
        "into_half",
        "fooBar",
        "foo_bar",
    ];
    let mut kernels: Vec<_> = kernels.map(|it| kernel(it, vec![int("n")])).to_vec();
    kernels.push(kernel("params", params));
    module("r#type", kernels, structs)
}

/// Forty parameters, twelve of them written.
fn many() -> ModuleBindings {
    let params = (0..40)
        .map(|index| match index % 10 {
            0..4 => floats(&format!("input_{index}")),
            4..7 => floats_out(&format!("output_{index}")),
            7 => value("unsigned long", &format!("stride_{index}"), U64),
            _ => int(&format!("extent_{index}")),
        })
        .collect();
    checked(module("many", vec![kernel("many", params)], vec![]))
}

/// Strings that need care, every kind of site, images with tables of their own.
fn sites() -> ModuleBindings {
    let hard = "s[i] == '\"' && t == \"{}\\n\" /* ¬ʘ‿ʘ */\nand\ta\u{202e}turn";
    let values = [
        ValueType::Bool,
        ValueType::Char,
        ValueType::I8,
        ValueType::U16,
        ValueType::U64,
        ValueType::F32,
        ValueType::F64,
    ];
    let long = "a && b && c && d && e && f && g && h && i && j && k && l && m && n && o && p && q";
    let call = |function: &str, lines: &[u32]| CallRecord {
        function: function.to_owned(),
        file: "kernels/outer.cuh".into(),
        lines: lines.to_vec(),
    };
    let inlined = SiteRecord {
        calls: vec![call("outer", &[33]), call("", &[40, 41])],
        ..site(SiteKind::Assert, "i < n", None, &[])
    };
    let first = vec![
        site(SiteKind::Check, hard, Some("{{braces}} \"{}\"\n"), &values),
        site(SiteKind::Expect, "x", Some(""), &[ValueType::I64]),
        site(SiteKind::DebugCheck, long, None, &[]),
        site(SiteKind::DebugExpect, "", Some("{} {}"), &values[..2]),
        site(SiteKind::Assert, "i < n", None, &[]),
        inlined,
    ];
    let second = vec![site(SiteKind::Assert, "i < n", None, &[])];
    let mut module = checked(module("sites", vec![axpy()], vec![]));
    module.images = vec![
        image("sm_90a", ImageKind::Cubin, first.clone()),
        image("sm_80", ImageKind::Cubin, vec![]),
        image("sm_86", ImageKind::Cubin, second),
        image("sm_80", PTX, first),
    ];
    module
}

pub(crate) fn symbol(name: &str, declared: &str, ty: Type, access: Access) -> Symbol {
    Symbol {
        name: name.to_owned(),
        path: name.to_owned(),
        symbol: name.to_owned(),
        docs: vec![],
        place: Place::line("kernels/symbols.cu", 3),
        declared: declared.to_owned(),
        ty,
        size: 0,
        memory: Memory::Global,
        access,
    }
}

/// Every access, and names that are taken.
fn symbols() -> ModuleBindings {
    let array = |ty, length| Type::Array(Box::new(ty), length);
    let pair = structure("Pair", 8, 4, &[("x", F32, 0), ("y", I32, 4)]);
    let mut it = module("symbols", vec![kernel("scale", vec![int("n")])], vec![pair]);
    let mut documented = symbol(
        "coefficients",
        "float [64]",
        array(F32, 64),
        Access::Constant,
    );
    documented.docs = vec!["Of the filter, lowest first.".to_owned()];
    let pairs = array(array(Type::Struct("Pair".to_owned()), 2), 3);
    it.signatures.symbols = vec![
        documented,
        symbol("counter", "unsigned long long", U64, Access::Global),
        symbol("limit", "const int", I32, Access::Fixed),
        symbol("next", "float *", Type::Address, Access::Global),
        symbol("pairs", "Pair [3][2]", pairs, Access::Constant),
        symbol("scale", "float", F32, Access::Constant),
        symbol("load", "float", F32, Access::Constant),
    ];
    it
}
