//! Bindings by hand, one per golden file.

pub(crate) mod annotated;
mod host;
pub(crate) mod templates;

use std::collections::{BTreeMap, BTreeSet};

use gpuk_build::annotation::Annotations;
use gpuk_build::diagnostic::Place;
use gpuk_build::generate::{ImageBinding, ImageKind, ModuleBindings, Variant};
use gpuk_build::kernel::{
    Access, Bounds, Enum, Field, Kernel, Param, ParamType, Scalar, Signatures, Struct, Symbol,
    Type, View, ViewPlace,
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
        ("structs", vec![structs()]),
        ("types", vec![types()]),
        ("members", vec![members()]),
        ("templates", vec![templates::templates()]),
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

/// Alignment, padding, packing, nesting, arrays too long for `Default`, keywords.
fn structs() -> ModuleBindings {
    let long = Type::Scalar(Scalar::I64);
    let byte = Type::Scalar(Scalar::U8);
    let flag = Type::Scalar(Scalar::Bool);
    let structs = vec![
        structure(
            "Plain",
            24,
            8,
            &[("a", F32, 0), ("b", long.clone(), 8), ("ok", flag, 16)],
        ),
        structure("Aligned", 16, 16, &[("x", F32, 0), ("y", F32, 4)]),
        structure("Padded", 32, 16, &[("a", F32, 0), ("b", F32, 16)]),
        structure("Empty", 1, 1, &[]),
        structure(
            "Packed",
            9,
            1,
            &[("tag", byte.clone(), 0), ("value", long.clone(), 1)],
        ),
        structure(
            "PackedVector",
            17,
            1,
            &[("tag", byte, 0), ("v", vector("float4"), 1)],
        ),
        structure(
            "Weights",
            272,
            16,
            &[("w", array(F32, 64), 0), ("v", vector("float4"), 256)],
        ),
        structure(
            "Grid",
            8352,
            16,
            &[
                ("type", I32, 0),
                ("cells", array(array(F32, 40), 50), 4),
                ("self", of("Plain"), 8008),
                ("data", Type::Address, 8032),
                ("w", of("Weights"), 8048),
                ("small", array(array(I32, 2), 3), 8320),
            ],
        ),
        structure(
            "WithALongNameAsTemplatesHaveThem",
            88,
            8,
            &[
                ("a_field_with_a_long_name_too", array(I32, 20), 0),
                ("pointer_to_somewhere", Type::Address, 80),
            ],
        ),
    ];
    let params: Vec<_> = structs
        .iter()
        .enumerate()
        .map(|(index, it)| value(&it.name, &format!("p{index}"), of(&it.path)))
        .collect();
    let on_device = vec![
        read("const Grid *", "grids", Some(of("Grid"))),
        write("Padded *", "out", Some(of("Padded"))),
    ];
    module(
        "structs",
        vec![kernel("by_value", params), kernel("by_pointer", on_device)],
        structs,
    )
}

/// Bit-fields, a union, bytes of which nothing is known, enums; names that are taken.
fn members() -> ModuleBindings {
    let bits = |name: &str, ty: &Type, first, width| View {
        name: name.to_owned(),
        ty: ty.clone(),
        field: 1,
        place: ViewPlace::Bits { first, width },
    };
    let byte = |name: &str, ty: &Type, at| View {
        name: name.to_owned(),
        ty: ty.clone(),
        field: 0,
        place: ViewPlace::Byte(at),
    };
    let u32 = Type::Scalar(Scalar::U32);
    let mode = Type::Enum("ns::Mode".to_owned());
    let mut flags = structure(
        "Flags",
        24,
        8,
        &[
            ("s", F32, 0),
            ("bytes_0", Type::Bytes(12), 4),
            ("w", Type::Scalar(Scalar::F64), 16),
        ],
    );
    flags.views = vec![
        bits("a", &u32, 0, 3),
        bits("type", &mode, 3, 2),
        bits("on", &Type::Scalar(Scalar::Bool), 72, 1),
    ];
    let mut either = structure("Either", 16, 8, &[("bytes", Type::Bytes(16), 0)]);
    either.views = vec![
        byte("new", &I32, 0),
        byte("d", &array(Type::Scalar(Scalar::F64), 2), 0),
        byte("mode", &mode, 8),
        byte("flags", &of("Flags"), 0),
        byte(
            "a_member_with_a_name_that_does_not_fit_one_line_together_with_its_type",
            &F32,
            12,
        ),
    ];
    let unknown = structure("Box_int", 64, 32, &[("bytes", Type::Bytes(64), 0)]);
    let holder = structure(
        "Holder",
        128,
        32,
        &[
            ("flags", of("Flags"), 0),
            ("either", of("Either"), 24),
            ("boxed", of("Box_int"), 64),
        ],
    );
    let values = |values: &[(&str, i64)]| {
        let values = values.iter();
        let values = values.map(|(name, value)| ((*name).to_owned(), *value as u64));
        values.collect()
    };
    let enums = vec![
        Enum {
            name: "Mode".to_owned(),
            path: "ns::Mode".to_owned(),
            scalar: Scalar::I8,
            values: values(&[("Off", -1), ("On", 0), ("self", 1)]),
        },
        Enum {
            name: "Nameless".to_owned(),
            path: "Nameless".to_owned(),
            scalar: Scalar::U64,
            values: vec![],
        },
    ];
    let params = vec![
        value("Holder", "holder", of("Holder")),
        value("ns::Mode", "mode", mode.clone()),
        read(
            "const Nameless *",
            "names",
            Some(Type::Enum("Nameless".to_owned())),
        ),
        value("complex<float>", "z", Type::Scalar(Scalar::C32)),
        write("complex<double> *", "zs", Some(Type::Scalar(Scalar::C64))),
        read(
            "const __nv_fp4x2_e2m1 *",
            "q",
            Some(Type::Scalar(Scalar::F4E2M1x2)),
        ),
    ];
    let mut module = module(
        "members",
        vec![kernel("members", params)],
        vec![flags, either, unknown, holder],
    );
    module.signatures.enums = enums;
    module
}

/// Every scalar, vectors, halves and eight-bit floats, by value and behind pointers.
fn types() -> ModuleBindings {
    let scalars = [
        ("bool", Scalar::Bool),
        ("signed char", Scalar::I8),
        ("short", Scalar::I16),
        ("int", Scalar::I32),
        ("long", Scalar::I64),
        ("__int128", Scalar::I128),
        ("unsigned char", Scalar::U8),
        ("unsigned short", Scalar::U16),
        ("unsigned int", Scalar::U32),
        ("unsigned long", Scalar::U64),
        ("unsigned __int128", Scalar::U128),
        ("float", Scalar::F32),
        ("double", Scalar::F64),
        ("__half", Scalar::F16),
        ("__nv_bfloat16", Scalar::Bf16),
        ("__nv_fp8_e4m3", Scalar::F8E4M3),
        ("__nv_fp8_e5m2", Scalar::F8E5M2),
    ];
    let vectors = [
        "float4",
        "uchar3",
        "longlong2",
        "ulonglong4",
        "double2",
        "short1",
    ];
    let every = |make: &dyn Fn(&str, usize, Type) -> Param| -> Vec<Param> {
        let scalars = scalars
            .iter()
            .map(|(name, scalar)| (*name, Type::Scalar(*scalar)));
        let vectors = vectors.iter().map(|name| (*name, vector(name)));
        let types = scalars.chain(vectors).enumerate();
        types
            .map(|(index, (name, ty))| make(name, index, ty))
            .collect()
    };
    module(
        "types",
        vec![
            kernel(
                "values",
                every(&|name, index, ty| value(name, &format!("v{index}"), ty)),
            ),
            kernel(
                "pointers",
                every(&|name, index, ty| {
                    read(&format!("const {name} *"), &format!("p{index}"), Some(ty))
                }),
            ),
            kernel(
                "mixed",
                vec![
                    read("const __half *", "x", Some(Type::Scalar(Scalar::F16))),
                    write("__nv_bfloat16 *", "y", Some(Type::Scalar(Scalar::Bf16))),
                    write("float4 *", "z", Some(vector("float4"))),
                    value("float3", "scale", vector("float3")),
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
