//! Checks of real compiler output become code that records them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::fmt::Write;

use gpuk_ptx::functionalize::{Functionalized, Options, functionalize};
use gpuk_ptx::{FunctionKind, Module, StatementKind};

#[allow(dead_code, reason = "each test reads some of the files")]
mod corpus;

fn done(text: &str) -> Functionalized {
    let module = Module::parse(text).unwrap();
    functionalize(
        &module,
        &Options {
            asserts: true,
            ahead: true,
        },
    )
    .unwrap()
}

#[test]
fn sites_say_what_the_source_does() {
    let mut listing = String::new();
    for site in done(corpus::CHECKS).sites {
        writeln!(
            listing,
            "{} {:?} {}:{} `{}` {:?} {:?} in {} from {:?}",
            site.id,
            site.kind,
            site.file,
            site.line,
            site.condition,
            site.format,
            site.types,
            site.function,
            site.entries
        )
        .unwrap();
    }
    insta::assert_snapshot!(listing);
}

#[test]
fn back_ends_agree_on_the_sites() {
    let key = |text| {
        let mut sites: Vec<_> = done(text)
            .sites
            .into_iter()
            .map(|site| {
                (
                    site.line,
                    site.condition,
                    site.format,
                    site.types,
                    site.entries,
                )
            })
            .collect();
        sites.sort_by_key(|site| format!("{site:?}"));
        sites
    };
    let expected = key(corpus::CHECKS);
    for (name, text) in corpus::ALL {
        if name.starts_with("checks") {
            assert_eq!(key(text), expected, "{name}");
        }
    }
}

#[test]
fn no_failure_function_and_no_string_is_left() {
    for (name, text) in corpus::ALL {
        let text = done(text).text;
        for gone in ["__gpuk_fail", "__assertfail"] {
            assert!(!text.contains(gone), "{name}: {gone}");
        }
        let module = Module::parse(text).unwrap();
        if name == "checks" {
            assert_eq!(module.variables_with_prefix("$str").count(), 0);
            assert_eq!(module.variables_with_prefix("__unnamed").count(), 0);
        }
    }
}

#[test]
fn modules_without_checks_come_back_as_they_are() {
    let done = done(corpus::FEATURES);
    assert_eq!(done.text, corpus::FEATURES);
    assert!(done.sites.is_empty() && done.entries.is_empty());

    let module = Module::parse(corpus::TRITON).unwrap();
    let kept = functionalize(
        &module,
        &Options {
            asserts: false,
            ahead: true,
        },
    )
    .unwrap();
    assert_eq!(kept.text, corpus::TRITON);
}

#[test]
fn only_entries_with_checks_change() {
    let before = Module::parse(corpus::CHECKS).unwrap();
    let done = done(corpus::CHECKS);
    assert_eq!(done.entries, ["gather", "loop", "nothing"]);
    let after = Module::parse(done.text).unwrap();
    for entry in before.entries() {
        let name = &*entry.name;
        let changed = after.entry(name).unwrap();
        if name == "plain" {
            assert_eq!(after.at(changed.span), before.at(entry.span));
            continue;
        }
        let (hidden, rest) = changed.params.split_last().unwrap();
        assert_eq!(&*hidden.name, format!("{name}_gpuk"));
        assert_eq!((hidden.size(), hidden.alignment()), (Some(8), 8));
        let text = |module: &Module, span| module.at(span).to_owned();
        assert!(
            rest.iter()
                .zip(&entry.params)
                .all(|(after_param, before_param)| text(&after, after_param.span)
                    == text(&before, before_param.span))
        );
        assert_eq!(changed.bounds(), entry.bounds());
    }
}

#[test]
fn every_call_passes_the_gate_on() {
    for (name, text) in corpus::ALL {
        let module = Module::parse(done(text).text).unwrap();
        let takes = |function: &str| {
            let found = module.functions().find(|known| &*known.name == function);
            found.and_then(|found| found.params.last().cloned())
        };
        for function in module.functions() {
            let Some(body) = &function.body else { continue };
            body.walk(&mut |statement| {
                let call = statement
                    .instruction()
                    .and_then(|found| found.call.as_ref());
                let Some(call) = call else { return };
                let Some(callee) = call.function() else {
                    return;
                };
                let hidden = takes(callee).filter(|param| param.name.ends_with("_gpuk"));
                let passed = module.at(call.args_span.unwrap_or(call.target_span));
                assert_eq!(hidden.is_some(), passed.contains("%gpuk_arg_"), "{name}");
            });
        }
    }
}

#[test]
fn a_site_that_stops_is_one_straight_line() {
    let module = Module::parse(done(corpus::TRITON).text).unwrap();
    let entry = module.entry("k").unwrap();
    let statements = &entry.body.as_ref().unwrap().statements;
    let mut reports = 0;
    let blocks = statements.iter().filter_map(|it| match &it.kind {
        StatementKind::Block(block) => Some(block),
        _ => None,
    });
    let records = |block: &&Vec<gpuk_ptx::Statement>| {
        let mut instructions = block.iter().filter_map(|inner| inner.instruction());
        instructions.any(|found| &*found.opcode == "activemask")
    };
    for report in blocks.filter(records) {
        reports += 1;
        assert!(!report.iter().any(|inner| matches!(
            inner.kind,
            StatementKind::Label(_) | StatementKind::Block(_)
        )));
        let instructions: Vec<_> = report
            .iter()
            .filter_map(|inner| inner.instruction())
            .collect();
        let mut guarded = instructions.iter().filter(|found| found.guard.is_some());
        assert!(guarded.all(|found| &*found.opcode == "exit"));
        assert_eq!(&*instructions.last().unwrap().opcode, "exit");
    }
    assert_eq!(reports, 2);
}

