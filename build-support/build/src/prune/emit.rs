//! Writes what stays, each line under the number and the file that it had.

use super::split::{Headers, marker};
use super::token::Directive;

/// Writes the parts that stay, and every directive that means something without the others.
pub(super) fn emit(headers: &Headers, kept: &[bool], out: &mut String) {
    let mut writer = Writer {
        headers,
        out,
        directives: &headers.directives,
        entered: Vec::new(),
    };
    let mut at = 0;
    while at < kept.len() {
        let run = kept[at..].iter().take_while(|kept| **kept).count();
        if run > 0 {
            let (first, last) = (&headers.parts[at], &headers.parts[at + run - 1]);
            writer.pass(first.start);
            writer.write(first.start, last.end);
        }
        at += run.max(1);
    }
    writer.pass(u32::MAX);
    writer.start_line();
}

struct Writer<'t, 'o> {
    headers: &'t Headers,
    out: &'o mut String,
    /// Those not reached yet.
    directives: &'t [Directive],
    /// Markers of files that were entered and of which nothing is written yet.
    entered: Vec<&'t str>,
}

impl<'t> Writer<'t, '_> {
    /// Passes over what goes, up to a place.
    fn pass(&mut self, to: u32) {
        while let Some((directive, rest)) = self.directives.split_first()
            && directive.start < to
        {
            self.directives = rest;
            let line = self.text(directive.start, directive.end);
            match marker(line) {
                Some((_, _, flags)) if flags.contains('1') => self.entered.push(line),
                // Left without having written anything of it.
                Some((_, _, flags)) if flags.contains('2') && self.entered.pop().is_some() => {}
                Some((_, _, flags)) if flags.contains('2') => self.line(line),
                Some(_) => {}
                None => {
                    self.enter();
                    self.line(line);
                }
            }
        }
    }

    /// Writes a run of parts with the directives between them.
    fn write(&mut self, start: u32, end: u32) {
        self.enter();
        self.start_line();
        if let Some(marker) = self.headers.marker_of(start) {
            let lines = self
                .text(marker.end, start)
                .bytes()
                .filter(|byte| *byte == b'\n')
                .count();
            let line = marker
                .line
                .saturating_add(u32::try_from(lines).unwrap_or(u32::MAX));
            let file = self.text(marker.file.0, marker.file.1);
            let flags = if marker.quiet { " 3 4" } else { "" };
            *self.out += &format!("# {line} {file}{flags}\n");
        }
        // In the column that it had.
        let before = &self.headers.text[..start as usize];
        let column = before.len() - before.rfind('\n').map_or(0, |newline| newline + 1);
        self.out.extend(std::iter::repeat_n(' ', column));
        self.out.push_str(self.text(start, end));
        let inside = self
            .directives
            .iter()
            .take_while(|directive| directive.start < end)
            .count();
        self.directives = &self.directives[inside..];
    }

    fn enter(&mut self) {
        for line in std::mem::take(&mut self.entered) {
            self.line(line);
        }
    }

    fn line(&mut self, line: &str) {
        self.start_line();
        self.out.push_str(line);
    }

    fn start_line(&mut self) {
        if !(self.out.is_empty() || self.out.ends_with('\n')) {
            self.out.push('\n');
        }
    }

    fn text(&self, from: u32, to: u32) -> &'t str {
        &self.headers.text[from as usize..to as usize]
    }
}
