//! Pieces of Rust text that may be broken over lines, and what they are on one.

/// Columns of a line.
pub(super) const WIDTH: usize = 100;

/// Columns that the arguments of a call, and the items of an array or a tuple, may take on one line.
const CALL: usize = 60;

/// Columns of calls behind each other.
pub(super) const CHAIN: usize = 60;

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
    /// `&self.name`, the name on the next line where it does not fit.
    Member(String, String),
    /// `self.name.call()`, the call always on the next line.
    Chain(String, String),
    /// Pieces between brackets, separated by commas.
    List(List),
}

/// Pieces between brackets.
#[derive(Debug, Clone)]
pub(super) struct List {
    pub(super) open: String,
    pub(super) items: Vec<Expr>,
    pub(super) close: &'static str,
    /// Columns that the items may take on one line.
    room: usize,
    /// Whether blanks stand inside the brackets.
    pub(super) spaced: bool,
    /// Whether a comma follows the last item when broken.
    pub(super) comma: bool,
    /// Whether short items share lines when broken.
    fills: bool,
    /// Columns by which rustfmt lets the unbroken list stand out of the line, or has it stay inside.
    slack: isize,
}

/// What never breaks.
pub(super) fn text(text: impl Into<String>) -> Expr {
    Expr::Text(text.into())
}

/// A string literal.
pub(super) fn quoted(string: &str) -> Expr {
    text(format!("{string:?}"))
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

/// `&self.name`.
pub(super) fn member(of: &str, name: &str) -> Expr {
    Expr::Member(of.to_owned(), name.to_owned())
}

/// `self.name.call()?`.
pub(super) fn chain(of: String, call: &str) -> Expr {
    let whole = format!("{of}.{call}");
    // rustfmt counts the question mark twice.
    let marks = usize::from(call.ends_with('?'));
    match columns(&whole) + marks <= CHAIN {
        true => text(whole),
        false => Expr::Chain(of, call.to_owned()),
    }
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

/// `Some(item)`, a call in which stays one column further from the end of the line.
pub(super) fn some(item: Expr) -> Expr {
    Expr::List(List {
        slack: -1,
        ..List::new("Some(", vec![item], CALL)
    })
}

/// `&[items]`, `name(items)`: items that are all short share lines.
pub(super) fn filled(open: impl Into<String>, items: impl Iterator<Item = Expr>) -> Expr {
    Expr::List(List {
        fills: true,
        ..List::new(open, items.collect(), CALL)
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

/// Generic arguments of a path.
pub(super) fn arguments(open: &str, items: Vec<Expr>) -> Expr {
    Expr::List(List::new(open, items, WIDTH))
}

/// Generic arguments of a function that is called.
pub(super) fn turbofish(open: &str, item: Expr) -> Expr {
    Expr::List(List {
        slack: 2,
        ..List::new(open, vec![item], WIDTH)
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
    pub(super) fn short_items(&self) -> Option<Vec<String>> {
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
            Self::Member(of, name) => Some(format!("{of}.{name}")),
            Self::Chain(..) => None,
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

    pub(super) fn slack(&self) -> isize {
        match self {
            Self::List(list) => list.slack,
            Self::Field(_, value) => value.slack(),
            Self::Row(pieces) => {
                let mut lists = pieces.iter().filter(|it| matches!(it, Self::List(_)));
                match (lists.next(), lists.next()) {
                    (Some(list), None) => list.slack(),
                    _ => 0,
                }
            }
            _ => 0,
        }
    }

    /// What is called with, of `name(…)?`.
    pub(super) fn arguments(&self) -> &[Self] {
        match self {
            Self::Row(pieces) => match pieces.as_slice() {
                [Self::List(list), Self::Text(_)] => &list.items,
                _ => &[],
            },
            _ => &[],
        }
    }

    /// The only item, which opens on the same line as the list.
    pub(super) fn hugged(&self) -> Option<&Self> {
        match self {
            Self::Row(pieces) => match pieces.as_slice() {
                [Self::Text(_), list] => list.hugged(),
                _ => None,
            },
            Self::List(list) => match list.items.as_slice() {
                [item] if item.hugs() => Some(item),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether it may open on its parent's line when it is the only item.
    pub(super) fn hugs(&self) -> bool {
        match self {
            Self::Text(_) | Self::Field(..) | Self::Equal(..) => false,
            Self::Member(..) | Self::Chain(..) => false,
            Self::Row(pieces) => match pieces.as_slice() {
                [Self::Text(prefix), last] => prefix == "&" && last.hugs(),
                _ => false,
            },
            Self::List(list) => !list.open.ends_with('<'),
        }
    }
}

/// Columns of what must stand on the piece's first line.
pub(super) fn first_columns(expr: &Expr) -> usize {
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
        Expr::Member(of, _) | Expr::Chain(of, _) => columns(of),
        Expr::List(list) => columns(&list.open),
    }
}

pub(super) fn columns(text: &str) -> usize {
    text.chars().count()
}
