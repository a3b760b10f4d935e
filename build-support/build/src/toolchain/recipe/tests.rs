//! The commands against nvcc itself, and the reading of flags.

use std::ffi::OsStr;

use super::*;
use crate::toolchain::{Request, find, host};

const KERNELS: &str = r#"
#include <cassert>
#include <cstdio>
#include <cuda_fp16.h>
#include "scale.cuh"
#ifndef X
#define X 3
#endif
namespace { __device__ int hidden; __global__ void anonymous(int* p) { assert(p); *p = hidden; } }
static __global__ void internal(int* p) { *p = X; }
constexpr int twice(int x) { return 2 * x; }
template <class T> __global__ void saxpy(T* y, const T* x, T a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + T(X);
}
template __global__ void saxpy<float>(float*, const float*, float, int);
extern "C" __global__ void __launch_bounds__(256, 2) mixed(float* x, const __half* h, double* d) {
    __shared__ float tile[64];
    tile[threadIdx.x % 64] = sinf(x[threadIdx.x]) / scale(__half2float(h[0]));
    __syncthreads();
    d[threadIdx.x] = sqrt(double(tile[63 - threadIdx.x % 64])) + pow(d[0], 1.5);
    if (x[0] < 0) printf("%s:%d %d\n", __FILE__, __LINE__, X);
}
void host() { anonymous<<<1, 1>>>(nullptr); internal<<<1, 1>>>(nullptr); }
"#;
const RELAXED: &str = r#"
#include <algorithm>
#include <array>
extern "C" __global__ void clamp(int* x, std::array<int, 3> a) { x[threadIdx.x] = std::max(x[threadIdx.x], a[1]); }
"#;
const HEADER: &str = "__device__ inline float scale(float x) { return 2 * x + 1; }\n";

struct Bench {
    dir: tempfile::TempDir,
    toolchain: Toolchain,
    host: HostCompiler,
    env: Env,
}

impl Bench {
    fn new() -> Self {
        Self::with(Env::of_process())
    }

