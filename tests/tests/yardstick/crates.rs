//! The crates, and the settings that a user would write for each.

/// A published crate with kernels.
pub(crate) struct Crate {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    /// Its folders that are needed.
    pub(crate) folders: &'static [&'static str],
    /// What its kernels include of other crates.
    pub(crate) needs: &'static [Need],
    /// `[package.metadata.gpuk]`.
    pub(crate) config: &'static str,
    /// Whether it is counted in continuous integration.
    pub(crate) quick: bool,
    /// `.cu` files that are left out, and why.
    pub(crate) skipped: &'static [(&'static str, &'static str)],
}

/// A folder of another crate, which the project has as `deps/NAME`.
pub(crate) struct Need {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) folder: &'static str,
}

const SPPARK: Need = Need {
    name: "sppark",
    version: "0.1.16",
    folder: "sppark",
};

const PLAIN: Crate = Crate {
    name: "",
    version: "",
    folders: &[],
    needs: &[],
    config: "",
    quick: false,
    skipped: &[],
};

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
        name: "hvm",
        version: "2.0.22",
        folders: &["src"],
        config: "kernels = ['src/hvm.cu']",
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
];

/// Crates with kernels that are not compiled here, and why.
pub(crate) const LEFT: &[(&str, &str)] = &[
    (
        "candle-flash-attn 0.11.1",
        "every file includes CUTLASS, which its build script fetches by git",
    ),
    (
        "ec-gpu-gen 0.7.1",
        "its kernels are text that a program puts together for a curve when it is built",
    ),
];
