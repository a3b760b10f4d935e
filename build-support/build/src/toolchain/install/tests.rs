use std::os::unix::fs::PermissionsExt;

use super::*;

/// A machine whose `uv` and `python3` are scripts, and whose wheels are a toolkit of scripts.
struct Machine(tempfile::TempDir);

/// Lays out what the wheels hold, in the folder after `--target`.
const LAY_OUT: &str = r#"
while [ "$1" != --target ]; do shift; done; site=$2; root=$site/nvidia/cu13
mkdir -p $root/bin $root/nvvm/bin $site/nvidia_cuda_nvcc-13.0.88.dist-info
cat > $root/bin/nvcc <<'END'
#!/bin/sh
case $1 in
--version) echo 'Cuda compilation tools, release 13.0, V13.0.88';;
--list-gpu-arch) echo compute_75;;
*) exit 1;;
esac
END
printf '#!/bin/sh\nfor last; do :; done\necho ptx > $last\n' > $root/nvvm/bin/cicc
printf '#!/bin/sh\nfor last; do :; done\nprintf "\\177ELF" > $last\n' > $root/bin/ptxas
chmod +x $root/bin/* $root/nvvm/bin/*
"#;

impl Machine {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// An installer that says a version, notes that it was run, and then does what `text` says.
    fn installer(&self, name: &str, version: &str, text: &str) {
        let file = self.0.path().join("bin").join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let script = format!(
            "#!/bin/sh\nPATH=/usr/bin:/bin\nfor last; do :; done\n\
             [ $last = --version ] && echo '{version} from /x' && exit\n\
             echo {name} >> {}/runs\n{text}\n",
            self.0.path().display()
        );
        std::fs::write(&file, script).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn env(&self) -> Env {
        let path = |name: &str| self.0.path().join(name).into_os_string();
        Env::from_pairs([("PATH", path("bin")), ("GPUK_HOME", path("home"))])
    }

    fn install(&self) -> (Vec<Step>, Result<Installation, InstallError>) {
        let mut steps = Vec::new();
        let result = install("13.0".parse().unwrap(), &self.env(), &mut |step| {
            steps.push(step)
        });
        (steps, result)
    }

    fn runs(&self) -> String {
        std::fs::read_to_string(self.0.path().join("runs"))
            .unwrap_or_default()
            .replace('\n', " ")
    }

    fn toolchains(&self) -> PathBuf {
        self.0.path().join("home/toolchains")
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.toolchains()).unwrap();
        let mut names: Vec<_> = entries
            .map(|e| e.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

#[test]
fn a_toolchain_is_installed_once_and_found() {
    let machine = Machine::new();
    machine.installer("python3", "pip 23.2.1", LAY_OUT);
    let (_, result) = machine.install();
    let first = result.unwrap();
    assert!(!first.was_there);
    assert_eq!(first.installed.version.to_string(), "13.0.88");
    assert_eq!(first.installed.wheels, ["nvidia_cuda_nvcc-13.0.88"]);
    assert!(matches!(first.from_source, Some(FromSource::NotCompiled(why)) if why.contains("gcc")));
    assert_eq!(
        installed(&machine.env()),
        std::slice::from_ref(&first.installed)
    );
    assert_eq!(machine.names(), [".lock", "cuda-13.0"]);

    let (steps, result) = machine.install();
    assert_eq!(steps, [Step::Verifying]);
    assert_eq!(result.unwrap().installed, first.installed);
    assert_eq!(machine.runs(), "python3 ");

    assert!(remove("13.0".parse().unwrap(), &machine.env(), &mut |_| ()).unwrap());
    assert!(!remove("13.0".parse().unwrap(), &machine.env(), &mut |_| ()).unwrap());
    assert_eq!(machine.names(), [".lock"]);
}

#[test]
fn what_does_not_work_is_replaced_and_leftovers_go() {
    let machine = Machine::new();
    machine.installer("uv", "uv 0.9.2", LAY_OUT);
    machine.install().1.unwrap();
    let path = machine.toolchains().join("cuda-13.0");
    std::fs::write(path.join("bin/ptxas"), "#!/bin/sh\nexit 1\n").unwrap();
    let leftover = machine.toolchains().join(".partial-1-1");
    std::fs::create_dir_all(leftover.join("site-0/nvidia")).unwrap();
    let (steps, result) = machine.install();
    assert!(steps.contains(&Step::CleaningUp(leftover)) && steps.contains(&Step::Replacing(path)));
    assert!(!result.unwrap().was_there);
    assert_eq!(machine.names(), [".lock", "cuda-13.0"]);
}

#[test]
fn what_somebody_else_put_there_stays() {
    let machine = Machine::new();
    machine.installer("uv", "uv 0.9.2", LAY_OUT);
    let path = machine.toolchains().join("cuda-13.0");
    std::fs::create_dir_all(path.join("bin")).unwrap();
    assert!(matches!(machine.install().1, Err(InstallError::Foreign(_))));
    let removed = remove("13.0".parse().unwrap(), &machine.env(), &mut |_| ());
    assert!(matches!(removed, Err(InstallError::Foreign(_))));
    assert!(path.join("bin").is_dir() && installed(&machine.env()).is_empty());
}

#[test]
fn the_next_installer_is_tried_and_nothing_bad_is_installed() {
    let machine = Machine::new();
    machine.installer("uv", "uv 0.9.2", "echo 'error: dns error' >&2; exit 2");
    machine.installer(
        "python3",
        "pip 23.2.1",
        "echo 'No space left on device' >&2; exit 1",
    );
    let (steps, result) = machine.install();
    assert!(steps.iter().any(|step| matches!(step, Step::FellBack(_))));
    let error = result.unwrap_err();
    assert!(
        matches!(&error, InstallError::Fetch { cause: Cause::DiskFull, attempts, .. } if attempts.len() == 2)
    );
    insta::assert_snapshot!(error.to_string().replace(&machine.0.path().display().to_string(), ""), @r"
    could not fetch CUDA 13.0: the disk is full (about 900 MB are needed while installing)
      `/bin/uv` said
        error: dns error
      `/bin/python3 -m pip` said
        No space left on device
    ");
    assert_eq!(machine.names(), [".lock"]);

    let lame = LAY_OUT.replace("177ELF", "177ELK");
    machine.installer("python3", "pip 23.2.1", &lame);
    assert!(matches!(machine.install().1, Err(InstallError::Verify(_))));
    assert_eq!(machine.names(), [".lock"]);

    machine.installer("python3", "pip 23.2.1", LAY_OUT);
    assert!(machine.install().1.is_ok());
}

#[test]
fn two_at_once_fetch_once() {
    let machine = Machine::new();
    machine.installer("uv", "uv 0.9.2", &format!("sleep 0.3\n{LAY_OUT}"));
    let fresh = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| machine.install().1.unwrap()))
            .collect();
        let all = threads.into_iter().map(|thread| thread.join().unwrap());
        all.filter(|installation| !installation.was_there).count()
    });
    assert_eq!((fresh, machine.runs().as_str()), (1, "uv "));
}

#[test]
fn without_an_installer_it_says_what_was_tried() {
    let machine = Machine::new();
    machine.installer("python3", "pip 9.0.1", "exit 1");
    let error = machine.install().1.unwrap_err();
    insta::assert_snapshot!(error, @r"
    neither uv nor pip works
      uv: not found
      python3 -m pip: pip 9.0.1 is too old, 20.3 is needed
      python -m pip: not found
      pip3: not found
      pip: not found
    install one (Debian, Ubuntu: `apt install python3-pip`; others: docs.astral.sh/uv), or name one with `GPUK_PIP`
    ");
    let old = install("12.4".parse().unwrap(), &machine.env(), &mut |_| ()).unwrap_err();
    insta::assert_snapshot!(old, @"CUDA 12.4 cannot be installed from wheels: before 13.0 NVIDIA's wheels hold ptxas but no nvcc; install the toolkit from NVIDIA and set `CUDA_HOME`");
}

#[test]
fn nothing_is_fetched_for_a_system_without_a_compiler() {
    let platform = Platform {
        os: Os::MacOs,
        ..Platform::host()
    };
    let refused = refuse("13.0".parse().unwrap(), &platform).unwrap_err();
    let said = refused.to_string();
    assert!(said.starts_with(
        "CUDA 13.0 cannot be installed from wheels: NVIDIA publishes no CUDA compiler for macOS"
    ));
    assert!(
        refuse(
            "13.0".parse().unwrap(),
            &Platform {
                os: Os::Windows,
                ..platform
            }
        )
        .is_ok()
    );
}
