//! Texts that nobody writes are read with work that grows as they do.

use std::fmt::Write as _;

use super::Declarations;
use super::cursor::LOOKS;

/// How often a token is looked at.
fn looks(text: &str) -> u64 {
    let before = LOOKS.get();
    let declarations = Declarations::read(text);
    drop(declarations);
    LOOKS.get() - before
}

fn numbered(times: usize, one: impl Fn(usize) -> String) -> String {
    (0..times).fold(String::new(), |mut text, number| {
        let _ = write!(text, "{} ", one(number));
        text
    })
}

/// What is written `times` times between two texts.
fn texts(times: usize) -> Vec<String> {
    let kernel = "__attribute__((global)) void k(int *x) {}";
    let between = [
        ("", "template< ", ""),
        ("", "template<class T> struct S { ", ""),
        ("", "a< ", ""),
        ("", "f(a< ", ""),
        ("__attribute__((global)) void k(", "a< ", " x) {}"),
        ("__attribute__((global)) void k(", "int x, ", "int y) {}"),
        ("__attribute__((global)) void k(int ", "(* ", "x) {}"),
        ("", "f( ", ""),
        ("", "[[ ", kernel),
        ("", "__attribute__(( ", kernel),
        ("", "__attribute__((x)) ", kernel),
        ("", "{ ", kernel),
        ("", "namespace n { ", kernel),
        ("", "extern \"C\" { ", kernel),
        ("", "operator ", ""),
        ("void f ", "> (1) ", ";"),
        ("void f ", "a > (*x) ", ";"),
        ("", "a<b>(1) ", ";"),
        ("template<class T> requires ", "a< && ", "b void f();"),
        ("enum E { ", "a = x<, ", "b };"),
        ("struct S { int ", "a = b<, ", "c; };"),
        ("struct S { S() : ", "a<, ", "b(1) {} };"),
        ("struct S : ", "A<, ", "B {};"),
        ("__attribute__((device)) int ", "a = b<, ", "c;"),
        ("", "struct { ", "int x;"),
        ("", "class A : class ", "int x;"),
        ("", "typedef struct ", ""),
    ];
    let between = between.map(|(first, part, last)| first.to_owned() + &part.repeat(times) + last);
    let nested = numbered(times, |number| format!("struct S{number} {{"));
    let overloads = |number| format!("__attribute__((global)) void k(int (*x)[{number}]) {{}}");
    let all = between.into_iter().chain([
        nested.clone() + "int x;" + &"};".repeat(times),
        nested + "int x;" + &"} x;".repeat(times),
        numbered(times, overloads),
        numbered(times, |_| kernel.to_owned()),
    ]);
    all.collect()
}

#[test]
fn ten_times_the_text_is_ten_times_the_work() {
    for (small, large) in texts(300).into_iter().zip(texts(3000)) {
        let (few, many) = (looks(&small), looks(&large));
        let start: String = small.chars().take(60).collect();
        assert!(few > 0 && many <= 11 * few, "{few}, {many}: {start}");
    }
}

#[test]
fn what_a_text_breaks_off_at_is_passed_over() {
    for text in [
        "operator",
        "void operator",
        "template",
        "f operator operator",
        "using",
        "extern \"C\"",
    ] {
        assert!(Declarations::read(text).kernels.is_empty(), "{text}");
    }
}
