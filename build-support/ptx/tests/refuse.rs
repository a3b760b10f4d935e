//! What cannot be functionalized is refused with function, place and reason; what can be in odd forms is not.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use gpuk_device::abi::ValueType;
use gpuk_ptx::Module;
use gpuk_ptx::functionalize::{Functionalized, Options, Refusal, functionalize};

#[allow(dead_code, reason = "each test reads some of the files")]
mod corpus;

fn run(text: &str) -> Result<Functionalized, Vec<Refusal>> {
    functionalize(
        &Module::parse(text).unwrap(),
        &Options {
            asserts: true,
            ahead: true,
        },
    )
}

fn refused(text: &str) -> Vec<String> {
    let describe = |refusal: Refusal| {
        let place = refusal
            .place()
            .map_or("nowhere".to_owned(), ToString::to_string);
        format!("{place}: {refusal}")
    };
    run(text).unwrap_err().into_iter().map(describe).collect()
}

/// A module whose entry runs `body`; `site` is what `$site` holds.
fn module(site: &str, body: &str) -> String {
    let bytes: Vec<_> = site
        .bytes()
        .chain([0])
        .map(|byte| byte.to_string())
        .collect();
    format!(
        ".version 8.0
.target sm_80
.address_size 64
.extern .func __gpuk_fail(.param .b64 a, .param .b64 b, .param .b64 c, .param .b64 d, .param .b64 e,
  .param .b64 f, .param .b64 g, .param .b64 h, .param .b64 i, .param .b64 j) ;
.global .align 1 .b8 $site[{}] = {{{}}};
.visible .entry k(.param .u32 k_param_0)
{{
\t.reg .pred %p<2>;
\t.reg .b32 %r<2>;
\t.reg .b64 %rd<6>;
{body}
}}
",
        bytes.len(),
        bytes.join(", ")
    )
}

/// The entry's body with a call whose arguments are registers and numbers.
fn direct(types: u64, values: [&str; 8]) -> String {
    format!(
        "\tmov.u64 %rd1, $site;\n\tcvta.global.u64 %rd2, %rd1;\n\tcall.uni __gpuk_fail, (%rd2, {types}, {});\n\tret;",
        values.join(", ")
    )
}

fn site(kind: &str, format: &str) -> String {
    format!("{kind}\u{1f}a.cu\u{1f}7\u{1f}x < 1\u{1f}{format}")
}

