//! The strings of a module: what stands in them, and which of them nothing needs any more.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::constant::Constant;
use crate::module::Module;
use crate::name::Name;
use crate::span::Span;
use crate::variable::{Linkage, Variable};
use crate::words::Words;

/// The variables of a module by name.
#[derive(Debug)]
pub(super) struct Strings<'m> {
    variables: HashMap<&'m str, &'m Variable>,
}

impl<'m> Strings<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        let variables = module.variables();
        Self {
            variables: variables
                .map(|variable| (&*variable.name, variable))
                .collect(),
        }
    }

    /// The string that a constant points to, `width` bytes a character; what is no text is replaced.
    pub(super) fn read(&self, constant: &Constant, width: usize) -> Result<String, String> {
        let Constant::Address(symbol, offset) = constant else {
            return Err("a string is no variable".to_owned());
        };
        let variable = (self.variables.get(&**symbol))
            .ok_or_else(|| format!("`{symbol}` is no variable of this module"))?;
        let bytes = (variable.init.as_ref())
            .and_then(|_| variable.bytes())
            .ok_or_else(|| format!("`{symbol}` has no initial bytes"))?;
        let bytes = usize::try_from(*offset)
            .ok()
            .and_then(|offset| bytes.get(offset..))
            .ok_or_else(|| format!("a string lies outside of `{symbol}`"))?;
        if width == 2 {
            let units = bytes.as_chunks::<2>().0.iter();
            let units = units.map(|unit| u16::from_le_bytes(*unit));
            let units: Vec<_> = units.take_while(|unit| *unit != 0).collect();
            return Ok(String::from_utf16_lossy(&units));
        }
        let text: Vec<_> = (bytes.iter().copied())
            .take_while(|byte| *byte != 0)
            .collect();
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// Those of `candidates` that only what is `gone` mentions, as the statements that declare them.
    pub(super) fn unused(
        &self,
        words: &Words<'_>,
        candidates: &BTreeSet<Name>,
        gone: &[Span],
    ) -> Vec<Span> {
        let mut gone = gone.to_vec();
        gone.sort_unstable();
        let mut used: HashSet<&str> = HashSet::new();
        for (word, span) in words.places() {
            if !candidates.contains(word) {
                continue;
            }
            let before = gone.partition_point(|gone| gone.start <= span.start);
            let removed = (before.checked_sub(1))
                .and_then(|index| gone.get(index))
                .is_some_and(|gone| gone.contains(span));
            let declared = (self.variables.get(word)).is_some_and(|known| known.name_span == span);
            if !removed && !declared {
                used.insert(word);
            }
        }
        let unused = candidates.iter().filter_map(|name| {
            let variable = *self.variables.get(&**name)?;
            let ours = variable.alone && variable.linkage == Linkage::Internal;
            (ours && !used.contains(&**name)).then_some(variable.span)
        });
        unused.collect()
    }
}
