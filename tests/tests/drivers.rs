//! The oldest driver that is stated: PTX that it takes, or a refusal; held against the simulator as such a driver.

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

const SCALE: &str = "#include <gpuk.cuh>
extern \"C\" __global__ void scale(float *y, int n) {
    GPUK_CHECK(n > 0, \"{}\", n);
    y[threadIdx.x] *= n;
}
";

/// The images of a package `p`: name without digest, contents; sorted.
fn images(project: &Project) -> Vec<(String, Vec<u8>)> {
    let folder = project.root().join("target/gpuk/p/images");
    let images = std::fs::read_dir(folder).unwrap().flatten();
    let mut images: Vec<_> = images
        .map(|image| {
            let name = image.file_name().into_string().unwrap();
            let arch = name.split(['-', '.']).find(|part| part.starts_with("sm_"));
            let kind = name.rsplit('.').next().unwrap();
            let bytes = std::fs::read(image.path()).unwrap();
            (format!("{}.{kind}", arch.unwrap()), bytes)
        })
        .collect();
    images.sort();
    images
}

fn project(config: &str) -> Project {
    Project::new("p", GPUK)
        .config(&format!(
            "archs = ['80', '90', '120']\nline-info = false\n{config}"
        ))
        .file("kernels/k.cu", SCALE)
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_ptx_is_of_the_version_that_the_stated_driver_takes() {
    let (plain, old) = (project(""), project("minimum-driver = '535'"));
    let _ = plain.gpuk(&["build"]).ok();
    let _ = old.gpuk(&["build"]).ok();
    let names = |project| -> Vec<_> { images(project).into_iter().map(|it| it.0).collect() };
    let cubins = ["sm_120.cubin", "sm_80.cubin", "sm_90.cubin"];
    assert_eq!(
        names(&plain),
        ["sm_120.cubin", "sm_80.cubin", "sm_80.ptx", "sm_90.cubin"]
    );
    // Such a driver takes no cubin of CUDA 13: each architecture has its PTX.
    let all = [
        "sm_120.cubin",
        "sm_120.ptx",
        "sm_80.cubin",
        "sm_80.ptx",
        "sm_90.cubin",
        "sm_90.ptx",
    ];
    assert_eq!(names(&old), all);
    let of = |project, name: &str| {
        images(project)
            .into_iter()
            .find(|it| it.0 == name)
            .unwrap()
            .1
    };
    for (name, version) in [
        ("sm_80.ptx", "8.2"),
        ("sm_90.ptx", "8.2"),
        ("sm_120.ptx", "8.7"),
    ] {
        let ptx = String::from_utf8(of(&old, name)).unwrap();
        assert!(ptx.contains(&format!("\n.version {version}\n")), "{name}");
    }
    // The version alone is another: the machine code is the same.
    for cubin in cubins {
        assert!(of(&plain, cubin) == of(&old, cubin), "{cubin}");
    }
    let lowered = String::from_utf8(of(&old, "sm_80.ptx")).unwrap();
    let plain_ptx = String::from_utf8(of(&plain, "sm_80.ptx")).unwrap();
    let other: Vec<_> = lowered
        .lines()
        .zip(plain_ptx.lines())
        .filter(|(a, b)| a != b)
        .collect();
    assert_eq!(other, [(".version 8.2", ".version 9.0")]);

    let listed = old.gpuk(&["list"]).ok().stdout;
    let said = "cubins run on drivers from CUDA 13.0 (580) on, PTX from 12.2 (535) on";
    assert!(listed.trim_end().ends_with(said), "{listed}");
    let bad = project("minimum-driver = '460'").gpuk(&["check"]);
    assert!(
        bad.stderr
            .contains("error[GPUK0031]: `'460'` is not a driver"),
        "{}",
        bad.shown()
    );
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_the_stated_driver_lacks_is_refused_where_it_stands() {
    let source = "extern \"C\" __global__ void swap(unsigned long long *y) {
    unsigned long long low = y[0], high = y[1];
    asm(\"{ .reg .b128 both; mov.b128 both, {%0, %1}; mov.b128 {%1, %0}, both; }\" : \"+l\"(low), \"+l\"(high));
    y[0] = low;
    y[1] = high;
}
";
    let project = Project::new("p", GPUK)
        .config("archs = ['80', '90']\nminimum-driver = '12.2'")
        .file("kernels/k.cu", source);
    let refused = project.gpuk(&["check", "--message-format", "short"]);
    assert_eq!(refused.code, Some(101), "{}", refused.shown());
    let errors: Vec<_> = refused
        .stderr
        .lines()
        .filter(|line| line.contains("error["))
        .collect();
    // Once for both architectures.
    assert_eq!(errors.len(), 1, "{}", refused.shown());
    let said = "`kernels/k.cu` needs a driver for CUDA 12.3, and `minimum-driver` is 12.2";
    assert!(errors[0].contains(said), "{}", errors[0]);
    assert!(errors[0].starts_with("kernels/k.cu:3"), "{}", errors[0]);
}

/// Says what the driver is in the simulator, and whether loading is expected to work there.
const USER: &str = r#"gpuk::include_kernels!();

#[test]
fn loads() {
    let context = gpuk::device(0).unwrap();
    match k::Kernels::load(&context) {
        Err(error) => println!("said: {error}"),
        Ok(kernels) => {
            let stream = context.default_stream();
            let y = stream.clone_htod(&[3.0_f32]).unwrap();
            // SAFETY: one thread, one item.
            let (payload, y) = unsafe { kernels.scale(&stream, gpuk::Launch::default(), y, 2) }.unwrap();
            payload.check().unwrap();
            println!("said: {:?}", stream.clone_dtoh(&y).unwrap());
        }
    }
}
"#;

#[test]
#[ignore = "needs nvcc"]
fn nvcc_an_old_driver_loads_what_was_made_for_it_and_is_told_of_the_rest() {
    let at = |config: &str| {
        let project = Project::new("olddriver", GPUK)
            .config(config)
            .scripted(env!("CARGO_TARGET_TMPDIR"))
            .file("kernels/k.cu", SCALE)
            .file("src/lib.rs", USER)
            .env("GPUK_SIM_DRIVER_VERSION", Some("12.2"));
        let args = [
            "test",
            "--sim",
            "--offline",
            "--",
            "--lib",
            "--",
            "--nocapture",
        ];
        project.gpuk(&args).ok().stdout
    };
    let plain = at("");
    assert!(
        plain.contains("driver for CUDA 12.2, PTX up to 8.2"),
        "{plain}"
    );
    let help = "help: or set `minimum-driver = \"12.2\"` and build again";
    assert!(plain.contains(help), "{plain}");
    let stated = at("minimum-driver = '12.2'");
    assert!(stated.contains("said: [6.0]"), "{stated}");
}
