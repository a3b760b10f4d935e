//! Host functions: nvcc compiles them through a shell, so what a shell would read is refused before.

use std::path::Path;

use gpuk_tests::Project;

use super::{GPUK, Trap, texts, toml};

const GO: &str = "extern \"C\" int go(int n) { return n; }\n";

/// What nvcc's shell makes something else of.
fn is_read(name: &str) -> bool {
    name.contains(|c: char| "$`\"'\\".contains(c) || c.is_control())
}

fn host(config: &str) -> Project {
    let config = format!("kernels = []\nhost-objects = ['host/*.cu']\n{config}");
    Project::new("p", GPUK).config(&config)
}

fn refused(code: i32, said: &str) -> bool {
    code == 101 && said.contains("GPUK0044") && said.contains("nvcc would hand to a shell")
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_no_shell_reads_the_name_of_a_source() {
    let long = format!("host/{}.cu", "l".repeat(240));
    let (taken, wrong) = (host(""), host("").file(&long, GO));
    let mut expected = 1;
    for (index, name) in texts().enumerate() {
        let file = Path::new("host").join(format!("{name}.cu"));
        match is_read(name) || name.contains('{') {
            true => {
                expected += 1;
                wrong.write(file, GO);
            }
            false => taken.write(file, &GO.replace("go", &format!("go{index}"))),
        }
    }
    let (code, said) = Trap::new(taken).build("taken");
    assert_eq!(code, 0, "{said}");
    let (code, said) = Trap::new(wrong).build("wrong");
    assert!(refused(code, &said), "{said}");
    assert_eq!(said.matches("error[GPUK0044]").count(), expected, "{said}");
    assert!(said.contains("has a name of 243 bytes"), "{said}");
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_no_shell_reads_the_name_of_a_folder_or_a_flag() {
    for name in texts().filter(|name| is_read(name)) {
        let trap = Trap::new(host("").file("host/go.cu", GO));
        let target = format!("--target-dir=./{name}");
        let (code, said) = trap.run(name, trap.command(&["build".as_ref(), target.as_ref()]));
        assert!(refused(code, &said), "{name:?}: {code}\n{said}");

        let project = host(&format!("include = [{}]", toml(name))).file("host/go.cu", GO);
        let (code, said) = Trap::new(project).build(name);
        assert!(refused(code, &said), "{name:?}: {code}\n{said}");

        // nvcc quotes definitions well but for what is replaced within quotes.
        if name.contains(['$', '`']) {
            let define = toml(&format!("-DTEXT=\"{name}\""));
            let project = host(&format!("flags = [{define}]")).file("host/go.cu", GO);
            let (code, said) = Trap::new(project).build(name);
            assert!(refused(code, &said), "{name:?}: {code}\n{said}");
        }
    }
}
