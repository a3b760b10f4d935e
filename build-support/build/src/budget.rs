//! How much memory the compilers of a build may take together.

use std::path::Path;

use crate::config::Memory;

/// What is set, in bytes; if nothing is, what is left of the machine's memory and of the control group's (version 2) at
/// this moment, but for an eighth. `None`, where that is not known or anything goes, is no limit.
pub(crate) fn limit(setting: Option<Memory>) -> Option<u64> {
    match setting {
        Some(Memory::Any) => None,
        Some(Memory::Mebibytes(mebibytes)) => Some(mebibytes << 20),
        None => available(Path::new("/")).map(|bytes| bytes - bytes / 8),
    }
}

/// Only Linux says it in files.
fn available(root: &Path) -> Option<u64> {
    let machine = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let machine = field(&machine, "MemAvailable:")?.checked_mul(1024)?;
    Some(of_group(root).map_or(machine, |group| group.min(machine)))
}

/// What the strictest of the process's group and those above it leaves.
fn of_group(root: &Path) -> Option<u64> {
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let group = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
    let top = root.join("sys/fs/cgroup");
    let folders = Path::new(group).ancestors();
    folders.filter_map(|folder| left(&top.join(folder))).min()
}

/// What a group may take beyond what it has, files that the kernel can drop left out.
fn left(group: &Path) -> Option<u64> {
    let read = |name: &str| std::fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let (most, current) = (number("memory.max")?, number("memory.current")?);
    let dropped = read("memory.stat").and_then(|stat| field(&stat, "inactive_file"));
    let current = current.saturating_sub(dropped.unwrap_or(0));
    Some(most.saturating_sub(current))
}

/// The number behind a name: `MemAvailable:   21495808 kB`.
pub(crate) fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        (words.next() == Some(name)).then(|| words.next()?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_counts() {
        assert_eq!(limit(Some(Memory::Any)), None);
        assert_eq!(limit(Some(Memory::Mebibytes(3))), Some(3 * 1024 * 1024));
        assert_eq!(limit(None).is_some(), cfg!(target_os = "linux"));
    }

    #[test]
    fn the_machine_and_every_group_above_are_asked() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let now = || available(folder.path());
        assert_eq!(now(), None);
        write(
            "proc/meminfo",
            "MemTotal:       24000000 kB\nMemAvailable:    8000 kB\n",
        );
        assert_eq!(now(), Some(8_192_000));
        // A group without a limit of its own, in one with.
        write("proc/self/cgroup", "1:name=systemd:/x\n0::/ci/job\n");
        write("sys/fs/cgroup/ci/job/memory.max", "max\n");
        write("sys/fs/cgroup/ci/job/memory.current", "4000\n");
        assert_eq!(now(), Some(8_192_000));
        write("sys/fs/cgroup/ci/memory.max", "1000000\n");
        write("sys/fs/cgroup/ci/memory.current", "700000\n");
        assert_eq!(now(), Some(300_000));
        write(
            "sys/fs/cgroup/ci/memory.stat",
            "anon 1\nactive_file 3\ninactive_file 50000\n",
        );
        assert_eq!(now(), Some(350_000));
        write("sys/fs/cgroup/ci/memory.current", "2000000\n");
        assert_eq!(now(), Some(0));
    }
}
