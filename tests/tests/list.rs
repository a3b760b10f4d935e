//! What `cargo gpuk list` says beside kernels: variables, and what the PTX says about launches.

use gpuk_tests::Project;
use serde_json::{Value, json};

const GPUK: &str = env!("CARGO_BIN_EXE_cargo-gpuk-under-test");

/// Objects with a reason, in their order.
fn messages(project: &Project, reason: &str) -> Vec<Value> {
    let listed = project.gpuk(&["list", "--json"]).ok();
    let messages = listed
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    messages
        .filter(|it: &Value| it["reason"] == reason)
        .collect()
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_variables_and_checks_are_listed() {
    let project = Project::new("p", GPUK).file(
        "kernels/filter.cu",
        "#include <gpuk.cuh>
struct Pair { float x; int n; };
namespace ns { __constant__ float coefficients[64]; }
__device__ Pair last;
__device__ const int fixed[3] = {1, 2, 3};
__managed__ unsigned long long total;
extern \"C\" __global__ void filter(float *x, int n, int k) {
    GPUK_CHECK(n <= 64, \"{} taps\", n);
    GPUK_EXPECT(x[0] >= 0, \"{} is negative\", x[0]);
    x[0] *= ns::coefficients[k] + fixed[k % 3];
    last = {x[0], n};
    total += 1;
}
",
    );
    insta::assert_snapshot!(project.gpuk(&["list"]).ok().shown());
    let listed = messages(&project, "gpuk-variable");
    let brief = listed.iter().map(|it| {
        let name = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let [variable, ty, memory] = ["name", "type", "memory"].map(|key| name(&it[key]));
        format!(
            "{variable} {ty}, {memory}, {}, {}",
            it["size"], it["variable"]["symbol"]
        )
    });
    let mut brief: Vec<_> = brief.collect();
    brief.sort();
    assert_eq!(
        brief,
        [
            "coefficients float [64], constant, 256, \"_ZN2ns12coefficientsE\"",
            "fixed const int [3], global, 12, \"fixed\"",
            "last Pair, global, 8, \"last\"",
            "total unsigned long long, global, 8, \"total\"",
        ]
    );
    let [kernel] = &messages(&project, "gpuk-kernel")[..] else {
        panic!("one kernel");
    };
    let mut sites: Vec<_> = (kernel["sites"].as_array().unwrap().iter())
        .map(|it| {
            (
                it["kind"].as_str().unwrap(),
                it["place"]["line"].as_u64().unwrap(),
            )
        })
        .collect();
    sites.sort();
    assert_eq!(sites, [("check", 8), ("expect", 9)]);
}

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_ptx_says_about_launches_is_listed() {
    let project = Project::new("p", GPUK).config("archs = [\"sm_90\"]").file(
        "kernels/k.cu",
        "#define KERNEL(NAME, ...) extern \"C\" __global__ void __VA_ARGS__ NAME(int *x) { x[0] = 1; }
KERNEL(plain)
KERNEL(lean, __maxnreg__(64))
KERNEL(bounded, __launch_bounds__(128, 2, 4))
KERNEL(sized, __block_size__((64, 2, 1), (2, 1, 1)))
KERNEL(clustered, __cluster_dims__(4, 1, 1))
KERNEL(open_, __cluster_dims__())
",
    );
    let bounds = messages(&project, "gpuk-kernel").into_iter().map(|it| {
        let bounds = it["kernel"]["bounds"].as_object().unwrap().clone();
        let said = |value: &Value| !value.is_null() && *value != json!(false);
        let said: Vec<_> = bounds
            .into_iter()
            .filter(|(_, value)| said(value))
            .map(|(key, value)| format!(" {key}={value}"))
            .collect();
        format!(
            "{}{}",
            it["kernel"]["name"].as_str().unwrap(),
            said.concat()
        )
    });
    assert_eq!(
        bounds.collect::<Vec<_>>(),
        [
            "plain",
            "lean max_registers=64",
            "bounded max_cluster=4 max_threads=128 min_blocks=2",
            "sized cluster=[2,1,1] exact_block=[64,2,1] grid_of_clusters=true",
            "clustered cluster=[4,1,1]",
            "open_ explicit_cluster=true",
        ]
    );
}
