//! Which questions to ask.

use std::collections::BTreeSet;

use super::resolve::{Mention, NamedField, Resolved, Resolver};
use super::text;
use crate::ctype::{CType, is_fundamental};
use crate::source::{
    Declarations, DeclaredKernel, DeclaredParam, DeclaredType, FieldKind, Obstacle, TemplateKind,
    TypeKind,
};

/// A question and the number in its variables' names.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    pub(super) number: usize,
    pub(super) question: Question,
}

/// Something that only the compiler knows.
#[derive(Debug, Clone)]
pub(super) enum Question {
    /// The type of a function.
    Kernel {
        /// Index into [`Declarations::kernels`].
        kernel: usize,
        function: String,
        /// Whether size, alignment and traits of its parameters are wanted.
        rooms: bool,
    },
    /// The type of a template's instance, and its arguments.
    Instance {
        /// Index into [`Declarations::instantiations`].
        instance: usize,
        scope: Vec<String>,
        function: String,
        args: Vec<(TemplateKind, String)>,
        /// Whether size, alignment and traits of its parameters are wanted.
        rooms: bool,
    },
    /// The type of a function of the host.
    Function {
        /// Index into [`Declarations::functions`].
        index: usize,
        function: String,
    },
    /// The type of a variable.
    Variable {
        /// Index into [`Declarations::variables`].
        variable: usize,
        ty: String,
    },
    /// Size, alignment, traits and fields of a struct.
    Layout {
        /// Index into [`Declarations::types`].
        declared: usize,
        scope: Vec<String>,
        /// How C++ names the type.
        ty: String,
        /// Those that have an address.
        fields: Vec<AskedField>,
        /// Why they are not all, if they are not.
        obstacle: Option<Obstacle>,
    },
    /// The places of a struct's bit-fields.
    Bits {
        scope: Vec<String>,
        ty: String,
        /// Their names.
        fields: Vec<String>,
    },
    /// The type underlying an enum, and its values.
    Enum { ty: String, values: Vec<String> },
}

/// A field that has an address.
#[derive(Debug, Clone)]
pub(super) struct AskedField {
    pub(super) name: String,
    /// Whether it may be named from outside.
    pub(super) public: bool,
    /// Whether others lie in the same bytes.
    pub(super) shared: bool,
}

/// How far class templates are followed through fields and aliases.
const DEPTH: usize = 4;

/// More structs than any file's kernels mention; keeps a header of thousands from being probed.
const MAX_TYPES: usize = 300;

/// More values than any enum that a kernel takes has.
const MAX_VALUES: usize = 1000;

/// More variables than anybody sets from the host.
const MAX_VARIABLES: usize = 300;

/// What launchers return, by its names. The toolkit's headers are not read, so its values are told here.
const ERROR: [&str; 2] = ["cudaError", "cudaError_t"];

/// Those that a launch returns, and those that say that there is no device for it (CUDA 10.2 and later).
const ERRORS: [&str; 15] = [
    "cudaSuccess",
    "cudaErrorInvalidValue",
    "cudaErrorMemoryAllocation",
    "cudaErrorInitializationError",
    "cudaErrorInvalidConfiguration",
    "cudaErrorInsufficientDriver",
    "cudaErrorInvalidDeviceFunction",
    "cudaErrorNoDevice",
    "cudaErrorInvalidDevice",
    "cudaErrorNoKernelImageForDevice",
    "cudaErrorNotReady",
    "cudaErrorIllegalAddress",
    "cudaErrorLaunchOutOfResources",
    "cudaErrorAssert",
    "cudaErrorLaunchFailure",
];

/// All questions about kernels and variables.
pub(super) fn questions(declarations: &Declarations) -> Vec<Asked> {
    let mut asker = Asker::new(declarations);
    asker.kernels();
    asker.instances();
    // What kernels name comes before what others name, of which there may be too many.
    asker.types();
    asker.variables();
    asker.types();
    asker.implicit();
    asker.types();
    asker.numbered()
}

/// All questions about functions of the host.
pub(super) fn of_functions(declarations: &Declarations) -> Vec<Asked> {
    let mut asker = Asker::new(declarations);
    asker.functions();
    asker.types();
    asker.numbered()
}

struct Asker<'d> {
    declarations: &'d Declarations,
    resolver: Resolver<'d>,
    seen: BTreeSet<&'d str>,
    /// Words still to be followed to types.
    words: Vec<&'d str>,
    /// How many types were asked for by their names.
    asked: usize,
    out: Vec<Question>,
}

impl<'d> Asker<'d> {
    fn new(declarations: &'d Declarations) -> Self {
        Self {
            declarations,
            resolver: Resolver::new(declarations),
            seen: BTreeSet::new(),
            words: Vec::new(),
            asked: 0,
            out: Vec::new(),
        }
    }

    fn numbered(self) -> Vec<Asked> {
        let numbered = self.out.into_iter().enumerate();
        numbered
            .map(|(number, question)| Asked { number, question })
            .collect()
    }

