//! What is set for single kernels, put into the module before it is functionalized.
//!
//! A source is compiled once for all of its kernels. Debug checks that only some of them have are taken out of the
//! others here, and traps that are to be checks become calls of the failure function.

use std::path::Path;

use gpuk_ptx::functionalize::{Place as PtxPlace, SiteKind, Trap, check_traps, omit};
use gpuk_ptx::{EditError, Module};

use super::{Job, Shop, UnitError};
use crate::check;
use crate::config::{CheckMode, TrapMode};
use crate::diagnostic::{Diagnostic, Level};
use crate::kernel::Signatures;

/// The module as its kernels are configured.
pub(super) fn settle(
    job: &Job<'_>,
    shop: &Shop<'_>,
    module: Module,
    signatures: &Signatures,
) -> Result<Module, UnitError> {
    if shop.package.config.checks == CheckMode::Trap {
        return Ok(module);
    }
    let settled = Settled {
        job,
        shop,
        signatures,
    };
    settled.traps(settled.debug_checks(module)?)
}

struct Settled<'a> {
    job: &'a Job<'a>,
    shop: &'a Shop<'a>,
    signatures: &'a Signatures,
}

impl Settled<'_> {
    fn debug_checks(&self, module: Module) -> Result<Module, UnitError> {
        let package = self.shop.package;
        let has = |entry: &str| package.has_debug_checks(self.name(entry));
        if !package.compiles_debug_checks() || module.entries().all(|entry| has(&entry.name)) {
            return Ok(module);
        }
        let unwanted = |kind: SiteKind, entries: &[&str]| {
            check::kind(kind).is_debug() && !entries.iter().any(|entry| has(entry))
        };
        let text = omit(&module, &unwanted);
        self.again(module, text)
    }

    fn traps(&self, module: Module) -> Result<Module, UnitError> {
        let package = self.shop.package;
        let is_check = |entry: &str| package.trap_mode(self.name(entry)) == Some(TrapMode::Check);
        if !module.entries().any(|entry| is_check(&entry.name)) {
            return Ok(module);
        }
        let place = |trap: &Trap| {
            let wanted = trap.entries.iter().any(|entry| is_check(entry));
            wanted.then(|| self.place(trap))
        };
        let text = check_traps(&module, &place);
        self.again(module, text)
    }

    fn name<'s>(&'s self, entry: &'s str) -> &'s str {
        let mut kernels = self.signatures.kernels.iter();
        let kernel = kernels.find(|kernel| kernel.entry == entry);
        kernel.map_or(entry, |kernel| &kernel.name)
    }

    /// The trap's line, or the kernel's, where that is not known.
    fn place(&self, trap: &Trap) -> PtxPlace {
        if let Some(place) = &trap.place {
            let file = Path::new(&place.file);
            let file = file.strip_prefix(&self.shop.package.root).unwrap_or(file);
            return PtxPlace {
                file: file.display().to_string(),
                line: place.line,
            };
        }
        let mut kernels = self.signatures.kernels.iter();
        let kernel = kernels.find(|kernel| trap.entries.contains(&kernel.entry));
        let (file, line) = match kernel {
            Some(kernel) => (&kernel.place.file, kernel.place.line),
            None => (&self.job.source.path, 1),
        };
        PtxPlace {
            file: file.display().to_string(),
            line,
        }
    }

    fn again(&self, module: Module, text: Result<String, EditError>) -> Result<Module, UnitError> {
        let text = text.map_err(|error| {
            let message = format!("the checks of the PTX cannot be settled: {error}");
            UnitError::findings(vec![Diagnostic::new(None, Level::Error, message)])
        })?;
        if text == module.text() {
            return Ok(module);
        }
        Module::parse(text).map_err(|error| UnitError::unreadable(&self.job.source.path, &error))
    }
}
