//! What annotations add to a kernel's wrapper: a constant, and lines that compute from it before the launch.

use super::bindings::ModuleBindings;
use super::expr::{Expr, call, field, filled, literal, quoted, row, some, text, turbofish};
use super::generics::path;
use super::layout::{Placement, find};
use super::method::function;
use super::names::{KernelNames, fields};
use super::out::Out;
use super::types::Types;
use crate::annotation::{Annotations, Block, Expression, Extent, Grid, Operator, Shape, Value};
use crate::kernel::{Kernel, Param, ParamType, Scalar, Signatures, Type};

/// Who brings the buffers that the kernel writes all of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outputs {
    /// The wrapper.
    Allocated,
    /// The caller.
    Passed,
}

impl Outputs {
    /// Whether the wrapper allocates what a parameter points to.
    pub(super) fn allocates(self, kernel: &Kernel, param: usize) -> bool {
        self == Self::Allocated && kernel.annotations.is_allocated(param)
    }
}

/// Whether a kernel has a wrapper that allocates.
pub(super) fn allocates(kernel: &Kernel) -> bool {
    (0..kernel.params.len()).any(|param| kernel.annotations.is_allocated(param))
}

/// Whether a parameter is the length of buffers, so that it is not passed.
pub(super) fn is_length(kernel: &Kernel, param: usize) -> bool {
    !kernel.annotations.lengths(param).is_empty()
}

/// What is returned for a parameter that the wrapper allocates.
pub(super) fn allocated(types: Types<'_>, to: Option<&Type>, root: &str) -> String {
    format!("{root}CudaSlice<{}>", item(types, to))
}

fn item(types: Types<'_>, to: Option<&Type>) -> String {
    to.map_or_else(|| "u8".to_owned(), |ty| types.rust(ty))
}

/// The kernel's pointers, by index.
fn buffers(kernel: &Kernel) -> Vec<usize> {
    let params = kernel.params.iter().enumerate();
    let pointers = params.filter(|(_, it)| matches!(it.ty, ParamType::Pointer { .. }));
    pointers.map(|(at, _)| at).collect()
}

/// The numbers that expressions name, each once.
fn values(annotations: &Annotations) -> Vec<&Value> {
    let mut found: Vec<&Value> = Vec::new();
    for expression in annotations.expressions() {
        expression.visit(&mut |it| match it {
            Expression::Value(value) if !found.contains(&value) => found.push(value),
            _ => {}
        });
    }
    found
}

/// Draws the constant that the run time computes from.
pub(super) fn constant(out: &mut Out, kernel: &Kernel, names: &KernelNames) {
    let annotations = &kernel.annotations;
    if annotations.is_empty() {
        return;
    }
    let index = Index {
        values: values(annotations),
        buffers: buffers(kernel),
    };
    let named = |value: &&Value| {
        let mut path = kernel.params[value.param].name.clone();
        for field in &value.fields {
            path = format!("{path}.{field}");
        }
        quoted(&path)
    };
    let buffer = |param: &usize| quoted(&kernel.params[*param].name);
    let extents = annotations.extents.iter();
    let shape = annotations.shape.as_ref();
    let value = literal(
        "::gpuk::Annotations {",
        vec![
            field("kernel", quoted(super::ident::plain(&names.method))),
            field("values", filled("&[", index.values.iter().map(named))),
            field("buffers", filled("&[", index.buffers.iter().map(buffer))),
            field(
                "extents",
                row([
                    text("&"),
                    call("[", extents.map(|it| index.extent(it)).collect()),
                ]),
            ),
            field("shape", option(shape.map(|it| index.shape(it)))),
        ],
    );
    out.line("");
    out.docs([format!(
        "What the annotations of [`{0}`](Self::{0}) say.",
        names.method
    )]);
    let name = format!("const {}", names.annotations);
    out.assign(&name, "::gpuk::Annotations", &value);
}

/// What expressions refer to by index.
struct Index<'a> {
    values: Vec<&'a Value>,
    buffers: Vec<usize>,
}

