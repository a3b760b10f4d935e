//! `Signed… -> Signed`: the parts of a module, each compiled by itself, joined before anything is checked.

use std::path::Path;

use gpuk_device::abi;
use gpuk_ptx::link::{LinkError, Linked};
use gpuk_ptx::{Function, Module, StatementKind};

use super::UnitError;
use super::sign::Signed;
use crate::diagnostic::{Code, Diagnostic, Place};
use crate::digest::Digest;
use crate::kernel::{Kernel, Signatures};
use crate::signature::readable;
use crate::store::{Unit, UnitRecord};

/// What one source brings.
pub(crate) struct Part<'a> {
    pub(crate) source: &'a Path,
    pub(crate) unit: &'a Unit,
}

/// Keeps what a source brings; it is no image yet.
pub(super) fn part(signed: Signed, key: Digest) -> Unit {
    let ptx = signed.module.text().as_bytes().to_vec();
    let cubin = Vec::new();
    Unit {
        key,
        record: UnitRecord {
            signatures: signed.signatures,
            sites: Vec::new(),
            checked: Vec::new(),
            resources: Default::default(),
            ptx_version: signed.module.version(),
            findings: signed.findings,
            ptx: Digest::of(&ptx),
            cubin: Digest::of(&cubin),
        },
        ptx,
        cubin,
    }
}

/// Joins the parts.
pub(super) fn link(parts: &[Part<'_>]) -> Result<Signed, UnitError> {
    let mut modules = Vec::new();
    for part in parts {
        let text = String::from_utf8_lossy(&part.unit.ptx).into_owned();
        modules
            .push(Module::parse(text).map_err(|error| UnitError::unreadable(part.source, &error))?);
    }
    let joiner = Joiner { parts, modules };
    let linked = gpuk_ptx::link(&joiner.modules).map_err(|errors| {
        UnitError::findings(errors.iter().map(|error| joiner.conflict(error)).collect())
    })?;
    let missing = joiner.missing(&linked);
    if !missing.is_empty() {
        return Err(UnitError::findings(missing));
    }
    let signatures = joiner.signatures(&linked).map_err(UnitError::findings)?;
    let first = parts.first().map_or(Path::new(""), |part| part.source);
    Ok(Signed {
        module: Module::parse(linked.text).map_err(|error| UnitError::unreadable(first, &error))?,
        signatures,
        findings: Vec::new(),
    })
}

struct Joiner<'a> {
    parts: &'a [Part<'a>],
    modules: Vec<Module>,
}

