//! What holds for all kernels of a package, at the end of `list`: how they were compiled and what drivers run them.

use super::kernels::Done;
use crate::message::PackageMessage;
use crate::ui::Shell;

/// Prints it for a package that has kernels.
pub(super) fn print(done: &Done<'_>, shell: &Shell) {
    let report = &done.built.report;
    let Some(drivers) = &report.drivers else {
        return;
    };
    let (config, archs) = (&done.package.config, report.archs());
    let (profile, engine) = (config.profile.as_str(), config.engine.as_str());
    if shell.is_json() {
        return shell.json(&PackageMessage {
            reason: "gpuk-package",
            package_id: &done.member.id,
            profile,
            engine,
            archs: &archs,
            drivers,
        });
    }
    let archs = archs.join(", ");
    shell.data(format_args!(
        "\n`{}`, profile `{profile}`: engine `{engine}`, for {archs}\n{drivers}",
        done.member.name
    ));
}
