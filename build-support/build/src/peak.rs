//! The most memory that a process takes, measured while it runs.
//!
//! Linux keeps the high-water mark of each process's resident memory in `/proc` as long as the process lives, so it
//! is read again and again: what a process takes in its last moments may be missed. Other systems are not asked.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use crate::budget::field;

/// How often is looked.
const EVERY: Duration = Duration::from_millis(20);

/// The most that any of several processes took, in bytes. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Peak(Arc<AtomicU64>);

impl Peak {
    pub(crate) fn note(&self, bytes: u64) {
        self.0.fetch_max(bytes, Ordering::Relaxed);
    }

    /// `None` while nothing was noted.
    pub(crate) fn bytes(&self) -> Option<u64> {
        let bytes = self.0.load(Ordering::Relaxed);
        (bytes > 0).then_some(bytes)
    }
}

/// Waits for a process, and tells what it and those that it started took together, in bytes.
pub(crate) fn watched<T>(process: u32, wait: impl FnOnce() -> T) -> (T, Option<u64>) {
    if !cfg!(target_os = "linux") {
        return (wait(), None);
    }
    let (running, ended) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        let watch = std::thread::Builder::new().spawn_scoped(scope, move || {
            let mut most = None;
            loop {
                most = most.max(of_tree(Path::new("/proc"), process));
                if ended.recv_timeout(EVERY) != Err(RecvTimeoutError::Timeout) {
                    return most;
                }
            }
        });
        let result = wait();
        drop(running);
        let most = watch.ok().and_then(|watch| watch.join().ok());
        (result, most.flatten())
    })
}

/// What a process and its descendants took at most, each for itself.
fn of_tree(proc: &Path, process: u32) -> Option<u64> {
    let folder = proc.join(process.to_string());
    let status = std::fs::read_to_string(folder.join("status")).ok()?;
    let own = field(&status, "VmHWM:")?.checked_mul(1024)?;
    let children = format!("task/{process}/children");
    let children = std::fs::read_to_string(folder.join(children)).unwrap_or_default();
    let children = children
        .split_whitespace()
        .filter_map(|child| of_tree(proc, child.parse().ok()?));
    Some(own + children.sum::<u64>())
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;
    use crate::run::ToolCommand;

    #[test]
    fn a_process_and_its_children_are_measured() {
        let folder = tempfile::tempdir().unwrap();
        let write = |process: u32, kib: u64, children: &str| {
            let task = folder.path().join(format!("{process}/task/{process}"));
            std::fs::create_dir_all(&task).unwrap();
            let status = format!("Name:\tcicc\nVmPeak:\t  999 kB\nVmHWM:\t    {kib} kB\n");
            std::fs::write(task.join("../../status"), status).unwrap();
            std::fs::write(task.join("children"), children).unwrap();
        };
        write(7, 10, "8 9 ");
        write(8, 200, "");
        // One that has just ended has no memory any more.
        std::fs::create_dir(folder.path().join("9")).unwrap();
        std::fs::write(folder.path().join("9/status"), "Name:\tcicc\n").unwrap();
        assert_eq!(of_tree(folder.path(), 7), Some(210 * 1024));
        assert_eq!(of_tree(folder.path(), 5), None);
    }

    #[test]
    fn what_a_shell_holds_is_seen() {
        let peak = |bytes: u32| {
            let script = format!("x=$(head -c {bytes} /dev/zero | tr '\\0' x); sleep 0.3");
            let shell = ToolCommand::new("sh").arg("-c").arg(script);
            shell.output().unwrap().peak.unwrap()
        };
        let (small, large) = (peak(10), peak(40 << 20));
        assert!(large > small + (30 << 20), "{small} {large}");
    }
}
