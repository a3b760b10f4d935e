//! Real compiler output is read down to its operands, and written back as it was.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test fails by panicking"
)]

use std::fmt::Write;

use gpuk_ptx::{Init, Linkage, Module, Operand, Space, StatementKind, Value};

#[allow(dead_code, reason = "each test reads some of the files")]
mod corpus;

#[test]
fn unedited_text_is_kept() {
    for (name, text) in corpus::ALL {
        let module = Module::parse(text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(module.to_string(), text, "{name}");
    }
}

#[test]
fn nothing_is_left_unknown() {
    for (name, text) in corpus::ALL {
        let module = Module::parse(text).unwrap();
        for body in module.functions().filter_map(|found| found.body.as_ref()) {
            body.walk(&mut |statement| {
                assert_ne!(statement.kind, StatementKind::Other, "{name}");
                let Some(instruction) = statement.instruction() else {
                    return;
                };
                let is_call = &*instruction.opcode == "call";
                assert_eq!(is_call, instruction.call.is_some(), "{name}");
                for operand in &instruction.operands {
                    operand.walk(&mut |part| {
                        let unknown = matches!(part, Operand::Other(..));
                        assert!(!unknown, "{name}: {}", module.at(statement.span));
                    });
                }
            });
        }
    }
}

#[test]
fn spans_hold_what_they_name() {
    for (_, text) in corpus::ALL {
        let module = Module::parse(text).unwrap();
        for variable in module.variables() {
            assert_eq!(module.at(variable.name_span), &*variable.name);
        }
        for function in module.functions() {
            assert_eq!(module.at(function.name_span), &*function.name);
            for param in &function.params {
                let text = module.at(param.span);
                assert!(text.starts_with(".param") && text.contains(&*param.name));
            }
            let Some(body) = &function.body else { continue };
            body.walk(&mut |statement| {
                if let Some(instruction) = statement.instruction() {
                    let text = module.at(statement.span);
                    assert!(text.ends_with(';') && text.contains(&*instruction.opcode));
                }
            });
        }
    }
}

#[test]
fn registers_are_those_of_their_scope() {
    let module = Module::parse(corpus::FEATURES).unwrap();
    let entry = module.entry("_Z8assemblyPii").unwrap();
    let body = entry.body.as_ref().unwrap();
    let mut scratch = Vec::new();
    body.walk(&mut |statement| {
        for operand in statement.instruction().iter().flat_map(|i| &i.operands) {
            let Some(register) = operand.register() else {
                continue;
            };
            let declaration = body.declaration(register.id).unwrap();
            assert!(register.name.starts_with(&*declaration.name));
            if !register.name.starts_with('%') {
                scratch.push((register.name.to_string(), declaration.ty));
            }
        }
    });
    insta::assert_compact_debug_snapshot!(scratch, @r#"[("t", U32), ("t", U32), ("p", Pred)]"#);
}

#[test]
fn entries_with_parameters_and_bounds() {
    let mut listing = String::new();
    for text in [corpus::CHECKS, corpus::FEATURES] {
        let module = Module::parse(text).unwrap();
        let (major, minor) = module.version();
        writeln!(listing, "{major}.{minor} {}", module.target()).unwrap();
        for entry in module.entries() {
            let params = entry.params.iter();
            let params: Vec<_> = params
                .map(|param| format!("{}/{}", param.size().unwrap(), param.alignment()))
                .collect();
            writeln!(listing, "{} {}", entry.name, params.join(" ")).unwrap();
            let bounds = entry.bounds();
            if bounds != Default::default() {
                writeln!(listing, "  {bounds:?}").unwrap();
            }
        }
    }
    insta::assert_snapshot!(listing);
}

#[test]
fn initializers_can_be_read() {
    let module = Module::parse(corpus::FEATURES).unwrap();
    let coef = module.variable("coef").unwrap();
    assert_eq!(
        (coef.space, coef.linkage),
        (Space::Const, Linkage::Internal)
    );
    let bytes = coef.bytes().unwrap();
    assert_eq!(bytes.len(), 64);
    assert_eq!(bytes[4..12], [0, 0, 0, 64, 0, 0, 64, 64]);
    assert!(bytes[12..].iter().all(|byte| *byte == 0));

    let table = module.variable("table").unwrap();
    assert_eq!((table.size(), table.bytes()), (Some(48), None));
    let symbols: Vec<_> = table
        .values()
        .filter_map(|value| match value {
            Value::Address {
                symbol, generic, ..
            } => Some((&**symbol, *generic)),
            _ => None,
        })
        .collect();
    assert_eq!(
        symbols,
        [("$str", true), ("_Z5twicei", false), ("$str$1", true)]
    );
    assert_eq!(module.variable("$str").unwrap().string().unwrap(), "one");
    assert!(matches!(
        module.variable("where").unwrap().init,
        Some(Init::Value(Value::Address { generic: true, .. }))
    ));
    assert_eq!(
        module
            .variable("shared_with_host")
            .unwrap()
            .attribute
            .as_deref(),
        Some(".managed")
    );
    let dynamic = module.variable("dynamic").unwrap();
    assert_eq!((dynamic.linkage, dynamic.size()), (Linkage::Extern, None));
}

#[test]
fn forms_that_nvcc_does_not_print() {
    let text = r#"
.version 8.3 .target sm_90a, texmode_independent .address_size 64
.global .align 4 .b8 packed[3] = {0xFF(generic(f)+4), 0xFF00(f), -1};
.global .v2 .f32 pairs[2][2] = {{1.5, -0f3F800000}, {2, 3}}, other;
.alias g, f;
.func (.reg .b32 r) f (.reg .b32 a, .param .b8 _[]) .noreturn;
.entry k .maxntid 8 .pragma "nounroll"; {
    .reg .v4 .f32 v; .reg .b32 %r1<3>, a;
    .shared .align 8 .b8 bytes[16], more[4];
    @!%p bra.uni done;
    mov.f32 a, v.x;
    frobnicate.new.b32 a, <%r11>(bytes);
    call (a), f, (1, bytes);
    call f;
    targets: .branchtargets done, done;
    brx.idx a, targets;
    setp.lt.and.s32 p|q, a, %r12, !_;
    tex.2d.v4.f32.s32 {a, _}, [bytes, {a, -1}];
done: ret;
}
"#;
    let module = Module::parse(text).unwrap();
    assert_eq!(module.to_string(), text);
    assert_eq!(
        module.target_options().collect::<Vec<_>>(),
        ["texmode_independent"]
    );
    assert_eq!(module.capability(), Some(90));
    assert_eq!(module.variable("pairs").unwrap().size(), Some(32));
    assert!(!module.variable("other").unwrap().alone);
    let body = module.entry("k").unwrap().body.as_ref().unwrap();
    let mut listing = String::new();
    for statement in &body.statements {
        match &statement.kind {
            StatementKind::Instruction(found) => writeln!(
                listing,
                "{:?} {} {:?} {:?} {:?}",
                found.guard, found.opcode, found.modifiers, found.operands, found.call
            ),
            StatementKind::Variables(found) => {
                let sizes = found.iter().map(|variable| variable.size());
                writeln!(listing, "{:?}", sizes.collect::<Vec<_>>())
            }
            other => writeln!(listing, "{other:?}"),
        }
        .unwrap();
    }
    insta::assert_snapshot!(listing);
}

#[test]
fn errors_say_where_and_what() {
    let errors: Vec<_> = [
        "",
        ".version 9.0\n.target sm_80\n.visible .entry k(\n  .param .u65 a\n) { }",
        ".version 9.0\n.target sm_80\n.entry k() { add.s32 %r1, %r2, %r3 }",
        ".version 9.0\n.target sm_80\n.global .b8 a[2] = {1, x y};",
        ".version 9.0\n.target sm_80\n.entry k() {\n  ret;\n",
        ".version 9.0\n.target sm_80\n/* never closed",
        "#include <stdio.h>",
    ]
    .map(|text| Module::parse(text).unwrap_err().to_string())
    .into();
    insta::assert_debug_snapshot!(errors, @r#"
    [
        "1:1: expected `.version`, found the end of the text",
        "4:10: expected a type, found `.u65 a`",
        "3:36: expected `;`, found `}`",
        "3:26: expected `,`, found `y};`",
        "5:1: expected a statement or `}`, found the end of the text",
        "3:1: expected `*/` at the end of this comment, found `/* never closed`",
        "1:1: expected `.version`, found `#include <stdio.h>`",
    ]
    "#);
}

#[test]
fn probe_variables_are_found_and_removed() {
    let text = "\
.version 9.0
.target sm_80
.visible .global .align 1 .b8 probe_0[4] = {97, 98};
.global .u32 kept;
.visible .global .align 8 .u64 probe_1[2] = {8, 16};
.section .debug_info
{
.b64 probe_1
}
";
    let module = Module::parse(text).unwrap();
    let found: Vec<_> = module
        .variables_with_prefix("probe_")
        .map(|variable| variable.bytes().unwrap())
        .collect();
    assert_eq!(found[0], [97, 98, 0, 0]);
    assert_eq!(found[1][..9], [8, 0, 0, 0, 0, 0, 0, 0, 16]);
    let stripped = module.removal_of_variables("probe_").apply(text).unwrap();
    insta::assert_snapshot!(stripped, @r#"
    .version 9.0
    .target sm_80
    .global .u32 kept;
    .visible .global .align 8 .u64 probe_1[2] ;
    .section .debug_info
    {
    .b64 probe_1
    }
    "#);
}
