//! Wrappers from source alone, for where nothing can be compiled and nothing may fail: docs.rs, and `GPUK_SKIP=1`.
//!
//! Only what stands in the sources themselves is known: no macro is expanded and no header of the toolkit is read, so a
//! kernel that a macro makes, a template's instance and a type from elsewhere are missing. The wrappers type-check and have
//! their documentation; loading them is an error at run time, for there are no images. Vendored kernels are better, and
//! are taken instead where there are some, current or not.

mod text;
mod types;

use std::collections::HashSet;
use std::path::Path;

use gpuk_ptx::Module as Ptx;

use crate::diagnostic::{Diagnostic, Level};
use crate::discover::{Language, Sources, discover};
use crate::emit::emit;
use crate::env::Env;
use crate::fs::{self, FsError};
use crate::join::{Facts, Module};
use crate::kernel::Signatures;
use crate::package::Package;
use crate::pipeline::Built;
use crate::probe::Answers;
use crate::signature::{self, Entry};
use crate::source::Declarations;
use crate::vendor;
use crate::wrap;

/// Why nothing is compiled, if nothing is to be: docs.rs sets `DOCS_RS`, and a person `GPUK_SKIP=1`.
pub(crate) fn reason(env: &Env) -> Option<&'static str> {
    if env.get("DOCS_RS").is_some() {
        return Some("DOCS_RS");
    }
    let skip = env.get("GPUK_SKIP").is_some_and(|value| value != "0");
    skip.then_some("GPUK_SKIP")
}

/// Writes what wrappers there can be.
///
/// # Errors
/// The results cannot be written. Sources that cannot be read are passed over.
pub(crate) fn build(package: &Package, env: &Env, reason: &str) -> Result<Built, FsError> {
    let warned = |text: String| Diagnostic::new(None, Level::Warning, text);
    if let Some(report) = vendor::whatever(package, env)? {
        return Ok(Built {
            report,
            fresh: false,
            toolkit: None,
        });
    }
    let sources = discover(package, &mut Vec::new()).unwrap_or_else(|_| Sources::default());
    let modules = sources.files.iter().map(|source| {
        let bytes = fs::read(&package.root.join(&source.path)).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let signatures = match source.language {
            Language::Cuda => of_cuda(&text, &source.path),
            Language::Ptx => of_ptx(&text, &source.path, package),
        };
        Module {
            source: &source.path,
            facts: signatures
                .kernels
                .iter()
                .map(|_| Facts::default())
                .collect(),
            signatures,
            images: Vec::new(),
            archs: Vec::new(),
        }
    });
    let modules: Vec<_> = modules.collect();
    let (bindings, mut report) = wrap::wrap(package, &modules);
    report.findings = vec![warned(format!(
        "`{reason}` is set: no kernel was compiled, and loading them will fail"
    ))];
    report.files = sources
        .files
        .iter()
        .map(|source| source.path.clone())
        .collect();
    report.folders = sources.folders.clone();
    fs::create_dir(&package.out)?;
    emit(&package.out, &[], &bindings, &report)?;
    Ok(Built {
        report,
        fresh: false,
        toolkit: None,
    })
}

fn of_cuda(source: &str, path: &Path) -> Signatures {
    let mut declarations = Declarations::read(&text::preprocessed(source, path));
    declarations
        .kernels
        .retain(|kernel| kernel.defined && kernel.template.is_none() && !kernel.overloaded);
    // Mangled names are the compiler's; nothing is looked up by them here.
    declarations
        .kernels
        .iter_mut()
        .for_each(|kernel| kernel.c_linkage = true);
    let known = types::Known::new(&declarations);
    let mut answers = Answers {
        layouts: known.layouts(),
        ..Answers::default()
    };
    let (mut entries, mut seen) = (Vec::new(), HashSet::new());
    for (index, kernel) in declarations.kernels.iter().enumerate() {
        // Both sides of an `#if` may define it.
        if !seen.insert((&kernel.scope, &kernel.name)) {
            continue;
        }
        if let Some((params, slots)) = known.params(kernel) {
            answers.kernels.insert(index, params);
            entries.push(Entry {
                name: kernel.name.clone(),
                params: slots,
                bounds: Default::default(),
            });
        }
    }
    signature::join(&declarations, &answers, &entries, &[], path).0
}

fn of_ptx(source: &str, path: &Path, package: &Package) -> Signatures {
    let module = Ptx::parse(source.to_owned());
    module.map_or_else(
        |_| Signatures::default(),
        |module| signature::of_ptx(module, path, &package.config.kernel).1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_source_says_is_enough_for_many_kernels() {
        let source = "#include <cuda_fp16.h>\n#define N 4\nusing index = uint32_t;\n\
            struct Shape { int rows, cols; };\n\
            struct Table { const float *data; index rows; float scale[2]; double wide; };\n\
            namespace deep {\n// Scales; not __global__ void this(int x) {}\n\
            static __global__ __launch_bounds__(256, 2) void scale(float *__restrict__ y, const __half *x, size_t n, Table t) {}\n}\n\
            template <class T> __global__ void generic(T *x) {}\n\
            #define MAKE(T) extern \"C\" __global__ void make_##T(T *x) { \\\n  x[0] = 1; }\nMAKE(int)\n\
            extern \"C\" __global__ void unknown(Elsewhere e) {}\n\
            extern \"C\" __global__ void last(float4 *v, bool flag, const Table *tables) {}\n\
            #ifdef FAST\n__global__ void both(float *y) { *y = 1; }\n#else\n\
            __global__ void both(float *y) { *y = 2; }\n#endif\n";
        let signatures = of_cuda(source, Path::new("kernels/a.cu"));
        let shown = |kernel: &crate::kernel::Kernel| {
            let params = kernel
                .params
                .iter()
                .map(|it| format!("{}: {}", it.name, it.declared));
            let params: Vec<_> = params.collect();
            format!(
                "{}:{} {}({})",
                kernel.place.file.display(),
                kernel.place.line,
                kernel.name,
                params.join(", ")
            )
        };
        let kernels: Vec<_> = signatures.kernels.iter().map(shown).collect();
        assert_eq!(
            kernels,
            [
                "kernels/a.cu:8 scale(y: float *, x: const __half *, n: unsigned long, t: Table)",
                "kernels/a.cu:15 last(v: float4 *, flag: bool, tables: const Table *)",
                "kernels/a.cu:17 both(y: float *)",
            ]
        );
        let table = &signatures.structs[0];
        let fields: Vec<_> = table
            .fields
            .iter()
            .map(|it| (it.name.as_str(), it.offset))
            .collect();
        assert_eq!(
            fields,
            [("data", 0), ("rows", 8), ("scale", 12), ("wide", 24)]
        );
        assert_eq!((table.size, table.align), (32, 8));
    }
}