impl Index<'_> {
    fn buffer(&self, param: usize) -> usize {
        let found = self.buffers.iter().position(|it| *it == param);
        found.unwrap_or_default()
    }

    fn extent(&self, extent: &Extent) -> Expr {
        literal(
            "::gpuk::Extent {",
            vec![
                field("buffer", text(self.buffer(extent.param).to_string())),
                field("optional", text(extent.optional.to_string())),
                field("written", quoted(&extent.written)),
                field("items", self.expr(&extent.items)),
            ],
        )
    }

    fn shape(&self, shape: &Shape) -> Expr {
        let block = match &shape.block {
            Block::Own => text("::gpuk::Block::Own"),
            Block::Auto => text("::gpuk::Block::Auto"),
            Block::Given(axes) => call("::gpuk::Block::Given(", vec![self.axes(axes)]),
        };
        let grid = match &shape.grid {
            Grid::Blocks(axes) => call("::gpuk::Grid::Blocks(", vec![self.axes(axes)]),
            Grid::Elements(axes) => match axes.as_slice() {
                [elements] => call("::gpuk::Grid::Elements(", vec![self.expr(elements)]),
                axes => call("::gpuk::Grid::Axes(", vec![self.axes(axes)]),
            },
        };
        let shared = shape.shared.as_ref().map(|it| self.expr(it));
        literal(
            "::gpuk::Shape {",
            vec![
                field("block", block),
                field("grid", grid),
                field("shared", option(shared)),
            ],
        )
    }

    fn axes(&self, axes: &[Expression]) -> Expr {
        let one = Expression::Number(1);
        let axis = |at| self.expr(axes.get(at).unwrap_or(&one));
        call("[", (0..3).map(axis).collect())
    }

    fn expr(&self, expression: &Expression) -> Expr {
        let leaf = |name: &str, of: String| text(format!("::gpuk::Expr::{name}({of})"));
        match expression {
            Expression::Number(number) => leaf("Number", number.to_string()),
            Expression::Value(value) => {
                let found = self.values.iter().position(|it| *it == value);
                leaf("Value", found.unwrap_or_default().to_string())
            }
            Expression::Length(param) => leaf("Length", self.buffer(*param).to_string()),
            Expression::Block(None) => text("::gpuk::Expr::Threads"),
            Expression::Block(Some(axis)) => leaf("Block", axis.to_string()),
            Expression::Binary(operator, left, right) => {
                let name = match operator {
                    Operator::Add => "Add",
                    Operator::Subtract => "Subtract",
                    Operator::Multiply => "Multiply",
                    Operator::Divide => "Divide",
                    Operator::Remainder => "Remainder",
                    Operator::ShiftLeft => "ShiftLeft",
                    Operator::ShiftRight => "ShiftRight",
                    Operator::Min => "Min",
                    Operator::Max => "Max",
                    Operator::CeilDiv => "CeilDiv",
                };
                let operand = |it: &Expression| row([text("&"), self.expr(it)]);
                call(
                    format!("::gpuk::Expr::{name}("),
                    vec![operand(left), operand(right)],
                )
            }
        }
    }
}

fn option(value: Option<Expr>) -> Expr {
    match value {
        None => text("None"),
        Some(value) => some(value),
    }
}

