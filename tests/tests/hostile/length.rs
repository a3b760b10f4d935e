//! Long names, deep folders: what gpuk adds to them is short.

use std::path::Path;

use super::{GPUK, SET, Trap, tree};
use gpuk_tests::Project;

/// Characters that gpuk adds to the folder of a package's results. Windows has 260 for all of a path.
const LONGEST: usize = 96;

#[test]
#[ignore = "needs nvcc"]
fn nvcc_what_is_written_has_short_names_however_long_those_of_the_sources_are() {
    let project = Project::new("p", GPUK);
    // As deep as a path can be named at once (PATH_MAX), with the longest names (NAME_MAX).
    let deep: String = (0..9).map(|_| "d".repeat(250) + "/").collect();
    project.write(format!("kernels/{deep}deep.cu"), SET);
    project.write(format!("kernels/{}.cu", "n".repeat(252)), SET);
    let kernel = "k".repeat(900);
    project.write("kernels/kernel.cu", &SET.replace("set", &kernel));
    let trap = Trap::new(project);
    let (code, said) = trap.build("long names");
    assert_eq!(code, 0, "{said}");
    let target = trap.root().join("target/gpuk");
    for folder in [target.join("p"), target.join(".store")] {
        let written = tree(&folder, Path::new(""));
        assert!(written.len() > 3, "{written:?}");
        for path in written {
            let added = path.strip_prefix(&folder).unwrap();
            let length = added.as_os_str().len();
            assert!(length <= LONGEST, "{length}: {}", added.display());
        }
    }
}
