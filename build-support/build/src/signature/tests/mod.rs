//! Signatures of recorded compilations: `fixtures/*.ii` is what nvcc 13.0 read of the `.cu`, `*.ptx` what it
//! made of that with the probe behind it.

mod nvcc;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use gpuk_ptx::Module;

use super::*;
use crate::config::KernelConfig;
use crate::kernel::{ParamType, Type};
use crate::probe::Probe;

fn of_cuda(
    declarations: &Declarations,
    probe: &Probe,
    module: Module,
    source: &Path,
) -> (Module, Signatures, Vec<Diagnostic>) {
    super::of_cuda(declarations, probe, module, None, source, &BTreeMap::new())
}

struct Recorded {
    name: &'static str,
    text: &'static str,
    ptx: &'static str,
}

macro_rules! recorded {
    ($name:literal) => {
        Recorded {
            name: $name,
            text: include_str!(concat!("../fixtures/", $name, ".ii")),
            ptx: include_str!(concat!("../fixtures/", $name, ".ptx")),
        }
    };
}

const TYPES: Recorded = recorded!("types");
const NAMES: Recorded = recorded!("names");
const MEMBERS: Recorded = recorded!("members");
const REFUSED: Recorded = recorded!("refused");

impl Recorded {
    fn declarations(&self) -> Declarations {
        Declarations::read(self.text)
    }

    fn join(&self) -> (Module, Signatures, Vec<Diagnostic>) {
        let declarations = self.declarations();
        let probe = Probe::new(&declarations);
        let module = Module::parse(self.ptx).unwrap();
        of_cuda(&declarations, &probe, module, Path::new(self.name))
    }

    fn rendered(&self) -> String {
        let (module, signatures, findings) = self.join();
        let places: usize = findings.iter().map(|finding| finding.labels.len()).sum();
        let drawn = signatures.kernels.len() + places;
        assert!(
            drawn >= module.entries().count(),
            "every entry is a kernel or a finding"
        );
        assert!(!module.text().contains("gpuk_probe"));
        render(&signatures, &findings)
    }
}

fn rust(ty: &Type) -> String {
    match ty {
        Type::Scalar(scalar) => format!("{scalar:?}"),
        Type::Vector(name) => format!("vector {name}"),
        Type::Struct(path) => format!("struct {path}"),
        Type::Array(of, length) => format!("[{}; {length}]", rust(of)),
        Type::Enum(path) => format!("enum {path}"),
        Type::Bytes(size) => format!("{size} bytes"),
        Type::Address => "address".to_owned(),
        Type::Generic(text) => text.clone(),
    }
}

fn render(signatures: &Signatures, findings: &[Diagnostic]) -> String {
    let mut out = String::new();
    for kernel in &signatures.kernels {
        writeln!(
            out,
            "{} = {} at {} ({})",
            kernel.name, kernel.path, kernel.place, kernel.entry
        )
        .unwrap();
        if kernel.bounds != Default::default() {
            writeln!(out, "  {:?}", kernel.bounds).unwrap();
        }
        for param in &kernel.params {
            let ty = match &param.ty {
                ParamType::Value(ty) => rust(ty),
                ParamType::Pointer { to, mutable } => {
                    let to = to.as_ref().map_or_else(|| "void".to_owned(), rust);
                    format!("{} {to}", if *mutable { "*mut" } else { "*const" })
                }
            };
            writeln!(out, "  {}: {} -> {ty}", param.name, param.declared).unwrap();
        }
    }
    for made in &signatures.structs {
        writeln!(
            out,
            "struct {} = {}, {} bytes aligned to {}",
            made.name, made.path, made.size, made.align
        )
        .unwrap();
        for field in &made.fields {
            writeln!(
                out,
                "  {} at {}: {}",
                field.name,
                field.offset,
                rust(&field.ty)
            )
            .unwrap();
        }
        for view in &made.views {
            let held = &made.fields[view.field].name;
            writeln!(
                out,
                "  {} in {held}: {:?} {}",
                view.name,
                view.place,
                rust(&view.ty)
            )
            .unwrap();
        }
    }
    for made in &signatures.enums {
        let values: Vec<_> = made
            .values
            .iter()
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        writeln!(
            out,
            "enum {} = {}: {:?} {{ {} }}",
            made.name,
            made.path,
            made.scalar,
            values.join(", ")
        )
        .unwrap();
    }
    for finding in findings {
        let code = finding
            .code
            .map(|code| code.to_string())
            .unwrap_or_default();
        writeln!(out, "{}[{code}]: {}", finding.level, finding.message).unwrap();
        for label in &finding.labels {
            writeln!(out, "  at {} {}", label.place, label.text).unwrap();
        }
        for note in &finding.notes {
            writeln!(out, "  note: {note}").unwrap();
        }
        for help in &finding.help {
            writeln!(out, "  help: {help}").unwrap();
        }
    }
    out
}

