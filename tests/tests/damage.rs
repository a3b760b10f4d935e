//! Whatever happens to the files of a build, the next one ends as a clean one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gpuk_tests::{Counter, Project};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

fn project() -> Project {
    Project::new("p", GPUK)
        .file(
            "kernels/a.cu",
            "#include <gpuk.cuh>\nextern \"C\" __global__ void a(int *y) { GPUK_CHECK(*y > 0); y[0] = 1; }\n",
        )
        .config("host-objects = ['host/h.cu']")
        .file("host/h.cu", "extern \"C\" int host(int a) { return a; }\n")
}

/// Every result by name, but for objects of host functions: nvcc names temporary files in those.
fn results(out: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(out.join("images")).into_iter().flatten();
    let files = files.map(|entry| entry.unwrap().path());
    files
        .chain([out.join("kernels.rs")])
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        })
        .collect()
}

fn out(project: &Project) -> PathBuf {
    project.root().join("target/gpuk/p")
}

/// Every file below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries.flat_map(|entry| match entry.path().is_dir() {
        true => files(&entry.path()),
        false => vec![entry.path()],
    });
    let mut all: Vec<_> = below.collect();
    all.sort();
    all
}

fn remove(path: &Path) {
    match path.is_dir() {
        true => std::fs::remove_dir_all(path).unwrap(),
        false => std::fs::remove_file(path).unwrap(),
    }
}