    fn functions(&mut self) {
        let all = self.declarations.functions.iter();
        let texts = all.flat_map(|it| {
            let params = it.params.iter().map(|param| &param.text);
            params.chain([&it.returns])
        });
        if texts
            .flat_map(|text| words(text))
            .any(|word| ERROR.contains(&word))
        {
            self.out.push(Question::Enum {
                ty: format!("::{}", ERROR[0]),
                values: ERRORS.map(str::to_owned).to_vec(),
            });
        }
        for (index, declared) in self.declarations.functions.iter().enumerate() {
            self.mention(&declared.params);
            self.words.extend(words(&declared.returns));
            let function = format!("::{}", declared.path());
            self.out.push(Question::Function {
                index,
                function: function.clone(),
            });
            self.templates_of(&declared.params, &declared.scope, &[], &function);
        }
    }

    fn kernels(&mut self) {
        let mut paths = BTreeSet::new();
        let kernels = &self.declarations.kernels;
        for (index, kernel) in kernels.iter().enumerate() {
            self.mention(&kernel.params);
            let known = kernel.template.is_none() && (kernel.c_linkage || !kernel.overloaded);
            if !known || !paths.insert(kernel.path()) {
                continue;
            }
            let function = format!("::{}", kernel.path());
            let defined = |other: &DeclaredKernel| other.defined && other.path() == kernel.path();
            self.out.push(Question::Kernel {
                kernel: index,
                function: function.clone(),
                rooms: self.takes_classes(&kernel.params) && kernels.iter().any(defined),
            });
            self.templates_of(&kernel.params, &kernel.scope, &[], &function);
        }
    }

    fn instances(&mut self) {
        let declarations = self.declarations;
        for (index, instance) in declarations.instantiations.iter().enumerate() {
            let template = self.only_template(&instance.name);
            let params = match (instance.asked, template) {
                (true, Some(template)) => &template.params,
                _ => &instance.params,
            };
            self.mention(params);
            let Some(args) = &instance.args else { continue };
            for arg in args {
                self.words.extend(words(arg));
            }
            let Some(header) = template else {
                continue;
            };
            let header = header.template.as_deref().unwrap_or_default();
            let mut kinds = Vec::new();
            for (nth, arg) in args.iter().enumerate() {
                let param = header.get(nth).or(header.last().filter(|last| last.pack));
                kinds.push((
                    param.map_or(TemplateKind::Template, |param| param.kind),
                    arg.clone(),
                ));
            }
            let scope: Vec<_> = instance
                .scope
                .iter()
                .filter(|part| !part.is_empty())
                .cloned()
                .collect();
            let function = format!("{}<{} >", instance.name, args.join(", "));
            self.out.push(Question::Instance {
                instance: index,
                scope: scope.clone(),
                function: function.clone(),
                args: kinds,
                rooms: self.takes_classes(params),
            });
            self.templates_of(params, &instance.scope, &scope, &function);
        }
    }

    fn variables(&mut self) {
        let mut paths = BTreeSet::new();
        for (index, variable) in self.declarations.variables.iter().enumerate() {
            let path = variable.path();
            if variable.template || paths.len() == MAX_VARIABLES || !paths.insert(path.clone()) {
                continue;
            }
            self.words.extend(words(&variable.text));
            let ty = match variable.managed {
                true => format!("__gpuk_probe::object<decltype((::{path}))>::type"),
                false => format!("decltype(::{path})"),
            };
            self.out.push(Question::Variable {
                variable: index,
                ty: ty.clone(),
            });
            self.template(
                Mention::of(&variable.text, &variable.scope),
                &[],
                &ty,
                DEPTH,
            );
        }
    }

