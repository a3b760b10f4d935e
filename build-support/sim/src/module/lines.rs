//! Source places of instructions, from `.loc` and `.file` (PTX ISA 11.5).

use std::collections::HashMap;

use gpuk_ptx::{ItemKind, Loc, Module as Tree, Name, StatementKind};

use crate::place::{Frame, Place};

/// All `.loc`s of a module, in the order of the text.
#[derive(Debug, Default)]
pub(super) struct Lines {
    locs: Vec<Loc>,
    /// The first `.loc` of each one's function.
    starts: Vec<u32>,
    files: HashMap<u32, Name>,
    /// Where `.debug_str` stands in the text.
    strings: Option<(usize, usize)>,
}

impl Lines {
    pub(super) fn new(tree: &Tree) -> Self {
        let mut lines = Self {
            files: (tree.files())
                .map(|file| (file.number, file.name.clone()))
                .collect(),
            ..Self::default()
        };
        for function in tree.functions() {
            let Some(body) = &function.body else { continue };
            let start = lines.locs.len() as u32;
            body.walk(&mut |statement| {
                if let StatementKind::Loc(loc) = &statement.kind {
                    lines.locs.push(loc.clone());
                    lines.starts.push(start);
                }
            });
        }
        for item in tree.items() {
            if let ItemKind::Section { name, body } = &item.kind
                && name.trim_start_matches('.') == "debug_str"
            {
                lines.strings = Some((body.start, body.end));
            }
        }
        lines
    }

    fn file(&self, number: u32) -> String {
        let known = self.files.get(&number);
        known.map_or_else(|| format!("file {number}"), |name| name.to_string())
    }

    /// The place of a `.loc`. One without a line takes that of the one before it.
    pub(super) fn place(&self, text: &str, loc: u32) -> Option<Place> {
        let start = *self.starts.get(loc as usize)? as usize;
        let mut at = loc as usize;
        while self.locs[at].line == 0 && at > start {
            at -= 1;
        }
        let found = &self.locs[at];
        if found.line == 0 {
            return None;
        }
        let mut place = Place {
            file: self.file(found.file),
            line: found.line,
            column: found.column,
            inlined_at: Vec::new(),
        };
        let mut inlined = found.inlined.as_ref();
        while let Some(call) = inlined {
            place.inlined_at.push(Frame {
                function: (call.function.as_ref())
                    .and_then(|label| self.string(text, label, call.offset)),
                file: self.file(call.file),
                line: call.line,
                column: call.column,
            });
            // The call is a place of its own, which an earlier `.loc` may say was inlined in turn.
            let key = (call.file, call.line, call.column);
            let before = self.locs[start..at]
                .iter()
                .rposition(|loc| (loc.file, loc.line, loc.column) == key && loc.inlined.is_some());
            let Some(before) = before else { break };
            at = start + before;
            inlined = self.locs[at].inlined.as_ref();
        }
        Some(place)
    }

    /// The string `offset` bytes after a label of `.debug_str`.
    fn string(&self, text: &str, label: &str, offset: u64) -> Option<String> {
        let (start, end) = self.strings?;
        let section = text.get(start..end)?;
        let after = section.split_once(&format!("{label}:"))?.1;
        let mut bytes = Vec::new();
        let numbers = after
            .lines()
            .filter_map(|line| line.trim().strip_prefix(".b8"))
            .flat_map(|line| line.split(','));
        for number in numbers.skip(usize::try_from(offset).ok()?) {
            match number.trim().trim_end_matches(';').parse::<u8>() {
                Ok(0) | Err(_) => break,
                Ok(byte) => bytes.push(byte),
            }
        }
        String::from_utf8(bytes)
            .ok()
            .filter(|name| !name.is_empty())
    }
}