/// What a file becomes; the bytes are another one's.
#[cfg(unix)]
type Damage = (&'static str, fn(&Path, &[u8]));

#[cfg(unix)]
const DAMAGES: [Damage; 8] = [
    ("cut in half", |path, _| {
        let whole = std::fs::read(path).unwrap();
        std::fs::write(path, &whole[..whole.len() / 2]).unwrap();
    }),
    ("empty", |path, _| std::fs::write(path, "").unwrap()),
    ("zeroes", |path, _| {
        let len = std::fs::read(path).unwrap().len();
        std::fs::write(path, vec![0; len]).unwrap();
    }),
    ("a bit flipped", |path, _| {
        let mut bytes = std::fs::read(path).unwrap();
        let middle = bytes.len() / 2;
        if let Some(byte) = bytes.get_mut(middle) {
            *byte ^= 1;
        }
        std::fs::write(path, bytes).unwrap();
    }),
    ("another's content", |path, other| {
        std::fs::write(path, other).unwrap();
    }),
    ("gone", |path, _| remove(path)),
    ("a folder", |path, _| {
        remove(path);
        std::fs::create_dir(path).unwrap();
    }),
    ("a link to nothing", |path, _| {
        remove(path);
        std::os::unix::fs::symlink("/nothing/there", path).unwrap();
    }),
];

#[test]
#[cfg(unix)]
#[ignore = "needs nvcc"]
fn nvcc_every_file_may_be_damaged_in_every_way() {
    let (project, other) = (project(), project());
    other.write(
        "kernels/a.cu",
        "__global__ void other(float *y) { *y = 2; }\n",
    );
    other.write(
        "host/h.cu",
        "extern \"C\" int more(int a) { return a + 1; }\n",
    );
    for project in [&project, &other] {
        let _ = project.gpuk(&["build"]).ok();
    }
    let expected = results(&out(&project));
    let all = |project: &Project| files(&project.root().join("target/gpuk"));
    let others = all(&other);
    let whole: Vec<_> = all(&project)
        .into_iter()
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .filter(|(path, _)| !path.ends_with("lock"))
        .collect();
    // Records, names, images, objects, traces, tools, wrappers, report, header.
    assert!(whole.len() > 12, "{whole:?}");
    let mut wrong = Vec::new();
    for (path, _) in &whole {
        let alike = others.iter().find(|it| it.extension() == path.extension());
        let alike = std::fs::read(alike.unwrap_or(&others[0])).unwrap();
        for (what, damage) in DAMAGES {
            // An object of host functions that was made anew has another name.
            if !path.is_file() {
                continue;
            }
            damage(path, &alike);
            // Or the results would be current, and the store not read.
            let report = out(&project).join("report.json");
            if *path != report && report.is_file() {
                remove(&report);
            }
            let output = project.gpuk(&["build"]);
            if output.code != Some(0) || results(&out(&project)) != expected {
                wrong.push(format!("{} is {what}: {}", path.display(), output.shown()));
                let _ = std::fs::remove_dir_all(project.root().join("target"));
                let _ = project.gpuk(&["build"]).ok();
            }
        }
    }
    // Units of the store, as a whole.
    let units = project.root().join("target/gpuk/.store/units");
    let units: Vec<_> = std::fs::read_dir(units).unwrap().flatten().collect();
    for unit in units {
        for (what, damage) in &DAMAGES[5..] {
            // The names of kernels are not asked for while a trace has them.
            if !unit.path().is_dir() {
                continue;
            }
            damage(&unit.path(), &[]);
            for _ in 0..2 {
                let _ = std::fs::remove_file(out(&project).join("report.json"));
                let output = project.gpuk(&["build"]);
                let kept = !output.stderr.contains("not kept");
                if output.code != Some(0) || results(&out(&project)) != expected || !kept {
                    wrong.push(format!("{:?} is {what}: {}", unit.path(), output.shown()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `cargo gpuk build`, on which the folder is read-only: for root by a mount of its own, else by permissions.
#[cfg(target_os = "linux")]
fn build_with_read_only(project: &Project, folder: &Path) -> std::process::Output {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    let is_root = std::fs::metadata("/proc/self").unwrap().uid() == 0;
    let allow = |mode: u32| {
        for path in files(folder).iter().flat_map(|file| file.ancestors()) {
            if path.starts_with(folder) {
                let mode = if path.is_dir() { mode | 0o111 } else { mode };
                std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
            }
        }
        let folder_mode = std::fs::Permissions::from_mode(mode | 0o111);
        std::fs::set_permissions(folder, folder_mode).unwrap();
    };
    if !is_root {
        allow(0o444);
        let output = project.gpuk_command(&["build"]).output().unwrap();
        allow(0o644);
        return output;
    }
    let script =
        "mount --bind \"$1\" \"$1\" && mount -o remount,ro,bind \"$1\" && exec \"$0\" build";
    let folder = folder.display().to_string();
    let mut command = project.command_of("unshare", &["-m", "sh", "-c", script, GPUK, &folder]);
    command.output().unwrap()
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs nvcc"]
fn nvcc_a_read_only_store_serves_what_it_has() {
    let store = tempfile::tempdir().unwrap();
    let counter = Counter::new(GPUK);
    let project = project()
        .env("GPUK_STORE", Some(&store.path().display().to_string()))
        .env("NVCC", Some(&counter.nvcc()));
    let again = || {
        let _ = std::fs::remove_dir_all(project.root().join("target"));
        let mut said = String::new();
        let ran = counter.ran(|| {
            let output = build_with_read_only(&project, store.path());
            said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{said}");
        });
        (said, ran.iter().filter(|it| *it == "ptxas").count())
    };
    let lost = "warning: compiled kernels are not kept: could not make the folder";
    let (said, compiled) = again();
    assert!(said.contains(lost) && compiled == 1, "{said}");
    let expected = results(&out(&project));
    let _ = project.gpuk(&["build"]).ok();
    let _ = std::fs::remove_file(out(&project).join("report.json"));
    let _ = project.gpuk(&["build"]).ok();

    let (said, compiled) = again();
    assert!(!said.contains("warning") && compiled == 0, "{said}");
    assert_eq!(results(&out(&project)), expected);

    let cubin = files(store.path());
    let cubin = cubin
        .iter()
        .find(|it| it.ends_with("module.cubin"))
        .unwrap();
    std::fs::write(cubin, "damaged").unwrap();
    let (said, compiled) = again();
    assert!(said.contains("not kept") && compiled == 1, "{said}");
    assert_eq!(results(&out(&project)), expected);
}

fn started(project: &Project, args: &[&str]) -> Child {
    let mut command = project.gpuk_command(args);
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn ended(child: Child) {
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_store_may_be_deleted_while_builds_run() {
    let clean = project();
    let _ = clean.gpuk(&["build"]).ok();
    let expected = results(&out(&clean));
    let project = project();
    let store = project.root().join("target/gpuk/.store");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let _ = std::fs::remove_dir_all(&store);
                std::thread::sleep(Duration::from_millis(3));
            }
        });
        for _ in 0..4 {
            ended(started(&project, &["build"]));
            assert_eq!(results(&out(&project)), expected);
            let _ = std::fs::remove_file(out(&project).join("report.json"));
        }
        done.store(true, Ordering::Relaxed);
    });
    let output = project.gpuk(&["build"]).ok();
    assert!(!output.stderr.contains("not kept"), "{}", output.stderr);
    assert_eq!(results(&out(&project)), expected);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_two_toolkits_at_once_do_not_meet() {
    let counters = [Counter::new(GPUK), Counter::new(GPUK)];
    // As a newer one would, the second makes something else.
    let cicc = counters[1].toolkit().join("nvvm/bin/cicc");
    let script = std::fs::read_to_string(&cicc).unwrap();
    std::fs::write(
        &cicc,
        script.replace(
            "exec ",
            "set -- $(echo \"$@\" | sed s/-ftz=0/-ftz=1/)\nexec ",
        ),
    )
    .unwrap();
    let source = "extern \"C\" __global__ void a(float *y) { y[0] = y[1] / y[2]; }\n";
    let with = |counter: &Counter, project: Project| {
        project
            .file("kernels/a.cu", source)
            .env("NVCC", Some(&counter.nvcc()))
    };
    let expected = counters.each_ref().map(|counter| {
        let clean = with(counter, Project::new("p", GPUK));
        let _ = clean.gpuk(&["build"]).ok();
        results(&out(&clean))
    });
    assert_ne!(expected[0], expected[1]);
    let folder = tempfile::tempdir().unwrap();
    let both = counters.each_ref();
    let both = both.map(|counter| with(counter, Project::kept("p", GPUK, folder.path())));
    for _ in 0..3 {
        let children = both.each_ref().map(|project| started(project, &["build"]));
        children.into_iter().for_each(ended);
    }
    for ((project, counter), expected) in both.iter().zip(&counters).zip(&expected) {
        let ran = counter.ran(|| drop(project.gpuk(&["build"]).ok()));
        assert!(
            !ran.iter().any(|it| it == "cicc" || it == "ptxas"),
            "{ran:?}"
        );
        assert_eq!(&results(&out(project)), expected);
    }
}

/// Both wait for cargo's own locks where they have to, and share a store.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_build_of_cargos_and_the_command_at_once_agree() {
    let project = project()
        .scripted(env!("CARGO_TARGET_TMPDIR"))
        .file("src/lib.rs", "gpuk::include_kernels!();\n");
    let store = project.root().join("store").display().to_string();
    let project = project.env("GPUK_STORE", Some(&store));
    for nth in 0..3 {
        let text = format!("extern \"C\" __global__ void a(int *y) {{ y[0] = {nth}; }}\n");
        project.write("kernels/a.cu", &text);
        let target = project.root().join("target").display().to_string();
        let command = started(&project, &["build", "--target-dir", &target]);
        let args = ["check", "--offline", "--message-format", "json"];
        let checked = project.cargo(&args).ok();
        ended(command);
        let messages = checked.stdout.lines();
        let messages = messages.filter_map(|it| serde_json::from_str::<serde_json::Value>(it).ok());
        let script = messages.filter(|it| it["reason"] == "build-script-executed");
        let mut folders = script.filter_map(|it| Some(it["out_dir"].as_str()?.to_owned()));
        let folder = folders.rfind(|it| it.contains("/p-")).unwrap();
        assert_eq!(
            results(&Path::new(&folder).join("gpuk")),
            results(&out(&project))
        );
    }
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_compilers_leave_nothing_among_temporary_files() {
    let temporary = tempfile::tempdir().unwrap();
    let bad = "extern \"C\" __global__ void bad(int *y) { y[0] = missing; }\n";
    for (source, is_built) in [("", true), (bad, false)] {
        let project = project()
            .file("kernels/b.cu", source)
            .env("TMPDIR", temporary.path().to_str());
        assert_eq!(project.gpuk(&["build"]).code == Some(0), is_built);
        let left = files(temporary.path());
        assert!(left.is_empty(), "{left:?}");
    }
}
