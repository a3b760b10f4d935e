//! Templates with many parameters and long names, and such whose traits and constants would have the same name.

use gpuk_build::generate::{ModuleBindings, Variant};
use gpuk_build::instance::Depends;
use gpuk_build::kernel::{Kernel, Scalar, Type};

use super::templates::{instance, number, ty};
use super::{F32, I32, floats_out, int, module, of, read, structure, value, write};

const BF16: Type = Type::Scalar(Scalar::Bf16);

/// Types and numbers.
fn merge(vec_size: &str, output: (&str, Type), index: (&str, Type)) -> Kernel {
    let input = Depends::Argument(4);
    instance(
        &format!(
            "merge_states_of_any_length_{vec_size}_32_4_4_{}_{}_{}",
            output.0, output.0, index.0
        ),
        "attention::merge_states_of_any_length",
        vec![
            number("vec_size", "unsigned", Scalar::U32, vec_size),
            number("block_x", "unsigned", Scalar::U32, "32"),
            number("block_y", "unsigned", Scalar::U32, "4"),
            number("stages_in_shared_memory", "unsigned", Scalar::U32, "4"),
            ty("TypeOfInput", output.0, output.1.clone()),
            ty("TypeOfOutput", output.0, output.1.clone()),
            ty("TypeOfIndex", index.0, index.1.clone()),
        ],
        vec![
            (
                "const TypeOfInput *",
                input,
                read("", "states", Some(output.1.clone())),
            ),
            (
                "const TypeOfIndex *",
                Depends::Argument(6),
                read("", "offsets_of_the_sequences", Some(index.1)),
            ),
            (
                "TypeOfOutput *",
                Depends::Argument(5),
                write("", "merged", Some(output.1)),
            ),
            ("int", Depends::Nothing, int("heads")),
        ],
    )
}

/// Numbers alone, whose instances have structs of their own.
fn tiles(rows: &str, layout: &str) -> Kernel {
    let number_of = |name, text| number(name, "int", Scalar::I32, text);
    instance(
        &format!("transform_tiles_{rows}"),
        "transform_tiles_between_layouts",
        vec![
            number_of("rows_of_a_tile", rows),
            number_of("columns_of_a_tile", "128"),
            number_of("elements_of_a_load", "8"),
            number("is_transposed", "bool", Scalar::Bool, "true"),
        ],
        vec![
            (
                "Layout<rows_of_a_tile>",
                Depends::Arguments,
                value("", "layout", of(layout)),
            ),
            (
                "const Layout<rows_of_a_tile> *",
                Depends::Arguments,
                read("", "layouts_of_the_groups", Some(of(layout))),
            ),
            (
                "Layout<rows_of_a_tile> *",
                Depends::Arguments,
                write("", "layouts_that_were_used", Some(of(layout))),
            ),
        ],
    )
}

/// `first_last` and `firstLast`, whose traits and constants would be the same.
fn alike(template: &str, n: &str) -> Kernel {
    instance(
        &format!("{template}_{n}"),
        template,
        vec![number("N", "int", Scalar::I32, n)],
        vec![("float *", Depends::Nothing, floats_out("out"))],
    )
}

pub(crate) fn generics() -> ModuleBindings {
    let layout = |rows: &str| {
        let name = format!("Layout_{rows}");
        structure(&name, 8, 4, &[("stride", I32, 0), ("offset", I32, 4)])
    };
    let merges = [
        merge("8", ("float", F32), ("int", I32)),
        merge("16", ("bfloat", BF16), ("int", I32)),
    ];
    let mut kernels = merges.to_vec();
    kernels.extend([tiles("16", "Layout_16"), tiles("64", "Layout_64")]);
    let alike = [
        alike("first_last", "1"),
        alike("first_last", "2"),
        alike("firstLast", "1"),
        alike("firstLast", "2"),
    ];
    kernels.extend(alike);
    let mut module = module("generics", kernels, vec![layout("16"), layout("64")]);
    let newest = Variant {
        arch: "sm_90".to_owned(),
        checked: false,
    };
    (module.variants).insert(merges[1].entry.clone(), vec![newest]);
    module
}
