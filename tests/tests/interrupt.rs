//! A build killed at any moment leaves nothing that a later build takes for good.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use gpuk_tests::Project;

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

fn project() -> Project {
    let project = Project::new("p", GPUK);
    for name in ["a", "b", "c"] {
        project.write(
            format!("kernels/{name}.cu"),
            &format!(
                "extern \"C\" __global__ void {name}(float *y, int n) {{ if (n > 1) y[n] = n; }}\n"
            ),
        );
    }
    project
}

/// Every result by name.
fn results(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let out = root.join("target/gpuk/p");
    let images = std::fs::read_dir(out.join("images"))
        .unwrap()
        .flatten()
        .map(|entry| entry.path());
    let files = images.chain([out.join("kernels.rs")]);
    files
        .map(|path| {
            (
                path.file_name().unwrap().to_string_lossy().into_owned(),
                std::fs::read(path).unwrap(),
            )
        })
        .collect()
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_thirty_killed_builds_end_as_a_clean_one() {
    let clean = project();
    let start = std::time::Instant::now();
    let _ = clean.gpuk(&["build"]).ok();
    let whole = start.elapsed();
    let expected = results(&clean.root());

    let killed = project();
    for step in 0..30_u32 {
        let mut child = killed
            .gpuk_command(&["build", "-j", "2"])
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(whole * step / 30 + Duration::from_millis(u64::from(step % 7)));
        let _ = child.kill();
        let _ = child.wait();
        if step % 10 == 9 {
            let _ = killed.gpuk(&["build"]).ok();
            assert_eq!(results(&killed.root()), expected, "after {step} kills");
            std::fs::remove_dir_all(killed.root().join("target/gpuk/.store/units")).unwrap();
            std::fs::remove_file(killed.root().join("target/gpuk/p/report.json")).unwrap();
        }
    }
}