    fn with(env: Env) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("kernels/inc lude")).unwrap();
        let put = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
        put("kernels/mixed.cu", KERNELS);
        put("kernels/relaxed.cu", RELAXED);
        put("kernels/empty.cu", "");
        put("kernels/inc lude/scale.cuh", HEADER);
        Self {
            dir,
            toolchain: find(&Request::default(), &env).unwrap(),
            host: host::find(&host::HostRequest::default(), &env).unwrap(),
            env,
        }
    }

    fn recipe(&self, flags: &[&str], arch: &str) -> Result<Recipe, RecipeError> {
        let flags: Vec<_> = flags.iter().map(OsString::from).collect();
        Recipe::of(&self.toolchain, &flags, arch, &self.host, &self.env)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The PTX by the recipe's own steps. `path` takes the place of the source's path, of which nvcc makes a hash.
    fn ptx(&self, recipe: &Recipe, source: &str, path: Option<&Path>) -> Vec<u8> {
        let dir = self.dir.path();
        let (source, text, ptx) = (Path::new(source), Path::new("x.ii"), Path::new("steps.ptx"));
        recipe.preprocess(source, text, dir).run().unwrap();
        let mut compile = recipe.compile(text, ptx, source, dir);
        if let Some(path) = path {
            let mut args = compile.args.iter();
            let at = args.position(|arg| arg == "--orig_src_path_name").unwrap();
            assert_eq!(compile.args[at + 1], source.as_os_str());
            compile.args[at + 1] = path.into();
        }
        compile.run().unwrap();
        std::fs::read(self.path("steps.ptx")).unwrap()
    }

    /// The PTX, or the cubin, by nvcc.
    fn nvcc(&self, kind: &str, flags: &[&str], arch: &str, source: &str) -> Vec<u8> {
        let command = ToolCommand::new(&self.toolchain.nvcc)
            .args([kind, &format!("-arch={arch}")])
            .args(flags)
            .args([source, "-o", "nvcc.out"])
            .dir(self.dir.path());
        command.run().unwrap();
        std::fs::read(self.path("nvcc.out")).unwrap()
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_ptx_of_the_steps_equals_its_own() {
    let bench = Bench::new();
    let include = "-Ikernels/inc lude";
    let cases: &[(&str, &[&str], &str)] = &[
        ("kernels/mixed.cu", &[include], "sm_80"),
        ("kernels/mixed.cu", &[include, "-lineinfo", "-O3"], "sm_90"),
        (
            "kernels/mixed.cu",
            &[include, "-std=c++17", "-DX=1", "--use_fast_math"],
            "sm_75",
        ),
        (
            "kernels/mixed.cu",
            &["-I", "kernels/inc lude", "-std=c++20", "-D", "X=41", "-UY"],
            "sm_90a",
        ),
        (
            "kernels/mixed.cu",
            &["-isystem", "kernels/inc lude", "-G"],
            "sm_80",
        ),
        (
            "kernels/mixed.cu",
            &[include, "-maxrregcount=32", "-Xptxas", "-O2,-v"],
            "sm_89",
        ),
        (
            "kernels/mixed.cu",
            &[
                include,
                "-maxrregcount",
                "64",
                "--fmad=false",
                "-Xcompiler",
                "-fPIC,-Wall",
            ],
            "sm_80",
        ),
        (
            "kernels/mixed.cu",
            &[include, "-diag-suppress", "177", "-w", "--extended-lambda"],
            "sm_120",
        ),
        ("kernels/relaxed.cu", &["--expt-relaxed-constexpr"], "sm_80"),
        (
            "kernels/relaxed.cu",
            &[
                "-include",
                "kernels/inc lude/scale.cuh",
                "--expt-relaxed-constexpr",
            ],
            "sm_80",
        ),
        ("kernels/empty.cu", &[], "sm_100f"),
    ];
    for (source, flags, arch) in cases {
        let recipe = bench.recipe(flags, arch).unwrap();
        let own = bench.nvcc("-ptx", flags, arch, source);
        let steps = bench.ptx(
            &recipe,
            source,
            Some(&bench.path(source).canonicalize().unwrap()),
        );
        assert_eq!(
            String::from_utf8_lossy(&steps),
            String::from_utf8_lossy(&own),
            "{source} {flags:?}"
        );
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_cubin_of_the_steps_equals_its_own() {
    let bench = Bench::new();
    let flags = [
        "-Ikernels/inc lude",
        "-lineinfo",
        "-maxrregcount=40",
        "-Xptxas",
        "-O2",
    ];
    let recipe = bench.recipe(&flags, "sm_80").unwrap();
    let own = bench.nvcc("-cubin", &flags, "sm_80", "kernels/mixed.cu");
    let name = bench.path("kernels/mixed.cu").canonicalize().unwrap();
    bench.ptx(&recipe, "kernels/mixed.cu", Some(&name));
    let (ptx, cubin) = (Path::new("steps.ptx"), Path::new("steps.cubin"));
    let assemble = |arch, flags: &[OsString]| {
        let command = recipe
            .assemble(ptx, cubin, arch, flags, bench.dir.path())
            .unwrap();
        let output = command.run().unwrap();
        (
            std::fs::read(bench.path("steps.cubin")).unwrap(),
            output.stderr,
        )
    };
    assert!(assemble("80", &[]).0 == own);
    let (cubin, said) = assemble("sm_90", &["-v".into()]);
    assert!(
        cubin.starts_with(b"\x7fELF") && said.contains("for 'sm_90'"),
        "{said}"
    );
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_runs_no_text_of_a_flag() {
    let bench = Bench::new();
    let echo = "extern \"C\" __device__ const char text[] = TEXT;\n#include WHERE\n";
    std::fs::write(bench.path("echo.cu"), echo).unwrap();
    let dir = "$(touch pwned)`touch pwned2` 'a' \"b\" #;";
    std::fs::create_dir(bench.path(dir)).unwrap();
    std::fs::write(bench.path(dir).join("found.h"), "__device__ int found;\n").unwrap();
    let text = "$(touch pwned) `touch pwned` $HOME 'q' ; | & <x> *  \\\\ end";
    let define = format!("-DTEXT=\"{text}\"");
    let flags = [define.as_str(), "-DWHERE=<found.h>", "-I", dir];
    let recipe = bench.recipe(&flags, "sm_80").unwrap();
    let command = recipe.preprocess(Path::new("echo.cu"), Path::new("x.ii"), bench.dir.path());
    let sent: Vec<_> = command.args.iter().filter_map(|arg| arg.to_str()).collect();
    assert!(sent.contains(&define.trim_start_matches("-D")), "{sent:?}");
    assert!(sent.contains(&format!("-I{dir}").as_str()), "{sent:?}");
    let ptx = bench.ptx(&recipe, "echo.cu", None);
    let ptx = String::from_utf8(ptx).unwrap();
    let bytes: Vec<_> = text
        .replace("\\\\", "\\")
        .bytes()
        .map(|b| b.to_string())
        .collect();
    assert!(ptx.contains(&bytes.join(", ")), "{ptx}");
    for entry in ["pwned", "pwned2"] {
        assert!(!bench.path(entry).exists() && !bench.toolchain.root.join(entry).exists());
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_output_does_not_depend_on_the_folder() {
    let (one, two) = (Bench::new(), Bench::new());
    let flags = ["-Ikernels/inc lude"];
    let ptx = |bench: &Bench| {
        let recipe = bench.recipe(&flags, "sm_80").unwrap();
        bench.ptx(&recipe, "kernels/mixed.cu", None)
    };
    assert!(ptx(&one) == ptx(&two));
    let recipe = one.recipe(&flags, "sm_80").unwrap();
    assert_eq!(
        recipe.identity(),
        two.recipe(&flags, "sm_80").unwrap().identity()
    );
    let stored = serde_json::to_string(&recipe).unwrap();
    assert_eq!(serde_json::from_str::<Recipe>(&stored).unwrap(), recipe);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_flags_of_variables_are_followed_or_refused() {
    let with = |name: &str, value: &str| {
        let path = std::env::var("PATH").unwrap();
        let home = Bench::new().toolchain.root.display().to_string();
        let pairs = [
            ("PATH", path.as_str()),
            ("CUDA_HOME", home.as_str()),
            (name, value),
        ];
        Bench::with(Env::from_pairs(pairs))
    };
    let bench = with("NVCC_APPEND_FLAGS", "-DX=7 -lineinfo");
    let recipe = bench.recipe(&[], "sm_80").unwrap();
    assert!(
        recipe.identity().contains("\"X=7\"") && recipe.identity().contains("-generate-line-info")
    );
    let shell = with("NVCC_APPEND_FLAGS", "-DX=$(id)");
    assert!(matches!(
        shell.recipe(&[], "sm_80"),
        Err(RecipeError::Variable { character: '$', .. })
    ));
    let arch = with("NVCC_APPEND_FLAGS", "-arch=sm_90");
    assert!(
        arch.recipe(&[], "sm_80")
            .unwrap_err()
            .to_string()
            .contains("another architecture")
    );
    let unknown = Bench::new()
        .recipe(&["--no-such-flag"], "sm_80")
        .unwrap_err();
    let source = std::error::Error::source(&unknown).unwrap().to_string();
    assert!(
        source.contains("Unknown option '--no-such-flag'"),
        "{source}"
    );
}

#[test]
fn flags_that_make_no_sense_are_refused_by_name() {
    let refused = |flags: &[&str]| {
        let flags: Vec<_> = flags.iter().map(OsString::from).collect();
        flags::read(&flags).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused(&["-O3", "-gencode=arch=compute_80,code=sm_80"]), @"flag `-gencode=arch=compute_80,code=sm_80` cannot be used: use the setting `archs`");
    insta::assert_snapshot!(refused(&["-rdc=true"]), @"flag `-rdc=true` cannot be used: `link` in the configuration says which sources become one module");
    insta::assert_snapshot!(refused(&["--relocatable-device-code", "true"]), @"flag `--relocatable-device-code=true` cannot be used: `link` in the configuration says which sources become one module");
    insta::assert_snapshot!(refused(&["-Xcompiler", "-DX=`id`"]), @"flag `-DX=`id`` has the character '`', which nvcc would hand to a shell; only `-D`, `-I`, `-isystem` and `-include` may have it");
    insta::assert_snapshot!(refused(&["-DX=1,Y=2"]), @r"flag `-DX=1,Y=2` has a comma, at which nvcc splits it into several definitions; write one flag for each, or `\,` for a comma that belongs to the value");
    insta::assert_snapshot!(refused(&["-D"]), @"flag `-D` has no value");
    for flag in [
        "-o",
        "-c",
        "--keep",
        "-arch=sm_80",
        "-ptx",
        "-cubin",
        "--dryrun",
        "-ccbin=gcc",
        "-L/x",
        "-lto",
        "-MD",
    ] {
        assert!(refused(&[flag]).contains("cannot be used"), "{flag}");
    }
}

#[test]
fn values_come_back_as_they_were() {
    let round = |flag: &[&str]| {
        let flags: Vec<_> = flag.iter().map(OsString::from).collect();
        let read = flags::read(&flags).unwrap();
        read.nvcc
            .iter()
            .map(|word| read.restore(word))
            .collect::<Vec<_>>()
    };
    assert_eq!(round(&["-DX=$(id) \"a,b\""]), ["-D", "X=$(id) \"a,b\""]);
    assert_eq!(
        round(&["-D", r"X=f(a\,b)", "-rdc=false", "-O3"]),
        ["-D", "X=f(a,b)", "-O3"]
    );
    assert_eq!(
        round(&["--define-macro=X=1", "-I=/a,b", "-isystem", "/c d"]),
        ["-D", "X=1", "-I", "/a,b", "-isystem", "/c d"]
    );
    assert_eq!(
        round(&["-include=x.h", "-lineinfo", "-Dgpuk_value_0_"]),
        ["-include", "x.h", "-lineinfo", "-D", "gpuk_value_0_"]
    );
    let bad = OsStr::new("-I/x").to_owned();
    assert!(flags::read(&[bad]).is_ok());
}

/// What nvcc 12 is known to print on Windows, shortened.
const WINDOWS: &str = r#"#$ _HERE_=C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.9\bin
#$ TOP=C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.9\bin/..
#$ CICC_PATH=C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.9\bin/../nvvm/bin
#$ NVVMIR_LIBRARY_DIR=C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.9\bin/../nvvm/libdevice
#$ INCLUDES="-IC:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.9\bin/../include"
#$ PTXAS_FLAGS=
gpuk_source.cu
#$ cl.exe > "C:/Users/me/AppData/Local/Temp/tmpxft_00003d98_00000000-7_gpuk_source.cpp1.ii" -D__CUDA_ARCH__=800 -nologo -E -TP  -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__  "-IC:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.9\bin/../include" -D "gpuk_value_0_" -FI "cuda_runtime.h" "gpuk_source.cu"
#$ "$CICC_PATH\cicc" --microsoft_version=1944 --msvc_target_version=1944 --compiler_bindir "C:/VS/bin/Hostx64/x64/../.." --orig_src_file_name "gpuk_source.cu" --orig_src_path_name "C:\gpuk_source.cu" --allow_managed -arch compute_80 -m64 --include_file_name "tmpxft_00003d98_00000000-3_gpuk_source.fatbin.c" -tused --gen_module_id_file --module_id_file_name "C:/Users/me/AppData/Local/Temp/tmpxft_00003d98_00000000-4_gpuk_source.module_id"  "C:/Users/me/AppData/Local/Temp/tmpxft_00003d98_00000000-7_gpuk_source.cpp1.ii" -o "gpuk_source.ptx"
"#;
const WINDOWS_PTX: &str =
    "#$ ptxas -arch=sm_80 -m64 \"gpuk_source.ptx\"  -o \"gpuk_source.cubin\"\n";

#[test]
fn the_windows_form_is_read() {
    let stamp = crate::toolchain::Stamp {
        path: "nvcc.exe".into(),
        len: 1,
        modified: 0,
    };
    let toolchain = Toolchain {
        root: "C:/cuda".into(),
        nvcc: "C:/cuda/bin/nvcc.exe".into(),
        ptxas: "C:/cuda/bin/ptxas.exe".into(),
        cicc: "C:/cuda/nvvm/bin/cicc.exe".into(),
        includes: Vec::new(),
        version: "12.9.86".parse().unwrap(),
        origin: crate::toolchain::Origin::DefaultFolder,
        identity: crate::toolchain::Identity {
            nvcc: stamp.clone(),
            cicc: stamp.clone(),
            ptxas: stamp,
        },
    };
    let host = HostCompiler {
        path: "C:/VS/bin/Hostx64/x64/cl.exe".into(),
        version: "Version 19.44".to_owned(),
        origin: host::HostOrigin::VisualStudio,
        ccbin: Some("C:/VS/bin/Hostx64/x64/cl.exe".into()),
        env: vec![("INCLUDE".to_owned(), "C:/VS/include".to_owned())],
        stamp: None,
        asked: Vec::new(),
    };
    let platform = Platform {
        os: Os::Windows,
        ..Platform::host()
    };
    let flags = flags::read(&["-DX=\"a b\"".into()]).unwrap();
    // A Unix `Path` takes a backslash for a part of the name.
    let source = WINDOWS.replace("$CICC_PATH\\cicc", "$CICC_PATH/cicc");
    let recipe = Recipe::read(
        &source,
        WINDOWS_PTX,
        &flags,
        "80",
        &toolchain,
        &host,
        &platform,
    );
    let recipe = recipe.unwrap();
    let (source, text, ptx) = (Path::new("k/a.cu"), Path::new("a.ii"), Path::new("a.ptx"));
    let steps = [
        recipe.preprocess(source, text, Path::new("w")).to_string(),
        recipe
            .compile(text, ptx, source, Path::new("w"))
            .to_string(),
    ];
    insta::assert_snapshot!(steps.join("\n"), @r#"
    INCLUDE=C:/VS/include C:/VS/bin/Hostx64/x64/cl.exe -Fia.ii -P -D__CUDA_ARCH__=800 -nologo -TP -DCUDA_DOUBLE_MATH_FUNCTIONS -D__CUDACC__ '-IC:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.9\bin/../include' -D 'X="a b"' -FI cuda_runtime.h k/a.cu
    NVVMIR_LIBRARY_DIR='C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v12.9\bin/../nvvm/libdevice' C:/cuda/nvvm/bin/cicc.exe --microsoft_version=1944 --msvc_target_version=1944 --compiler_bindir C:/VS/bin/Hostx64/x64/../.. --orig_src_file_name k/a.cu --orig_src_path_name k/a.cu --allow_managed -arch compute_80 -m64 --include_file_name a.fatbin.c -tused a.ii -o a.ptx
    "#);
}

#[test]
fn architectures_have_one_number() {
    for (text, expected) in [("sm_90a", "90a"), ("compute_100f", "100f"), ("80", "80")] {
        assert_eq!(number(text).unwrap(), expected);
    }
    for bad in [
        "",
        "native",
        "sm_",
        "sm_9",
        "sm_90ab",
        "8.0",
        "sm_90,sm_80",
        "all-major",
    ] {
        assert!(matches!(number(bad), Err(RecipeError::Arch(_))), "{bad}");
    }
}
