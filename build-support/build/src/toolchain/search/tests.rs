use std::os::unix::fs::PermissionsExt;

use super::*;

/// A machine of its own: a folder that stands for `/`, with toolkits in it.
struct Machine {
    root: tempfile::TempDir,
    platform: Platform,
}

impl Machine {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let platform = Platform {
            root: root.path().canonicalize().unwrap(),
            os: Os::Linux,
            arch: "x86_64".to_owned(),
        };
        Self { root, platform }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.platform.root.join(path)
    }

    /// A toolkit whose nvcc says this version and notes that it was run.
    fn toolkit(&self, at: &str, version: &str) -> PathBuf {
        let root = self.path(at);
        let runs = self.path("runs");
        let nvcc = format!(
            "#!/bin/sh\necho {at} >> {}\necho 'Cuda compilation tools, release {}, V{version}'\n",
            runs.display(),
            version.rsplit_once('.').unwrap().0,
        );
        program(&root.join("bin/nvcc"), &nvcc);
        program(&root.join("bin/ptxas"), "#!/bin/sh\n");
        program(&root.join("nvvm/bin/cicc"), "#!/bin/sh\n");
        std::fs::create_dir_all(root.join("include/cccl")).unwrap();
        root
    }

    fn find(
        &self,
        request: &Request,
        env: &[(&str, &Path)],
    ) -> (Search, Result<Toolchain, NotFound>) {
        let env = Env::from_pairs(env.iter().map(|(k, v)| (*k, v.as_os_str())));
        search(request, &env, &self.platform)
    }

    fn text(&self, search: &impl fmt::Display) -> String {
        search
            .to_string()
            .replace(&self.platform.root.display().to_string(), "")
    }

    fn runs(&self) -> usize {
        let runs = std::fs::read_to_string(self.root.path().join("runs"));
        runs.map_or(0, |text| text.lines().count())
    }
}

