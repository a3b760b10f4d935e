//! Which register a name means, by the scopes it is written in.

use std::collections::HashMap;

use crate::name::Name;
use crate::scalar::Type;
use crate::statement::{RegisterId, Registers};

/// The registers in sight.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    frames: Vec<Frame>,
    declared: Vec<Registers>,
    next: u32,
}

#[derive(Debug, Default)]
struct Frame {
    single: HashMap<Name, RegisterId>,
    rows: HashMap<Name, (RegisterId, u32)>,
}

impl Scopes {
    /// Forgets everything: a new function.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
        self.open();
    }

    pub(super) fn open(&mut self) {
        self.frames.push(Frame::default());
    }

    pub(super) fn close(&mut self) {
        self.frames.pop();
    }

    /// Everything declared since the last reset.
    pub(super) fn take(&mut self) -> Vec<Registers> {
        std::mem::take(&mut self.declared)
    }

    /// How many declarations there were since the last reset.
    pub(super) const fn len(&self) -> usize {
        self.declared.len()
    }

    /// Declares a register or a row of them; `None` when there are more than 2^32.
    pub(super) fn declare(
        &mut self,
        name: Name,
        count: Option<u32>,
        ty: Type,
        lanes: u64,
    ) -> Option<()> {
        let first = RegisterId(self.next);
        self.next = self.next.checked_add(count.unwrap_or(1))?;
        if let Some(frame) = self.frames.last_mut() {
            match count {
                None => {
                    frame.single.insert(Name::clone(&name), first);
                }
                Some(count) => {
                    frame.rows.insert(Name::clone(&name), (first, count));
                }
            }
        }
        // An empty row has no register of its own, and would share a number with the next.
        if count != Some(0) {
            self.declared.push(Registers {
                name,
                count,
                ty,
                lanes,
                first,
            });
        }
        Some(())
    }

    /// The register that `name` means here.
    pub(super) fn resolve(&self, name: &str) -> Option<RegisterId> {
        self.frames.iter().rev().find_map(|frame| frame.find(name))
    }
}

impl Frame {
    fn find(&self, name: &str) -> Option<RegisterId> {
        if let Some(found) = self.single.get(name) {
            return Some(*found);
        }
        // `%r12` is number 12 of `%r<…>` or number 2 of `%r1<…>`.
        let digits = name
            .bytes()
            .rev()
            .take(10)
            .take_while(u8::is_ascii_digit)
            .count();
        (1..=digits).rev().find_map(|len| {
            let (prefix, number) = name.split_at(name.len() - len);
            let (first, count) = *self.rows.get(prefix)?;
            if number.len() > 1 && number.starts_with('0') {
                return None;
            }
            let number = number.parse().ok().filter(|number| *number < count)?;
            Some(RegisterId(first.0.checked_add(number)?))
        })
    }
}
