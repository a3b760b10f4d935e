//! Kernels that the architectures do not have alike, through their wrappers on the simulator.

use std::path::Path;

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// A kernel for all, one from Hopper on, one with a check from Hopper on.
const SOURCE: &str = r#"#include <gpuk.cuh>

extern "C" __global__ void common(int *out) { *out = 1; }

#if __CUDA_ARCH__ >= 900
extern "C" __global__ void newer(int *out) { *out = 2; }
#endif

template <typename T> __global__ void typed(T *out) { *out = 3; }
template __global__ void typed<int>(int *);
#if __CUDA_ARCH__ >= 900
template __global__ void typed<float>(float *);
#endif

extern "C" __global__ void checked(int *out, int n)
{
#if __CUDA_ARCH__ >= 900
    GPUK_CHECK(n > 0);
#endif
    *out = n;
}
"#;

/// `GPUK_SIM_CAPABILITY` says what the test has to see.
const USER: &str = r#"gpuk::include_kernels!();

#[test]
fn launches() {
    use archs::Kernels;
    let newer = !std::env::var("GPUK_SIM_CAPABILITY").unwrap().starts_with('8');
    let context = gpuk::device(0).unwrap();
    let stream = context.default_stream();
    let kernels = Kernels::load(&context).unwrap();
    let launch = gpuk::Launch::default();
    let out = || stream.clone_htod(&[0]).unwrap();
    let read = |out| stream.clone_dtoh(&out).unwrap()[0];

    // SAFETY: there is an item for the one that is written.
    let (_, one) = unsafe { kernels.common(&stream, launch, out()) }.unwrap();
    assert_eq!(read(one), 1);

    assert_eq!(kernels.has_newer(), newer);
    // SAFETY: as above.
    match unsafe { kernels.newer(&stream, launch, out()) } {
        Ok((_, two)) => assert!(newer && read(two) == 2),
        Err(error) => {
            assert!(!newer);
            assert_eq!(
                error.to_string(),
                "kernel `newer` does not exist for this device: compute capability 8.0 runs what was \
                 compiled for sm_80, and the kernel was compiled for sm_90, sm_100 only"
                    .replace("8.0", &std::env::var("GPUK_SIM_CAPABILITY").unwrap())
            );
        }
    }

    assert_eq!(kernels.has_typed_float(), newer);
    let float = stream.clone_htod(&[0.0_f32]).unwrap();
    // SAFETY: as above.
    assert_eq!(unsafe { kernels.typed(&stream, launch, float) }.is_ok(), newer);
    // SAFETY: as above.
    let (_, three) = unsafe { kernels.typed(&stream, launch, out()) }.unwrap();
    assert_eq!(read(three), 3);

    // SAFETY: as above.
    let (payload, number) = unsafe { kernels.checked(&stream, launch, out(), -3) }.unwrap();
    assert_eq!(payload.check().is_err(), newer);
    assert_eq!(read(number), if newer { 0 } else { -3 });
}
"#;

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_kernel_of_some_architectures_is_an_error_value_elsewhere() {
    let mut project = Project::new("varied", GPUK)
        .config("archs = ['80', '86', '90', '100']")
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .file("kernels/archs.cu", SOURCE)
        .file("src/lib.rs", USER);
    for capability in ["8.0", "8.6", "9.0", "12.0"] {
        project = project.env("GPUK_SIM_CAPABILITY", Some(capability));
        let tested = project.gpuk(&["test", "--sim", "--offline", "--", "--lib"]);
        assert_eq!(tested.code, Some(0), "{capability}: {}", tested.shown());
    }

    // The PTX of two architectures is shipped: the lowest, and the first that has other kernels.
    let built = project.gpuk(&["build"]).ok();
    assert!(
        built
            .stderr
            .contains("kernel `newer` does not exist for sm_80, sm_86"),
        "{}",
        built.shown()
    );
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("script/gpuk/varied/images");
    let images = std::fs::read_dir(folder).unwrap().flatten();
    let names = images.filter_map(|image| image.file_name().into_string().ok());
    let mut ptx: Vec<_> = names
        .filter(|name| name.ends_with(".ptx"))
        .map(|name| name.split('-').next().unwrap_or_default().to_owned())
        .collect();
    ptx.sort();
    assert_eq!(ptx, ["archs"; 2], "{ptx:?}");
}
