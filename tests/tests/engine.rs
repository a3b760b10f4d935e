//! `engine`: leaving out what nobody names changes nothing of what is compiled. Published crates are compared in `yardstick`.

use std::collections::BTreeMap;
use std::path::Path;

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// Functions of one argument and of two that `<cmath>` and CUDA's headers overload.
const UNARY: [&str; 24] = [
    "abs", "fabs", "sqrt", "rsqrt", "cbrt", "exp", "exp2", "expm1", "log", "log2", "log1p", "sin",
    "cos", "tanh", "erf", "tgamma", "floor", "round", "llrint", "isnan", "isinf", "signbit",
    "logb", "ilogb",
];
const BINARY: [&str; 12] = [
    "min",
    "max",
    "pow",
    "fmod",
    "fmin",
    "fdim",
    "atan2",
    "copysign",
    "hypot",
    "nextafter",
    "remainder",
    "ldexp",
];

#[test]
#[ignore = "needs nvcc"]
fn nvcc_both_engines_make_the_same() {
    let project = Project::new("engines", GPUK).config("flags = ['--expt-relaxed-constexpr']");
    for (name, text) in sources() {
        project.write(format!("kernels/{name}.cu"), &text);
    }
    let said = agree(&project);
    let short = said
        .lines()
        .filter(|line| line.contains("KB to read"))
        .count();
    // Cooperative groups count by `__COUNTER__`.
    assert_eq!(short, sources().len() - 1, "{said}");
    assert!(!said.contains("once more"), "a name was missed\n{said}");
    assert!(!said.contains("warning"), "{said}");
}

/// Builds with each engine and compares the images by their names, which carry their digests, and the wrappers.
fn agree(project: &Project) -> String {
    let build = |engine: &str| {
        let folder = project.root().join("target").join(engine);
        let folder = folder.to_str().unwrap();
        let args = ["build", "-v", "--engine", engine, "--target-dir", folder];
        let output = project.gpuk(&args).ok();
        let images = images(&Path::new(folder).join("gpuk"));
        assert!(images.len() > 2, "{}", output.stderr);
        (images, output.stderr)
    };
    let ((nvcc, _), (auto, said)) = (build("nvcc"), build("auto"));
    for (name, text) in &nvcc {
        assert!(auto.get(name) == Some(text), "{name} differs");
    }
    assert_eq!(nvcc.len(), auto.len());
    said
}

/// Images and wrappers below a folder.
fn images(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut images = BTreeMap::new();
    for package in std::fs::read_dir(folder).unwrap().flatten() {
        let files = std::fs::read_dir(package.path().join("images"))
            .into_iter()
            .flatten();
        for file in files.flatten() {
            let name = file.file_name().to_string_lossy().into_owned();
            images.insert(name, std::fs::read(file.path()).unwrap());
        }
        if let Ok(wrappers) = std::fs::read(package.path().join("kernels.rs")) {
            images.insert("kernels.rs".into(), wrappers);
        }
    }
    images
}