#[test]
fn an_address_that_is_taken() {
    let kept = format!(
        "{}.global .align 8 .u64 table[2] = {{0, _Z4lookPKfii}};\n",
        corpus::CHECKS
    );
    // Whoever calls it through the table passes the gate.
    assert!(run(&kept).is_ok());
    let other = format!("{kept}.alias other, _Z4lookPKfii;\n");
    insta::assert_debug_snapshot!(refused(&other), @r#"
    [
        "checks.cu:7: `_Z4lookPKfii` can come to a check, and is called `other` too",
    ]
    "#);
    let outside = kept.replace(
        ".global .align 8 .u64 table[2] = {0,",
        ".extern .func (.param .b32 r) far(.param .b64 a);\n.global .align 8 .u64 table[2] = {far,",
    );
    insta::assert_debug_snapshot!(refused(&outside), @r#"
    [
        "nowhere: `far` can come to a check, and is defined elsewhere, where it takes no gate: `table` holds its address",
    ]
    "#);
}

#[test]
fn a_site_that_is_no_constant() {
    let text =
        corpus::CHECKS.replacen("mov.u64 \t%rd4, $str;", "ld.global.u64 \t%rd4, [state];", 1);
    assert_ne!(text, corpus::CHECKS);
    insta::assert_debug_snapshot!(refused(&text), @r#"
    [
        "/kernels/checks.cu:7: a check in `_Z4lookPKfii` cannot be read: `%rd4` is not a constant",
    ]
    "#);
    let text = module("check\u{1f}a.cu", &direct(0, ["0"; 8]));
    insta::assert_debug_snapshot!(refused(&text), @r#"
    [
        "nowhere: a check in `k` cannot be read: its string is not one of `gpuk.cuh`",
    ]
    "#);
    let text = module(&site("check", "{}"), &direct(15, ["0"; 8]));
    insta::assert_debug_snapshot!(refused(&text), @r#"
    [
        "nowhere: a check in `k` cannot be read: the types of its values are unknown",
    ]
    "#);
    let narrow = ["%r1", "0", "0", "0", "0", "0", "0", "0"];
    let text = module(&site("check", "{}"), &direct(ValueType::U64 as u64, narrow));
    insta::assert_debug_snapshot!(refused(&text), @r#"
    [
        "nowhere: a check in `k` cannot be read: `%r1` is no 64-bit register",
    ]
    "#);
}

#[test]
fn a_message_that_does_not_fit() {
    let messages: Vec<_> = ["{} {}", "", "{:x}", "}", "{"]
        .iter()
        .flat_map(|format| refused(&module(&site("check", format), &direct(5, ["0"; 8]))))
        .collect();
    insta::assert_debug_snapshot!(messages, @r#"
    [
        "a.cu:7: the message of a check in `k` has 2 placeholders for 1 value: \"{} {}\"",
        "a.cu:7: the message of a check in `k` has 0 placeholders for 1 value: \"\"",
        "a.cu:7: the message of a check in `k` has `{:x}`, which is no name: \"{:x}\"",
        "a.cu:7: the message of a check in `k` has a `}` that closes nothing: \"}\"",
        "a.cu:7: the message of a check in `k` has a `{` that is not closed: \"{\"",
    ]
    "#);
}

#[test]
fn a_target_that_is_too_old() {
    let text = corpus::CHECKS.replace(".target sm_80", ".target sm_61");
    insta::assert_debug_snapshot!(refused(&text), @r#"
    [
        "nowhere: checks need compute capability 7.0; `_Z4lookPKfii` is compiled for `sm_61`",
    ]
    "#);
}

#[test]
fn arguments_outside_of_a_call_sequence() {
    let values = ["%rd3", "-1", "0d3FF0000000000000", "0", "0", "0", "0", "0"];
    let types = 10 | 6 << 4 | 12 << 8;
    let done = run(&module(&site("check", "{a} {} {}"), &direct(types, values))).unwrap();
    assert_eq!(
        done.sites[0].types,
        [ValueType::U64, ValueType::I64, ValueType::F64]
    );
    for moved in ["%rd3", "-1", "0x3FF0000000000000"] {
        assert!(
            done.text
                .contains(&format!("mov.b64 \t%gpuk_best, {moved};")),
            "{moved}"
        );
    }
}

#[test]
fn guarded_calls_keep_their_guard() {
    let call = direct(0, ["0"; 8]).replace("call.uni", "@!%p1 call");
    let done = run(&module(&site("check", ""), &call)).unwrap();
    assert!(done.text.contains("@%p1 bra \t$GPUK_done_0;"));
    let done = run(&module(&site("expect", ""), &call)).unwrap();
    assert!(done.text.contains("@%p1 bra \t$GPUK_done_0;"));
}

#[test]
fn two_calls_in_one_block_share_a_site() {
    let body = direct(0, ["0"; 8]);
    let call = body.lines().nth(2).unwrap();
    let body = body.replace(call, &format!("\t{{\n{call}\n{call}\n\t}}"));
    let done = run(&module(&site("expect", ""), &body)).unwrap();
    assert_eq!(done.sites.len(), 1);
    assert_eq!(done.text.matches("$GPUK_done_0:").count(), 1);
    assert_eq!(done.text.matches("$GPUK_done_1:").count(), 1);
    assert!(!done.text.contains("$site"));
}

#[test]
fn a_string_that_something_else_reads_stays() {
    let body = direct(0, ["0"; 8]).replace("\tret;", "\tld.global.u8 %r1, [$site];\n\tret;");
    let done = run(&module(&site("check", ""), &body)).unwrap();
    assert!(done.text.contains(".global .align 1 .b8 $site["));
    assert!(!done.text.contains("cvta.global.u64 %rd2"));
}

#[test]
fn loops_whose_lanes_must_meet_are_not_written_twice() {
    let values = ["0"; 8];
    let call = direct(0, values).replace("\tret;", "");
    let body = |meet: &str| {
        format!(
            "\tld.param.u32 %r1, [k_param_0];\n\tmov.u32 %r0, 0;\n$L:
\tsetp.lt.u32 %p0, %r0, %r1;\n\t@%p0 bra $OK;\n{call}\n$OK:\n\t{meet}
\tadd.s32 %r0, %r0, 1;\n\tsetp.lt.s32 %p1, %r0, 9;\n\t@%p1 bra $L;\n\tret;"
        )
    };
    let split = |meet| {
        let done = run(&module(&site("check", ""), &body(meet))).unwrap();
        done.text.contains("$GPUKR_")
    };
    assert!(split(""));
    for meet in ["bar.sync 0;", "vote.sync.all.pred %p1, %p0, -1;"] {
        assert!(!split(meet), "{meet}");
    }
}
