//! The way out of what compilers refuse without naming one that is meant here.

use crate::config::Arch;
use crate::diagnostic::{Diagnostic, Level};
use crate::toolchain::host::HostCompiler;

/// Adds what to do to a compiler's error, where that is known.
pub(super) fn advise(finding: &mut Diagnostic, arch: Arch, host: &HostCompiler) {
    if finding.level != Level::Error || finding.code.is_some() {
        return;
    }
    let message = &finding.message;
    if message.contains("-allow-unsupported-compiler") {
        let HostCompiler {
            path,
            version,
            origin,
            ..
        } = host;
        finding.notes.push(format!(
            "the host compiler is `{}`, {version} ({origin})",
            path.display()
        ));
        finding.help.push(
            "name another with the setting `host-compiler` or with `NVCC_CCBIN`, or take a newer toolkit".to_owned(),
        );
    } else if let Some(needed) = needed(message) {
        finding.help.push(format!(
            "put the kernel under `#if __CUDA_ARCH__ >= {needed}0`: elsewhere it is then an optional one"
        ));
        finding
            .help
            .push(format!("or leave \"{arch}\" out of `archs`"));
    } else if let Some((wanted, there)) = shared(message) {
        finding.notes.push(format!(
            "{wanted} bytes of static shared memory, of {there} that a block may have so"
        ));
        finding.help.push(
            "declare it `extern __shared__` and give its size with the launch: wrappers raise the limit to the device's"
                .to_owned(),
        );
    }
}

/// The architecture from which on an instruction can be assembled.
fn needed(message: &str) -> Option<u32> {
    let (_, rest) = message.split_once("requires .target sm_")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[digits..]
        .starts_with(" or higher")
        .then(|| rest[..digits].parse().ok())
        .flatten()
}

/// The bytes of shared memory that were wanted, and those that there are.
fn shared(message: &str) -> Option<(u32, u32)> {
    let (_, rest) = message.split_once("uses too much shared data (0x")?;
    let (wanted, rest) = rest.split_once(" bytes, 0x")?;
    let (there, _) = rest.split_once(" max)")?;
    let number = |hex| u32::from_str_radix(hex, 16).ok();
    number(wanted).zip(number(there))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_from_what_ptxas_says() {
        let said = "Entry function 'big' uses too much shared data (0x13880 bytes, 0xc000 max)";
        assert_eq!(shared(said), Some((80_000, 49_152)));
        assert_eq!(
            needed("Feature 'cp.async' requires .target sm_80 or higher"),
            Some(80)
        );
        for other in [
            "Feature 'x' requires .target sm_90a",
            "requires .target sm_",
            "uses too much shared data",
        ] {
            assert_eq!((needed(other), shared(other)), (None, None), "{other}");
        }
    }
}
