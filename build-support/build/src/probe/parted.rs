//! The answers apart from the rest of the PTX, before any of it is parsed: so no text is parsed twice.

use super::PREFIX;

/// A module without the probe's variables, and a module of those alone.
///
/// Nothing where they are not all whole lines of their own, and where debug information names them: they then have to be
/// found in the parsed module.
pub(crate) fn parted(text: &str) -> Option<(String, String)> {
    let (mut own, mut answers) = (String::with_capacity(text.len()), String::new());
    for line in text.split_inclusive('\n') {
        let head = [".version", ".target", ".address_size"];
        if head.iter().any(|word| line.starts_with(word)) {
            if line.contains("debug") {
                return None;
            }
            answers += line;
        } else if line.contains(PREFIX) {
            if !is_variable(line) {
                return None;
            }
            answers += line;
            continue;
        }
        own += line;
    }
    Some((own, answers))
}

/// Whether a line is the definition of one of the probe's variables, and no more.
fn is_variable(line: &str) -> bool {
    let (declared, value) = line.split_once('=').unwrap_or((line, ""));
    let name = declared
        .split_whitespace()
        .find(|word| word.starts_with(PREFIX));
    let whole = line.trim_end().ends_with(';') && line.matches(';').count() == 1;
    line.starts_with(".global ")
        && name.is_some()
        && !declared.contains(',')
        && whole
        && !value.contains(PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWERS: &str = ".global .align 8 .b8 __gpuk_probe_0_numbers[2] = {4, 0};\n\
        .global .align 8 .u64 __gpuk_probe_1_offset_0;\n";

    fn module(target: &str, more: &str) -> String {
        format!(
            ".version 9.0\n.target {target}\n.address_size 64\n{ANSWERS}{more}.entry k() {{\n\tret;\n}}\n"
        )
    }

    #[test]
    fn answers_are_lines_of_their_own() {
        let (own, answers) = parted(&module("sm_80", ".global .b8 x;\n")).unwrap();
        assert_eq!(
            own,
            module("sm_80", ".global .b8 x;\n").replace(ANSWERS, "")
        );
        let head = ".version 9.0\n.target sm_80\n.address_size 64\n";
        assert_eq!(answers, format!("{head}{ANSWERS}"));
    }

    #[test]
    fn what_else_names_them_needs_the_whole() {
        for more in [
            ".global .u64 x = __gpuk_probe_0_numbers;\n",
            ".global .b8 __gpuk_probe_2_types, x;\n",
            ".global .b8 __gpuk_probe_2_types; .global .b8 x;\n",
            ".global .b8 __gpuk_probe_2_types[2] = {1,\n2};\n",
            "// __gpuk_probe_0_numbers\n",
        ] {
            assert_eq!(parted(&module("sm_80", more)), None, "{more}");
        }
        assert_eq!(parted(&module("sm_80, debug", "")), None);
    }
}
