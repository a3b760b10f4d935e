//! Digests of what kernels computed on a device, in `recorded.txt`. Wherever else they run, they compute the same.
//!
//! `UPDATE=1` on a device writes the file. What `.approx` instructions have a part in is not in it: those results may
//! differ within the bounds that their tests hold them to.

use std::path::PathBuf;

use gpuk::CudaContext;

/// Holds the output of the kernel `name` against what a device gave.
///
/// # Panics
/// They differ; or nothing is recorded under this name; or the file cannot be written.
pub fn same<T: Plain>(context: &CudaContext, name: &str, output: &[T]) {
    let mut bytes = Vec::new();
    output.iter().for_each(|value| value.append(&mut bytes));
    // FNV-1a.
    let digest = bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    });
    let line = format!("{name} {digest:016x}");
    let path = path();
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    if std::env::var_os("UPDATE").is_none() {
        let found = text
            .lines()
            .find(|line| line.split(' ').next() == Some(name));
        let found = found.unwrap_or_else(|| panic!("nothing is recorded for `{name}`"));
        assert_eq!(line, found, "not what a device computed");
        return;
    }
    let device = context.name().expect("a device has a name");
    assert!(!device.contains("simulator"), "only devices are recorded");
    let mut lines: Vec<_> = text
        .lines()
        .filter(|line| line.split(' ').next() != Some(name) && !line.starts_with('#'))
        .collect();
    lines.push(&line);
    lines.sort_unstable();
    let head = format!("# {device}, driver {}, {}", driver(), today());
    let text = format!("{head}\n{}\n", lines.join("\n"));
    std::fs::write(&path, text).expect("the record can be written");
}

/// What has an order of bytes.
pub trait Plain {
    /// Appends them, the lowest first.
    fn append(&self, to: &mut Vec<u8>);
}

macro_rules! plain {
    ($($number:ty),*) => {$(
        impl Plain for $number {
            fn append(&self, to: &mut Vec<u8>) {
                to.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}

plain!(
    u8,
    i32,
    u32,
    i64,
    u64,
    u128,
    f32,
    f64,
    gpuk::half::f16,
    gpuk::half::bf16
);

/// The version of the kernel module, as Linux gives it.
fn driver() -> String {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").unwrap_or_default();
    let mut words = text.split_whitespace();
    let version = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    version.unwrap_or("unknown").to_owned()
}

/// The date, in UTC.
fn today() -> String {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed();
    let mut days = since.map_or(0, |since| since.as_secs() / 86_400);
    let leap = |year: u64| {
        year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
    };
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    format!("{year}-{month:02}-{:02}", days + 1)
}

/// Cargo says where the package lies; binaries that were carried to a device are told.
fn path() -> PathBuf {
    let root = std::env::var_os("CARGO_MANIFEST_DIR");
    PathBuf::from(root.unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into())).join("recorded.txt")
}
