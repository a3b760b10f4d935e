use std::os::unix::fs::PermissionsExt;

use super::*;

struct Machine {
    root: tempfile::TempDir,
    platform: Platform,
}

impl Machine {
    fn new(compilers: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        let platform = Platform {
            os: Os::Linux,
            arch: "x86_64".to_owned(),
            root: root.path().to_owned(),
        };
        let machine = Self { root, platform };
        for name in compilers {
            machine.compiler(name);
        }
        machine
    }

    /// A compiler that says its name for a version, and notes that it was run.
    fn compiler(&self, name: &str) {
        let file = self.path(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let runs = self.path("runs");
        let text = format!(
            "#!/bin/sh\necho x >> {}\necho '{name} 12.2.0'\n",
            runs.display()
        );
        std::fs::write(&file, text).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn runs(&self) -> usize {
        std::fs::read_to_string(self.path("runs")).map_or(0, |text| text.lines().count())
    }

    fn env(&self, pairs: &[(&str, &str)]) -> Env {
        let path = self.path("bin").display().to_string();
        let pairs = pairs.iter().map(|(k, v)| {
            (
                (*k).to_owned(),
                v.replace("~", &self.path("").display().to_string()),
            )
        });
        Env::from_pairs(pairs.chain([("PATH".to_owned(), path)]))
    }

    /// The compiler's path below the root, what names it, and whether it is passed to nvcc.
    fn find(&self, setting: Option<&str>, pairs: &[(&str, &str)]) -> Result<String, String> {
        let request = HostRequest {
            setting: setting.map(|name| self.path(name)),
            known: None,
        };
        let found = find_on(&request, &self.env(pairs), &self.platform)
            .map_err(|error| error.to_string())?;
        assert!(found.version.ends_with("12.2.0"), "{}", found.version);
        let path = found.path.strip_prefix(self.root.path()).unwrap().display();
        let passed = if found.ccbin.is_some() {
            "passed"
        } else {
            "not passed"
        };
        Ok(format!("{path} ({}), {passed}", found.origin))
    }
}

#[test]
fn the_order_is_nvccs_own_setting_cxx_default() {
    let machine = Machine::new(&["bin/gcc", "bin/g++-11", "other/g++-9", "folder/gcc"]);
    let find = |setting, pairs: &[(&str, &str)]| machine.find(setting, pairs).unwrap();
    assert_eq!(
        find(None, &[]),
        "bin/gcc (nvcc's default, on PATH), not passed"
    );
    assert_eq!(find(None, &[("CXX", "g++-11")]), "bin/g++-11 (CXX), passed");
    assert_eq!(
        find(None, &[("CXX", "ccache g++-11 -stdlib=libc++ -O2")]),
        "bin/g++-11 (CXX), passed"
    );
    let both = [
        ("CXX", "g++-11"),
        ("CXX_x86_64_unknown_linux_gnu", "~other/g++-9"),
    ];
    assert_eq!(
        find(None, &both),
        "other/g++-9 (CXX_x86_64_unknown_linux_gnu), passed"
    );
    let foreign = [("CXX_aarch64_unknown_linux_gnu", "~other/g++-9")];
    assert_eq!(
        find(None, &foreign),
        "bin/gcc (nvcc's default, on PATH), not passed"
    );
    assert_eq!(
        find(Some("other/g++-9"), &both),
        "other/g++-9 (setting `host-compiler`), passed"
    );
    let ccbin = [("NVCC_CCBIN", "g++-11")];
    assert_eq!(
        find(Some("other/g++-9"), &ccbin),
        "bin/g++-11 (NVCC_CCBIN), not passed"
    );
    assert_eq!(
        find(None, &[("NVCC_CCBIN", "~folder")]),
        "folder/gcc (NVCC_CCBIN), not passed"
    );
    let conda = [("NVCC_PREPEND_FLAGS", " -ccbin=~other/g++-9 -O3")];
    assert_eq!(
        find(None, &conda),
        "other/g++-9 (NVCC_PREPEND_FLAGS), not passed"
    );
    let two_words = [("NVCC_APPEND_FLAGS", "--compiler-bindir ~other/g++-9")];
    assert_eq!(
        find(None, &two_words),
        "other/g++-9 (NVCC_APPEND_FLAGS), not passed"
    );
}

#[test]
fn none_and_a_wrong_one_are_said() {
    let machine = Machine::new(&[]);
    let error = |setting, pairs: &[(&str, &str)]| {
        let error = machine.find(setting, pairs).unwrap_err();
        error.replace(&machine.path("").display().to_string(), "/")
    };
    insta::assert_snapshot!(error(None, &[]), @"there is no C++ compiler: nvcc needs `gcc`; install g++ (Debian, Ubuntu: `apt install g++`; Fedora: `dnf install gcc-c++`; Arch: `pacman -S gcc`), or name one with the setting `host-compiler`");
    insta::assert_snapshot!(error(Some("gone/g++"), &[]), @"there is no host compiler `/gone/g++`; correct the setting `host-compiler`");
    insta::assert_snapshot!(error(None, &[("CXX", "clang++-99")]), @"there is no host compiler `clang++-99`; correct or unset `CXX`");
    insta::assert_snapshot!(error(None, &[("NVCC_CCBIN", "~gone")]), @"there is no host compiler `/gone`; correct or unset `NVCC_CCBIN`");
}

#[test]
fn what_is_known_is_not_asked_again() {
    let machine = Machine::new(&["bin/gcc", "bin/g++-11"]);
    let env = machine.env(&[]);
    let first = find_on(&HostRequest::default(), &env, &machine.platform).unwrap();
    assert_eq!(machine.runs(), 1);
    let request = HostRequest {
        setting: None,
        known: Some(first.clone()),
    };
    assert_eq!(find_on(&request, &env, &machine.platform).unwrap(), first);
    assert_eq!(machine.runs(), 1);
    let env = machine.env(&[("CXX", "g++-11")]);
    assert!(
        find_on(&request, &env, &machine.platform)
            .unwrap()
            .path
            .ends_with("g++-11")
    );
    machine.compiler("bin/gcc");
    let before = machine.runs();
    find_on(&request, &machine.env(&[]), &machine.platform).unwrap();
    assert_eq!(machine.runs(), before + 1);
}

/// A machine that looks like one with Windows, but for its paths.
fn windows(compilers: &[&str]) -> Machine {
    let mut machine = Machine::new(compilers);
    machine.platform.os = Os::Windows;
    machine
}

#[test]
fn visual_studio_brings_its_variables() {
    let machine = windows(&["vs/cl.exe", "bin/cl.exe", "own/cl.exe"]);
    let said = |name: &str| (name.to_owned(), format!("{name} of vs"));
    let vs = |triple: &str| {
        assert_eq!(triple, "x86_64-pc-windows-msvc");
        Some(msvc::Msvc {
            path: machine.path("vs/cl.exe"),
            variables: ["INCLUDE", "LIB", "PATH"].map(said).to_vec(),
        })
    };
    let find = |setting: Option<&str>, pairs: &[(&str, &str)], vs: Finder<'_>| {
        let request = HostRequest {
            setting: setting.map(|name| machine.path(name)),
            known: None,
        };
        // No script is Visual Studio's: its stderr, where cl.exe says its version, is empty.
        let found = named(&request, &machine.env(pairs), &machine.platform, vs);
        let Named {
            path,
            pass,
            mut variables,
            origin,
        } = found.map_err(|error| error.to_string())?;
        msvc::complete(
            &mut variables,
            &path,
            &machine.env(pairs),
            &machine.platform,
            vs,
        );
        let names: Vec<_> = variables.iter().map(|(name, _)| name.as_str()).collect();
        let path = path.strip_prefix(machine.root.path()).unwrap().display();
        Ok::<_, String>(format!("{path} ({origin}), {pass}, {}", names.join(" ")))
    };
    assert_eq!(
        find(None, &[], &vs).unwrap(),
        "vs/cl.exe (Visual Studio), true, INCLUDE LIB PATH"
    );
    // Named by something else, outside Visual Studio's shell and within.
    assert_eq!(
        find(Some("own/cl.exe"), &[], &vs).unwrap(),
        "own/cl.exe (setting `host-compiler`), true, INCLUDE LIB PATH"
    );
    assert_eq!(
        find(None, &[("NVCC_CCBIN", "cl"), ("INCLUDE", "x")], &vs).unwrap(),
        "bin/cl.exe (NVCC_CCBIN), false, "
    );
    // Not registered: what PATH has; and a quotation mark in PATH goes.
    assert_eq!(
        find(None, &[], &|_| None).unwrap(),
        "bin/cl.exe (nvcc's default, on PATH), false, "
    );
    let path = format!("{};C:\\x\"", machine.path("bin").display());
    let env = Env::from_pairs([("PATH", path.as_str()), ("INCLUDE", "x")]);
    let mut variables = Vec::new();
    let cl = machine.path("bin/cl.exe");
    msvc::complete(&mut variables, &cl, &env, &machine.platform, &|_| None);
    assert_eq!(variables, [("PATH".to_owned(), path.replace('"', ""))]);
    // None at all.
    let bare = windows(&[]);
    let error = named(
        &HostRequest::default(),
        &bare.env(&[]),
        &bare.platform,
        &|_| None,
    );
    assert_eq!(
        error.err().unwrap().to_string(),
        "there is no C++ compiler: nvcc needs `cl`; install Visual Studio's Build Tools with `Desktop development \
         with C++`"
    );
}