/// Draws the lines that find lengths, compare extents, and allocate, up to the launch.
pub(super) fn prologue(
    out: &mut Out,
    bindings: &ModuleBindings,
    types: Types<'_>,
    (kernel, names): (&Kernel, &KernelNames),
    outputs: Outputs,
) {
    let annotations = &kernel.annotations;
    let constant = format!("&Self::{}", names.annotations);
    let locals = &names.locals;
    let buffers = buffers(kernel);
    let lengths = buffers
        .iter()
        .map(|at| match outputs.allocates(kernel, *at) {
            true => text("::gpuk::Length::Unknown"),
            false => length(&kernel.params[*at], &names.params[*at]),
        });
    out.binding(&locals.lengths, &call("[", lengths.collect()));

    for (param, name) in names.params.iter().enumerate() {
        let of = annotations.lengths(param);
        let (false, ParamType::Value(ty)) = (of.is_empty(), &kernel.params[param].ty) else {
            continue;
        };
        let of = of
            .iter()
            .filter_map(|of| buffers.iter().position(|it| it == of));
        let of = of.map(|at| text(at.to_string())).collect();
        let derive = call(
            "::gpuk::Annotations::derive(",
            vec![
                text(&constant),
                quoted(&kernel.params[param].name),
                row([text("&"), call("[", of)]),
                text(format!("&{}", locals.lengths)),
            ],
        );
        let typed = format!("{name}: {}", types.rust(ty));
        out.binding(&typed, &row([derive, text("?")]));
    }

    let number = |value: &&Value| number(&bindings.signatures, types, kernel, names, value);
    let values: Vec<_> = values(annotations).iter().map(number).collect();
    let values_type = if values.is_empty() { ": [i128; 0]" } else { "" };
    let values = call("[", values);
    out.binding(&format!("{}{values_type}", locals.values), &values);

    let given = || {
        vec![
            text(format!("&{}", locals.values)),
            text(format!("&{}", locals.lengths)),
        ]
    };
    let mut arguments = vec![text(&constant)];
    arguments.extend(given());
    let extents = row([call("::gpuk::Annotations::extents(", arguments), text("?")]);
    let is_needed = (0..kernel.params.len()).any(|at| outputs.allocates(kernel, at));
    match is_needed {
        true => out.binding(&locals.extents, &extents),
        false => out.statement(&extents, ";"),
    }

    if annotations.shape.is_some() {
        let mut arguments = vec![
            text(&constant),
            function(bindings, kernel, names),
            text("::gpuk::Shaped::launch(&on)"),
        ];
        arguments.extend(given());
        let launch = call("::gpuk::Annotations::launch(", arguments);
        out.binding("launch", &row([launch, text("?")]));
    } else {
        out.line("let launch = launch.into();");
    }

    for (index, at) in buffers.iter().enumerate() {
        let ParamType::Pointer { to, .. } = &kernel.params[*at].ty else {
            continue;
        };
        if !outputs.allocates(kernel, *at) {
            continue;
        }
        let any_bytes = match (&names.generic, to) {
            (Some(generic), Some(_)) => generic.any_bytes.contains(at),
            (_, to) => (to.as_ref()).is_none_or(|ty| is_any_bytes(&bindings.signatures, ty)),
        };
        let zeroed = !any_bytes;
        out.line(match zeroed {
            true => "// SAFETY: it is zeroed.",
            false => "// SAFETY: any bytes are numbers.",
        });
        let arguments = [
            function(bindings, kernel, names),
            text("target"),
            text("&launch"),
            quoted(&kernel.params[*at].name),
            text(format!("{}[{index}]", locals.extents)),
            text(zeroed.to_string()),
        ];
        let item = path(&item(types, to.as_ref()));
        let output = turbofish("::gpuk::Function::output::<", item);
        let output = row([output, filled("(", arguments.into_iter()), text("?")]);
        let output = super::expr::block("unsafe {", output);
        out.binding(&format!("mut {}", names.params[*at]), &output);
    }
}

/// How much there is of what is passed for a pointer.
fn length(param: &Param, name: &str) -> Expr {
    let (to, mutable) = match &param.ty {
        ParamType::Pointer { to, mutable } => (to.as_ref(), *mutable),
        ParamType::Value(_) => (None, false),
    };
    let of = match (to, mutable) {
        (Some(_), false) => "::gpuk::Read::length",
        (Some(_), true) => "::gpuk::Write::length_mut",
        (None, false) => "::gpuk::Length::bytes",
        (None, true) => "::gpuk::Length::bytes_mut",
    };
    call(format!("{of}("), vec![text(format!("&{name}"))])
}

/// `i128::from(n)`.
fn number(
    signatures: &Signatures,
    types: Types<'_>,
    kernel: &Kernel,
    names: &KernelNames,
    value: &Value,
) -> Expr {
    let mut path = names.params[value.param].clone();
    let mut ty = match &kernel.params[value.param].ty {
        ParamType::Value(ty) => ty,
        ParamType::Pointer { .. } => return text(path),
    };
    let mut as_bytes = false;
    for wanted in &value.fields {
        let Type::Struct(structure) = ty else { break };
        let Some(structure) = find(signatures, structure) else {
            break;
        };
        let (given, _) = fields(structure, 0);
        let Some(at) = structure.fields.iter().position(|it| it.name == *wanted) else {
            break;
        };
        path = format!("{path}.{}", given[at]);
        ty = &structure.fields[at].ty;
        as_bytes = Placement::of(signatures, structure).stored[at] != *ty;
    }
    let bytes = || format!("{}::from_ne_bytes(", types.rust(ty));
    let number = match as_bytes {
        true => call(bytes(), vec![text(path)]),
        false => text(path),
    };
    call("i128::from(", vec![number])
}

/// Whether any bytes are a value of the type.
pub(super) fn is_any_bytes(signatures: &Signatures, ty: &Type) -> bool {
    match ty {
        // Numbers of four bits have a byte each, of which not every value is one.
        Type::Scalar(scalar) => !matches!(scalar, Scalar::Bool | Scalar::F4E2M1),
        Type::Enum(_) | Type::Generic(_) => false,
        Type::Vector(_) | Type::Address | Type::Bytes(_) => true,
        Type::Array(item, _) => is_any_bytes(signatures, item),
        Type::Struct(path) => find(signatures, path).is_some_and(|it| {
            let mut fields = it.fields.iter();
            fields.all(|field| is_any_bytes(signatures, &field.ty))
        }),
    }
}
