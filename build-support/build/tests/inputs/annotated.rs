//! Kernels with annotations.

use gpuk_build::annotation::{
    Access, Annotations, Block, Expression, Extent, Grid, Operator, Shape, Value,
};
use gpuk_build::generate::ModuleBindings;
use gpuk_build::instance::Depends;
use gpuk_build::kernel::{Scalar, Type};

use super::{
    F32, I32, U64, checked, floats, floats_out, int, kernel, module, of, read, structure,
    templates, value, write,
};

pub(crate) fn number(number: u64) -> Expression {
    Expression::Number(number)
}

pub(crate) fn param(param: usize) -> Expression {
    let fields = Vec::new();
    Expression::Value(Value { param, fields })
}

pub(crate) fn binary(operator: Operator, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

pub(crate) fn extent(param: usize, access: Access, written: &str, items: Expression) -> Extent {
    let length_of = match &items {
        Expression::Value(value) if value.fields.is_empty() => Some(value.param),
        _ => None,
    };
    Extent {
        param,
        access,
        optional: false,
        written: written.to_owned(),
        items,
        length_of,
    }
}

/// A derived length, an allocated output and a shape; every kind of expression, buffer and output; a template.
pub(crate) fn annotated() -> ModuleBindings {
    let mut saxpy = kernel(
        "saxpy",
        vec![
            value("float", "a", F32),
            floats("x"),
            floats_out("y"),
            int("n"),
        ],
    );
    saxpy.annotations = Annotations {
        extents: vec![
            extent(1, Access::In, "n", param(3)),
            extent(2, Access::InOut, "n", param(3)),
        ],
        shape: Some(Shape {
            written: "block = 256, elements = n".to_owned(),
            block: Block::Given(vec![number(256)]),
            grid: Grid::Elements(vec![param(3)]),
            shared: None,
        }),
    };

    let mut gather = kernel(
        "gather",
        vec![
            floats("src"),
            read("const int *", "idx", Some(I32)),
            floats_out("dst"),
            int("n"),
            int("rows"),
            int("width"),
        ],
    );
    let of_width = |of| binary(Operator::Multiply, param(of), param(5));
    gather.annotations.extents = vec![
        extent(0, Access::In, "rows * width", of_width(4)),
        extent(1, Access::In, "n", param(3)),
        extent(2, Access::Out, "n * width", of_width(3)),
    ];

    let mut parts = kernel(
        "parts",
        vec![
            value("Sizes", "sizes", of("Sizes")),
            read("const void *", "bytes", None),
            write("bool *", "flags", Some(Type::Scalar(Scalar::Bool))),
            write("void *", "raw", None),
            floats_out("kept"),
            value("unsigned long", "values", U64),
        ],
    );
    let field = |name: &str| {
        let fields = vec![name.to_owned()];
        Expression::Value(Value { param: 0, fields })
    };
    let mut kept = extent(4, Access::InOut, "values", param(5));
    kept.optional = true;
    parts.annotations = Annotations {
        extents: vec![
            extent(
                1,
                Access::In,
                "sizes.type << 2",
                binary(Operator::ShiftLeft, field("type"), number(2)),
            ),
            extent(2, Access::Out, "len(bytes)", Expression::Length(1)),
            extent(3, Access::Out, "sizes.unaligned", field("unaligned")),
            kept,
        ],
        shape: Some(Shape {
            written: "grid = (ceil_div(values, block.x), 2), shared = block * 4".to_owned(),
            block: Block::Own,
            grid: Grid::Blocks(vec![
                binary(Operator::CeilDiv, param(5), Expression::Block(Some(0))),
                number(2),
            ]),
            shared: Some(binary(
                Operator::Multiply,
                Expression::Block(None),
                number(4),
            )),
        }),
    };

    let mut fill = kernel("fill", vec![floats_out("out")]);
    fill.annotations = Annotations {
        extents: vec![extent(0, Access::Out, "1024", number(1024))],
        shape: Some(Shape {
            written: "block = auto, elements = (32, 32)".to_owned(),
            block: Block::Auto,
            grid: Grid::Elements(vec![number(32), number(32)]),
            shared: None,
        }),
    };

    let sizes = structure(
        "Sizes",
        32,
        16,
        &[
            ("type", I32, 0),
            ("v", Type::Vector("float2".to_owned()), 8),
            ("unaligned", I32, 17),
        ],
    );
    let mut kernels = vec![saxpy, gather, parts, fill];
    for (name, text, item) in [("convert_float", "float", F32), ("convert_int", "int", I32)] {
        let args = vec![templates::ty("T", text, item.clone())];
        let params = vec![
            ("const float *", Depends::Nothing, floats("x")),
            ("T *", Depends::Argument(0), write("", "out", Some(item))),
            ("int", Depends::Nothing, int("n")),
        ];
        let mut instance = templates::instance(name, "convert", args, params);
        instance.annotations.extents = vec![
            extent(0, Access::In, "n", param(2)),
            extent(1, Access::Out, "n", param(2)),
        ];
        kernels.push(instance);
    }
    checked(module("annotated", kernels, vec![sizes]))
}
