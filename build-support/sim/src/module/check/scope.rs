//! Which names are in sight at a place. A name is in sight from its declaration on; labels are in all of their block.

use std::collections::{BTreeMap, HashMap, HashSet};

use gpuk_ptx::{Function, FunctionKind, Linkage, Name, Statement, StatementKind};

/// What a name at module scope means.
#[derive(Debug, Clone)]
pub(super) enum Symbol<'t> {
    Variable { linkage: Linkage },
    Function { first: &'t Function, defined: bool },
}

impl Symbol<'_> {
    pub(super) fn is_kernel(&self) -> bool {
        matches!(self, Self::Function { first, .. } if first.kind == FunctionKind::Entry)
    }
}

/// The names of a block.
#[derive(Debug, Default)]
struct Frame<'t> {
    /// Registers and variables.
    names: BTreeMap<&'t str, ()>,
    /// Rows of registers: `%r<13>`.
    rows: HashMap<&'t str, u32>,
    labels: HashSet<&'t str>,
    /// The labels that stand before this place.
    passed: HashSet<&'t str>,
}

impl Frame<'_> {
    /// Whether a row has a register of that name.
    fn row_has(&self, name: &str) -> bool {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        (1..=digits.min(10)).any(|len| {
            let (prefix, number) = name.split_at(name.len() - len);
            self.rows
                .get(prefix)
                .is_some_and(|count| is_numbered(number, *count))
        })
    }
}

/// Whether a row of so many registers has that number.
fn is_numbered(number: &str, count: u32) -> bool {
    let canonical = number == "0" || !number.starts_with('0');
    canonical && number.parse().is_ok_and(|number: u32| number < count)
}

/// The blocks that are open, from the function's outermost on.
#[derive(Debug, Default)]
pub(super) struct Scopes<'t> {
    frames: Vec<Frame<'t>>,
}

impl<'t> Scopes<'t> {
    pub(super) fn open(&mut self) {
        self.frames.push(Frame::default());
    }

    pub(super) fn close(&mut self) {
        self.frames.pop();
    }

    /// Brings the labels of a block into sight.
    pub(super) fn enter(&mut self, statements: &'t [Statement]) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        for statement in statements {
            if let StatementKind::Label(label)
            | StatementKind::BranchTargets { label, .. }
            | StatementKind::CallTargets { label, .. }
            | StatementKind::CallPrototype { label, .. } = &statement.kind
            {
                frame.labels.insert(label);
            }
        }
    }

    /// Declares a register or a variable; `false` if the block has one of that name.
    pub(super) fn declare(&mut self, name: &'t Name) -> bool {
        let Some(frame) = self.frames.last_mut() else {
            return true;
        };
        let new = !frame.row_has(name);
        frame.names.insert(name, ()).is_none() && new
    }

    /// Declares a row of registers; gives the name that the block has already.
    pub(super) fn declare_row(&mut self, name: &'t Name, count: u32) -> Option<String> {
        let frame = self.frames.last_mut()?;
        if frame.rows.insert(name, count).is_some() {
            return Some(format!("{name}<"));
        }
        let prefix: &str = name;
        let same = frame.names.range(prefix..);
        let mut same = same.take_while(|(known, ())| known.starts_with(prefix));
        let same = same.find(|(known, ())| is_numbered(&known[prefix.len()..], count));
        same.map(|(known, ())| (*known).to_owned())
    }

    /// Passes a label; `false` if the block has something else of that name.
    pub(super) fn pass(&mut self, name: &'t Name) -> bool {
        let Some(frame) = self.frames.last_mut() else {
            return true;
        };
        let new = !frame.names.contains_key(&**name) && !frame.row_has(name);
        frame.passed.insert(name) && new
    }

    /// Whether it is a label that stands before this place.
    pub(super) fn is_passed(&self, name: &str) -> bool {
        let mut frames = self.frames.iter().rev();
        frames.any(|frame| frame.passed.contains(name))
    }

    /// Whether it is a label.
    pub(super) fn is_label(&self, name: &str) -> bool {
        let mut frames = self.frames.iter().rev();
        frames.any(|frame| frame.labels.contains(name))
    }

    /// Whether it is a register or variable.
    pub(super) fn is_declared(&self, name: &str) -> bool {
        let mut frames = self.frames.iter().rev();
        frames.any(|frame| frame.names.contains_key(name) || frame.row_has(name))
    }
}
