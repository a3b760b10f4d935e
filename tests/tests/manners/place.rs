//! Where results go: where cargo's own would.

use super::project;

const RESULT: &str = "gpuk/p/kernels.rs";

#[test]
#[ignore = "needs nvcc"]
fn nvcc_results_go_where_cargo_is_told_to_put_its_own() {
    // Flag over variable over configuration.
    let config = "[build]\ntarget-dir = \"of config\"\n";
    let project = project().file(".cargo/config.toml", config);
    let root = project.root();
    let _ = project.gpuk(&["build"]).ok();
    assert!(root.join("of config").join(RESULT).is_file());
    let _ = project
        .gpuk(&["build", "--config", "build.target-dir='of --config'"])
        .ok();
    assert!(root.join("of --config").join(RESULT).is_file());
    let project = project.env("CARGO_TARGET_DIR", Some("of variable"));
    let _ = project.gpuk(&["build"]).ok();
    assert!(root.join("of variable").join(RESULT).is_file());
    let _ = project.gpuk(&["build", "--target-dir", "of flag"]).ok();
    assert!(root.join("of flag").join(RESULT).is_file());
    assert!(!root.join("target").exists());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_is_not_for_users_goes_where_cargo_builds() {
    let project = project().file(".cargo/config.toml", "[build]\nbuild-dir = \"inner\"\n");
    let root = project.root();
    let _ = project.gpuk(&["build"]).ok();
    assert!(root.join("target").join(RESULT).is_file());
    assert!(root.join("inner/gpuk/.store").is_dir() && !root.join("target/gpuk/.store").exists());
    let _ = project.gpuk(&["clean"]).ok();
    assert!(!root.join("inner/gpuk/.store").exists() && !root.join("target/gpuk").exists());
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_a_command_from_within_the_package_writes_to_the_same_place() {
    let project = project();
    let mut command = project.gpuk_command(&["build"]);
    let status = command
        .current_dir(project.root().join("kernels"))
        .output()
        .unwrap()
        .status;
    assert!(status.success());
    assert!(project.root().join("target").join(RESULT).is_file());
    let kernels = std::fs::read_dir(project.root().join("kernels")).unwrap();
    assert_eq!(kernels.count(), 1);
}