/// Sources that find names in all the ways there are.
fn sources() -> Vec<(String, String)> {
    let mut math = String::from("#include <cmath>\n");
    for scalar in ["float", "double"] {
        for function in UNARY {
            math += &format!(
                "extern \"C\" __global__ void {function}_{scalar}(const {scalar} *x, {scalar} *y) {{ y[0] = {function}(x[0]); }}\n"
            );
        }
        for function in BINARY {
            math += &format!(
                "extern \"C\" __global__ void {function}_{scalar}(const {scalar} *x, {scalar} *y) {{ y[0] = {function}(x[0], x[1]); }}\n\
                 extern \"C\" __global__ void {function}_{scalar}_int(const {scalar} *x, int n, {scalar} *y) {{ y[0] = {function}(x[0], {}); }}\n",
                if matches!(
                    function,
                    "min"
                        | "max"
                        | "fmod"
                        | "fmin"
                        | "fdim"
                        | "atan2"
                        | "copysign"
                        | "hypot"
                        | "nextafter"
                        | "remainder"
                ) {
                    format!("({scalar})n")
                } else {
                    "n".to_owned()
                }
            );
        }
    }
    let named = |name: &str, text: &str| (name.to_owned(), text.to_owned());
    vec![
        ("math".to_owned(), math),
        named(
            "half",
            "#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n\
             extern \"C\" __global__ void fma_half(const __half *x, __half *y) {\n\
             \x20   y[0] = x[0] * x[1] + __float2half(2.0f);\n    y[1] = -x[0];\n    if (x[0] < x[1]) y[2] = hsqrt(x[0]);\n}\n\
             extern \"C\" __global__ void fma_bf16(const __nv_bfloat162 *x, __nv_bfloat162 *y) {\n    y[0] = x[0] * x[1] + x[2];\n}\n",
        ),
        named(
            "forms",
            "#include <array>\n#include <tuple>\n#include <utility>\n#include <type_traits>\n#include <limits>\n#include <cstdint>\n\
             struct Pair { int a; float b; };\n\
             __host__ __device__ inline float2 operator+(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }\n\
             template <typename T, std::enable_if_t<std::is_floating_point<T>::value, int> = 0>\n\
             __device__ T half_of(T x) { return x / 2; }\n\
             template <typename T, std::enable_if_t<std::is_integral<T>::value, int> = 0>\n\
             __device__ T half_of(T x) { return x >> 1; }\n\
             extern \"C\" __global__ void forms(const Pair *p, const float2 *x, float2 *y, std::uint32_t *z) {\n\
             \x20   int parts[4] = {1, 2, 3, 4};\n    for (int part : parts) z[0] += part;\n\
             \x20   auto [a, b] = p[0];\n    y[0] = x[0] + x[1];\n    y[1].x = half_of(b) + half_of(a);\n\
             \x20   y[2].y = std::numeric_limits<float>::infinity();\n    auto twice = [=](float v) { return v * 2; };\n\
             \x20   y[3].x = twice(y[0].x);\n    z[1] = threadIdx.x + blockDim.y * gridDim.z + warpSize;\n}\n",
        ),
        named(
            "groups",
            "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\nnamespace cg = cooperative_groups;\n\
             extern \"C\" __global__ void reduce(const int *x, int *y) {\n\
             \x20   auto tile = cg::tiled_partition<32>(cg::this_thread_block());\n\
             \x20   int sum = cg::reduce(tile, x[threadIdx.x], cg::plus<int>());\n    if (tile.thread_rank() == 0) atomicAdd(y, sum);\n}\n",
        ),
        named(
            "host",
            "#include <cstdio>\n#include <iostream>\n#include <vector>\n#include <string>\n#include <algorithm>\n#include <cassert>\n\
             namespace { __device__ int counter = 3; __constant__ float table[4]; }\n\
             static __device__ float other[2] = {1, 2};\n\
             extern \"C\" __global__ void counted(int *y, int n) {\n    assert(n > 0);\n\
             \x20   if (y[0] < 0) printf(\"%d\\n\", y[0]);\n    y[0] = atomicAdd(&counter, n) + (int)table[n & 3] + (int)other[n & 1];\n}\n\
             int main() {\n    std::vector<std::string> names{\"a\"};\n    std::sort(names.begin(), names.end());\n\
             \x20   for (auto &name : names) std::cout << name << std::endl;\n    counted<<<1, 1>>>(nullptr, 1);\n    return cudaDeviceSynchronize();\n}\n",
        ),
        named(
            "checked",
            "#include <gpuk.cuh>\n\
             extern \"C\" __global__ void gather(const float *x, const int *i, float *y, int n, int rows) {\n\
             \x20   int t = blockIdx.x * blockDim.x + threadIdx.x;\n    if (t >= n) return;\n\
             \x20   GPUK_CHECK(i[t] >= 0 && i[t] < rows, \"row {} of {}\", i[t], rows);\n    y[t] = __ldg(x + i[t]) + __shfl_sync(~0u, y[t], 0);\n}\n",
        ),
    ]
}
