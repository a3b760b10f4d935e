//! A build killed at any moment leaves nothing that a later build takes for good.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
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
    results_in(&root.join("target/gpuk/p"))
}

fn results_in(out: &Path) -> BTreeMap<String, Vec<u8>> {
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

/// Numbers that look random and are the same in each run (Knuth's MMIX).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// What else goes wrong beside the kill.
fn spoil(root: &Path, random: &mut Random) {
    let out = root.join("target/gpuk/p");
    let folder = match random.below(6) {
        0 => root.join("target/gpuk/.store/units"),
        1 => out.join("traces"),
        2 => out.join("images"),
        3 => out.clone(),
        // A clock that jumps, forwards or back.
        4 => return jump(root, random),
        _ => return,
    };
    let mut files = Vec::new();
    collect(&folder, &mut files);
    if files.is_empty() {
        return;
    }
    let chosen = &files[usize::try_from(random.below(files.len() as u64)).unwrap()];
    let whole = std::fs::read(chosen).unwrap_or_default();
    let end = usize::try_from(random.below(whole.len() as u64 + 1)).unwrap();
    std::fs::write(chosen, &whole[..end]).unwrap();
}

fn jump(root: &Path, random: &mut Random) {
    let distance = Duration::from_secs(random.below(1_000_000));
    let now = std::time::SystemTime::now();
    let time = if random.below(2) == 0 {
        now - distance
    } else {
        now + distance
    };
    let mut files = Vec::new();
    collect(&root.join("kernels"), &mut files);
    collect(&root.join("target/gpuk"), &mut files);
    for file in files {
        let file = std::fs::File::options().append(true).open(file).unwrap();
        file.set_modified(time).unwrap();
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => collect(&entry.path(), files),
            false => files.push(entry.path()),
        }
    }
    files.sort();
}

/// `GPUK_TEST_KILLS` says how often; 30 times if it is not set.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_killed_and_spoilt_builds_end_as_a_clean_one() {
    let kills = std::env::var("GPUK_TEST_KILLS").map_or(30, |text| text.parse().unwrap());
    let clean = project();
    let start = std::time::Instant::now();
    let _ = clean.gpuk(&["build"]).ok();
    let whole = u64::try_from(start.elapsed().as_millis()).unwrap();
    let expected = results(&clean.root());

    let killed = project();
    let root = killed.root();
    let mut random = Random(1);
    for kill in 0..kills {
        let mut child = killed
            .gpuk_command(&["build", "-j", "2"])
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(random.below(whole)));
        let _ = child.kill();
        let _ = child.wait();
        spoil(&root, &mut random);
        let output = killed.gpuk(&["build"]);
        assert_eq!(output.code, Some(0), "kill {kill}: {}", output.shown());
        assert_eq!(results(&root), expected, "after kill {kill}");
        if random.below(2) == 0 {
            let _ = std::fs::remove_dir_all(root.join("target/gpuk/.store/units"));
        }
        let _ = std::fs::remove_file(root.join("target/gpuk/p/report.json"));
    }
}

/// Writes fail behind a number of bytes, as on a disk that is full.
#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs nvcc"]
fn nvcc_a_full_disk_leaves_nothing_half_written() {
    let clean = project();
    let _ = clean.gpuk(&["build"]).ok();
    let expected = results(&clean.root());
    let mut failed = 0;
    for kib in [0, 1, 2, 4, 8, 16] {
        let full = project();
        // The signal is ignored, so that writing fails instead.
        let script = format!("trap '' XFSZ; ulimit -f {kib}; exec \"$0\" build");
        let mut command = full.command_of("bash", &["-c", &script, GPUK]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("panicked"), "{kib} KiB: {said}");
        if !output.status.success() {
            failed += 1;
            assert!(said.contains("error"), "{kib} KiB: {said}");
        }
        let output = full.gpuk(&["build"]);
        assert_eq!(output.code, Some(0), "{kib} KiB: {}", output.shown());
        assert_eq!(results(&full.root()), expected, "{kib} KiB");
    }
    assert!(failed > 2, "the limit is felt");
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_store_that_cannot_be_written_costs_time_alone() {
    let project = project().file("store", "a file where a folder should be");
    let store = project.root().join("store").display().to_string();
    let project = project.env("GPUK_STORE", Some(&store));
    for _ in 0..2 {
        let output = project.gpuk(&["build"]).ok();
        assert!(
            output
                .stderr
                .contains("warning: compiled kernels are not kept: could not make the folder"),
            "{}",
            output.stderr
        );
        std::fs::remove_file(project.root().join("target/gpuk/p/report.json")).unwrap();
    }
    assert_eq!(results(&project.root()).len(), 7);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_ten_builds_at_once_agree() {
    let project = project();
    let root = project.root();
    let store = root.join("shared").display().to_string();
    let project = project.env("GPUK_STORE", Some(&store));
    // Half of them in one folder, where they wait for each other, half with nothing but the store in common.
    let folders: Vec<_> = (0..10)
        .map(|index| format!("target{}", index.max(5) - 5))
        .collect();
    let children: Vec<_> = folders
        .iter()
        .map(|folder| {
            let mut command = project.gpuk_command(&["build", "-j", "1", "--target-dir", folder]);
            command
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let all = folders
        .iter()
        .map(|folder| results_in(&root.join(folder).join("gpuk/p")));
    let all: Vec<_> = all.collect();
    assert!(all.windows(2).all(|pair| pair[0] == pair[1]));
}

/// Stands for a device compiler that goes on after its build was killed: it writes its PTX once more when that of the next build
/// has just written its own, which then waits for that.
#[cfg(unix)]
const LATE: &str = r#"#!/bin/bash
"$@"; status=$?
wait_for() { for _ in {1..1200}; do [ -e "$1" ] && return; sleep 0.05; done; }
if [[ $1 = *cicc ]]; then
    out=${!#}
    if mkdir first 2>/dev/null; then
        cp "$out" saved; touch compiled
        wait_for next
        cp saved "$out"; touch copied
    elif [ ! -e next ]; then
        touch next
        wait_for copied
    fi
fi
exit $status
"#;

#[test]
#[cfg(unix)]
#[ignore = "needs nvcc"]
fn nvcc_compilers_of_a_killed_build_do_not_write_into_the_next() {
    use std::os::unix::fs::PermissionsExt;

    let source =
        |value: u32| format!("extern \"C\" __global__ void k(int *y) {{ y[0] = {value}; }}\n");
    let project = Project::new("p", GPUK)
        .file("late", LATE)
        .config("archs = ['80']")
        .file("kernels/k.cu", &source(1));
    let late = project.root().join("late");
    std::fs::set_permissions(&late, PermissionsExt::from_mode(0o755)).unwrap();
    let project = project.env("GPUK_WRAPPER", late.to_str());
    let mut child = project.gpuk_command(&["build", "-q"]).spawn().unwrap();
    let compiled = project.root().join("compiled");
    while !compiled.exists() {
        assert!(child.try_wait().unwrap().is_none(), "it waits");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    project.write("kernels/k.cu", &source(2));
    let _ = project.gpuk(&["build"]).ok();
    assert!(project.root().join("copied").exists(), "the two met");
    let clean = Project::new("p", GPUK)
        .config("archs = ['80']")
        .file("kernels/k.cu", &source(2));
    let _ = clean.gpuk(&["build"]).ok();
    assert_eq!(results(&project.root()), results(&clean.root()));
}
