//! nvcc's flags to clang's: those that decide what the source says. What decides how it is compiled is left out.

/// Options with a value that both have: nvcc's names, and clang's.
const WITH_VALUE: [(&[&str], &str); 6] = [
    (&["-I", "--include-path"], "-I"),
    (&["-D", "--define-macro"], "-D"),
    (&["-U", "--undefine-macro"], "-U"),
    (&["-isystem", "--system-include"], "-isystem"),
    (&["-include", "--pre-include"], "-include"),
    (&["-std", "--std"], "-std"),
];

/// clang's flags for nvcc's.
pub(crate) fn flags(nvcc: &[String]) -> Vec<String> {
    let mut clang = Vec::new();
    let mut rest = nvcc.iter();
    while let Some(flag) = rest.next() {
        let Some((name, value)) = known(flag) else {
            continue;
        };
        let value = match value {
            Some(value) => value.to_owned(),
            None => match rest.next() {
                Some(value) => value.clone(),
                None => break,
            },
        };
        match name {
            "-std" => clang.push(format!("-std={value}")),
            "-isystem" | "-include" => clang.extend([name.to_owned(), value]),
            _ => clang.push(format!("{name}{value}")),
        }
    }
    clang
}

/// clang's name and the value, if it is in the same word.
fn known(flag: &str) -> Option<(&'static str, Option<&str>)> {
    WITH_VALUE.iter().find_map(|(names, clang)| {
        names.iter().find_map(|name| {
            let rest = flag.strip_prefix(name)?;
            let joined = matches!(*name, "-I" | "-D" | "-U");
            match rest.strip_prefix('=') {
                _ if rest.is_empty() => Some((*clang, None)),
                Some(value) => Some((*clang, Some(value))),
                None if joined => Some((*clang, Some(rest))),
                None => None,
            }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_source_says_is_kept() {
        let nvcc = "-O3 -Iinclude -I other --include-path=third -DN=4 --define-macro M -std=c++17 \
                    --expt-relaxed-constexpr -isystem sys --pre-include pre.h -Xcompiler -Wall --use_fast_math";
        let nvcc: Vec<_> = nvcc.split_whitespace().map(str::to_owned).collect();
        let clang = "-Iinclude -Iother -Ithird -DN=4 -DM -std=c++17 -isystem sys -include pre.h";
        assert_eq!(flags(&nvcc).join(" "), clang);
        assert_eq!(flags(&["-I".to_owned()]), [""; 0]);
    }
}
