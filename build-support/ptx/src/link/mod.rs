//! Joins modules of relocatable code into one, as text.
//!
//! What one module declares and another defines becomes one symbol; what each has for itself stays apart. The result is
//! the module that one compilation of all the sources would have made: nothing but its entries is seen from outside, so
//! whatever takes a module takes it.
//!
//! - `resolve`: which definition a name means
//! - `text`: the new text
//!
//! Debug information of `nvcc -G` is not joined; lines (`-lineinfo`) are.

mod resolve;
mod text;

use std::collections::BTreeMap;

use crate::module::Module;

/// Several modules as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linked {
    /// The text.
    pub text: String,
    /// For each module, the symbols of its own that got other names because several modules have them.
    pub renamed: Vec<BTreeMap<String, String>>,
    /// What is declared and nowhere defined, but for shared memory: the driver's functions, or a mistake.
    pub missing: Vec<Missing>,
}

/// A symbol that no module defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The symbol.
    pub symbol: String,
    /// The first module that declares it.
    pub module: usize,
    /// Whether it is a variable; else a function.
    pub variable: bool,
}

/// Why modules cannot be joined. Modules are given by their places in the list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Two modules define one symbol.
    #[error("`{symbol}` is defined twice")]
    Duplicate {
        /// The symbol.
        symbol: String,
        /// Who defines it.
        modules: [usize; 2],
    },
    /// A declaration and its definition differ.
    #[error("`{symbol}` is declared with {declared} and defined with {defined}")]
    Mismatch {
        /// The symbol.
        symbol: String,
        /// Who declares it, and who defines it.
        modules: [usize; 2],
        /// What the declaration says.
        declared: String,
        /// What the definition says.
        defined: String,
    },
    /// A module that cannot be joined with the first.
    #[error("{what}")]
    Module {
        /// Which.
        module: usize,
        /// Why.
        what: String,
    },
}

/// Joins modules; a single one is made as one compiled by itself is.
///
/// # Errors
///
/// Everything in the way, by symbol.
pub fn link(modules: &[Module]) -> Result<Linked, Vec<LinkError>> {
    let unfit: Vec<_> = unfit(modules).collect();
    if !unfit.is_empty() {
        return Err(unfit);
    }
    let resolved = resolve::resolve(modules)?;
    text::text(modules, resolved).map_err(|error| vec![error])
}

/// Modules for another target than the first's, and those with debug information.
fn unfit(modules: &[Module]) -> impl Iterator<Item = LinkError> {
    let target = modules.first().map_or("", Module::target);
    let unfit = modules.iter().enumerate().filter_map(move |(at, module)| {
        if module.target() != target {
            return Some((
                at,
                format!("it is for {}, others for {target}", module.target()),
            ));
        }
        let debug = module.target_options().any(|option| option == "debug");
        debug.then(|| {
            (
                at,
                "it has debug information of `-G`, which cannot be joined".to_owned(),
            )
        })
    });
    unfit.map(|(module, what)| LinkError::Module { module, what })
}
