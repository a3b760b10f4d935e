//! What is found about checks before they are functionalized: who waits for a thread that leaves, which traps there
//! are, and checks that are taken out.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use gpuk_ptx::Module;
use gpuk_ptx::functionalize::{
    Functionalized, Options, Place, SiteKind, check_traps, leaving, omit, traps,
};

#[allow(dead_code, reason = "each test reads some of the files")]
mod corpus;

fn read(text: &str) -> Module {
    Module::parse(text).unwrap()
}

fn functionalize(text: &str) -> Functionalized {
    let options = Options {
        asserts: true,
        ahead: true,
    };
    gpuk_ptx::functionalize(&read(text), &options).unwrap()
}

#[test]
fn who_waits_for_a_thread_that_leaves() {
    let found = leaving(&read(corpus::WAITS));
    let shown: Vec<_> = found
        .iter()
        .map(|it| {
            format!(
                "{} {} {:?} `{}`",
                it.place, it.entry, it.wait, it.instruction
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"));
}

#[test]
fn nobody_waits_in_the_other_files() {
    for (name, text) in corpus::ALL {
        if name != "waits" {
            assert_eq!(leaving(&read(text)), [], "{name}");
        }
    }
}

#[test]
fn an_assert_that_does_not_return_is_looked_at_from_its_branch() {
    let text = corpus::WAITS.replace("\t__assertfail, ", "\t__assertfail,");
    let (before, after) = text.split_once("} // callseq 2\n").unwrap();
    let text = format!("{before}}} // callseq 2\n\ttrap;\n{after}");
    let named = |text: &str| {
        let found = leaving(&read(text));
        found.into_iter().filter(|it| it.entry == "named").count()
    };
    assert_eq!((named(corpus::WAITS), named(&text)), (1, 1));
}

#[test]
fn traps_that_belong_to_nothing_else() {
    let shown = |text| -> Vec<_> {
        let found = traps(&read(text)).into_iter();
        found
            .map(|it| format!("{:?} {}", it.entries, it.breakpoint))
            .collect()
    };
    let expected = [r#"["traps"] false"#, r#"["traps"] true"#];
    assert_eq!(
        shown(corpus::WAITS),
        expected,
        "not those of cooperative groups"
    );
    for (name, text) in corpus::ALL {
        if name != "waits" {
            assert_eq!(shown(text), [""; 0], "{name}");
        }
    }
}

#[test]
fn a_trap_that_is_made_a_check_is_one() {
    let place = Place {
        file: "waits.cu".to_owned(),
        line: 119,
    };
    let text = check_traps(&read(corpus::WAITS), &|_| Some(place.clone())).unwrap();
    let done = functionalize(&text);
    let sites = done.sites.iter().filter(|site| site.line == 119);
    let sites: Vec<_> = sites
        .map(|site| (&*site.condition, &*site.file, &site.entries[..]))
        .collect();
    let entries = ["traps".to_owned()];
    let expected = ["__trap()", "__brkpt()"].map(|condition| (condition, "waits.cu", &entries[..]));
    assert_eq!(sites, expected);
    let before = corpus::WAITS.matches("trap;").count();
    assert_eq!(done.text.matches("trap;").count(), before - 1);
    assert!(!done.text.contains("brkpt;"));
    assert!(done.entries.contains(&"traps".to_owned()));

    // A module without a check of its own, and a guarded trap.
    let text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u32 n)\n{\n\
                .reg .pred %p<2>;\n@!%p1 trap;\nret;\n}\n";
    let text = check_traps(&read(text), &|_| Some(place.clone())).unwrap();
    let done = functionalize(&text);
    assert_eq!(
        (done.sites.len(), &*done.entries),
        (1, &["k".to_owned()][..])
    );
    assert!(done.text.contains("@%p1 bra"), "{}", done.text);
}

#[test]
fn what_nobody_wants_is_taken_out_without_a_trace() {
    let debug =
        |kind: SiteKind, _: &[&str]| matches!(kind, SiteKind::Check(kind) if kind.is_debug());
    let text = omit(&read(corpus::WAITS), &debug).unwrap();
    let count = |text: &str, what: &str| text.matches(what).count();
    assert_eq!(
        count(corpus::WAITS, "// callseq") - count(&text, "// callseq"),
        2 * 2
    );
    assert_eq!(
        count(corpus::WAITS, ".global .align 1 .b8 $str")
            - count(&text, ".global .align 1 .b8 $str"),
        2
    );
    let done = functionalize(&text);
    assert!(!done.entries.contains(&"debug_only".to_owned()));
    assert!(done.entries.contains(&"debug".to_owned()));

    let all = omit(&read(corpus::WAITS), &|kind, _| kind != SiteKind::Assert).unwrap();
    assert!(!all.contains("__gpuk_fail"));
    let one = omit(&read(corpus::WAITS), &|_, entries| entries == ["debug"]).unwrap();
    assert_eq!(
        count(corpus::WAITS, "// callseq") - count(&one, "// callseq"),
        2 * 2
    );
    let none = omit(&read(corpus::WAITS), &|_, _| false).unwrap();
    assert_eq!(none, corpus::WAITS);
}
