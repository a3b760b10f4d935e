//! The modifiers of an instruction, taken one after the other. What nobody took makes the instruction
//! unknown, so that no modifier is ever ignored.

use gpuk_ptx::{Instruction, Name, Type};

/// Modifiers that are still to be taken.
pub(crate) struct Mods<'i> {
    left: Vec<&'i str>,
}

impl<'i> Mods<'i> {
    pub(crate) fn new(instruction: &'i Instruction) -> Self {
        Self {
            left: instruction.modifiers.iter().map(Name::as_ref).collect(),
        }
    }

    /// Takes the first modifier that is `wanted`.
    pub(crate) fn take(&mut self, wanted: &str) -> bool {
        let found = self.left.iter().position(|known| *known == wanted);
        found.map(|at| self.left.remove(at)).is_some()
    }

    /// Takes the first modifier that `read` knows.
    pub(crate) fn read<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = self.left.iter().enumerate();
        let (at, value) = found
            .filter_map(|(at, known)| Some((at, read(known)?)))
            .next()?;
        self.left.remove(at);
        Some(value)
    }

    /// Takes the first type.
    pub(crate) fn ty(&mut self) -> Option<Type> {
        self.read(Type::from_name)
    }

    /// The modifiers that nobody took.
    pub(crate) fn rest(&self) -> &[&'i str] {
        &self.left
    }

    /// `None` if some modifier is left.
    pub(crate) fn done(self) -> Option<()> {
        self.left.is_empty().then_some(())
    }
}