fn program(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_bare_machine_is_told_every_place() {
    let machine = Machine::new();
    let env = [
        ("PATH", machine.path("bin")),
        ("CUDA_HOME", machine.path("gone")),
        ("HOME", machine.path("u")),
    ];
    let env = env.each_ref().map(|(k, v)| (*k, v.as_path()));
    let (_, result) = machine.find(&Request::default(), &env);
    insta::assert_snapshot!(machine.text(&result.unwrap_err()), @r"
    no CUDA compiler found; looked at
      setting `toolkit`      not set
      NVCC                   not set
      CUDA_HOME              /gone/bin/nvcc: no such file
      CUDA_PATH              not set
      CUDA_ROOT              not set
      CUDA_TOOLKIT_ROOT_DIR  not set
      PATH                   no nvcc in any of its folders
      default folder         /usr/local/cuda/bin/nvcc: no such file
      default folder         /opt/cuda/bin/nvcc: no such file
      CONDA_PREFIX           not set
      VIRTUAL_ENV            not set
      gpuk's own folder      nothing installed
    install one with
      cargo gpuk toolchain install
    ");
    let pinned = Request {
        cuda: Some("13.1".parse().unwrap()),
        ..Request::default()
    };
    let error = machine.find(&pinned, &env).1.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("cargo gpuk toolchain install 13.1")
    );
    let old = Request {
        cuda: Some("12.4".parse().unwrap()),
        ..Request::default()
    };
    assert!(
        machine
            .find(&old, &env)
            .1
            .unwrap_err()
            .remedy
            .contains("CUDA_HOME")
    );
}

#[test]
fn the_order_is_setting_nvcc_variables_path_defaults_environments_own() {
    let machine = Machine::new();
    let at = |at: &str| machine.toolkit(at, "13.0.88");
    let (setting, nvcc, home, cuda_path) = (at("a"), at("b"), at("c"), at("d"));
    let (path, default, newest, older) = (
        at("e"),
        at("usr/local/cuda"),
        at("usr/local/cuda-13.10"),
        at("usr/local/cuda-13.9"),
    );
    let (opt, conda, venv) = (
        at("opt/cuda"),
        at("conda"),
        at("venv/lib/python3.12/site-packages/nvidia/cu13"),
    );
    let own = at("gpuk/toolchains/cuda-13.0");
    let order = [
        &setting, &nvcc, &home, &cuda_path, &path, &default, &newest, &older, &opt, &conda, &venv,
        &own,
    ];
    let request = Request {
        toolkit: Some(setting.clone()),
        ..Request::default()
    };
    let nvcc_file = nvcc.join("bin/nvcc");
    let (path_dir, venv_dir, gpuk) = (path.join("bin"), machine.path("venv"), machine.path("gpuk"));
    let env: Vec<(&str, &Path)> = vec![
        ("NVCC", &nvcc_file),
        ("CUDA_HOME", &home),
        ("CUDA_PATH", &cuda_path),
        ("PATH", &path_dir),
        ("CONDA_PREFIX", &conda),
        ("VIRTUAL_ENV", &venv_dir),
        ("GPUK_HOME", &gpuk),
    ];
    let mut request = request;
    for (index, expected) in order.iter().enumerate() {
        let (search, result) = machine.find(&request, &env);
        let found = result.unwrap_or_else(|error| panic!("{index}: {error}"));
        assert_eq!(&found.root, *expected, "{search}");
        assert_eq!(
            found.includes,
            [found.root.join("include/cccl"), found.root.join("include")]
        );
        // What was found first is taken away, and the next in order comes up.
        std::fs::remove_dir_all(expected).unwrap();
        if index == 0 {
            request.toolkit = None;
        }
        if index == 1 {
            let error = machine.find(&request, &env).1.unwrap_err();
            assert!(error.named, "a broken NVCC is not passed over: {error}");
            machine.toolkit("b", "13.0.88");
            program(&nvcc_file, "#!/bin/sh\nexit 3\n");
            assert!(machine.find(&request, &env).1.unwrap_err().named);
            return after_nvcc(&machine, &order[2..], &env[1..]);
        }
    }
}

fn after_nvcc(machine: &Machine, order: &[&PathBuf], env: &[(&str, &Path)]) {
    for expected in order {
        let (search, result) = machine.find(&Request::default(), env);
        assert_eq!(&result.unwrap().root, *expected, "{search}");
        std::fs::remove_dir_all(expected).unwrap();
    }
    assert!(machine.find(&Request::default(), env).1.is_err());
}

#[test]
fn a_pin_passes_others_over_and_says_so() {
    let machine = Machine::new();
    let home = machine.toolkit("home", "12.4.131");
    machine.toolkit("usr/local/cuda-13.0", "13.0.88");
    std::os::unix::fs::symlink("cuda-13.0", machine.path("usr/local/cuda")).unwrap();
    let request = Request {
        cuda: Some("13.0".parse().unwrap()),
        ..Request::default()
    };
    let (search, result) = machine.find(&request, &[("CUDA_HOME", &home)]);
    assert_eq!(result.unwrap().version.to_string(), "13.0.88");
    insta::assert_snapshot!(machine.text(&search), @r"
    setting `toolkit`      not set
    NVCC                   not set
    CUDA_HOME              /home/bin/nvcc: is 12.4.131, which is not the pinned version
    CUDA_PATH              not set
    CUDA_ROOT              not set
    CUDA_TOOLKIT_ROOT_DIR  not set
    PATH                   no nvcc in any of its folders
    default folder         /usr/local/cuda/bin/nvcc: chosen, 13.0.88
    ");
    let contradiction = Request {
        toolkit: Some(home),
        ..request
    };
    let (_, result) = machine.find(&contradiction, &[]);
    insta::assert_snapshot!(machine.text(&result.unwrap_err()), @r"
    the CUDA compiler that was named cannot be used; looked at
      setting `toolkit`  /home/bin/nvcc: is 12.4.131, which is not the pinned version
    correct what names it, or unset it to take another
    ");
}

#[test]
fn what_is_broken_is_told_apart() {
    let machine = Machine::new();
    machine.toolkit("usr/local/cuda", "13.0.88");
    std::fs::remove_file(machine.path("usr/local/cuda/nvvm/bin/cicc")).unwrap();
    program(
        &machine.path("usr/local/cuda-12.9/bin/nvcc"),
        "#!/bin/sh\necho cannot >&2; exit 1\n",
    );
    program(
        &machine.path("usr/local/cuda-12.8/bin/nvcc"),
        "#!/bin/sh\necho hello\n",
    );
    program(&machine.path("usr/local/cuda-12.7/bin/nvcc"), "");
    let mode = std::fs::Permissions::from_mode(0o644);
    std::fs::set_permissions(machine.path("usr/local/cuda-12.7/bin/nvcc"), mode).unwrap();
    machine.toolkit("opt/cuda", "99.1.7");
    let (search, result) = machine.find(&Request::default(), &[]);
    assert_eq!(result.unwrap().version.to_string(), "99.1.7");
    insta::assert_snapshot!(machine.text(&search), @r"
    setting `toolkit`      not set
    NVCC                   not set
    CUDA_HOME              not set
    CUDA_PATH              not set
    CUDA_ROOT              not set
    CUDA_TOOLKIT_ROOT_DIR  not set
    PATH                   no nvcc in any of its folders
    default folder         /usr/local/cuda/bin/nvcc: incomplete: no `/usr/local/cuda/nvvm/bin/cicc`
    default folder         /usr/local/cuda-12.9/bin/nvcc: does not work: `/usr/local/cuda-12.9/bin/nvcc --version` failed (exit status: 1)
      --- stderr
      cannot
    default folder         /usr/local/cuda-12.8/bin/nvcc: does not work: it says no CUDA version but `hello`
    default folder         /usr/local/cuda-12.7/bin/nvcc: not an executable file
    default folder         /opt/cuda/bin/nvcc: chosen, 99.1.7
    ");
}

#[test]
fn what_is_known_is_not_asked_again() {
    let machine = Machine::new();
    machine.toolkit("opt/cuda", "13.0.88");
    let first = machine.find(&Request::default(), &[]).1.unwrap();
    assert_eq!(machine.runs(), 1);
    let request = Request {
        known: vec![first.clone()],
        ..Request::default()
    };
    assert_eq!(machine.find(&request, &[]).1.unwrap(), first);
    assert_eq!(machine.runs(), 1);
    machine.toolkit("opt/cuda", "13.0.100");
    assert_eq!(
        machine.find(&request, &[]).1.unwrap().version.build,
        Some(100)
    );
    assert_eq!(machine.runs(), 2);
}

#[test]
fn a_distribution_that_scatters_the_toolkit_is_asked() {
    let machine = Machine::new();
    let lib = machine.toolkit("usr/lib/nvidia-cuda-toolkit", "12.0.140");
    std::fs::rename(lib.join("bin/ptxas"), machine.path("ptxas")).unwrap();
    program(&machine.path("usr/bin/ptxas"), "#!/bin/sh\n");
    std::fs::create_dir_all(lib.join("bin")).unwrap();
    std::fs::rename(lib.join("nvvm/bin/cicc"), lib.join("bin/cicc")).unwrap();
    let nvcc = machine.path("usr/bin/nvcc");
    let root = machine.platform.root.display().to_string();
    program(
        &nvcc,
        &format!(
            "#!/bin/sh\n[ \"$1\" = --version ] && echo 'tools, release 12.0, V12.0.140' && exit\n\
             echo '#$ TOP={root}/usr/lib/nvidia-cuda-toolkit' >&2\n\
             echo '#$ CICC_PATH={root}/usr/lib/nvidia-cuda-toolkit/bin' >&2\n\
             echo '#$ PATH={root}/usr/lib/nvidia-cuda-toolkit/bin:{root}/usr/bin:/bin' >&2\n",
        ),
    );
    let bin = machine.path("usr/bin");
    let found = machine
        .find(&Request::default(), &[("PATH", &bin)])
        .1
        .unwrap();
    assert_eq!(found.nvcc, nvcc);
    assert_eq!(found.root, lib);
    assert_eq!(found.cicc, lib.join("bin/cicc"));
    assert_eq!(found.ptxas, machine.path("usr/bin/ptxas"));
}

#[test]
fn windows_looks_in_program_files_and_lib() {
    let machine = Machine::new();
    let platform = Platform {
        os: Os::Windows,
        ..machine.platform.clone()
    };
    let cuda = "Program Files/NVIDIA GPU Computing Toolkit/CUDA";
    for folder in [
        format!("{cuda}/v12.9"),
        format!("{cuda}/v13.0"),
        "venv/Lib/site-packages/nvidia/cu13".to_owned(),
    ] {
        std::fs::create_dir_all(machine.path(&folder)).unwrap();
    }
    let env = Env::from_pairs([
        ("ProgramFiles", machine.path("Program Files")),
        ("VIRTUAL_ENV", machine.path("venv")),
        ("CONDA_PREFIX", machine.path("conda")),
        ("LOCALAPPDATA", machine.path("local")),
    ]);
    let (search, _) = search(&Request::default(), &env, &platform);
    insta::assert_snapshot!(machine.text(&search), @r"
    setting `toolkit`      not set
    NVCC                   not set
    CUDA_HOME              not set
    CUDA_PATH              not set
    CUDA_ROOT              not set
    CUDA_TOOLKIT_ROOT_DIR  not set
    PATH                   no nvcc in any of its folders
    default folder         /Program Files/NVIDIA GPU Computing Toolkit/CUDA/v13.0/bin/nvcc.exe: no such file
    default folder         /Program Files/NVIDIA GPU Computing Toolkit/CUDA/v12.9/bin/nvcc.exe: no such file
    CONDA_PREFIX           /conda/Library/bin/nvcc.exe: no such file
    VIRTUAL_ENV            /venv/Lib/site-packages/nvidia/cu13/bin/nvcc.exe: no such file
    gpuk's own folder      nothing installed
    ");
}

#[test]
fn macos_has_no_compiler_and_is_told_what_works() {
    let machine = Machine::new();
    let platform = Platform {
        os: Os::MacOs,
        ..machine.platform.clone()
    };
    let env = Env::from_pairs([("HOME", machine.path("home"))]);
    let (_, found) = search(&Request::default(), &env, &platform);
    let remedy = found.unwrap_err().remedy;
    for word in ["cargo gpuk vendor", "GPUK_SKIP=1", "cargo gpuk test --sim"] {
        assert!(remedy.contains(word), "{remedy}");
    }
    assert!(!remedy.contains("toolchain install"), "{remedy}");
}
