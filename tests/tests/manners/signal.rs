//! Ctrl-C: everything stops at once, and nothing is left that a later build minds.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::Stdio;
use std::time::{Duration, Instant};

use gpuk_tests::Project;

use super::{GPUK, SET, project};

const INTERRUPT: i32 = 2;

fn kill(project: &Project, signal: &str, group: u32) -> bool {
    let mut command = project.command_of("kill", &[signal, "--", &format!("-{group}")]);
    let status = command.stderr(Stdio::null()).status();
    status.unwrap().success()
}

/// Whether a process of the group runs the device compiler.
fn compiles(group: u32) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let stats = processes.filter_map(|it| std::fs::read_to_string(it.path().join("stat")).ok());
    // `pid (name) state parent group …`
    stats.into_iter().any(|stat| {
        let (name, rest) = stat.rsplit_once(')').unwrap_or_default();
        let is_of_group = rest.split_whitespace().nth(2) == Some(&*group.to_string());
        is_of_group && name.ends_with("(cicc")
    })
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_an_interrupt_ends_it_and_its_compilers() {
    let project = project();
    for index in 0..8 {
        project.write(
            format!("kernels/set{index}.cu"),
            &SET.replace("set", &format!("set{index}")),
        );
    }
    // What a shell starts in the background ignores it, and so does all that this starts.
    let heard = ["--default-signal=INT", GPUK, "build", "-j", "2"];
    let mut command = project.command_of("env", &heard);
    let mut child = command
        .process_group(0)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while !compiles(child.id()) {
        assert_eq!(child.try_wait().unwrap(), None, "nothing was compiled");
        std::thread::sleep(Duration::from_millis(2));
    }
    let start = Instant::now();
    // As a terminal does: to all of the group.
    assert!(kill(&project, "-INT", child.id()));
    let status = child.wait().unwrap();
    assert_eq!(
        status.signal(),
        Some(INTERRUPT),
        "a shell sees that it was interrupted"
    );
    assert!(start.elapsed() < Duration::from_secs(5));
    let gone = (0..50).any(|_| {
        std::thread::sleep(Duration::from_millis(100));
        !kill(&project, "-0", child.id())
    });
    assert!(gone, "no compiler of it runs on");
    let output = project.gpuk(&["build"]).ok();
    assert!(
        output.stderr.contains("Finished 9 kernels"),
        "{}",
        output.stderr
    );
    let work = project.root().join("target/gpuk/p/work");
    let left = std::fs::read_dir(work).map_or(0, Iterator::count);
    assert_eq!(left, 0, "what the interrupted build left is swept");
}
