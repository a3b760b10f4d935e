//! The crates, and the settings that a user would write for each.

/// A published crate with kernels.
pub(crate) struct Crate {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// Its folders that are needed.
    pub(crate) folders: &'static [&'static str],
    /// What its kernels include of other packages.
    pub(crate) needs: &'static [Need],
    /// Kernels that a program of the crate's users writes.
    pub(crate) made: Option<Made>,
    /// `[package.metadata.gpuk]`.
    pub(crate) config: &'static str,
    /// Whether it is counted in continuous integration.
    pub(crate) quick: bool,
    /// `.cu` files that are left out, in whose paths `*` stands for anything, and why.
    pub(crate) skipped: &'static [(&'static str, &'static str)],
}

/// A folder of another package, which the project has as `deps/NAME`.
pub(crate) struct Need {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) folder: &'static str,
    pub(crate) kind: Kind,
}

/// Where a package is published.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Kind {
    Crate,
    /// For Python, fetched by pip.
    Wheel,
}

/// A program that writes a `.cu` file to standard output.
pub(crate) struct Made {
    /// Of the project.
    pub(crate) file: &'static str,
    /// `[dependencies]`.
    pub(crate) dependencies: &'static str,
    /// `src/main.rs`.
    pub(crate) program: &'static str,
}

const SPPARK: Need = Need {
    name: "sppark",
    version: "0.1.16",
    folder: "sppark",
    kind: Kind::Crate,
};

const BLST: Need = Need {
    name: "blst",
    version: "0.3.17",
    folder: "blst",
    kind: Kind::Crate,
};

const RISC0: Need = Need {
    name: "risc0-sys",
    version: "1.5.0",
    folder: "",
    kind: Kind::Crate,
};

const PLAIN: Crate = Crate {
    name: "",
    version: "",
    folders: &[],
    needs: &[],
    made: None,
    config: "",
    quick: false,
    skipped: &[],
};

const INSTANCES: &str = "more instances of the same templates, which take minutes to compile";

const MADE_HEADER: &str = "it includes a header that the crate's build makes of another crate";

