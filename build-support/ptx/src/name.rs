//! Names, shared among all the places that mention them.

use std::collections::HashSet;
use std::sync::Arc;

/// A name. Cloning one is cheap, and a module keeps each once.
pub type Name = Arc<str>;

/// Gives equal names the same memory.
#[derive(Debug, Default)]
pub(crate) struct Names {
    known: HashSet<Name>,
}

impl Names {
    pub(crate) fn intern(&mut self, text: &str) -> Name {
        if let Some(name) = self.known.get(text) {
            return Name::clone(name);
        }
        let name = Name::from(text);
        self.known.insert(Name::clone(&name));
        name
    }
}
