//! Checks name the calls that they were inlined through.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::collections::BTreeSet;

use gpuk_ptx::Module;
use gpuk_ptx::functionalize::{Options, Site, functionalize};

#[allow(dead_code, reason = "each test reads some of the files")]
mod corpus;

fn sites(text: &str, ahead: bool) -> Vec<Site> {
    let module = Module::parse(text).unwrap();
    let options = Options {
        asserts: true,
        ahead,
    };
    functionalize(&module, &options).unwrap().sites
}

/// The chains of the check in line `line` that `entry` comes to, as `10 third < 18`.
fn chains(sites: &[Site], entry: &str, line: u32) -> Vec<String> {
    let of_entry = |site: &&Site| site.line == line && site.entries.iter().any(|it| it == entry);
    let text = |site: &Site| {
        let mut parts = Vec::new();
        for call in &site.calls {
            let lines: Vec<_> = call.lines.iter().map(u32::to_string).collect();
            let function = call.function.as_ref().map(|name| format!(" {name}"));
            parts.push(lines.join("|") + &function.unwrap_or_default());
            assert_eq!(call.file, "/kernels/inlined.cu");
        }
        parts.join(" < ")
    };
    let mut found: Vec<_> = sites.iter().filter(of_entry).map(text).collect();
    found.sort_unstable();
    found
}

const BACK_ENDS: [&str; 2] = [corpus::INLINED, corpus::INLINED_SM100];

#[test]
fn each_call_has_its_own_chain() {
    for (text, ahead) in BACK_ENDS
        .into_iter()
        .flat_map(|it| [(it, true), (it, false)])
    {
        let sites = sites(text, ahead);
        let expected = [
            "10 _Z5thirdPKiii < 13 _Z5apartPKiii",
            "10 _Z5thirdPKiii < 18",
            "10 _Z5thirdPKiii < 20",
            "22",
        ];
        assert_eq!(chains(&sites, "calls", 5), expected);
        assert_eq!(chains(&sites, "calls", 6), expected);
        assert_eq!(chains(&sites, "calls", 17), [""]);
        let mut inner = sites.iter().filter(|site| site.line == 5);
        assert!(inner.all(|site| site.function == "_Z2atIiET_PKS0_ii"));
    }
}

#[test]
fn where_copies_cannot_be_told_apart_all_calls_are_named() {
    for text in BACK_ENDS {
        let sites = sites(text, true);
        for line in [5, 6] {
            let found: BTreeSet<_> = chains(&sites, "copies", line).into_iter().collect();
            let known = ["29", "30", "29|30"].map(|call| format!("10 _Z5thirdPKiii < {call}"));
            assert!(found.is_subset(&BTreeSet::from(known)), "{found:?}");
            assert!(found.contains("10 _Z5thirdPKiii < 29"), "{found:?}");
        }
        // Four copies of two checks, of which none is said to be of a call that it is not of.
        assert!(chains(&sites, "copies", 5).len() >= 2);
    }
}

#[test]
fn without_line_information_there_is_no_chain() {
    for text in BACK_ENDS {
        let lines = text.lines().filter(|line| !line.trim().starts_with(".loc"));
        let text: Vec<_> = lines.collect();
        let sites = sites(&text.join("\n"), true);
        assert_eq!(chains(&sites, "calls", 5), [""]);
        assert_eq!(chains(&sites, "calls", 6), [""]);
    }
}
