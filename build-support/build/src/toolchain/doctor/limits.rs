//! Which host compilers a toolkit takes, as its own `host_config.h` says; no table of ours.

use crate::toolchain::Toolchain;

/// What the toolkit takes instead, where it would refuse the host compiler that says this version.
pub(crate) fn refused(toolchain: &Toolchain, host: &str) -> Option<String> {
    let header = toolchain
        .includes
        .iter()
        .map(|dir| dir.join("crt/host_config.h"));
    let text = header
        .into_iter()
        .find_map(|file| std::fs::read_to_string(file).ok())?;
    refused_by(&text, host)
}

fn refused_by(header: &str, host: &str) -> Option<String> {
    let is_clang = host.contains("clang");
    let major: u32 = match is_clang {
        true => host
            .split_once("version ")?
            .1
            .split('.')
            .next()?
            .parse()
            .ok()?,
        false
            if host.to_lowercase().contains("g++")
                || host.contains("gcc")
                || host.contains("GCC") =>
        {
            host.split_whitespace()
                .rev()
                .find_map(|word| word.split_once('.')?.0.parse().ok())?
        }
        // Visual Studio's numbering is its own; nvcc says it plainly.
        false => return None,
    };
    let newest = match is_clang {
        true => number_after(header, "__clang_major__ >= ")? - 1,
        false => number_after(header, "#if __GNUC__ > ")?,
    };
    let name = if is_clang { "clang" } else { "gcc" };
    (major > newest).then(|| format!("{name} up to {newest}"))
}

fn number_after(text: &str, mark: &str) -> Option<u32> {
    let (_, rest) = text.split_once(mark)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok().filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of the 13.0 header.
    const HEADER: &str = "#if __GNUC__ > 15
#error -- unsupported GNU version! gcc versions later than 15 are not supported!
#if (__clang_major__ >= 21) || (__clang_major__ < 3)
";

    #[test]
    fn the_header_decides() {
        let refused = |host| refused_by(HEADER, host);
        assert_eq!(refused("gcc (Debian 12.2.0-14+deb12u1) 12.2.0"), None);
        assert_eq!(refused("g++-15 (GCC) 15.1.1 20250425"), None);
        assert_eq!(refused("gcc (GCC) 16.0.1").unwrap(), "gcc up to 15");
        assert_eq!(refused("Ubuntu clang version 18.1.3 (1ubuntu1)"), None);
        assert_eq!(refused("clang version 21.1.0").unwrap(), "clang up to 20");
        assert_eq!(
            refused("Microsoft (R) C/C++ Optimizing Compiler Version 19.44.1 for x64"),
            None
        );
        assert_eq!(refused_by("", "gcc (GCC) 99.0"), None);
    }
}
