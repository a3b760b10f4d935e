//! Damaged PTX gives an error or a module, in bounded time, never a panic.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use gpuk_ptx::functionalize::{Options, functionalize};
use gpuk_ptx::{Module, StatementKind};

#[allow(dead_code, reason = "each test reads some of the files")]
mod corpus;

/// Everything this crate does with a text.
fn exercise(text: &str) {
    let Ok(module) = Module::parse(text) else {
        return;
    };
    assert_eq!(module.to_string(), text);
    for variable in module.variables() {
        let _ = variable.string();
    }
    let options = Options {
        asserts: true,
        ahead: true,
    };
    if let Ok(done) = functionalize(&module, &options) {
        let again = Module::parse(done.text).expect("what is written can be read");
        let again = functionalize(&again, &options).expect("no check is left");
        assert!(again.sites.is_empty());
    }
}

/// A generator is enough; the seed makes failures repeatable.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % end as u64).unwrap()
    }
}

#[test]
fn truncated_text() {
    for (_, text) in corpus::ALL {
        for cut in (0..text.len()).step_by(1 + text.len() / 60) {
            if let Some(text) = text.get(..cut) {
                exercise(text);
            }
        }
    }
}

#[test]
fn flipped_bytes() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for (_, text) in corpus::ALL {
        for _ in 0..40 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..1 + random.below(3) {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            exercise(&String::from_utf8_lossy(&bytes));
        }
    }
}

#[test]
fn lines_lost_doubled_and_swapped() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    for (_, text) in corpus::ALL {
        let lines: Vec<_> = text.lines().collect();
        for round in 0..40 {
            let mut lines = lines.clone();
            let (one, other) = (random.below(lines.len()), random.below(lines.len()));
            match round % 3 {
                0 => drop(lines.remove(one)),
                1 => lines.insert(other, lines[one]),
                _ => lines.swap(one, other),
            }
            exercise(&lines.join("\n"));
        }
    }
}

/// A directive that needs a label took the one that the pass puts before what it rewrites.
#[test]
fn directives_where_none_belongs() {
    let directives = [
        ".branchtargets",
        ".calltargets",
        ".callprototype",
        ".file",
        ".loc",
        ".pragma",
        ".reg",
        ".section",
    ];
    for (_, text) in corpus::ALL {
        let lines: Vec<_> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
        for (number, at) in lines.iter().enumerate().step_by(1 + lines.len() / 40) {
            let directive = directives[number % directives.len()];
            exercise(&format!("{}\t{directive} {}", &text[..*at], &text[*at..]));
        }
    }
    let kernel = ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n";
    for directive in &directives[..3] {
        let error = Module::parse(format!("{kernel}\t{directive} f;\n\tret;\n}}\n")).unwrap_err();
        assert_eq!(error.expected, "a label before this directive");
    }
}

#[test]
fn deep_nesting_is_an_error() {
    let head = ".version 9.0\n.target sm_80\n";
    let deep = |open: &str| open.repeat(200_000);
    for text in [
        format!("{head}.entry k() {}", deep("{ ")),
        format!("{head}.global .b8 a[1] = {}", deep("{")),
        format!("{head}.entry k() {{ mov.b32 a, {}", deep("{")),
    ] {
        assert!(Module::parse(text).is_err());
    }
    // An operand that nests too deeply is only unknown.
    let text = format!("{head}.entry k() {{ mov.b32 a, {}; }}", deep("!"));
    assert!(Module::parse(text).is_ok());
}

#[test]
fn huge_numbers_take_no_memory() {
    let text = "
.version 9.0
.target sm_80
.global .b8 a[18446744073709551615] = {1};
.global .b64 b[9223372036854775807][9223372036854775807];
.entry k() { .reg .b32 %r<4294967295>; mov.u32 %r4294967294, %r0; ret; }
";
    let module = Module::parse(text).unwrap();
    assert_eq!(module.variable("a").unwrap().bytes(), None);
    assert_eq!(module.variable("b").unwrap().size(), None);
    let body = module.entry("k").unwrap().body.as_ref().unwrap();
    assert!(matches!(
        body.statements[0].kind,
        StatementKind::Registers(_)
    ));
    let text = text.replace("4294967295", "4294967296");
    assert!(Module::parse(text).is_err());
}

#[test]
fn many_calls_take_no_long_time() {
    let call = "st.param.b64 [p], 1; call.uni __assertfail, (p, p, p, p, p);\n";
    let text = format!(
        ".version 9.0\n.target sm_80\n.extern .func __assertfail(.param .b64 a);\n.entry k() {{\n{}ret;\n}}\n",
        call.repeat(20_000)
    );
    let module = Module::parse(text).unwrap();
    let refusals = functionalize(
        &module,
        &Options {
            asserts: true,
            ahead: true,
        },
    )
    .unwrap_err();
    assert_eq!(refusals.len(), 20_000);
}
