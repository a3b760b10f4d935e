//! What labels and the names of a function's own variables mean. Blocks nest; an inner name hides an outer.

use std::collections::HashMap;

use gpuk_ptx::{Name, Statement, StatementKind};

use super::link::Symbol;

/// A variable of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Local {
    /// A kernel's parameter: its offset among them.
    KernelParam(u32),
    /// In the frame's local memory.
    Frame {
        /// Its offset there.
        offset: u32,
        /// Whether it is a `.param`.
        param: bool,
    },
    /// In a space that outlives the frame.
    Symbol(Symbol),
}

#[derive(Debug, Default)]
struct Frame {
    variables: HashMap<Name, Local>,
    labels: HashMap<Name, u32>,
    lists: HashMap<Name, Vec<Name>>,
}

/// The blocks that are open.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    frames: Vec<Frame>,
    /// Where each label stands, by its number.
    places: Vec<u32>,
}

impl Scopes {
    pub(crate) fn open(&mut self) {
        self.frames.push(Frame::default());
    }

    /// Opens a block and declares its labels, which may be named before they stand there.
    pub(crate) fn enter(&mut self, statements: &[Statement]) {
        self.open();
        for statement in statements {
            match &statement.kind {
                StatementKind::Label(name) => self.declare_label(name.clone()),
                StatementKind::BranchTargets { label, targets } => {
                    self.declare_list(label.clone(), targets.clone());
                }
                _ => {}
            }
        }
    }

    pub(crate) fn close(&mut self) {
        self.frames.pop();
    }

    pub(crate) fn define(&mut self, name: Name, local: Local) {
        if let Some(frame) = self.frames.last_mut() {
            frame.variables.insert(name, local);
        }
    }

    pub(crate) fn local(&self, name: &str) -> Option<Local> {
        let mut frames = self.frames.iter().rev();
        frames.find_map(|frame| frame.variables.get(name).copied())
    }

    /// A label of this block, before it is known where it stands.
    fn declare_label(&mut self, name: Name) {
        let number = self.places.len() as u32;
        self.places.push(u32::MAX);
        if let Some(frame) = self.frames.last_mut() {
            frame.labels.insert(name, number);
        }
    }

    fn declare_list(&mut self, name: Name, targets: Vec<Name>) {
        if let Some(frame) = self.frames.last_mut() {
            frame.lists.insert(name, targets);
        }
    }

    pub(crate) fn place_label(&mut self, name: &str, at: u32) {
        if let Some(number) = self.label(name)
            && let Some(place) = self.places.get_mut(number as usize)
        {
            *place = at;
        }
    }

    /// A label's number.
    pub(crate) fn label(&self, name: &str) -> Option<u32> {
        let mut frames = self.frames.iter().rev();
        frames.find_map(|frame| frame.labels.get(name).copied())
    }

    /// The labels of a `.branchtargets`.
    pub(crate) fn list(&self, name: &str) -> Option<&[Name]> {
        let mut frames = self.frames.iter().rev();
        frames.find_map(|frame| frame.lists.get(name).map(Vec::as_slice))
    }

    /// Where the label of that number stands.
    pub(crate) fn place_of(&self, number: u32) -> u32 {
        self.places.get(number as usize).copied().unwrap_or(0)
    }
}
