//! Joins what the source declares, what the compiler answered and what the PTX has into signatures.
//!
//! Every entry of the PTX becomes a kernel with a wrapper or a finding that says why not. Types come from
//! the compiler (`probe`), or from the entry's mangled name; the PTX's sizes have to agree.

mod entry;
mod fit;
mod function;
mod members;
mod names;
mod origin;
mod overload;
mod ptx;
mod refusal;
mod size;
mod spelt;
mod symbol;
mod template;
#[cfg(test)]
mod tests;
mod types;
mod variable;

use std::path::Path;

use crate::annotation::{self, Annotations};
use crate::diagnostic::{Diagnostic, Place};
use crate::kernel::{Kernel, Param, Signatures};
use crate::probe::Answers;
use crate::source::Declarations;

pub(crate) use entry::{Entry, Slot};
pub(crate) use function::of_host;
use names::Named;
use origin::{Origin, Origins};
pub(crate) use ptx::{of_cuda, of_ptx, settable};
use refusal::Refusal;
pub(crate) use symbol::{readable, short};
use types::Types;
pub(crate) use types::room_of;
use variable::Stored;

/// Joins the entries and variables of a module with the source they come from.
///
/// `source` is the file that was compiled, for findings about entries that have no place in it.
pub(crate) fn join(
    declarations: &Declarations,
    answers: &Answers,
    entries: &[Entry],
    variables: &[Stored],
    source: &Path,
) -> (Signatures, Vec<Diagnostic>) {
    let origins = Origins::new(declarations, answers);
    let mut types = Types::new(answers);
    let (mut kernels, mut findings) = (Vec::new(), Vec::new());
    let mut instantiated = Vec::new();
    for entry in entries {
        let origin = origins.of(entry);
        let template = origin.as_ref().ok().and_then(|it| it.template.as_ref());
        instantiated.extend(template.map(|it| it.declared.place.clone()));
        match origin {
            Ok(origin) => match kernel(&origin, entry, &mut types) {
                Ok(mut kernel) => {
                    let declared = origins.annotations(&origin);
                    let template = origin.template_args();
                    let (found, wrong) = annotation::resolve(&declared, &kernel, &template, &types);
                    kernel.annotations = found;
                    findings.extend(wrong);
                    kernels.push(Named {
                        kernel,
                        name: origin.name,
                        types: origin.types,
                        implicit: origin.implicit,
                        told: false,
                    });
                }
                Err(refusals) => {
                    findings.extend(refusals.into_iter().map(|it| it.finding(&origin)))
                }
            },
            Err(stranger) => findings.push(stranger.finding(&entry.name, &Place::line(source, 1))),
        }
    }
    let (kernels, clashes) = names::name(kernels);
    findings.extend(clashes);
    let (symbols, refused) = variable::symbols(declarations, answers, variables, &mut types);
    findings.extend(refused);
    let signatures = Signatures {
        templates: template::defined(declarations, &instantiated),
        ..types.signatures(kernels, symbols, Vec::new())
    };
    (signatures, findings)
}

fn kernel(
    origin: &Origin<'_>,
    entry: &Entry,
    types: &mut Types<'_>,
) -> Result<Kernel, Vec<Refusal>> {
    if origin.types.len() != entry.params.len() {
        return Err(vec![Refusal::Count {
            source: origin.types.len(),
            ptx: entry.params.len(),
        }]);
    }
    let (mut params, mut refusals) = (Vec::new(), Vec::new());
    for ((ty, slot), name) in origin
        .types
        .iter()
        .zip(&entry.params)
        .zip(origin.param_names())
    {
        match fit::param(types, ty, *slot) {
            Ok(fitting) => params.push(Param {
                name,
                declared: ty.to_string(),
                ty: fitting,
            }),
            Err(why) => refusals.push(Refusal::Param {
                name,
                ty: ty.clone(),
                why,
            }),
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    Ok(Kernel {
        name: names::plain(&origin.name),
        path: origin.name.path(),
        entry: entry.name.clone(),
        docs: Vec::new(),
        place: origin.place.clone(),
        params,
        bounds: entry.bounds.clone(),
        instance: template::instance(origin, types),
        annotations: Annotations::default(),
    })
}
