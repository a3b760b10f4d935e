//! `cargo gpuk clean`: removes what `build` and the others have written; what build scripts made is cargo's.

use gpuk_build::error::chain;
use gpuk_build::fs;

use crate::cli::Clean;
use crate::exit::Exit;
use crate::ui::Shell;
use crate::workspace::Workspace;

/// Removes the results of the selected packages.
pub(super) fn clean(clean: &Clean, shell: &Shell) -> Exit {
    let workspace = match Workspace::load(&clean.selection, &clean.compilation) {
        Ok(workspace) => workspace,
        Err(error) => {
            shell.error(&error);
            return Exit::Metadata;
        }
    };
    for member in workspace.packages() {
        let out = workspace.out(member);
        if !out.exists() {
            continue;
        }
        if let Err(error) = fs::remove_dir(&out) {
            shell.error(chain(&error));
            return Exit::Internal;
        }
        shell.status("Removed", out.display());
    }
    Exit::Success
}
