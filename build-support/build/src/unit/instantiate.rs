//! The instances that the configuration and `GPUK_INSTANTIATE` ask for: put into the text, and what goes wrong with them.
//!
//! Names are looked up before anything is compiled; whether the arguments fit only the compiler says.

use std::path::Path;

use crate::config::{Instantiation, nearest};
use crate::diagnostic::{Code, Diagnostic, Level, Place};
use crate::source::{Declarations, DeclaredInstance, DeclaredKernel, TemplateKind, instantiation};

/// The file that a compiler's message about an instance of the configuration names; its lines are the entries.
const FILE: &str = "gpuk-instantiate";

/// Asks for the configured instances of templates that the source defines.
pub(super) fn add(asked: &[Instantiation], declarations: &mut Declarations, text: &mut Vec<u8>) {
    for (index, instance) in asked.iter().enumerate() {
        let is_meant = |kernel: &&DeclaredKernel| {
            kernel.defined && is_template(kernel) && kernel.is_named(&instance.name)
        };
        let Some(template) = declarations.kernels.iter().find(is_meant) else {
            continue;
        };
        let args = instance.args.join(", ");
        let written = format!("::{}<{args} >", template.path());
        let line = format!(
            "\n# {} \"{FILE}\"\n{}\n",
            index + 1,
            instantiation(index, &written)
        );
        text.extend_from_slice(line.as_bytes());
        let place = Place::line(FILE, u32::try_from(index + 1).unwrap_or(u32::MAX));
        declarations.instantiations.push(DeclaredInstance {
            scope: Vec::new(),
            name: template.path(),
            args: Some(instance.args.clone()),
            params: Vec::new(),
            place,
            asked: true,
        });
    }
}

/// Instances of the source whose template is not there.
pub(super) fn unknown(declarations: &Declarations) -> Vec<Diagnostic> {
    let templates = || declarations.kernels.iter().filter(|it| is_template(it));
    let asked = declarations.instantiations.iter().filter(|it| it.asked);
    let unknown = asked.filter(|instance| {
        instance.args.is_none() || !templates().any(|kernel| kernel.is_named(&instance.name))
    });
    let finding = |instance: &DeclaredInstance| {
        let message = match instance.args {
            Some(_) => format!("`{}` is no kernel template", instance.name),
            None => format!("`{}` has no template arguments", instance.name),
        };
        let known: Vec<_> = templates().map(DeclaredKernel::path).collect();
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        Diagnostic::error(Code::BAD_INSTANTIATION, message)
            .at(instance.place.clone(), "")
            .help(help_for(&instance.name, &known))
    };
    unknown.map(finding).collect()
}

/// What could be meant by the name of no template.
pub(crate) fn help_for(name: &str, known: &[&str]) -> String {
    match nearest(name, known) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None if known.is_empty() => "define the template in front of it".to_owned(),
        None => format!("the kernel templates are `{}`", known.join("`, `")),
    }
}

/// The compiler's findings, those about an instance told as such and placed where it was asked for.
pub(super) fn retell(
    findings: Vec<Diagnostic>,
    declarations: &Declarations,
    asked: &[Instantiation],
) -> Vec<Diagnostic> {
    let mut told: Vec<Place> = Vec::new();
    let mut out = Vec::new();
    for finding in findings {
        let place = finding.labels.first().map(|label| label.place.clone());
        let at = |instance: &&DeclaredInstance| {
            let place = place.as_ref();
            place.is_some_and(|it| {
                (&it.file, it.line) == (&instance.place.file, instance.place.line)
            })
        };
        let mut instances = declarations.instantiations.iter().filter(|it| it.asked);
        let Some(instance) = instances.find(at).filter(|_| finding.level == Level::Error) else {
            out.push(finding);
            continue;
        };
        // The rest of what the compiler says there follows from the first.
        if told.contains(&instance.place) {
            continue;
        }
        told.push(instance.place.clone());
        out.push(bad(instance, &finding.message, declarations, asked));
    }
    out
}

fn bad(
    instance: &DeclaredInstance,
    said: &str,
    declarations: &Declarations,
    asked: &[Instantiation],
) -> Diagnostic {
    let DeclaredInstance { name, args, .. } = instance;
    let args = args.as_deref().unwrap_or_default().join(", ");
    let written = format!("{name}<{args}>");
    let configured = (instance.place.file == Path::new(FILE))
        .then(|| asked.get(instance.place.line.saturating_sub(1) as usize))
        .flatten();
    let place = configured.and_then(|it| it.place.clone());
    let written = configured.map_or(written, |it| it.text.clone());
    let templates = declarations.kernels.iter();
    let templates = templates.filter(|kernel| is_template(kernel) && kernel.is_named(name));
    let mut headers: Vec<_> = templates.map(|it| (header(it), it.place.line)).collect();
    headers.dedup();
    let help = match headers.as_slice() {
        [(header, _)] => format!("the template has the parameters `{header}`"),
        _ => "several templates have the name: instantiate one explicitly, `template __global__ void …;`".to_owned(),
    };
    let message = format!("`{written}` cannot be instantiated");
    Diagnostic::error(Code::BAD_INSTANTIATION, message)
        .at(place.unwrap_or_else(|| instance.place.clone()), "")
        .note(format!("the compiler says: {said}"))
        .help(help)
}

fn is_template(kernel: &DeclaredKernel) -> bool {
    kernel
        .template
        .as_ref()
        .is_some_and(|params| !params.is_empty())
}

/// `class T, value N`.
fn header(kernel: &DeclaredKernel) -> String {
    let params = kernel.template.iter().flatten().map(|param| {
        let kind = match param.kind {
            TemplateKind::Type => "class",
            TemplateKind::Value => "value",
            TemplateKind::Template => "template",
        };
        let pack = if param.pack { "..." } else { "" };
        let name = param.name.as_deref().unwrap_or_default();
        format!("{kind}{pack} {name}").trim_end().to_owned()
    });
    params.collect::<Vec<_>>().join(", ")
}
