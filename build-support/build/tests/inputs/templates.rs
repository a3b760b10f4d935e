//! Instances of templates: some share a method, some cannot.

use gpuk_build::diagnostic::Place;
use gpuk_build::generate::ModuleBindings;
use gpuk_build::instance::{Depends, Instance, Spelling, TemplateArg, TemplateValue};
use gpuk_build::kernel::{Kernel, Param, Scalar, Type};

use super::{F32, I32, floats, floats_out, int, kernel, module, of, read, structure, value, write};

const F16: Type = Type::Scalar(Scalar::F16);
const F64: Type = Type::Scalar(Scalar::F64);

pub(crate) fn ty(name: &str, text: &str, ty: Type) -> TemplateArg {
    TemplateArg {
        name: Some(name.to_owned()),
        kind: "class".to_owned(),
        text: text.to_owned(),
        value: TemplateValue::Type(ty),
    }
}

pub(crate) fn number(name: &str, kind: &str, scalar: Scalar, text: &str) -> TemplateArg {
    TemplateArg {
        name: Some(name.to_owned()),
        kind: kind.to_owned(),
        text: text.to_owned(),
        value: TemplateValue::Const(scalar, text.to_owned()),
    }
}

/// An instance named `name`, whose parameters are spelt as the template does.
pub(crate) fn instance(
    name: &str,
    template: &str,
    args: Vec<TemplateArg>,
    params: Vec<(&str, Depends, Param)>,
) -> Kernel {
    let texts: Vec<_> = args.iter().map(|arg| arg.text.as_str()).collect();
    let path = format!("{template}<{}>", texts.join(", "));
    let spellings = params.iter().map(|(text, depends, _)| Spelling {
        text: (*text).to_owned(),
        depends: *depends,
    });
    let of = Instance {
        template: template.to_owned(),
        place: Place::line("kernels/k.cu", 12),
        args,
        params: spellings.collect(),
    };
    let params = params.into_iter().map(|(.., param)| param).collect();
    Kernel {
        path,
        entry: format!("_Z{name}"),
        instance: Some(of),
        ..kernel(name, params)
    }
}

/// A type, an own struct for each; two types and a number; numbers alone; a template argument that Rust cannot name.
pub(crate) fn templates() -> ModuleBindings {
    let pair = |path: &str, name: &str, ty: Type, size| {
        let mut pair = structure(
            name,
            2 * size,
            size,
            &[("a", ty.clone(), 0), ("b", ty, size)],
        );
        pair.path = path.to_owned();
        pair
    };
    let scale = |name, cpp: &str, item: Type| {
        let pair = format!("ns::Pair<{cpp}>");
        instance(
            name,
            "ns::scale",
            vec![ty("T", cpp, item.clone())],
            vec![
                (
                    "T *",
                    Depends::Argument(0),
                    write("", "x", Some(item.clone())),
                ),
                ("T", Depends::Argument(0), value("", "k", item)),
                ("Pair<T>", Depends::Arguments, value("", "by", of(&pair))),
                (
                    "const Pair<T> *",
                    Depends::Arguments,
                    read("", "more", Some(of(&pair))),
                ),
                ("int", Depends::Nothing, int("n")),
            ],
        )
    };
    let cast = |name, from: (&str, Type), to: (&str, Type), n: &str| {
        instance(
            name,
            "cast",
            vec![
                number("N", "int", Scalar::I32, n),
                ty("From", from.0, from.1.clone()),
                ty("To", to.0, to.1.clone()),
            ],
            vec![
                (
                    "const From *",
                    Depends::Argument(1),
                    read("", "src", Some(from.1)),
                ),
                (
                    "To *",
                    Depends::Argument(2),
                    write("", "dst", Some(to.1.clone())),
                ),
                ("To", Depends::Argument(2), value("", "zero", to.1)),
            ],
        )
    };
    let fill = |name, on: &str, c: &str| {
        let mode = number("mode", "ns::Mode", Scalar::U8, c);
        instance(
            name,
            "fill",
            vec![number("On", "bool", Scalar::Bool, on), mode],
            vec![("float *", Depends::Nothing, floats_out("out"))],
        )
    };
    let long = "flash_fwd_splitkv_kernel_Traits_128_64_128_4_false_true_false_true";
    let traits = TemplateArg {
        value: TemplateValue::Other,
        ..ty("Traits", "Traits<128, 64, 128, 4>", F32)
    };
    let flash = instance(
        long,
        "flash_fwd_splitkv_kernel",
        vec![traits, number("Is_causal", "bool", Scalar::Bool, "true")],
        vec![
            (
                "const float *",
                Depends::Nothing,
                floats("cumulative_sequence_lengths_of_the_queries"),
            ),
            (
                "float *",
                Depends::Nothing,
                floats_out("output_of_the_attention_before_it_is_combined"),
            ),
            (
                "float *",
                Depends::Nothing,
                floats_out("logarithm_of_the_sum_of_exponentials"),
            ),
        ],
    );
    let mut module = module(
        "templates",
        vec![
            scale("scale_float", "float", F32),
            scale("scale_half", "__half", F16),
            cast("cast_4_float_double", ("float", F32), ("double", F64), "4"),
            cast("cast_minus_1_int_float", ("int", I32), ("float", F32), "-1"),
            fill("fill_true_0", "true", "0"),
            fill("fill_false_2", "false", "2"),
            flash,
        ],
        vec![
            pair("ns::Pair<float>", "Pair_float", F32, 4),
            pair("ns::Pair<__half>", "Pair_half", F16, 2),
        ],
    );
    module.checked.insert("_Zscale_half".to_owned());
    module
}
