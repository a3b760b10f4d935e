//! What the stages of a unit made that nothing keeps, made once more for people to read.

use super::compile::{Compiled, compile};
use super::preprocess::{Preprocessed, take, whole};
use super::{Job, Shop, UnitError};
use crate::discover::Language;

impl Job<'_> {
    /// The text that the device compiler reads, all headers in it.
    pub(crate) fn preprocessed(&self, shop: &Shop<'_>) -> Result<Vec<u8>, UnitError> {
        let read = self.read(shop).map_err(|error| error.of_source(self, shop));
        Ok(read?.whole())
    }

    /// The PTX as the compiler printed it.
    pub(crate) fn compiled(&self, shop: &Shop<'_>) -> Result<String, UnitError> {
        let compiled = self.read(shop).and_then(|read| compile(self, shop, read));
        let Compiled { module, .. } = compiled.map_err(|error| error.of_source(self, shop))?;
        Ok(module.text().to_owned())
    }

    fn read(&self, shop: &Shop<'_>) -> Result<Preprocessed, UnitError> {
        match self.source.language {
            Language::Cuda => whole(self, shop),
            Language::Ptx => take(self, shop),
        }
    }
}
