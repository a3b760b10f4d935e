//! What the compiler read: kernels, structs and files of a preprocessed text.
//!
//! The text is the device pass of `nvcc -E`, so macros and headers are resolved and every kernel that the
//! compiler will see is there. Types are not decided here: those are the compiler's to say (`probe`).

pub(crate) mod annotation;
mod brackets;
mod class;
mod cursor;
mod declarator;
pub(crate) mod docs;
mod extent;
mod function;
#[cfg(test)]
mod hostile;
mod instance;
mod lexer;
mod locate;
mod parser;
#[cfg(test)]
mod tests;
mod variable;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::diagnostic::Place;
use crate::kernel::ends_with;
pub(crate) use annotation::{DeclaredAnnotation, Spot};
pub(crate) use function::checks;
pub(crate) use instance::{instantiation, written_instance};
pub(crate) use lexer::{Files, unescaped};

/// Everything read from one preprocessed text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Declarations {
    /// Kernels, forward declarations included, in the order of the text.
    pub(crate) kernels: Vec<DeclaredKernel>,
    /// `template __global__ void scale<float>(…);`
    pub(crate) instantiations: Vec<DeclaredInstance>,
    /// Functions of the host with a body whose symbol is their name, in the order of the text.
    pub(crate) functions: Vec<DeclaredFunction>,
    /// Variables in the device's memory, other declarations of them included, in the order of the text.
    pub(crate) variables: Vec<DeclaredVariable>,
    /// Structs, classes, unions and enums with a body.
    pub(crate) types: Vec<DeclaredType>,
    /// `typedef` and `using` names, with what they stand for as written; one name may stand for several things
    /// in several scopes.
    pub(crate) aliases: BTreeMap<String, Vec<String>>,
    /// Every file that a line marker names, in the order of first mention.
    pub(crate) files: Vec<PathBuf>,
}

impl Declarations {
    /// Reads a preprocessed text. What is not understood is passed over.
    pub(crate) fn read(text: &str) -> Self {
        Self::read_behind(Files::default(), text)
    }

    /// Reads what stands behind headers of the system and the toolkit, which declare nothing that counts.
    pub(crate) fn read_behind(headers: Files, text: &str) -> Self {
        let lexed = lexer::lex_behind(headers, text);
        let mut declarations = parser::parse(&lexed.tokens, &lexed.files);
        declarations.files = lexed.files;
        declarations
    }

    /// Gives annotations the columns they have in their files, which `read` reads.
    pub(crate) fn locate(&mut self, read: impl Fn(&Path) -> Option<String>) {
        let kernels = self.kernels.iter_mut();
        locate::locate(kernels.flat_map(|kernel| &mut kernel.annotations), read);
    }
}

/// A `__global__` function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredKernel {
    /// The namespaces around it, outermost first; `""` for an anonymous one.
    pub(crate) scope: Vec<String>,
    /// Its name without scope.
    pub(crate) name: String,
    /// Whether its symbol is its name.
    pub(crate) c_linkage: bool,
    /// Whether it is declared `static`.
    pub(crate) is_static: bool,
    /// Whether a body follows.
    pub(crate) defined: bool,
    /// The parameters of its template header, empty for an explicit specialization (`template<>`).
    pub(crate) template: Option<Vec<TemplateParam>>,
    /// Whether another function of the same name differs in its parameters, so that the name alone does not
    /// say which is meant.
    pub(crate) overloaded: bool,
    /// Its parameters.
    pub(crate) params: Vec<DeclaredParam>,
    /// Its annotations, in the order of the text.
    pub(crate) annotations: Vec<DeclaredAnnotation>,
    /// The line of its name.
    pub(crate) place: Place,
    /// The line where its declaration starts, in the same file.
    pub(crate) first_line: u32,
}

impl DeclaredKernel {
    /// The name with its scope, as C++ writes it from inside the file: `ns::scale`.
    pub(crate) fn path(&self) -> String {
        qualified(&self.scope, &self.name)
    }

    /// Whether a name, written with some of its namespaces, means it.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        ends_with(&self.path(), name)
    }
}

/// An `extern "C"` function of the host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredFunction {
    /// The namespaces around it, outermost first.
    pub(crate) scope: Vec<String>,
    /// Its name without scope.
    pub(crate) name: String,
    /// What stands in front of its name, attributes left out, a space between any two tokens.
    pub(crate) returns: String,
    /// Its parameters.
    pub(crate) params: Vec<DeclaredParam>,
    /// The line of its name.
    pub(crate) place: Place,
}

impl DeclaredFunction {
    /// The name with its scope, as C++ writes it from inside the file.
    pub(crate) fn path(&self) -> String {
        qualified(&self.scope, &self.name)
    }
}

