//! What is compiled for: lists, words for several architectures, and kernels that the architectures do not have alike,
//! through their wrappers on the simulator.

use std::collections::BTreeSet;
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

const SCALE: &str = "extern \"C\" __global__ void scale(float *y) { y[threadIdx.x] *= 2; }\n";

/// The images of a package `p`, by kind: `sm_80`, ….
fn images(project: &Project, kind: &str) -> BTreeSet<String> {
    let sealed = project.root().join("target/gpuk/p/report.json");
    let sealed = std::fs::read_to_string(sealed).unwrap();
    let (_, report) = sealed.split_once('\n').unwrap();
    let report: serde_json::Value = serde_json::from_str(report).unwrap();
    let images = report["modules"][0]["images"].as_array().unwrap().iter();
    let of_kind = images.filter(|image| image["file"].as_str().unwrap().ends_with(kind));
    of_kind
        .map(|image| image["arch"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_all_major_is_nvccs_own() {
    let project = Project::new("p", GPUK)
        .config("archs = ['all-major']")
        .file("kernels/k.cu", SCALE);
    let nvcc = project.toolkit().join("bin/nvcc").display().to_string();
    let mut dry = project.command_of(
        &nvcc,
        &["--dryrun", "-arch=all-major", "-fatbin", "kernels/k.cu"],
    );
    let said = String::from_utf8(dry.output().unwrap().stderr).unwrap();
    // `--image3=kind=elf,sm=80,file=…`, one for each image of the fat binary.
    let of_nvcc = |kind: &str| -> BTreeSet<String> {
        let head = format!("kind={kind},sm=");
        let images = said.split(&*head).skip(1);
        images
            .map(|image| format!("sm_{}", image.split(',').next().unwrap()))
            .collect()
    };
    let _ = project.gpuk(&["build"]).ok();
    let cubins = images(&project, "cubin");
    assert!(cubins.len() > 4, "{cubins:?}");
    assert_eq!(cubins, of_nvcc("elf"), "{said}");
    // nvcc's is the newest; the lowest is for the devices of a list that has no cubin for them, and for the simulator.
    let lowest = of_nvcc("elf")
        .into_iter()
        .min_by_key(|arch| (arch.len(), arch.clone()));
    let ptx: BTreeSet<_> = of_nvcc("ptx").into_iter().chain(lowest).collect();
    assert_eq!(images(&project, "ptx"), ptx, "{said}");

    let again = project.gpuk(&["build"]).ok();
    assert!(again.stderr.contains("Fresh"), "{}", again.shown());
}

/// A program in `nvidia-smi`'s place that prints a file; nothing else sees a device.
#[cfg(unix)]
fn with_devices(project: Project, devices: &str) -> Project {
    use std::os::unix::fs::PermissionsExt;
    let project = project.file("devices", devices).file(
        "bin/nvidia-smi",
        "#!/bin/sh\nexec cat \"$(dirname \"$0\")/../devices\"\n",
    );
    let (bin, smi) = (
        project.root().join("bin"),
        project.root().join("bin/nvidia-smi"),
    );
    std::fs::set_permissions(smi, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap();
    let folders = [bin].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).unwrap();
    project
        .env("PATH", path.to_str())
        .env("CUDA_VISIBLE_DEVICES", Some(""))
}

#[cfg(unix)]
#[test]
#[ignore = "needs nvcc"]
fn nvcc_native_is_what_the_machine_has_at_each_build() {
    let project = Project::new("p", GPUK)
        .config("archs = ['native']")
        .file("kernels/k.cu", SCALE);
    let project = with_devices(project, "8.6\n9.0\n");
    let _ = project.gpuk(&["build"]).ok();
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let two: BTreeSet<String> = set(&["sm_86", "sm_90"]);
    assert_eq!(images(&project, "cubin"), two);
    let again = project.gpuk(&["build"]).ok();
    assert!(again.stderr.contains("Fresh"), "{}", again.shown());

    project.write("devices", "8.9\n");
    let other = project.gpuk(&["build"]).ok();
    assert!(!other.stderr.contains("Fresh"), "{}", other.shown());
    let one: BTreeSet<String> = set(&["sm_89"]);
    assert_eq!(images(&project, "cubin"), one);

    project.write("devices", "No devices were found\n");
    let none = project.gpuk(&["build"]);
    assert_eq!(none.code, Some(101), "{}", none.shown());
    assert!(none.stderr.contains("GPUK0060"), "{}", none.shown());

    // It is asked for, or it is not.
    let listed = project.gpuk(&["build", "--arch", "80"]).ok();
    let one: BTreeSet<String> = set(&["sm_80"]);
    assert_eq!(images(&project, "cubin"), one, "{}", listed.shown());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_the_toolkit_lacks_is_refused_with_what_it_has() {
    let project = Project::new("p", GPUK).file("kernels/k.cu", SCALE);
    for arch in ["61", "80a", "90f"] {
        let refused = project.gpuk(&["build", "--arch", arch]);
        assert_eq!(refused.code, Some(101), "{arch}: {}", refused.shown());
        let said = format!("does not compile for `sm_{arch}`");
        assert!(
            refused.stderr.contains("error[GPUK0033]"),
            "{}",
            refused.shown()
        );
        assert!(refused.stderr.contains(&said), "{}", refused.shown());
        for known in ["80, ", "90, 90a, ", "100, 100f, 100a"] {
            assert!(refused.stderr.contains(known), "{}", refused.shown());
        }
    }
    let taken = project.gpuk(&["build", "--arch", "90a"]).ok();
    assert_eq!(images(&project, "ptx").len(), 1, "{}", taken.shown());
}
