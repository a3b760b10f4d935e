//! What a kernel is to Rust: names, parameters and types, joined from the source, the compiler and the PTX.
//!
//! These are the values that signatures are made of. Reading them is the business of `signature`, drawing
//! them that of `generate`.

use serde::{Deserialize, Serialize};

use crate::annotation::Annotations;
use crate::diagnostic::Place;
use crate::function::Function;
use crate::instance::Instance;

/// The kernels of one source file and the types their parameters need.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signatures {
    /// In the order of the PTX.
    pub kernels: Vec<Kernel>,
    /// Every struct that a parameter or a variable mentions, a field's struct before the struct that holds it.
    pub structs: Vec<Struct>,
    /// Every enum that a parameter or a field mentions.
    pub enums: Vec<Enum>,
    /// The variables of the module that host code can name, in the order of the PTX.
    pub symbols: Vec<Symbol>,
    /// The functions of the host that Rust can call, in the order of the source.
    #[serde(default)]
    pub functions: Vec<Function>,
    /// Every kernel template that the source defines, instantiated or not.
    pub templates: Vec<Template>,
}

impl Signatures {
    /// Takes in a template of another image or source: it is instantiated where one of them does so.
    pub(crate) fn see(&mut self, new: &Template) {
        let mut known = self.templates.iter_mut();
        match known.find(|known| known.place == new.place) {
            Some(known) => known.instantiated |= new.instantiated,
            None => self.templates.push(new.clone()),
        }
    }
}

/// A kernel template.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Template {
    /// The C++ name: `ns::scale`.
    pub path: String,
    /// Where it is defined.
    pub place: Place,
    /// Whether an entry of the PTX is an instance of it.
    pub instantiated: bool,
}

impl Template {
    /// Whether a name, written with some of its namespaces, means it.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        ends_with(&self.path, name)
    }
}

/// Whether a path may be meant by a name that is written in some of its scopes.
pub(crate) fn ends_with(path: &str, name: &str) -> bool {
    path.strip_suffix(name)
        .is_some_and(|scope| scope.is_empty() || scope.ends_with("::"))
}

/// A variable of the module: `__constant__`, `__device__` or `__managed__`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// Name of the Rust method that gives its handle.
    pub name: String,
    /// The C++ name: `ns::coefficients`.
    pub path: String,
    /// The PTX symbol: `_ZN2ns12coefficientsE`.
    pub symbol: String,
    /// Lines of the comment above the definition, markers removed.
    pub docs: Vec<String>,
    /// Where the source declares it.
    pub place: Place,
    /// The type as the compiler prints it: `float [64]`.
    pub declared: String,
    /// The type to Rust.
    pub ty: Type,
    /// In bytes.
    pub size: u64,
    /// Where it lies.
    pub memory: Memory,
    /// What may be done with it.
    pub access: Access,
}

/// Where a [`Symbol`] lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Memory {
    /// `__constant__`.
    Constant,
    /// `__device__` and `__managed__`.
    Global,
}

/// What host code may do with a [`Symbol`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Access {
    /// Read and write: constant memory.
    Constant,
    /// Read, write and pass to kernels: `__device__` and `__managed__`.
    Global,
    /// Read alone: its type is `const`, so the compiler may have taken its value for granted.
    Fixed,
}

/// One entry of the PTX.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Name of the Rust method, unique in the module.
    pub name: String,
    /// The C++ name as the compiler knows it: `scale`, `ns::scale<float>`.
    pub path: String,
    /// The PTX symbol: `scale`, `_ZN2ns5scaleIfEEvPT_S1_i`.
    pub entry: String,
    /// Lines of the comment above the definition, markers removed.
    pub docs: Vec<String>,
    /// Where the source defines it (for a macro's kernel: where the macro is used).
    pub place: Place,
    /// In the order of the declaration, without the hidden one.
    pub params: Vec<Param>,
    /// What the declaration says about the launch.
    pub bounds: Bounds,
    /// What it is made with, for an instance of a template.
    pub instance: Option<Instance>,
    /// What its annotations say.
    pub annotations: Annotations,
}

