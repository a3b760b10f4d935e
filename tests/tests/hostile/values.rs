//! Values of settings, flags, variables and arguments: taken as they are, or refused.

use std::ffi::OsStr;

use gpuk_tests::Project;

use super::{GPUK, SET, STARTING, Trap, project, texts, toml};

/// A setting, and the codes that a build with it may end with.
const SETTINGS: [(&str, &[i32]); 23] = [
    ("flags = [VALUE]", &[0, 101]),
    ("flags = ['-I', VALUE]", &[0]),
    ("flags = ['-Xptxas', VALUE]", &[0, 101]),
    ("flags = ['-Xcompiler', VALUE]", &[0, 101]),
    ("include = [VALUE]", &[0]),
    ("include-from = [VALUE]", &[101]),
    ("export-include = [VALUE]", &[0, 101]),
    ("kernels = ['kernels/*.cu', VALUE]", &[0, 101]),
    ("exclude = [VALUE]", &[0, 104]),
    ("host-objects = [VALUE]", &[0, 101]),
    ("archs = [VALUE]", &[101]),
    ("cuda = VALUE", &[101]),
    ("toolkit = VALUE", &[103]),
    ("host-compiler = VALUE", &[101, 103]),
    ("wrapper = VALUE", &[1, 101, 103]),
    ("engine = VALUE", &[101]),
    ("memory = VALUE", &[101]),
    ("checks = VALUE", &[101]),
    ("instantiate = [VALUE]", &[101]),
    ("link.VALUE = ['kernels/*.cu']", &[101]),
    ("kernel.VALUE.checks = 'off'", &[0]),
    ("kernel.set.signature = VALUE", &[101]),
    ("profile.VALUE.checks = 'off'", &[101]),
];

/// The names that start something, as text.
fn starting() -> impl Iterator<Item = &'static str> {
    texts().take(STARTING.len())
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_settings_are_taken_as_they_are_or_refused() {
    for name in starting() {
        for (setting, codes) in SETTINGS {
            let trap = Trap::new(project().config(&setting.replace("VALUE", &toml(name))));
            let what = format!("{setting} {name:?}");
            let (code, said) = trap.build(&what);
            assert!(codes.contains(&code), "{what}: {code}\n{said}");
        }
    }
}

/// A definition's value reaches the kernel byte for byte.
#[test]
#[ignore = "needs nvcc"]
fn nvcc_definitions_say_what_they_say() {
    let mut flags = Vec::new();
    let mut source = String::from(
        "constexpr bool same(const char *a, const char *b) { while (*a && *a == *b) { ++a; ++b; } return *a == *b; }\n",
    );
    for (index, text) in texts().enumerate() {
        if text.contains(|c: char| c.is_control()) {
            continue;
        }
        let literal = text.replace('\\', "\\\\").replace('"', "\\\"");
        // A comma is nvcc's own, and escaped for it.
        let literal = literal.replace(',', "\\,");
        flags.push(toml(&format!("-DTEXT{index}=\"{literal}\"")));
        source += &format!("static_assert(same(TEXT{index}, R\"x({text})x\"), \"\");\n");
    }
    assert!(flags.len() > 20);
    let project = Project::new("p", GPUK).file("kernels/set.cu", &(source + SET));
    let trap = Trap::new(project.config(&format!("flags = [{}]", flags.join(", "))));
    let (code, said) = trap.build("definitions");
    assert_eq!(code, 0, "{said}");
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_variables_and_arguments_are_no_commands() {
    let trap = Trap::new(project());
    assert_eq!(trap.build("once").0, 0);
    for value in starting() {
        for variable in [
            "GPUK_ARCHS",
            "GPUK_DEBUG_CHECKS",
            "GPUK_STORE_MIB",
            "GPUK_MEMORY",
            "GPUK_WRAPPER",
            "NVCC",
            "NVCC_APPEND_FLAGS",
            "NVCC_CCBIN",
            "CXX",
            "TMPDIR",
            "CPATH",
            "GPUK_HOME",
        ] {
            let mut command = trap.command(&["build".as_ref()]);
            command.env(variable, value);
            let what = format!("{variable} {value:?}");
            let (code, said) = trap.run(&what, command);
            assert!(matches!(code, 0..=2 | 101..=103), "{what}: {code}\n{said}");
        }
        for args in [
            &["expand", "-q", "--"][..],
            &["explain", "--"],
            &["build", "-p"],
            &["build", "--arch"],
            &["build", "--profile"],
            &["build", "--config"],
            &["build", "--manifest-path"],
            &["toolchain", "remove"],
        ] {
            let mut args: Vec<&OsStr> = args.iter().map(OsStr::new).collect();
            args.push(value.as_ref());
            let (code, said) = trap.run(&format!("{args:?}"), trap.command(&args));
            assert!(matches!(code, 2 | 102), "{args:?}: {code}\n{said}");
        }
    }
}
