//! The commands that make a unit, with the files that they will read and write; none is run.

use std::collections::BTreeSet;

use super::{Job, Shop, UnitError, assemble, compile, key, preprocess};
use crate::config::Arch;
use crate::digest::Digest;
use crate::discover::Language;
use crate::run::ToolCommand;

/// The beginnings of sources that commands were given for.
pub(crate) type Begun = BTreeSet<(Arch, bool)>;

impl Job<'_> {
    /// Whether the store has its unit, as far as can be told without running anything.
    pub(crate) fn is_kept(&self, shop: &Shop<'_>) -> bool {
        self.key(shop).is_some_and(|key| shop.store.has(&key))
    }

    /// The same of a module that units with these keys are linked into.
    pub(crate) fn is_linked_of(&self, shop: &Shop<'_>, parts: &[Digest]) -> bool {
        let content = self.link_content(parts.iter());
        let kernels = key::kernels(shop, &content);
        kernels.is_some_and(|kernels| {
            let settings = &shop.package.config.kernel;
            shop.store.has(&key::settled(&content, &kernels, settings))
        })
    }

    /// What its unit is made of, if its module is linked of several.
    pub(super) fn link_content<'k>(&self, parts: impl Iterator<Item = &'k Digest>) -> Digest {
        let parts = parts.map(|key| key.as_str().as_bytes());
        Digest::of_parts([self.recipe.as_str().as_bytes()].into_iter().chain(parts))
    }

    /// Of a source: as far as to an image, or to a part of one.
    pub(crate) fn commands(
        &self,
        shop: &Shop<'_>,
        begun: &mut Begun,
    ) -> Result<Vec<ToolCommand>, UnitError> {
        let mut commands = Vec::new();
        if self.source.language == Language::Cuda {
            let prefix = shop.headers.commands(self, shop);
            let behind = match &prefix {
                Some(prefix) => preprocess::behind_command(self, shop, &prefix.macros)?,
                None => None,
            };
            if let Some(prefix) = prefix
                && begun.insert((self.arch, self.is_linked()))
            {
                commands.extend([prefix.text.0, prefix.defined.0]);
            }
            commands.push(match behind {
                Some((command, _)) => command,
                None => preprocess::whole_command(self, shop)?.0,
            });
            commands.push(compile::command(self, shop)?.0);
        }
        if !self.is_linked() {
            commands.push(self.assembling(shop)?);
        }
        Ok(commands)
    }

    /// The last of them, and the only one of a module that is linked of several.
    pub(crate) fn assembling(&self, shop: &Shop<'_>) -> Result<ToolCommand, UnitError> {
        Ok(assemble::command(self, shop)?.0)
    }
}