/// What the PTX's directives say about the launch (PTX ISA 9.0, 11.4 and 11.7).
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Bounds {
    /// `__launch_bounds__(N)`: the most threads a block may have.
    pub max_threads: Option<u32>,
    /// `.reqntid`: the only block shape.
    pub exact_block: Option<[u32; 3]>,
    /// `__launch_bounds__(_, M)`: blocks meant to share a multiprocessor.
    pub min_blocks: Option<u32>,
    /// `__maxnreg__(N)`: the most registers a thread may have.
    pub max_registers: Option<u32>,
    /// `__cluster_dims__`, and the second argument of `__block_size__`: the only shape of a cluster, in blocks.
    pub cluster: Option<[u32; 3]>,
    /// `__launch_bounds__(_, _, B)`: the most blocks a cluster may have.
    pub max_cluster: Option<u32>,
    /// `__cluster_dims__()`: a launch has to give the shape of a cluster.
    pub explicit_cluster: bool,
    /// `__block_size__`: the driver is told the grid in clusters.
    pub grid_of_clusters: bool,
}

/// One parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Param {
    /// As the source names it; `param_2` where the source gives none. Not yet a Rust identifier.
    pub name: String,
    /// The type as the compiler prints it: `const float *`.
    pub declared: String,
    /// The type to Rust.
    pub ty: ParamType,
}

/// How a parameter is passed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParamType {
    /// By value.
    Value(Type),
    /// An address in device memory.
    Pointer {
        /// What lies there; `None` for `void`.
        to: Option<Type>,
        /// Whether the kernel may write it.
        mutable: bool,
    },
}

/// A type with a Rust counterpart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Type {
    /// A number.
    Scalar(Scalar),
    /// A CUDA vector type by its C++ name: `float4`.
    Vector(String),
    /// A struct, by [`Struct::path`].
    Struct(String),
    /// An enum, by [`Enum::path`].
    Enum(String),
    /// `T[N]`, inside a struct.
    Array(Box<Type>, u64),
    /// So many bytes of which no more is known.
    Bytes(u64),
    /// A device address inside a struct or behind a pointer (`float **`): eight bytes.
    Address,
    /// What each instance of a template decides, as Rust writes it: `T`, `<T as Scale>::By`. No kernel's own.
    Generic(String),
}

/// Numbers that CUDA and Rust share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is its Rust type")]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    I128,
    U8,
    U16,
    U32,
    U64,
    U128,
    F32,
    F64,
    /// `__half`.
    F16,
    /// `__nv_bfloat16`.
    Bf16,
    /// `__nv_fp8_e4m3`.
    F8E4M3,
    /// `__nv_fp8_e5m2`.
    F8E5M2,
    /// `__nv_fp4_e2m1`.
    F4E2M1,
    /// `__nv_fp4x2_e2m1`.
    F4E2M1x2,
    /// `thrust::complex<float>`, `cuda::std::complex<float>`.
    C32,
    /// `thrust::complex<double>`, `cuda::std::complex<double>`.
    C64,
}

/// A struct passed by value or behind a pointer; its layout is the compiler's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Struct {
    /// Name of the Rust struct, unique in the module.
    pub name: String,
    /// The C++ name: `ns::P`.
    pub path: String,
    /// `sizeof`, in bytes.
    pub size: u64,
    /// `alignof`, in bytes.
    pub align: u64,
    /// By offset; padding is not listed.
    pub fields: Vec<Field>,
    /// Members that lie inside a field of [`Type::Bytes`].
    pub views: Vec<View>,
}

/// A member of a [`Struct`] without bytes of its own: a bit-field, or a union's member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// As the source names it.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The index of the field that holds it, in [`Struct::fields`].
    pub field: usize,
    /// Where it is in that.
    pub place: ViewPlace,
}

/// Where a [`View`] is in its field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ViewPlace {
    /// From a byte on.
    Byte(u64),
    /// Some bits, counted from the lowest of the first byte.
    Bits { first: u64, width: u64 },
}

/// An enum: a number, some of whose values have names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Enum {
    /// Name of the Rust type, unique in the module.
    pub name: String,
    /// The C++ name: `ns::Mode`.
    pub path: String,
    /// The type under it.
    pub scalar: Scalar,
    /// Names and values, widened to 64 bits.
    pub values: Vec<(String, u64)>,
}

/// A field of a [`Struct`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Field {
    /// As the source names it.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// `offsetof`, in bytes.
    pub offset: u64,
}
