//! `cargo gpuk clean`: removes what `build` and the others have written; what build scripts made is cargo's.

use gpuk_build::error::chain;
use gpuk_build::fs;

use crate::cli::Clean;
use crate::exit::Exit;
use crate::ui::Shell;
use crate::workspace::Workspace;

/// Removes the results of the packages that are named, or of the workspace with its store.
pub(super) fn clean(clean: &Clean, shell: &Shell) -> Exit {
    let workspace = match Workspace::load(&clean.selection, &clean.compilation) {
        Ok(workspace) => workspace,
        Err(error) => {
            shell.error(&error);
            return Exit::Metadata;
        }
    };
    let selected = !clean.selection.package.is_empty() || !clean.selection.exclude.is_empty();
    let folders: Vec<_> = match selected {
        true => workspace
            .packages()
            .map(|member| workspace.out(member))
            .collect(),
        // Everything, the store and what packages have left that are gone.
        false => vec![workspace.results(), workspace.store()],
    };
    for folder in folders.iter().filter(|folder| folder.exists()) {
        if let Err(error) = fs::remove_dir(folder) {
            shell.error(chain(&error));
            return Exit::Internal;
        }
        shell.status("Removed", folder.display());
    }
    Exit::Success
}