/// A `__constant__`, `__device__` or `__managed__` variable at namespace scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredVariable {
    /// The namespaces around it, outermost first; `""` for an anonymous one.
    pub(crate) scope: Vec<String>,
    /// Its name without scope.
    pub(crate) name: String,
    /// Whether it is a template.
    pub(crate) template: bool,
    /// Whether it is `__managed__`: `decltype` refuses its name alone.
    pub(crate) managed: bool,
    /// Its type as written, without its name and initializer, a space between any two tokens.
    pub(crate) text: String,
    /// The line of its name.
    pub(crate) place: Place,
}

impl DeclaredVariable {
    /// The name with its scope, as C++ writes it from inside the file: `ns::coefficients`.
    pub(crate) fn path(&self) -> String {
        qualified(&self.scope, &self.name)
    }
}

/// A parameter as written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredParam {
    /// `None` where it has none.
    pub(crate) name: Option<String>,
    /// Its type as written, without name, default and attributes, a space between any two tokens.
    pub(crate) text: String,
    /// Whether it is a parameter pack.
    pub(crate) pack: bool,
}

/// A parameter of a template header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TemplateParam {
    /// `None` where it has none.
    pub(crate) name: Option<String>,
    /// What it stands for.
    pub(crate) kind: TemplateKind,
    /// Whether it is a pack.
    pub(crate) pack: bool,
}

/// What a template parameter stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TemplateKind {
    /// A type.
    Type,
    /// A value.
    Value,
    /// A template.
    Template,
}

/// An explicit instantiation of a kernel template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredInstance {
    /// The namespaces around the instantiation itself.
    pub(crate) scope: Vec<String>,
    /// The template's name as written, without arguments: `ns::scale`.
    pub(crate) name: String,
    /// The template arguments as written; `None` where they are left to deduction.
    pub(crate) args: Option<Vec<String>>,
    /// Its parameters; those of the template are meant where it is asked for by name.
    pub(crate) params: Vec<DeclaredParam>,
    /// The line of its name.
    pub(crate) place: Place,
    /// Whether it is asked for by name alone: by `GPUK_INSTANTIATE` or the configuration.
    pub(crate) asked: bool,
}

/// A struct, class, union or enum with a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredType {
    /// The namespaces and classes around it, outermost first; `""` for an anonymous namespace.
    pub(crate) scope: Vec<String>,
    /// Its name; that of its typedef where it has no other.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: TypeKind,
    /// The parameters of its template header, or of that of a class around it.
    pub(crate) template: Option<Vec<TemplateParam>>,
    /// Its base classes, in order.
    pub(crate) bases: Vec<DeclaredBase>,
    /// Its non-static data members, in order, with those of its anonymous members. Empty for an enum.
    pub(crate) fields: Vec<DeclaredField>,
    /// The names of an enum's values, in order.
    pub(crate) enumerators: Vec<String>,
    /// Why the fields do not tell the whole layout, if they do not.
    pub(crate) obstacle: Option<Obstacle>,
    /// Whether code outside the classes around it may name it.
    pub(crate) public: bool,
    /// The line of its name.
    pub(crate) place: Place,
}

impl DeclaredType {
    /// The scope of its members.
    pub(crate) fn inner_scope(&self) -> Vec<String> {
        let mut scope = self.scope.clone();
        scope.push(self.name.clone());
        scope
    }

    /// The name with its scope, as C++ writes it from inside the file: `ns::P`.
    pub(crate) fn path(&self) -> String {
        qualified(&self.scope, &self.name)
    }
}

/// What a [`DeclaredType`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypeKind {
    /// `struct` or `class`.
    Struct,
    /// `union`.
    Union,
    /// `enum` or `enum class`.
    Enum,
}

/// Why the fields of a struct are not all that is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// It has a base class that is virtual, not public or not known, or fields of it cannot be found.
    Base,
    /// It has a reference.
    Reference,
    /// It is an explicit or partial specialization of a template.
    Specialization,
}

/// A base class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredBase {
    /// As written, a space between any two tokens.
    pub(crate) text: String,
    /// Whether code outside the class may use what it inherits from it.
    pub(crate) public: bool,
}

/// A non-static data member.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DeclaredField {
    /// Its name.
    pub(crate) name: String,
    /// The declaration as written, a space between any two tokens, with all declarators up to this one.
    pub(crate) text: String,
    /// Whether code outside the class may name it.
    pub(crate) public: bool,
    /// How it lies among the others.
    pub(crate) kind: FieldKind,
}

/// How a data member lies among the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// It has bytes of its own.
    Own,
    /// It is a union's, or an anonymous union's: others lie in the same bytes.
    Shared,
    /// It is a bit-field.
    Bits,
    /// It is a bit-field of a union.
    SharedBits,
}

impl FieldKind {
    /// The kind of a member of a union.
    pub(crate) fn shared(self) -> Self {
        match self {
            Self::Own | Self::Shared => Self::Shared,
            Self::Bits | Self::SharedBits => Self::SharedBits,
        }
    }
}

fn qualified(scope: &[String], name: &str) -> String {
    let named = scope.iter().filter(|part| !part.is_empty());
    let mut path = String::new();
    for part in named {
        path.push_str(part);
        path.push_str("::");
    }
    path + name
}
