//! Every kind of type, and structs, enums and their layouts.

use gpuk_build::generate::ModuleBindings;
use gpuk_build::kernel::{Enum, Param, Scalar, Type, View, ViewPlace};

use super::{F32, I32, array, kernel, module, of, read, structure, value, vector, write};

/// Alignment, padding, packing, nesting, arrays too long for `Default`, keywords.
pub(super) fn structs() -> ModuleBindings {
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
pub(super) fn members() -> ModuleBindings {
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
pub(super) fn types() -> ModuleBindings {
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