#[test]
fn kernels_with_checks_can_do_nothing() {
    let text = done(corpus::CHECKS).text;
    let module = Module::parse(text.clone()).unwrap();
    for function in module.functions() {
        let Some(body) = &function.body else {
            continue;
        };
        let hidden = function.params.last().map(|param| &*param.name);
        let is_checked = hidden.is_some_and(|name| name.ends_with("_gpuk"));
        let runs = |it: &gpuk_ptx::Statement| matches!(&it.kind, StatementKind::Label(name) if name.ends_with("_run"));
        let leaves = body.statements.iter().any(runs);
        let before = body.statements.iter().take_while(|it| leaves && !runs(it));
        for instruction in before.filter_map(|it| it.instruction()) {
            let reads = &*instruction.opcode == "ld" && !instruction.has("param");
            let other = ["st", "atom", "red", "bar", "call", "bra", "ret"];
            assert!(
                !reads && !other.contains(&&*instruction.opcode),
                "{instruction:?}"
            );
        }
        assert_eq!(
            leaves,
            is_checked && function.is_entry(),
            "{}",
            function.name
        );
    }
}

#[test]
fn triton() {
    insta::assert_snapshot!(done(corpus::TRITON).text.split("\t.file").next().unwrap());
}

#[test]
fn functions_and_sites_that_go_on() {
    let text = done(corpus::CHECKS).text;
    let module = Module::parse(text.clone()).unwrap();
    let function = module
        .functions()
        .find(|found| found.kind == FunctionKind::Func && found.name.contains("down"))
        .unwrap();
    insta::assert_snapshot!(module.at(function.span));
}

#[test]
fn functionalizing_twice_changes_nothing_more() {
    for (_, text) in corpus::ALL {
        let once = done(text).text;
        assert_eq!(done(&once).text, once);
    }
}

#[test]
fn new_names_avoid_those_of_the_module() {
    let text = corpus::TRITON
        .replace("%rd", "%gpuk_")
        .replace("$L__", "$GPUK_")
        .replace("k_param_0", "k_gpuk");
    let text = done(&text).text;
    assert!(text.contains("%gpuk1_gate"));
    assert!(text.contains(".param .u64 k_gpuk1"));
}

/// A bound that is a parameter is read again where it is recorded, and the block of a check is out of the way.
#[test]
fn a_check_keeps_nothing_and_stands_in_nobodys_way() {
    let site = "check\u{1f}a.cu\u{1f}7\u{1f}i < n\u{1f}{} {}\0";
    let bytes: Vec<_> = site.bytes().map(|byte| byte.to_string()).collect();
    let passed: String = (0..10)
        .map(|at| {
            let value = ["%rd1", "102", "%rd2", "%rd3"].get(at).unwrap_or(&"0");
            format!(".param .b64 p{at};\nst.param.b64 [p{at}+0], {value};\n")
        })
        .collect();
    let (names, formal): (Vec<_>, Vec<_>) = (0..10)
        .map(|at| (format!("p{at}"), format!(".param .b64 f{at}")))
        .unzip();
    let text = format!(
        ".version 8.0
.target sm_80
.address_size 64
.extern .func __gpuk_fail({}) ;
.global .align 1 .b8 $str[{}] = {{{}}};
.visible .entry k(.param .u64 k_out, .param .u32 k_n)
{{
.reg .pred %p1;
.reg .b32 %r<3>;
.reg .b64 %rd<6>;
ld.param.u64 %rd4, [k_out];
ld.param.u32 %r2, [k_n];
mov.u32 %r1, %tid.x;
setp.lt.u32 %p1, %r1, %r2;
@%p1 bra $PASSED;
cvt.u64.u32 %rd2, %r1;
cvt.s64.s32 %rd3, %r2;
mov.u64 %rd5, $str;
cvta.global.u64 %rd1, %rd5;
{{
{passed}call.uni __gpuk_fail, ({});
}}
$PASSED:
st.global.u32 [%rd4], %r1;
ret;
}}
",
        formal.join(", "),
        bytes.len(),
        bytes.join(", "),
        names.join(", ")
    );
    let text = done(&text).text;
    let at = |what: &str| {
        text.find(what)
            .unwrap_or_else(|| panic!("no `{what}`\n{text}"))
    };
    let again = at("ld.param.u32 \t%gpuk_again_0, [%gpuk_param+0];");
    assert!(again < at("cvt.s64.s32 \t%gpuk_again_1, %gpuk_again_0;"));
    assert!(text.contains("mov.b64 \t%gpuk_best, %rd2;"));
    assert!(!text.contains("mov.b64 \t%gpuk_best, %rd3;"));
    let (branch, store) = (at("@!%p1 bra \t$GPUKA_0;"), at("st.global.u32 [%rd4]"));
    assert!(branch < store && store < at("$GPUKA_0:"));
    assert!(at("$GPUKA_0:") < at("activemask"));
}