impl Joiner<'_> {
    /// The kernels, templates, structs and variables of all, under the names that they have now.
    fn signatures(&self, linked: &Linked) -> Result<Signatures, Vec<Diagnostic>> {
        let mut all = Signatures::default();
        let mut findings = Vec::new();
        for (part, renamed) in self.parts.iter().zip(&linked.renamed) {
            let new = |name: &str| renamed.get(name).map_or(name, String::as_str).to_owned();
            let signatures = &part.unit.record.signatures;
            for kernel in &signatures.kernels {
                let mut kernel = kernel.clone();
                kernel.entry = new(&kernel.entry);
                // An instance of a template that several sources make is one kernel.
                if all.kernels.iter().any(|known| known.entry == kernel.entry) {
                    continue;
                }
                if let Some(known) = all.kernels.iter().find(|known| known.name == kernel.name) {
                    findings.push(clash(known, &kernel));
                }
                all.kernels.push(kernel);
            }
            for structure in &signatures.structs {
                match all
                    .structs
                    .iter()
                    .find(|known| known.path == structure.path)
                {
                    None => all.structs.push(structure.clone()),
                    Some(known) if known == structure => {}
                    Some(known) => {
                        let message = format!("struct `{}` is laid out in two ways", known.path);
                        let finding = Diagnostic::error(Code::LAYOUT_DISAGREES, message);
                        findings.push(finding.at(Place::line(part.source, 1), "").note(format!(
                            "{} bytes here, and {} in another source of the module, or with other fields",
                            structure.size, known.size
                        )));
                    }
                }
            }
            for made in &signatures.enums {
                if !all.enums.iter().any(|known| known.path == made.path) {
                    all.enums.push(made.clone());
                }
            }
            for template in &signatures.templates {
                all.see(template);
            }
            for symbol in &signatures.symbols {
                let mut symbol = symbol.clone();
                symbol.symbol = new(&symbol.symbol);
                if !all
                    .symbols
                    .iter()
                    .any(|known| known.symbol == symbol.symbol)
                {
                    all.symbols.push(symbol);
                }
            }
        }
        match findings.is_empty() {
            true => Ok(all),
            false => Err(findings),
        }
    }

    fn conflict(&self, error: &LinkError) -> Diagnostic {
        let finding = |message: String| Diagnostic::error(Code::SOURCES_DO_NOT_LINK, message);
        match error {
            LinkError::Duplicate { symbol, modules } => {
                let [first, second] = modules.map(|module| self.place(module, symbol));
                finding(format!("`{}` is defined twice", readable(symbol)))
                    .at(second, "here")
                    .at(first, "and here")
                    .help("make one of them `static`, or declare it `extern` there")
            }
            LinkError::Mismatch {
                symbol,
                modules: [declaring, defining],
                declared,
                defined,
            } => finding(format!(
                "`{}` is declared otherwise than defined",
                readable(symbol)
            ))
            .at(self.place(*declaring, symbol), format!("with {declared}"))
            .at(self.place(*defining, symbol), format!("with {defined}"))
            .help("declare it in a header that both include"),
            LinkError::Module { module, what } => {
                let source = self
                    .parts
                    .get(*module)
                    .map_or(Path::new(""), |part| part.source);
                finding(format!("`{}` cannot be linked: {what}", source.display()))
                    .at(Place::line(source, 1), "")
                    .help("take it out of `link`")
            }
        }
    }

    /// What nothing defines, neither a source nor the driver.
    fn missing(&self, linked: &Linked) -> Vec<Diagnostic> {
        let driver = |name: &str| abi::FAIL == name || crate::check::is_of_driver(name);
        let missing = linked.missing.iter().filter(|it| !driver(&it.symbol));
        let used = missing.filter(|it| it.variable || self.calls(it.module, &it.symbol));
        let finding = used.map(|it| {
            let (verb, what) = match it.variable {
                true => ("names", "variable"),
                false => ("calls", "function"),
            };
            let source = self
                .parts
                .get(it.module)
                .map_or(Path::new(""), |part| part.source);
            let (source, symbol) = (source.display(), readable(&it.symbol));
            let message =
                format!("`{source}` {verb} `{symbol}`, which no source of the module defines");
            Diagnostic::error(Code::SOURCES_DO_NOT_LINK, message)
                .at(self.place(it.module, &it.symbol), "")
                .help(format!("add the source that defines the {what} to `link`"))
        });
        finding.collect()
    }

    fn calls(&self, module: usize, symbol: &str) -> bool {
        let module = self.modules.get(module);
        let mut functions = module.into_iter().flat_map(Module::functions);
        functions.any(|function| first_call(function, symbol).is_some())
    }

    /// Where a source has a symbol, as far as signatures and lines tell; else the source.
    fn place(&self, module: usize, symbol: &str) -> Place {
        let Some((part, module)) = self.parts.get(module).zip(self.modules.get(module)) else {
            return Place::line("", 1);
        };
        let signatures = &part.unit.record.signatures;
        let kernels = signatures.kernels.iter().map(|it| (&it.entry, &it.place));
        let symbols = signatures.symbols.iter().map(|it| (&it.symbol, &it.place));
        let known = kernels.chain(symbols).find(|(name, _)| *name == symbol);
        let line = || {
            let mut functions = module.functions();
            let defined = functions.find(|it| &*it.name == symbol && it.body.is_some());
            let at = match defined {
                Some(function) => first_line(function),
                None => module.functions().find_map(|it| first_call(it, symbol)?),
            };
            let (file, line) = at?;
            Some(Place::line(module.file(file)?, line))
        };
        known
            .map(|(_, place)| place.clone())
            .or_else(line)
            .unwrap_or_else(|| Place::line(part.source, 1))
    }
}

/// File and line of the first instruction.
fn first_line(function: &Function) -> Option<(u32, u32)> {
    let mut found = None;
    function.body.as_ref()?.walk(&mut |statement| {
        if let StatementKind::Loc(loc) = &statement.kind {
            found.get_or_insert((loc.file, loc.line));
        }
    });
    found
}

/// Whether a function calls another, and if so file and line, if known.
fn first_call(function: &Function, symbol: &str) -> Option<Option<(u32, u32)>> {
    let (mut line, mut found) = (None, None);
    function.body.as_ref()?.walk(&mut |statement| {
        if let StatementKind::Loc(loc) = &statement.kind {
            line = Some((loc.file, loc.line));
        }
        let call = statement.instruction().and_then(|it| it.call.as_ref());
        if call
            .and_then(|call| call.function())
            .is_some_and(|called| &**called == symbol)
        {
            found.get_or_insert(line);
        }
    });
    found
}

/// Two kernels of one name, told apart only by their namespaces or files.
fn clash(first: &Kernel, second: &Kernel) -> Diagnostic {
    let message = format!("2 kernels would all get the wrapper `{}`", first.name);
    Diagnostic::error(Code::NAME_CLASH, message)
        .at(second.place.clone(), format!("`{}`", second.path))
        .at(first.place.clone(), format!("`{}`", first.path))
        .help("give them different names")
}
