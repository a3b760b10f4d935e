//! Mangled names (Itanium C++ ABI, 5.1).

use cpp_demangle::Symbol;

use crate::ctype::{self, CType, FunctionName, Name};

/// A C++ function's symbol, read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: Name,
    pub(super) params: Vec<CType>,
    /// For each template argument of the name's last part: its type, if it is a value.
    pub(super) values: Vec<Option<CType>>,
}

/// Reads a symbol; nothing if it is none of a C++ function, or one that is beyond this reader.
pub(super) fn function(symbol: &str) -> Option<Function> {
    let symbol = own(symbol);
    if !symbol.starts_with("_Z") {
        return None;
    }
    let text = Symbol::new(symbol).ok()?.demangle().ok()?;
    let FunctionName {
        name,
        params,
        values,
    } = ctype::function_name(&mended(text)).ok()?;
    Some(Function {
        name,
        params,
        values,
    })
}

/// The name that the source gives what nvcc 13.0 renames: a `static` in relocatable code, which follows `__nv_static_N_` and
/// N characters, and a function of which a split compilation has a copy, before `$N`.
pub(super) fn own(symbol: &str) -> &str {
    let of_static = || {
        let (length, rest) = symbol.strip_prefix("__nv_static_")?.split_once('_')?;
        rest.get(length.parse().ok()?..)?.strip_prefix('_')
    };
    let symbol = of_static().unwrap_or(symbol);
    let is_copy = |(name, number): &(&str, &str)| {
        name.starts_with("_Z") && number.bytes().all(|digit| digit.is_ascii_digit())
    };
    let copy = symbol.rsplit_once('$').filter(is_copy);
    copy.map_or(symbol, |(name, _)| name)
}

/// The demangler prints what a nested name is decorated with behind its scope, where that scope was named
/// before: `ns::P const::In*` for `ns::P::In const*`. Puts it behind the name.
fn mended(mut text: String) -> String {
    let mut from = 0;
    while let Some(at) = text[from..].find("::").map(|found| from + found) {
        from = at + 2;
        let start = undecorated(&text[..at]).len();
        if start == at {
            continue;
        }
        let end = from + part_length(&text[from..]);
        let (decoration, part) = (text[start..at].to_owned(), text[at..end].to_owned());
        text.replace_range(start..end, &format!("{part}{decoration}"));
        from = start + 2;
    }
    text
}

/// What is left of a type when its last pointers, references and qualifiers are taken off.
fn undecorated(mut text: &str) -> &str {
    const DECORATIONS: [&str; 5] = ["*", "&", " const", " volatile", " restrict"];
    while let Some(rest) = DECORATIONS
        .iter()
        .find_map(|decoration| text.strip_suffix(decoration))
    {
        text = rest;
    }
    text
}

/// The length of the identifier, with its template arguments, that a text starts with.
fn part_length(text: &str) -> usize {
    let word = text
        .find(|c: char| !(c.is_alphanumeric() || c == '_'))
        .unwrap_or(text.len());
    if word == 0 || !text[word..].starts_with('<') {
        return word;
    }
    let mut depth = 0usize;
    for (at, c) in text[word..].char_indices() {
        match c {
            '<' => depth += 1,
            '>' if depth == 1 => return word + at + 1,
            '>' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// A symbol as C++ writes it, `helper(float)`; one that is not mangled stays as it is.
pub(crate) fn readable(symbol: &str) -> String {
    let symbol = own(symbol);
    let demangled = Symbol::new(symbol)
        .ok()
        .and_then(|symbol| symbol.demangle().ok());
    demangled.unwrap_or_else(|| symbol.to_owned())
}

/// The name alone, without parameters and template arguments, `ns::helper`: what all instances of a template have in
/// common. The namespace that nvcc puts around what is `static` is left out.
pub(crate) fn short(symbol: &str) -> String {
    let Some(Function { name, .. }) = function(symbol) else {
        return readable(symbol);
    };
    let words = name.0.iter().map(|part| part.word.as_str());
    let words: Vec<_> = words
        .filter(|word| !word.starts_with("_INTERNAL_"))
        .collect();
    words.join("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_have_no_arguments() {
        assert_eq!(short("_Z2atIiET_PKS0_ii"), "at");
        assert_eq!(short("_ZN2ns6helperEf"), "ns::helper");
        assert_eq!(
            short("_ZN37_INTERNAL_d1a386be_12_functions_cu_ab5thirdEPKiii"),
            "third"
        );
        // A copy of a split compilation.
        let copy = "_ZN42_INTERNAL_57f0da4b_12_functions_cu_inlined5apartEPKiii$1";
        assert_eq!(short(copy), "apart");
        assert_eq!(readable("_Z6helperf$12"), "helper(float)");
        assert_eq!(short("plain"), "plain");
        assert_eq!(short("of_c$1"), "of_c$1");
    }

    /// As nvcc 13.0 mangles a kernel whose parameters are nested in a class named before.
    #[test]
    fn nested_names_are_mended() {
        let symbol = "_Z1kIiEvT_N2ns1PEPNS2_1EEPKNS2_2InEPKPKNS2_1BIiEEPPS5_S5_RS6_";
        let read = function(symbol).unwrap();
        let params: Vec<_> = read.params.iter().map(ToString::to_string).collect();
        assert_eq!(
            params.join(" | "),
            "int | ns::P | ns::P::E * | const ns::P::In * | const ns::P::B<int> *const * | ns::P::In ** | ns::P::In \
             | const ns::P::In &"
        );
        assert_eq!(read.name.to_string(), "k<int>");
        assert_eq!(
            mended("f(int ns::P::*, P*::E<A*::B>*)".to_owned()),
            "f(int ns::P::*, P::E<A::B*>**)"
        );
    }

    #[test]
    fn what_is_no_function_is_none() {
        for symbol in ["saxpy", "_Z", "_ZN2ns", "_ZTV1A", "_Zé"] {
            assert_eq!(function(symbol), None, "{symbol}");
        }
    }
}
