//! Annotations of a declaration, joined with the parameters that they are about.

use super::expression::{Names, expression};
use super::shape::shape;
use super::{Access, Annotations, Expression, Extent};
use crate::ctype::{Arg, CType};
use crate::diagnostic::{Code, Diagnostic, Place};
use crate::kernel::{Kernel, ParamType};
use crate::source::{DeclaredAnnotation, Spot};

/// What is known of types.
pub(crate) trait Types {
    /// The type of a struct's field.
    fn field(&self, structure: &str, field: &str) -> Option<crate::kernel::Type>;

    /// Bytes of a type.
    fn size(&self, ty: &CType) -> Option<u64>;
}

/// Something that an annotation may not say.
#[derive(Debug)]
pub(super) struct Wrong {
    code: Code,
    message: String,
    place: Option<Place>,
    help: String,
}

impl Wrong {
    pub(super) fn at(token: &Spot, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self::new(Some(token.place.clone()), message, help)
    }

    /// At the end of what the token ends.
    pub(super) fn behind(
        token: Option<&Spot>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let place = token.map(|token| {
            let mut place = token.place.clone();
            let length = u32::try_from(token.text.len()).unwrap_or(0);
            place.column = place.column.map(|column| column + length);
            place
        });
        Self::new(place, message, help)
    }

    fn new(place: Option<Place>, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            code: Code::BAD_ANNOTATION,
            message: message.into(),
            place,
            help: help.into(),
        }
    }

    /// It contradicts the kernel's launch bounds.
    pub(super) fn of_bounds(self) -> Self {
        let code = Code::LAUNCH_CONTRADICTION;
        Self { code, ..self }
    }
}

/// Reads a kernel's annotations; `index` finds the parameter of one that was declared so.
pub(crate) fn resolve(
    declared: &[DeclaredAnnotation],
    kernel: &Kernel,
    template: &[(String, Arg)],
    types: &dyn Types,
) -> (Annotations, Vec<Diagnostic>) {
    let mut found = Annotations::default();
    let mut findings = Vec::new();
    for annotation in declared {
        let names = Names {
            params: &kernel.params,
            template,
            types,
            block: annotation.param.is_none(),
        };
        let read = match annotation.param {
            None => launch(annotation, &names, kernel).and_then(|shape| {
                let twice = found.shape.replace(shape).is_some();
                refuse(twice, "a second `GPUK_LAUNCH`", "give one")
            }),
            Some(param) => extent(annotation, param, &names).and_then(|extent| {
                let twice = found.extent(extent.param).is_some();
                found.extents.push(extent);
                let message = format!("a second annotation of `{}`", kernel.params[param].name);
                refuse(
                    twice,
                    message,
                    "`GPUK_INOUT` says both that it is read and that it is written",
                )
            }),
        };
        if let Err(wrong) = read {
            findings.push(wrong.finding(annotation, kernel));
        }
    }
    findings.extend(lengths_of_outputs(&found, declared, kernel));
    (found, findings)
}

fn refuse(wrong: bool, message: impl Into<String>, help: &str) -> Result<(), Wrong> {
    match wrong {
        true => Err(Wrong::new(None, message, help)),
        false => Ok(()),
    }
}

fn launch(
    annotation: &DeclaredAnnotation,
    names: &Names<'_>,
    kernel: &Kernel,
) -> Result<super::Shape, Wrong> {
    let message = format!("`{}` stands at the kernel", annotation.shown());
    let help = "extents stand before a pointer parameter";
    refuse(annotation.word != "launch", message, help)?;
    shape(
        &annotation.written,
        &annotation.tokens,
        names,
        &kernel.bounds,
    )
}

fn extent(
    annotation: &DeclaredAnnotation,
    param: usize,
    names: &Names<'_>,
) -> Result<Extent, Wrong> {
    let word = annotation.word.as_str();
    let (word, optional) = match word.strip_suffix("_opt") {
        Some(word) => (word, true),
        None => (word, false),
    };
    let access = match word {
        "in" => Access::In,
        "out" => Access::Out,
        "inout" => Access::InOut,
        _ => {
            let message = format!("`{}` stands at a parameter", annotation.shown());
            return Err(Wrong::new(None, message, "it stands before the kernel"));
        }
    };
    let annotated = names.params.get(param);
    let Some(annotated) = annotated else {
        let message = format!("`{}` stands at a parameter pack", annotation.shown());
        return Err(Wrong::new(None, message, "name the parameters"));
    };
    let ParamType::Pointer { mutable, .. } = annotated.ty else {
        let message = format!("`{}` is no pointer: it has no extent", annotated.name);
        return Err(Wrong::new(None, message, "extents are those of buffers"));
    };
    if access != Access::In && !mutable {
        let message = format!(
            "the kernel cannot write `{}`, a `{}`",
            annotated.name, annotated.declared
        );
        return Err(Wrong::new(
            None,
            message,
            "`GPUK_IN` is for what a kernel reads",
        ));
    }
    let items = expression(&annotation.tokens, names)?;
    let length_of = match (&items, annotation.tokens.as_slice()) {
        (Expression::Value(value), [_]) => Some(value.param),
        _ => None,
    };
    Ok(Extent {
        param,
        access,
        optional,
        written: annotation.written.clone(),
        items,
        length_of,
    })
}

/// Lengths of buffers that the wrapper allocates are not known before their extents are.
fn lengths_of_outputs(
    found: &Annotations,
    declared: &[DeclaredAnnotation],
    kernel: &Kernel,
) -> Vec<Diagnostic> {
    let mut outputs = Vec::new();
    for expression in found.expressions() {
        expression.visit(&mut |it| match it {
            Expression::Length(param) if found.is_allocated(*param) => {
                outputs.push(kernel.params[*param].name.as_str());
            }
            _ => {}
        });
    }
    outputs.sort_unstable();
    outputs.dedup();
    let finding = |name: &str| {
        let names = |it: &&DeclaredAnnotation| {
            let mut pairs = it.tokens.windows(3);
            pairs.any(|three| three[0].text == "len" && three[2].text == name)
        };
        let wrong = Wrong::new(
            None,
            format!("`len({name})` is not known: `{name}` is allocated by its own extent"),
            "write that extent, or annotate it `GPUK_INOUT`",
        );
        Some(wrong.finding(declared.iter().find(names)?, kernel))
    };
    outputs.into_iter().filter_map(finding).collect()
}

impl DeclaredAnnotation {
    fn shown(&self) -> String {
        format!("GPUK_{}({})", self.word.to_uppercase(), self.written)
    }
}

impl Wrong {
    fn finding(self, annotation: &DeclaredAnnotation, kernel: &Kernel) -> Diagnostic {
        let Self {
            code,
            message,
            place,
            help,
        } = self;
        let message = format!("an annotation of kernel `{}`: {message}", kernel.name);
        let place = place.unwrap_or_else(|| annotation.place.clone());
        Diagnostic::error(code, message).at(place, "").help(help)
    }
}
