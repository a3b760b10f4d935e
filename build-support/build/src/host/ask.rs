//! The types of functions, from the device compiler: `decltype` of a function calls nothing.

use std::path::PathBuf;

use super::HostJob;
use super::read::Read;
use crate::config::Arch;
use crate::diagnostic::Level;
use crate::fs;
use crate::message;
use crate::probe::{self, Answers, Probe};
use crate::run::ToolCommand;
use crate::source::annotation;
use crate::unit::{Shop, UnitError};

/// How often questions that do not compile are taken back before all are.
const ATTEMPTS: usize = 8;

impl HostJob<'_> {
    /// The command, and the files that it reads and writes.
    pub(super) fn asking(
        &self,
        arch: Arch,
        shop: &Shop<'_>,
    ) -> Result<(ToolCommand, [PathBuf; 2]), UnitError> {
        let (text, ptx) = (self.scratch(shop, "probed.ii"), self.scratch(shop, "ptx"));
        let recipe = shop.tools.recipe(arch, false)?;
        let command = recipe.compile(&text, &ptx, self.source, &shop.package.root);
        let command = shop.tools.wrapped(command.temporary(shop.work));
        Ok((command, [text, ptx]))
    }

    /// Compiles the text with the probe behind it for the lowest architecture; nothing else of the result is used.
    pub(super) fn ask(&self, shop: &Shop<'_>, read: &Read) -> Result<Answers, UnitError> {
        let Some(arch) = shop.tools.archs().first() else {
            return Ok(Answers::default());
        };
        let (command, [text, ptx]) = self.asking(*arch, shop)?;
        let mut probe = Probe::of_functions(&read.declarations);
        for attempt in 0.. {
            let mut probed = annotation::without(&read.text);
            probed.extend_from_slice(probe.text().as_bytes());
            fs::write_private(&text, &probed)?;
            let output = shop.run(&command)?;
            if output.status.success() {
                let module = String::from_utf8_lossy(&fs::read(&ptx)?).into_owned();
                let module = gpuk_ptx::Module::parse(module)
                    .map_err(|error| UnitError::unreadable(self.source, &error))?;
                let variables = module.variables_with_prefix(probe::PREFIX);
                let bytes = variables.filter_map(|it| Some((it.name.to_string(), it.bytes()?)));
                return Ok(probe.answers(&read.declarations, &bytes.collect()));
            }
            let said = [&*output.stderr, &String::from_utf8_lossy(&output.stdout)].join("\n");
            let wrong = probe::blamed(&said);
            if wrong.is_empty() {
                let mut findings = message::findings(&said, true);
                findings.retain(|finding| finding.level == Level::Error);
                return Err(UnitError::findings(findings));
            }
            probe = match attempt < ATTEMPTS {
                true => probe.without(&wrong),
                false => Probe::none(),
            };
        }
        Ok(Answers::default())
    }
}
