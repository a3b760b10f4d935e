//! Kernel templates over the whole package: those that nothing instantiates, and those that are asked for in vain.

use crate::diagnostic::{Code, Diagnostic, Level};
use crate::join::Module;
use crate::package::Package;
use crate::unit::help_for;

/// Adds what there is to say.
pub(crate) fn check(package: &Package, modules: &[Module<'_>], findings: &mut Vec<Diagnostic>) {
    let templates = || {
        modules
            .iter()
            .flat_map(|module| &module.signatures.templates)
    };
    for asked in &package.config.instantiate {
        if templates().any(|template| template.is_named(&asked.name)) {
            continue;
        }
        let known: Vec<_> = templates().map(|template| template.path.as_str()).collect();
        let message = format!(
            "`{}` is no kernel template of package `{}`",
            asked.name, package.name
        );
        let mut finding = Diagnostic::error(Code::BAD_INSTANTIATION, message);
        if let Some(place) = &asked.place {
            finding = finding.at(place.clone(), "");
        }
        findings.push(finding.help(help_for(&asked.name, &known)));
    }
    let mut told = Vec::new();
    for template in templates() {
        let same = |other: &&crate::kernel::Template| other.place == template.place;
        // What a library has beside is its own affair.
        let own = template.place.file.is_relative();
        if !own
            || told.contains(&&template.place)
            || templates().filter(same).any(|it| it.instantiated)
        {
            continue;
        }
        told.push(&template.place);
        let path = &template.path;
        let message = format!("kernel template `{path}` has no instance, so it gets no wrapper");
        let name = path.rsplit("::").next().unwrap_or(path);
        let finding = Diagnostic::new(Some(Code::TEMPLATE_WITHOUT_INSTANCE), Level::Note, message)
            .at(template.place.clone(), "")
            .help(format!(
                "ask for one in the manifest, `instantiate = [\"{path}<…>\"]`, or in the source, \
                 `GPUK_INSTANTIATE({name}<…>);`"
            ));
        findings.push(finding);
    }
}
