//! How deep a type is nested: what reads one, prints it and frees it calls itself for each level, and so do those who keep
//! what was made of it.

/// Levels that are read. Kernels' types have ten, and a reader of JSON takes 128 levels of lists and tables, of which an
/// array of arrays has two each.
pub(super) const MAX_DEPTH: usize = 48;

/// Where a text of types becomes deeper than [`MAX_DEPTH`], in bytes, if it does.
///
/// Brackets are levels while they are open, pointers, references and what follows a name in brackets until the next comma.
pub(super) fn beyond(text: &str) -> Option<usize> {
    // Of each open bracket: the levels that stand beside one another in it.
    let (mut open, mut beside) = (Vec::new(), 0_usize);
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'*' | b'&' => {
                beside += 1;
                depth += 1;
            }
            b'<' | b'(' | b'[' => {
                open.push(beside + 1);
                beside = 0;
                depth += 1;
            }
            b'>' | b')' | b']' => {
                depth -= beside;
                beside = open.pop().unwrap_or(0);
            }
            b',' => {
                depth -= beside;
                beside = 0;
            }
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::CType;

    /// On a stack of a size that a thread may have on any system.
    fn reads(text: String) -> bool {
        let read = move || text.parse::<CType>().map(|ty| ty.clone().to_string());
        let thread = std::thread::Builder::new().stack_size(1 << 19);
        thread.spawn(read).unwrap().join().unwrap().is_ok()
    }

    fn nested(open: &str, inner: &str, close: &str, times: usize) -> String {
        [&open.repeat(times), inner, &close.repeat(times)].concat()
    }

    #[test]
    fn what_is_nested_too_deep_is_no_type() {
        for (open, inner, close) in [
            ("", "int", " *"),
            ("", "int", " *const"),
            ("", "int", " [1]"),
            ("", "int ns::P", "::*"),
            ("A<", "int", ">"),
            ("A<int, ", "int", ">"),
            ("A<const ", "int", " *>"),
            ("A<(", "n", ") + 1>"),
            ("void (", "int", ")"),
            ("void (*", "int", ")()"),
        ] {
            for times in [49, 50_000] {
                let text = nested(open, inner, close, times);
                assert!(!reads(text), "{times} of {open}{inner}{close}");
            }
        }
    }

    #[test]
    fn what_is_read_takes_little_of_the_stack() {
        for (open, inner, close, times) in [
            ("", "int", " *", 48),
            ("", "int", " [1]", 48),
            ("A<", "int", ">", 48),
            ("A<B<int *, ", "int", "> *const *, int>", 19),
            ("void (*)(", "int", ")", 16),
        ] {
            let text = nested(open, inner, close, times);
            assert!(reads(text), "{times} of {open}{inner}{close}");
        }
    }

    #[test]
    fn what_stands_beside_one_another_is_not_nested() {
        assert!(reads(format!(
            "A<{}int>",
            "const B<int *> *, ".repeat(1000)
        )));
        assert!(reads(format!("void ({}int)", "int (*)[3], ".repeat(1000))));
    }
}
