//! Text as rustfmt lays it out (edition 2024, default settings).
//!
//! An item or statement is an [`Expr`]: put on one line if it fits, else opened at its outermost brackets,
//! one part a line. Nothing here knows what the text means. A single name that does not fit a line is left
//! standing out.

use super::expr::{Expr, List, WIDTH, columns, first_columns};

/// Columns of a trait's head that has a bound (rustfmt 1.8).
const TRAIT: usize = 92;

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

    /// A line of its own; an empty one for `""`.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        let line = line.as_ref();
        if !line.is_empty() {
            self.start();
            self.text += line;
        }
        self.text.push('\n');
    }

    /// `name: bound`, the bound on the next line where it does not fit.
    pub(super) fn bound(&mut self, bound: &str) {
        match bound.split_once(": ") {
            Some((name, bound)) if self.indent + columns(name) + 2 + columns(bound) > WIDTH => {
                self.line(format!("{name}:"));
                self.indented(|out| out.line(bound));
            }
            _ => self.line(bound),
        }
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

    /// `head: bound {`, lines, `}`; the bound on a line of its own where the head is long.
    pub(super) fn item(&mut self, head: &str, bound: Option<&str>, write: impl FnOnce(&mut Self)) {
        let Some(bound) = bound else {
            return self.braced(head, write);
        };
        let whole = format!("{head}: {bound}");
        if self.indent + columns(&whole) + " {".len() <= TRAIT {
            return self.braced(whole, write);
        }
        self.line(format!("{head}:"));
        self.indented(|out| out.line(bound));
        self.line("{");
        self.indented(write);
        self.line("}");
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
        if !fits(self.column() + 1) && fits(self.indent + 4) {
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
        if self.column() + columns(ty) + " ty =".len() - "ty".len() > WIDTH {
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
        if self.column() + 1 + first_columns(value) >= WIDTH && !literal {
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
                    let behind: usize = pieces[index + 1..].iter().map(first_columns).sum();
                    self.expr(piece, behind + after);
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
            Expr::List(list) => self.broken(list, after),
        }
    }

    fn broken(&mut self, list: &List, after: usize) {
        self.text += &list.open;
        if let [item] = list.items.as_slice()
            && item.hugs()
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