#[test]
fn types() {
    insta::assert_snapshot!(TYPES.rendered());
}

#[test]
fn names() {
    insta::assert_snapshot!(NAMES.rendered());
}

#[test]
fn members() {
    insta::assert_snapshot!(MEMBERS.rendered());
}

#[test]
fn refused() {
    insta::assert_snapshot!(REFUSED.rendered());
}

#[test]
fn the_questions() {
    insta::assert_snapshot!(Probe::new(&TYPES.declarations()).text());
}

/// What the source says is not enough for the kernels of these fixtures: an entry without answers is refused
/// unless its parameters are spelt in fundamental types, or its symbol tells them.
#[test]
fn without_answers() {
    let declarations = TYPES.declarations();
    let entry = |name: &str, slots: &[(u64, u64)]| Entry {
        name: name.to_owned(),
        params: slots
            .iter()
            .map(|&(size, align)| Slot { size, align })
            .collect(),
        bounds: Default::default(),
    };
    let entries = [
        entry("vectors", &[(16, 16)]),
        entry("_Z7unnamediPKfj", &[(4, 4), (8, 8), (4, 4)]),
        entry("_ZN3cub6detail11EmptyKernelIvEEvv", &[]),
        entry("nobody", &[]),
        entry("copy_f32", &[(8, 8), (8, 8), (8, 8)]),
        entry("copy_i64", &[(8, 8), (8, 8), (8, 8)]),
    ];
    let (signatures, findings) = join(
        &declarations,
        &Answers::default(),
        &entries,
        &[],
        Path::new("types.cu"),
    );
    insta::assert_snapshot!(render(&signatures, &findings), @r"
    unnamed = unnamed at types.cu:59 (_Z7unnamediPKfj)
      param_0: int -> I32
      param_1: const float * -> *const F32
      count: unsigned int -> U32
    warning[GPUK0015]: the types of kernel `vectors` could not be asked of the compiler
      at types.cu:42 
      note: it gets no wrapper
      help: compile as C++14 or later, and keep functions of other types from having its name
    note[GPUK0015]: entry `void cub::detail::EmptyKernel<void>()` is declared neither in the source nor in its own headers
      at types.cu:1 
      note: kernels of system and toolkit headers get no wrapper
    note[GPUK0015]: entry `nobody` is declared neither in the source nor in its own headers
      at types.cu:1 
      note: kernels of system and toolkit headers get no wrapper
    warning[GPUK0015]: the types of kernel `copy_f32` could not be asked of the compiler
      at types.cu:56 
      note: it gets no wrapper
      help: compile as C++14 or later, and keep functions of other types from having its name
    warning[GPUK0015]: the types of kernel `copy_i64` could not be asked of the compiler
      at types.cu:57 
      note: it gets no wrapper
      help: compile as C++14 or later, and keep functions of other types from having its name
    ");
}

#[test]
fn disagreement_is_never_settled_by_guessing() {
    let ptx = TYPES.ptx.replace(
        ".param .align 1 .b8 structs_param_6[9]",
        ".param .align 8 .b8 structs_param_6[16]",
    );
    let ptx = ptx.replace(
        ".param .u64 copy_f32_param_2\n",
        ".param .u64 copy_f32_param_2,\n.param .u32 more\n",
    );
    let declarations = TYPES.declarations();
    let probe = Probe::new(&declarations);
    let module = Module::parse(ptx).unwrap();
    let (_, signatures, findings) = of_cuda(&declarations, &probe, module, Path::new("types.cu"));
    let kept: Vec<_> = signatures
        .kernels
        .iter()
        .map(|kernel| kernel.name.as_str())
        .collect();
    assert_eq!(
        kept,
        [
            "scalars",
            "vectors",
            "pointers",
            "inherited",
            "copy_i64",
            "unnamed"
        ]
    );
    insta::assert_snapshot!(render(&Signatures::default(), &findings), @r"
    error[GPUK0014]: parameter `packed` of kernel `structs` has 9 bytes aligned to 1 as `Packed`, but 16 aligned to 8 in the PTX
      at types.cu:50 
    error[GPUK0014]: kernel `copy_f32` has 3 parameters in the source and 4 in the PTX
      at types.cu:56
    ");
}

#[test]
fn ptx_alone() {
    let ptx = r"
.version 8.7
.target sm_90a
.address_size 64
.visible .entry add_kernel(
	.param .u64 .ptr .global .align 1 add_kernel_param_0,
	.param .u32 add_kernel_param_1,
	.param .f32 add_kernel_param_2,
	.param .s64 add_kernel_param_3
)
.reqntid 128
{
	ret;
}
.visible .entry _ZN2ns5scaleIfEEvPT_S1_i(.param .u64 a, .param .f32 b, .param .u32 c)
{
	ret;
}
.visible .entry aggregate(.param .align 8 .b8 a[24])
{
	ret;
}
";
    let (_, signatures, findings) = of_ptx(
        Module::parse(ptx).unwrap(),
        Path::new("k.ptx"),
        &BTreeMap::new(),
    );
    insta::assert_snapshot!(render(&signatures, &findings), @r"
    add_kernel = add_kernel at k.ptx:5 (add_kernel)
      Bounds { max_threads: None, exact_block: Some([128, 1, 1]), min_blocks: None, max_registers: None, cluster: None, max_cluster: None, explicit_cluster: false, grid_of_clusters: false }
      param_0: .u64 -> *mut void
      param_1: .u32 -> U32
      param_2: .f32 -> F32
      param_3: .s64 -> I64
    scale_float = ns::scale<float> at k.ptx:15 (_ZN2ns5scaleIfEEvPT_S1_i)
      param_0: float * -> *mut F32
      param_1: float -> F32
      param_2: int -> I32
    warning[GPUK0010]: parameter 0 of kernel `aggregate` is an aggregate of 24 bytes
      at k.ptx:19 
      note: PTX does not say what is in it; the kernel gets no wrapper
    ");
}

#[test]
fn ptx_by_declaration() {
    let ptx = r"
.version 8.7
.target sm_90a
.address_size 64
.visible .entry right(.param .u64 a, .param .u64 .ptr .global b, .param .b16 c, .param .align 16 .b8 d[16]) { ret; }
.visible .entry wide(.param .u64 a, .param .u32 n) { ret; }
.visible .entry more(.param .u64 a, .param .u64 scratch) { ret; }
";
    let kernel = |signature: &str| KernelConfig {
        signature: Some(signature.parse().unwrap()),
        ..KernelConfig::default()
    };
    let settings = BTreeMap::from([
        (
            "right",
            "void right(const half *x, unsigned *, __nv_bfloat16 by, float4 v)",
        ),
        ("wide", "void wide(float *y, size_t n)"),
        ("more", "void more(float *y)"),
    ]);
    let settings = settings.into_iter();
    let settings = settings.map(|(name, text)| (name.to_owned(), kernel(text)));
    let (_, signatures, findings) = of_ptx(
        Module::parse(ptx).unwrap(),
        Path::new("k.ptx"),
        &settings.collect(),
    );
    insta::assert_snapshot!(render(&signatures, &findings), @r"
    right = right at k.ptx:5 (right)
      x: const __half * -> *const F16
      param_1: unsigned int * -> *mut U32
      by: __nv_bfloat16 -> Bf16
      v: float4 -> vector float4
    error[GPUK0014]: parameter `n` of kernel `wide` has 8 bytes aligned to 8 as `unsigned long long`, but 4 aligned to 4 in the PTX
      at k.ptx:6 
      note: declared by its `signature`
    error[GPUK0014]: kernel `more` has 1 parameters in the source and 2 in the PTX
      at k.ptx:7 
      note: declared by its `signature`
    ");
}

/// Whatever is cut off or missing, reading goes on to the end.
#[test]
fn broken_text_is_read_without_a_panic() {
    for Recorded { text, .. } in [TYPES, NAMES, MEMBERS, REFUSED] {
        for at in (0..text.len()).step_by(5) {
            let _ = Probe::new(&Declarations::read(&text[..at]));
            let _ = Probe::new(&Declarations::read(&text[at..]));
        }
        for bracket in ["(", ")", "{", "}", "<", ">", "[", "]", ";", "::", ",", "\""] {
            let _ = Probe::new(&Declarations::read(&text.replace(bracket, "")));
            let _ = Probe::new(&Declarations::read(
                &text.replace(bracket, &bracket.repeat(2)),
            ));
        }
    }
}

/// Answers that are taken out before the PTX is parsed say the same.
#[test]
fn answers_may_be_parsed_apart() {
    for recorded in [TYPES, NAMES, MEMBERS, REFUSED] {
        let (module, signatures, _) = recorded.join();
        let (own, said) = crate::probe::parted(recorded.ptx).unwrap();
        assert_eq!(own, module.text());
        let declarations = recorded.declarations();
        let probe = Probe::new(&declarations);
        let [own, said] = [own, said].map(|text| Module::parse(text).unwrap());
        let (own, apart, _) = super::of_cuda(
            &declarations,
            &probe,
            own,
            Some(&said),
            Path::new(recorded.name),
            &BTreeMap::new(),
        );
        assert_eq!((own.text(), apart), (module.text(), signatures));
    }
}
