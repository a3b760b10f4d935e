//! Why an entry gets no wrapper, as findings.

use super::origin::Origin;
use super::symbol;
use super::types::Why;
use crate::ctype::CType;
use crate::diagnostic::{Code, Diagnostic, Level, Place};

/// Why an entry has no origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stranger {
    /// No declaration of it was read.
    Unknown,
    /// It is declared there, but the compiler did not say its type.
    NoAnswer(Place),
}

impl Stranger {
    pub(super) fn finding(&self, entry: &str, source: &Place) -> Diagnostic {
        let code = Some(Code::ENTRY_NOT_IN_SOURCE);
        match self {
            Self::Unknown => {
                let entry = symbol::readable(entry);
                let message = format!(
                    "entry `{entry}` is declared neither in the source nor in its own headers"
                );
                Diagnostic::new(code, Level::Note, message)
                    .at(source.clone(), "")
                    .note("kernels of system and toolkit headers get no wrapper")
            }
            Self::NoAnswer(place) => {
                let message =
                    format!("the types of kernel `{entry}` could not be asked of the compiler");
                Diagnostic::new(code, Level::Warning, message)
                    .at(place.clone(), "")
                    .note("it gets no wrapper")
                    .help("compile as C++14 or later, and keep functions of other types from having its name")
            }
        }
    }
}

/// Why a kernel gets no wrapper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Source and PTX differ in the number of parameters.
    Count {
        /// As the compiler says.
        source: usize,
        /// As the PTX has.
        ptx: usize,
    },
    /// A parameter cannot be passed from Rust.
    Param { name: String, ty: CType, why: Why },
}

impl Refusal {
    pub(super) fn finding(&self, origin: &Origin<'_>) -> Diagnostic {
        let kernel = origin.name.path();
        let (name, ty, why) = match self {
            Self::Count { source, ptx } => {
                let message = format!(
                    "kernel `{kernel}` has {source} parameters in the source and {ptx} in the PTX"
                );
                return Diagnostic::error(Code::LAYOUT_DISAGREES, message)
                    .at(origin.place.clone(), "");
            }
            Self::Param { name, ty, why } => (name, ty, why),
        };
        let parameter = format!("parameter `{name}` of kernel `{kernel}`");
        let finding = match why {
            Why::Reference => Diagnostic::warning(
                Code::REFERENCE_PARAMETER,
                format!("{parameter} is a reference, `{ty}`"),
            )
            .note("it is passed as an address of the host, which the device cannot read")
            .help(instead_of_reference(ty, name)),
            Why::Polymorphic(class) => Diagnostic::warning(
                Code::CLASS_NOT_PLAIN,
                format!("{parameter} has class `{class}`, which has virtual functions"),
            )
            .note("its bytes hold an address of the host's function table")
            .help("pass a struct of plain fields, or a pointer to device memory"),
            Why::NotCopyable(class) => Diagnostic::warning(
                Code::CLASS_NOT_PLAIN,
                format!("{parameter} has class `{class}`, which is not trivially copyable"),
            )
            .note("a launch copies its bytes and runs no constructor")
            .help("default its copy constructor and destructor, or pass a struct of plain fields"),
            Why::Room([size, align], [ptx_size, ptx_align]) => Diagnostic::error(
                Code::LAYOUT_DISAGREES,
                format!(
                    "{parameter} has {size} bytes aligned to {align} as `{ty}`, but {ptx_size} aligned to \
                     {ptx_align} in the PTX"
                ),
            ),
            _ => {
                let help = match origin.implicit && why.is_about_instance() {
                    true => format!(
                        "ask for it, `instantiate = [\"{kernel}\"]` or `template __global__ void …;`: the compiler then tells the layout"
                    ),
                    false => "pass a pointer to it, or a struct of plain fields".to_owned(),
                };
                let message = format!("{parameter} has type `{ty}`, which has no Rust counterpart");
                Diagnostic::warning(Code::TYPE_WITHOUT_COUNTERPART, message)
                    .note(reason(why))
                    .help(help)
            }
        };
        let mut finding = finding.at(origin.place.clone(), "");
        if finding.level == Level::Warning {
            finding = finding.note("the kernel gets no wrapper");
        }
        // An instance that host code launches was not made for a wrapper.
        if origin.implicit {
            finding.level = Level::Note;
        }
        finding
    }
}

/// What to write instead of `const float &x`.
fn instead_of_reference(ty: &CType, name: &str) -> String {
    let CType::Reference(to) = ty else {
        return "pass it by value or by pointer".to_owned();
    };
    if matches!(**to, CType::Array(..) | CType::Function(..)) {
        return "pass a pointer to device memory, or a struct of plain fields by value".to_owned();
    }
    let mut value = (**to).clone();
    if let CType::Named(_, qualifiers) = &mut value {
        *qualifiers = Default::default();
    }
    let pointer = CType::Pointer(to.clone(), Default::default());
    format!(
        "take it by value, `{value} {name}`, or as a pointer to device memory, `{pointer}{name}`"
    )
}

pub(super) fn reason(why: &Why) -> String {
    match why {
        Why::Unknown(ty) => {
            format!("the layout of `{ty}` cannot be read from the source and its own headers")
        }
        Why::HoldsReference(class) => format!("`{class}` has a reference as a field"),
        Why::Field(class, field, inner) => match &**inner {
            Why::Unknown(ty) => {
                format!("field `{field}` of `{class}` has type `{ty}`, whose layout cannot be read")
            }
            inner => format!("field `{field}` of `{class}`: {}", reason(inner)),
        },
        Why::Polymorphic(class) => format!("`{class}` has virtual functions"),
        Why::NotCopyable(class) => format!("`{class}` is not trivially copyable"),
        Why::Reference | Why::Room(..) => String::new(),
    }
}
