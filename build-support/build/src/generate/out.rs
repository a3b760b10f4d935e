//! Text as rustfmt lays it out (edition 2024, default settings).
//!
//! An item or statement is an [`Expr`]: put on one line if it fits, else opened at its outermost brackets,
//! one part a line. Nothing here knows what the text means. A single name that does not fit a line is left
//! standing out.

use super::expr::{Expr, List, WIDTH, columns, first_columns};
use super::generics::{holds_stuck, is_stuck};

/// The text so far.
#[derive(Debug, Default)]
pub(super) struct Out {
    text: String,
    indent: usize,
}

impl Out {
    /// The finished text.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Columns in front of a line.
    pub(super) fn indent(&self) -> usize {
        self.indent
    }

    /// A line of its own; an empty one for `""`.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            self.start();
            self.text += line;
        }
        self.text.push('\n');
    }

    /// Lines of a documentation comment.
    pub(super) fn docs(&mut self, lines: impl IntoIterator<Item = impl AsRef<str>>) {
        for line in lines {
            let visible = line.as_ref().chars().filter(|c| !is_hidden(*c));
            let line: String = ["/// "]
                .into_iter()
                .flat_map(str::chars)
                .chain(visible)
                .collect();
            self.line(line.trim_end());
        }
    }

    /// Lines one step further in.
    pub(super) fn indented(&mut self, write: impl FnOnce(&mut Self)) {
        self.indent += 4;
        write(self);
        self.indent -= 4;
    }

    /// `head {`, lines, `}`.
    pub(super) fn braced(&mut self, head: impl AsRef<str>, write: impl FnOnce(&mut Self)) {
        self.closed(head, "}", write);
    }

    /// `head {`, lines, and what closes it.
    pub(super) fn closed(
        &mut self,
        head: impl AsRef<str>,
        close: &str,
        write: impl FnOnce(&mut Self),
    ) {
        self.line(format!("{} {{", head.as_ref()));
        self.indented(write);
        self.line(close);
    }

    /// An item or statement, `end` behind it.
    pub(super) fn statement(&mut self, expr: &Expr, end: &str) {
        self.ended(expr, end, columns(end));
    }

    fn ended(&mut self, expr: &Expr, end: &str, after: usize) {
        self.start();
        self.expr(expr, after);
        self.text += end;
        self.text.push('\n');
    }

    /// `let name = value;`: on one line, on the next, or opened here.
    pub(super) fn binding(&mut self, name: &str, value: &Expr) {
        self.start();
        self.text += &format!("let {name} =");
        let flat = value.flat().map(|flat| columns(&flat) + 1);
        let fits = |from: usize| flat.is_some_and(|flat| from + flat <= WIDTH);
        let flat = !fits(self.column() + 1) && fits(self.indent + 4);
        let is_stuck = |at| value.arguments().iter().any(|item| is_stuck(item, at, 4));
        if flat || is_stuck(self.indent + 4) && !is_stuck(self.indent + 8) {
            self.next_line(|out| out.expr(value, 1));
        } else {
            self.value(value, 1);
        }
        self.text += ";\n";
    }

    /// `name: ty,`: on one line, or the type on the next.
    pub(super) fn member(&mut self, name: &str, ty: &Expr) {
        self.start();
        self.text += &format!("{name}:");
        let flat = ty.flat().map_or(0, |flat| columns(&flat));
        if self.column() + flat + " ,".len() > WIDTH {
            self.next_line(|out| out.expr(ty, 1));
        } else {
            self.text.push(' ');
            self.expr(ty, 1);
        }
        self.text += ",\n";
    }

    /// `name: ty = value;`.
    pub(super) fn assign(&mut self, name: &str, ty: &str, value: &Expr) {
        self.start();
        self.text += name;
        self.text.push(':');
        // A reference stays two columns further from the end of the line.
        let room = if ty.starts_with('&') { 2 } else { 0 };
        if self.column() + columns(ty) + " ty =".len() - "ty".len() + room > WIDTH {
            self.next_line(|out| out.text += ty);
        } else {
            self.text.push(' ');
            self.text += ty;
        }
        self.text += " =";
        self.value(value, 1);
        self.text += ";\n";
    }

    /// A value, on the next line where its first line does not fit here.
    fn value(&mut self, value: &Expr, after: usize) {
        let literal = matches!(value, Expr::Text(_));
        let hugged = value.hugged().map_or(0, |it| first_columns(it) + 1);
        if self.column() + 1 + first_columns(value) + hugged >= WIDTH && !literal {
            self.next_line(|out| out.expr(value, after));
        } else {
            self.text.push(' ');
            self.expr(value, after);
        }
    }

    fn next_line(&mut self, write: impl FnOnce(&mut Self)) {
        self.indented(|out| {
            out.text.push('\n');
            out.start();
            write(out);
        });
    }

    /// Writes a piece with `after` columns behind it on its last line.
    fn expr(&mut self, expr: &Expr, after: usize) {
        if let Some(flat) = expr.flat() {
            let line = WIDTH.saturating_add_signed(expr.slack());
            if self.column() + columns(&flat) + after <= line {
                self.text += &flat;
                return;
            }
        }
        self.open(expr, after);
    }

    /// Writes a piece on several lines, if it can be.
    fn open(&mut self, expr: &Expr, after: usize) {
        match expr {
            Expr::Text(text) => self.text += text,
            Expr::Row(pieces) => {
                for (index, piece) in pieces.iter().enumerate() {
                    let rest = &pieces[index + 1..];
                    // What stands behind it up to the next brackets, which can open.
                    let opens = rest.iter().position(|it| matches!(it, Expr::List(_)));
                    let rest = &rest[..opens.map_or(rest.len(), |at| at + 1)];
                    let behind: usize = rest.iter().map(first_columns).sum();
                    self.expr(piece, behind + if opens.is_none() { after } else { 0 });
                }
            }
            Expr::Field(name, value) => {
                self.text += name;
                self.text.push(':');
                self.value(value, after);
            }
            Expr::Equal(left, right) => {
                let flat = left
                    .flat()
                    .filter(|it| self.column() + columns(it) <= WIDTH);
                if let Some(left) = flat {
                    self.text += &left;
                    self.next_line(|out| out.text += &format!("== {right}"));
                } else {
                    self.open(left, after);
                    self.text += &format!(" == {right}");
                }
            }
            Expr::Member(of, name) => {
                self.text += of;
                self.next_line(|out| out.text += &format!(".{name}"));
            }
            Expr::Chain(of, name) => {
                self.text += of;
                self.next_line(|out| out.text += &format!(".{name}"));
            }
            Expr::List(list) => self.broken(list, after),
        }
    }

    fn broken(&mut self, list: &List, after: usize) {
        self.text += &list.open;
        if let [item] = list.items.as_slice()
            && item.hugs()
            && !self.leaves(item)
        {
            self.open(item, list.close.len() + after);
        } else if let Some(short) = list.short_items() {
            self.text.push('\n');
            self.indented(|out| out.filled(&short));
            self.start();
        } else if !list.items.is_empty() {
            self.text.push('\n');
            self.indented(|out| {
                for (index, item) in list.items.iter().enumerate() {
                    let comma = list.comma || index + 1 < list.items.len();
                    // A macro's arguments have room for a comma, but none behind the last.
                    let room = usize::from(!list.spaced || comma);
                    out.ended(item, if comma { "," } else { "" }, room);
                }
            });
            self.start();
        }
        self.text += list.close;
    }

    /// Whether a list that would open behind a bracket has to open on the next line.
    fn leaves(&self, item: &Expr) -> bool {
        let Expr::List(list) = item else {
            return false;
        };
        holds_stuck(list, self.indent) && !holds_stuck(list, self.indent + 4)
    }

    /// As many items a line as fit, each with its comma.
    fn filled(&mut self, items: &[String]) {
        self.start();
        for (index, item) in items.iter().enumerate() {
            if index > 0 && self.column() + " ,".len() + columns(item) > WIDTH {
                self.text.push('\n');
                self.start();
            } else if index > 0 {
                self.text.push(' ');
            }
            self.text += item;
            self.text.push(',');
        }
        self.text.push('\n');
    }

    fn start(&mut self) {
        self.text.extend(std::iter::repeat_n(' ', self.indent));
    }

    fn column(&self) -> usize {
        let line = self.text.rsplit('\n').next().unwrap_or_default();
        columns(line)
    }
}

/// What rustc refuses in a comment: carriage returns and characters that turn the text's direction.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