    /// The kernel template of a name, if there is but one.
    fn only_template(&self, name: &str) -> Option<&'d DeclaredKernel> {
        let last = name.rsplit("::").next().unwrap_or(name);
        let named = |kernel: &&DeclaredKernel| {
            kernel.name == last
                && kernel
                    .template
                    .as_ref()
                    .is_some_and(|params| !params.is_empty())
        };
        let mut found = self.declarations.kernels.iter().filter(named);
        let first = found.next().filter(|kernel| !kernel.overloaded)?;
        let same = |other: &DeclaredKernel| {
            other.path() == first.path() && other.template == first.template
        };
        found.all(same).then_some(first)
    }

    /// Whether a parameter is, or may be, of a class or enum.
    fn takes_classes(&self, params: &[DeclaredParam]) -> bool {
        !params.iter().all(|param| self.is_plain(&param.text, DEPTH))
    }

    /// Whether a type's text is a pointer's, an array's or a number's.
    fn is_plain(&self, text: &str, depth: usize) -> bool {
        match text.parse() {
            Ok(CType::Pointer(..) | CType::Array(..)) => true,
            Ok(CType::Named(name, _)) => name.as_simple().is_some_and(|word| {
                let aliases = self.declarations.aliases.get(word);
                let meanings = aliases.map_or(&[][..], Vec::as_slice).iter();
                is_fundamental(word)
                    || (depth > 0
                        && meanings.len() > 0
                        && meanings.clone().all(|it| self.is_plain(it, depth - 1)))
            }),
            _ => false,
        }
    }

    fn mention(&mut self, params: &'d [DeclaredParam]) {
        for param in params {
            self.words.extend(words(&param.text));
        }
    }

    /// Asks for the layout of class template instances among parameters, by their position.
    fn templates_of(
        &mut self,
        params: &[DeclaredParam],
        near: &[String],
        scope: &[String],
        function: &str,
    ) {
        for (nth, param) in params.iter().enumerate() {
            let ty = format!("__gpuk_probe::param<{nth}, decltype(&{function})>::type");
            self.template(Mention::of(&param.text, near), scope, &ty, DEPTH);
        }
    }

    /// Asks for the layout of the instance of a class template that is mentioned, which C++ knows as `ty`.
    fn template(&mut self, mention: Mention<'_>, scope: &[String], ty: &str, depth: usize) {
        let Some(found) = self.resolver.resolve(mention) else {
            return;
        };
        let template = self.declarations.types[found.declared].template.is_some();
        if template && depth > 0 {
            let ty = format!("__gpuk_probe::bare<{ty}>::type");
            self.layout(&found, scope, &ty, depth - 1);
        }
    }

    /// Asks for the layout of a struct, and of the class template instances among its fields.
    fn layout(&mut self, found: &Resolved, scope: &[String], ty: &str, depth: usize) {
        let number = self.out.len();
        let (mut fields, obstacle) = self.resolver.fields(found, DEPTH);
        let bits = fields
            .iter()
            .filter(|field| field.kind == FieldKind::Bits && field.public);
        let bits: Vec<_> = bits.map(|field| field.name.clone()).collect();
        // A flexible array, `int x[]`, has no bytes of the struct; a reference has no `offsetof`.
        let asked = |field: &NamedField| {
            matches!(field.kind, FieldKind::Own | FieldKind::Shared)
                && !field.text.ends_with("[ ]")
                && !field.text.ends_with('&')
        };
        fields.retain(asked);
        self.out.push(Question::Layout {
            declared: found.declared,
            scope: scope.to_vec(),
            ty: ty.to_owned(),
            fields: fields
                .iter()
                .map(|field| AskedField {
                    name: field.name.clone(),
                    public: field.public,
                    shared: field.kind == FieldKind::Shared,
                })
                .collect(),
            obstacle,
        });
        if !bits.is_empty() {
            self.out.push(Question::Bits {
                scope: scope.to_vec(),
                ty: ty.to_owned(),
                fields: bits,
            });
        }
        let near = self.declarations.types[found.declared].inner_scope();
        for (nth, field) in fields.iter().enumerate() {
            let ty = text::field_type(number, ty, nth, &field.name, field.public);
            self.template(Mention::of(&field.text, &near), scope, &ty, depth);
        }
    }

    /// Which types an implicit instance of a template takes is not known before it is compiled.
    fn implicit(&mut self) {
        let declarations = self.declarations;
        let implicit = |kernel: &DeclaredKernel| kernel.template.is_some();
        if declarations.kernels.iter().any(implicit) {
            self.words
                .extend(declarations.types.iter().map(|ty| ty.name.as_str()));
        }
    }

    /// Follows the words met so far through aliases and fields, and asks for every struct and enum on the
    /// way.
    fn types(&mut self) {
        let declarations = self.declarations;
        while let Some(word) = self.words.pop() {
            if !self.seen.insert(word) {
                continue;
            }
            for meaning in declarations
                .aliases
                .get(word)
                .map_or(&[][..], Vec::as_slice)
            {
                self.words.extend(words(meaning));
            }
            for &index in self.resolver.named(word).to_vec().iter() {
                let ty = &declarations.types[index];
                for field in &ty.fields {
                    self.words.extend(words(&field.text));
                }
                for base in &ty.bases {
                    self.words.extend(words(&base.text));
                }
                if ty.template.is_some() || !ty.public || self.asked == MAX_TYPES {
                    continue;
                }
                self.asked += 1;
                self.ask_for(index, ty);
            }
        }
    }

    fn ask_for(&mut self, index: usize, ty: &'d DeclaredType) {
        let name = format!("::{}", ty.path());
        if ty.kind == TypeKind::Enum {
            let mut values = ty.enumerators.clone();
            values.truncate(MAX_VALUES);
            self.out.push(Question::Enum { ty: name, values });
            return;
        }
        self.layout(&Resolved::plain(index), &[], &name, DEPTH);
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let word = |word: &&str| word.starts_with(|c: char| c.is_alphabetic() || c == '_');
    text.split(' ').filter(word)
}