/// In the order of the report.
pub(crate) const CRATES: &[Crate] = &[
    Crate {
        name: "accel",
        version: "0.3.1",
        folders: &["tests/data"],
        config: "kernels = ['tests/data/*.cu']",
        quick: true,
        ..PLAIN
    },
    Crate {
        name: "boojum-cuda",
        version: "0.156.2",
        folders: &["native"],
        config: "kernels = ['native/**/*.cu']\nflags = ['-std=c++17', '--expt-relaxed-constexpr']\ntraps = 'keep'",
        skipped: &[
            ("native/gates.cu", MADE_HEADER),
            ("native/poseidon2/*", MADE_HEADER),
        ],
        ..PLAIN
    },
    Crate {
        name: "candle-flash-attn",
        version: "0.11.1",
        folders: &["kernels"],
        needs: &[Need {
            name: "nvidia-cutlass",
            version: "4.2.0.0",
            folder: "cutlass_library/source/include",
            kind: Kind::Wheel,
        }],
        config: "kernels = ['kernels/*.cu']\ninclude = ['kernels', 'deps/nvidia-cutlass']\nflags = ['-std=c++17', '-O3', '--expt-relaxed-constexpr', '--expt-extended-lambda', '--use_fast_math']\ntraps = 'keep'",
        skipped: &[
            ("kernels/*_bf16_*.cu", INSTANCES),
            ("kernels/*_causal_*.cu", INSTANCES),
            ("kernels/*hdim1*.cu", INSTANCES),
            ("kernels/*hdim2*.cu", INSTANCES),
            ("kernels/*hdim512*.cu", INSTANCES),
            ("kernels/flash_fwd_hdim64_*.cu", INSTANCES),
            ("kernels/flash_fwd_hdim96_*.cu", INSTANCES),
        ],
        ..PLAIN
    },
    Crate {
        name: "candle-kernels",
        version: "0.11.1",
        folders: &["src"],
        config: "kernels = ['src/**/*.cu']\nflags = ['-std=c++17', '--expt-relaxed-constexpr']\ntraps = 'keep'",
        ..PLAIN
    },
    Crate {
        name: "cudarc",
        version: "0.19.10",
        folders: &["examples"],
        config: "kernels = ['examples/*.cu']",
        quick: true,
        ..PLAIN
    },
    Crate {
        name: "cust",
        version: "0.3.2",
        folders: &["resources"],
        config: "kernels = ['resources/*.cu']",
        quick: true,
        ..PLAIN
    },
    Crate {
        name: "dfdx",
        version: "0.13.0",
        folders: &["src/tensor_ops"],
        config: "kernels = ['src/tensor_ops/**/*.cu']\ninclude = ['src/tensor_ops/utilities']",
        quick: true,
        ..PLAIN
    },
    Crate {
        name: "ec-gpu-gen",
        version: "0.7.1",
        made: Some(Made {
            file: "kernels/bls12_381.cu",
            dependencies: "blstrs = { version = '=0.7.1', features = ['__private_bench', 'gpu'] }\nec-gpu-gen = '=0.7.1'",
            program: "\
use blstrs::{Fp, Fp2, G1Affine, G2Affine, Scalar};
use ec_gpu_gen::SourceBuilder;

fn main() {
    let source = SourceBuilder::new()
        .add_fft::<Scalar>()
        .add_multiexp::<G1Affine, Fp>()
        .add_multiexp::<G2Affine, Fp2>();
    println!(\"{}\", source.build_32_bit_limbs());
}
",
        }),
        config: "kernels = ['kernels/*.cu']",
        ..PLAIN
    },
    Crate {
        name: "hvm",
        version: "2.0.22",
        folders: &["src"],
        config: "kernels = ['src/hvm.cu']",
        ..PLAIN
    },
    Crate {
        name: "mistralrs-paged-attn",
        version: "0.8.1",
        folders: &["src/cuda"],
        config: "kernels = ['src/cuda/*.cu']\ninclude = ['src/cuda']\nflags = ['-std=c++17', '-O3', '--expt-relaxed-constexpr', '--expt-extended-lambda', '--use_fast_math', '-DENABLE_FP8']\ntraps = 'keep'",
        skipped: &[
            ("src/cuda/pagedattention_v1_f16.cu", INSTANCES),
            ("src/cuda/pagedattention_*_f32.cu", INSTANCES),
        ],
        ..PLAIN
    },
    Crate {
        name: "mistralrs-quant",
        version: "0.8.1",
        folders: &["kernels"],
        config: "kernels = ['kernels/*/*.cu']\nflags = ['-std=c++17', '-O3', '--expt-relaxed-constexpr', '--expt-extended-lambda', '--use_fast_math']\ntraps = 'keep'",
        skipped: &[
            (
                "kernels/marlin/dummy_*.cu",
                "for devices before sm_80, as in the crate's own build",
            ),
            (
                "kernels/*_dummy.cu",
                "for devices before sm_80, as in the crate's own build",
            ),
        ],
        ..PLAIN
    },
    Crate {
        name: "pasta-msm",
        version: "0.1.5",
        folders: &["cuda"],
        needs: &[
            SPPARK,
            Need {
                name: "semolina",
                version: "0.1.5",
                folder: "src",
                kind: Kind::Crate,
            },
        ],
        config: "kernels = ['cuda/*.cu']\ninclude = ['deps/sppark', 'deps/semolina']\nflags = ['-std=c++17', '-DTAKE_RESPONSIBILITY_FOR_ERROR_MESSAGE']\ntraps = 'keep'",
        ..PLAIN
    },
    Crate {
        name: "ptoxide",
        version: "0.1.0",
        folders: &["kernels"],
        config: "kernels = ['kernels/*.cu']",
        quick: true,
        ..PLAIN
    },
    Crate {
        name: "risc0-circuit-rv32im-sys",
        version: "4.0.3",
        folders: &["kernels/cuda"],
        needs: &[RISC0, SPPARK],
        config: "kernels = ['kernels/cuda/*.cu']\ninclude = ['deps/risc0-sys/kernels/zkp/cuda', 'deps/risc0-sys/cxx', 'deps/sppark']\nflags = ['-std=c++17', '-DFEATURE_BABY_BEAR']\n\n[package.metadata.gpuk.link]\neval_check = ['kernels/cuda/ffi_supra.cu', 'kernels/cuda/eval_check_*.cu']",
        skipped: &[
            (
                "kernels/cuda/steps.cu",
                "its 62,000 lines become 131 MB of PTX, five times that of `eval_check`, which ptxas takes three minutes for",
            ),
            (
                "kernels/cuda/ffi.cu",
                "its five kernels call the functions of `kernels/cuda/steps.cu`",
            ),
        ],
        ..PLAIN
    },
    Crate {
        name: "risc0-sys",
        version: "1.5.0",
        folders: &["kernels", "cxx"],
        needs: &[SPPARK],
        config: "kernels = ['kernels/zkp/cuda/**/*.cu']\ninclude = ['cxx', 'deps/sppark', 'kernels/zkp/cuda']\nflags = ['-std=c++17', '-DFEATURE_BABY_BEAR']",
        ..PLAIN
    },
    Crate {
        name: "rustacuda",
        version: "0.1.3",
        folders: &["resources"],
        config: "kernels = ['resources/*.cu']",
        quick: true,
        ..PLAIN
    },
    Crate {
        name: "supraseal-c2",
        version: "0.1.2",
        folders: &["cuda"],
        needs: &[SPPARK, BLST],
        config: "kernels = ['cuda/groth16_cuda.cu']\ninclude = ['deps/sppark', 'deps/blst/src']\nflags = ['-std=c++17', '-DTAKE_RESPONSIBILITY_FOR_ERROR_MESSAGE', '-DFEATURE_BLS12_381']\ntraps = 'keep'",
        ..PLAIN
    },
];

/// Crates with kernels that are not compiled here, and why.
pub(crate) const LEFT: &[(&str, &str)] = &[
    ("attention-rs", "it is not on crates.io"),
    (
        "era_cudart 0.156.2, icicle-cuda-runtime 1.3.0, lambdaworks-gpu 0.13.0",
        "their packages hold no kernels",
    ),
    (
        "llama-cpp-sys-2 0.1.161, whisper-rs-sys 0.15.0",
        "every file includes `cublas_v2.h`, which is in no package of the compiler",
    ),
    (
        "risc0-circuit-keccak-sys 4.0.3",
        "its five kernels call device functions of 21 other files, 143,000 lines: nvcc takes half a minute of processor time \
         for one of the five of 18,000 lines, and ptxas would have to assemble all of them as two modules",
    ),
    (
        "risc0-circuit-recursion-sys 4.0.3",
        "its nine kernels call four device functions of 8,000 to 42,000 lines each: nvcc is not done with the one of 12,000 \
         after two minutes of processor time",
    ),
    (
        "sppark 0.1.16",
        "its sources need a field's type from the source that includes them; they are counted in pasta-msm, risc0-sys and \
         supraseal-c2",
    ),
];
