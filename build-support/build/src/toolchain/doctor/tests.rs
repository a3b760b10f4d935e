use super::*;
use crate::toolchain::platform::Os;

fn bare(root: &std::path::Path) -> Platform {
    Platform {
        os: Os::Linux,
        arch: "x86_64".to_owned(),
        root: root.to_owned(),
    }
}

#[test]
fn a_bare_machine_is_told_what_to_do() {
    let root = tempfile::tempdir().unwrap();
    let text = root.path().display().to_string();
    let env = Env::from_pairs([
        ("HOME", text.as_str()),
        ("PATH", "/nowhere"),
        ("NVCC_APPEND_FLAGS", "-DX=`id`"),
    ]);
    let report = report_on(
        &Request::default(),
        &HostRequest::default(),
        &env,
        &bare(root.path()),
    );
    assert!(!report.can_build() && report.toolchain.is_none());
    insta::assert_snapshot!(report.to_string().replace(&text, ""), @r"
    looked for nvcc at
      setting `toolkit`      not set
      NVCC                   not set
      CUDA_HOME              not set
      CUDA_PATH              not set
      CUDA_ROOT              not set
      CUDA_TOOLKIT_ROOT_DIR  not set
      PATH                   no nvcc in any of its folders
      default folder         /usr/local/cuda/bin/nvcc: no such file
      default folder         /opt/cuda/bin/nvcc: no such file
      CONDA_PREFIX           not set
      VIRTUAL_ENV            not set
      gpuk's own folder      nothing installed

    missing  nvcc               not found in any of the places above
                                -> cargo gpuk toolchain install
    missing  host compiler      there is no C++ compiler: nvcc needs `gcc`
                                -> install g++ (Debian, Ubuntu: `apt install g++`; Fedora: `dnf install gcc-c++`; Arch: `pacman -S gcc`), or name one with the setting `host-compiler`
    missing  NVCC_APPEND_FLAGS  -DX=`id`: nvcc would hand '`' to a shell
                                -> unset `NVCC_APPEND_FLAGS`, or write it without
    warn     installer          neither uv nor pip works
                                -> needed only by `cargo gpuk toolchain install`: install one, or set `GPUK_PIP`
    ok       gpuk's folder      /.local/share/gpuk; no toolchain in it
    warn     driver             none
                                -> kernels can be built here, and run where there is one, or with `--sim`
    ");
    let stored = serde_json::to_string(&report).unwrap();
    assert_eq!(serde_json::from_str::<Report>(&stored).unwrap(), report);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_is_reported_with_all_its_parts() {
    let report = report(
        &Request::default(),
        &HostRequest::default(),
        &Env::of_process(),
    );
    assert!(report.can_build(), "{report}");
    let line = |subject: &str| {
        &report
            .lines
            .iter()
            .find(|line| line.subject == subject)
            .unwrap()
            .found
    };
    assert!(
        line("nvcc").contains("bin/nvcc") && line("architectures").contains("80"),
        "{report}"
    );
}
