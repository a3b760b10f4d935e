//! Text as rustfmt lays it out (edition 2024, default settings).
//!
//! An item or statement is an [`Expr`]: put on one line if it fits, else opened at its outermost brackets,
//! one part a line. Nothing here knows what the text means. A single name that does not fit a line is left
//! standing out.

/// Columns of a line.
const WIDTH: usize = 100;

/// Columns that the arguments of a call, and the items of an array or a tuple, may take on one line.
const CALL: usize = 60;

/// Columns of an item that may share a line with others.
const SHORT: usize = 10;

/// Columns that the fields of a struct literal may take on one line.
const STRUCT: usize = 18;

/// A piece of Rust that may be broken over lines.
#[derive(Debug, Clone)]
pub(super) enum Expr {
    /// Never broken.
    Text(String),
    /// Pieces side by side.
    Row(Vec<Expr>),
    /// `name: value`, the value on the next line where its first line does not fit.
    Field(String, Box<Expr>),
    /// `left == right`.
    Equal(Box<Expr>, String),
    /// Pieces between brackets, separated by commas.
    List(List),
}

/// Pieces between brackets.
#[derive(Debug, Clone)]
pub(super) struct List {
    open: String,
    items: Vec<Expr>,
    close: &'static str,
    /// Columns that the items may take on one line.
    room: usize,
    /// Whether blanks stand inside the brackets.
    spaced: bool,
    /// Whether a comma follows the last item when broken.
    comma: bool,
    /// Whether short items share lines when broken.
    fills: bool,
    /// Columns by which rustfmt lets the unbroken list stand out of the line, or has it stay inside.
    slack: isize,
}

/// What never breaks.
pub(super) fn text(text: impl Into<String>) -> Expr {
    Expr::Text(text.into())
}

/// Pieces side by side.
pub(super) fn row(pieces: impl IntoIterator<Item = Expr>) -> Expr {
    Expr::Row(pieces.into_iter().collect())
}

/// `name: value`.
pub(super) fn field(name: &str, value: Expr) -> Expr {
    Expr::Field(name.to_owned(), Box::new(value))
}

/// `left == right`.
pub(super) fn equal(left: Expr, right: impl ToString) -> Expr {
    Expr::Equal(Box::new(left), right.to_string())
}

/// `name(items)`, `[items]`, `(items)`: `open` ends with the bracket.
pub(super) fn call(open: impl Into<String>, items: Vec<Expr>) -> Expr {
    Expr::List(List::new(open, items, CALL))
}

/// `(names)`.
pub(super) fn tuple(items: Vec<Expr>) -> Expr {
    Expr::List(List {
        fills: true,
        ..List::new("(", items, CALL)
    })
}

/// `name!(items)`.
pub(super) fn macro_call(open: impl Into<String>, items: Vec<Expr>) -> Expr {
    Expr::List(List {
        comma: false,
        ..List::new(open, items, CALL)
    })
}

/// Parameters of a function: as many as fit the line.
pub(super) fn params(open: impl Into<String>, items: Vec<Expr>) -> Expr {
    Expr::List(List::new(open, items, WIDTH))
}

/// Type parameters of a function.
pub(super) fn generics(open: impl Into<String>, items: Vec<Expr>) -> Expr {
    Expr::List(List {
        slack: -1,
        ..List::new(open, items, WIDTH)
    })
}

/// The type a function returns, in front of a `where` clause.
pub(super) fn result(open: impl Into<String>, items: Vec<Expr>) -> Expr {
    Expr::List(List {
        slack: 2,
        ..List::new(open, items, WIDTH)
    })
}

/// The bound of a parameter's `impl` type.
pub(super) fn bound(open: impl Into<String>, item: Expr) -> Expr {
    Expr::List(List {
        slack: 5,
        ..List::new(open, vec![item], WIDTH)
    })
}

/// `name { fields }`: `open` ends with the brace.
pub(super) fn literal(open: impl Into<String>, fields: Vec<Expr>) -> Expr {
    Expr::List(List {
        spaced: true,
        ..List::new(open, fields, STRUCT)
    })
}

/// `unsafe { item }`.
pub(super) fn block(open: impl Into<String>, item: Expr) -> Expr {
    Expr::List(List {
        spaced: true,
        comma: false,
        ..List::new(open, vec![item], WIDTH)
    })
}

impl List {
    fn new(open: impl Into<String>, items: Vec<Expr>, room: usize) -> Self {
        let open = open.into();
        // A lone item may take the line.
        let lone = items.len() == 1 && open.ends_with('(');
        let room = if lone { WIDTH } else { room };
        let close = match open.chars().next_back() {
            Some('(') => ")",
            Some('[') => "]",
            Some('<') => ">",
            _ => "}",
        };
        Self {
            open,
            items,
            close,
            room,
            spaced: false,
            comma: true,
            fills: false,
            slack: 0,
        }
    }

    /// The items, if they may share lines.
    fn short_items(&self) -> Option<Vec<String>> {
        let items: Vec<_> = self.items.iter().map(Expr::flat).collect::<Option<_>>()?;
        let short = self.fills && items.iter().all(|item| columns(item) <= SHORT);
        short.then_some(items)
    }
}

impl Expr {
    /// On one line, if its brackets allow that.
    pub(super) fn flat(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Row(pieces) => pieces.iter().map(Self::flat).collect(),
            Self::Field(name, value) => Some(format!("{name}: {}", value.flat()?)),
            Self::Equal(left, right) => Some(format!("{} == {right}", left.flat()?)),
            Self::List(list) => {
                let items: Option<Vec<_>> = list.items.iter().map(Self::flat).collect();
                let items = items?.join(", ");
                if columns(&items) > list.room {
                    return None;
                }
                let blank = if list.spaced && !items.is_empty() {
                    " "
                } else {
                    ""
                };
                Some([&list.open, blank, &items, blank, list.close].concat())
            }
        }
    }

    fn slack(&self) -> isize {
        match self {
            Self::List(list) => list.slack,
            Self::Row(pieces) => pieces.iter().map(Self::slack).sum(),
            _ => 0,
        }
    }

    /// Whether it may open on its parent's line when it is the only item.
    fn hugs(&self) -> bool {
        match self {
            Self::Text(_) | Self::Field(..) | Self::Equal(..) => false,
            Self::Row(pieces) => match pieces.as_slice() {
                [Self::Text(prefix), last] => prefix == "&" && last.hugs(),
                _ => false,
            },
            Self::List(_) => true,
        }
    }
}

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
        if !fits(self.column() + 1) && fits(self.indent + 4) {
            self.next_line(|out| out.expr(value, 1));
        } else {
            self.value(value, 1);
        }
        self.text += ";\n";
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

/// Columns of what must stand on the piece's first line.
fn first_columns(expr: &Expr) -> usize {
    match expr {
        Expr::Text(text) => columns(text),
        Expr::Row(pieces) => {
            let mut sum = 0;
            for piece in pieces {
                sum += first_columns(piece);
                if matches!(piece, Expr::List(_)) {
                    break;
                }
            }
            sum
        }
        Expr::Field(name, _) => columns(name) + 1,
        Expr::Equal(left, _) => first_columns(left),
        Expr::List(list) => columns(&list.open),
    }
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

/// What rustc refuses in a comment: carriage returns and characters that turn the text's direction.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
