//! Expressions of annotations, as C++ writes them.
//!
//! Whole numbers only, with `+ - * / % << >>`, `min`, `max`, `ceil_div`, `len` of a buffer and `sizeof` of a type.
//! Casts are read and passed over: what is computed does not overflow silently, whatever its type.

use super::resolve::{Types, Wrong};
use super::{Expression, Operator, Value};
use crate::ctype::{Arg, CType};
use crate::kernel::{Param, ParamType, Scalar, Type};
use crate::source::Spot;

/// Words that a type consists of.
const TYPES: &[&str] = &[
    "bool",
    "char",
    "short",
    "int",
    "long",
    "signed",
    "unsigned",
    "const",
    "size_t",
    "ssize_t",
    "ptrdiff_t",
    "int8_t",
    "int16_t",
    "int32_t",
    "int64_t",
    "uint8_t",
    "uint16_t",
    "uint32_t",
    "uint64_t",
    "uint",
    "float",
    "double",
];

/// What an expression may name.
pub(super) struct Names<'a> {
    pub(super) params: &'a [Param],
    /// Template parameters and their arguments.
    pub(super) template: &'a [(String, Arg)],
    pub(super) types: &'a dyn Types,
    /// Whether `block` is the launch's.
    pub(super) block: bool,
}

/// Words of an expression, after macros are resolved: parentheses call the reader again.
const MAX_WORDS: usize = 256;

/// Operators of an expression, each a level of what is kept: a reader of JSON takes 128 levels, of which an operator has
/// two.
const MAX_OPERATORS: usize = 48;

/// Reads an expression that the tokens are from beginning to end.
pub(super) fn expression(tokens: &[Spot], names: &Names<'_>) -> Result<Expression, Wrong> {
    let mut reader = Reader {
        tokens,
        at: 0,
        operators: 0,
        names,
    };
    if let Some(token) = tokens.get(MAX_WORDS) {
        return Err(Wrong::at(token, TOO_LONG, SHORTER));
    }
    let found = reader.sum(0)?;
    match reader.tokens.get(reader.at) {
        None => Ok(found),
        Some(token) => Err(Wrong::at(
            token,
            format!("`{}` is not expected here", token.text),
            OPERATORS,
        )),
    }
}

const OPERATORS: &str =
    "numbers are joined by `+ - * / % << >>`, `min(a, b)`, `max(a, b)` and `ceil_div(a, b)`";

const TOO_LONG: &str = "the expression is too long";
const SHORTER: &str = "pass the number as a parameter of the kernel";

struct Reader<'a> {
    tokens: &'a [Spot],
    at: usize,
    /// Those that were read.
    operators: usize,
    names: &'a Names<'a>,
}

impl<'a> Reader<'a> {
    fn text(&self, ahead: usize) -> &'a str {
        self.tokens
            .get(self.at + ahead)
            .map_or("", |token| token.text.as_str())
    }

    fn is(&self, text: &str) -> bool {
        self.text(0) == text
    }

    fn wrong(&self, message: impl Into<String>, help: impl Into<String>) -> Wrong {
        match self.tokens.get(self.at) {
            Some(token) => Wrong::at(token, message, help),
            None => Wrong::behind(self.tokens.last(), message, help),
        }
    }

    fn expect(&mut self, text: &str) -> Result<(), Wrong> {
        if !self.is(text) {
            let found = match self.text(0) {
                "" => "the expression ends".to_owned(),
                found => format!("`{found}` stands"),
            };
            return Err(self.wrong(format!("{found} where `{text}` is expected"), OPERATORS));
        }
        self.at += 1;
        Ok(())
    }

    /// The operator here, how tightly it binds, and its tokens.
    fn operator(&self) -> Option<(Operator, u8, usize)> {
        Some(match (self.text(0), self.text(1)) {
            ("<", "<") => (Operator::ShiftLeft, 0, 2),
            (">", ">") => (Operator::ShiftRight, 0, 2),
            ("+", _) => (Operator::Add, 1, 1),
            ("-", _) => (Operator::Subtract, 1, 1),
            ("*", _) => (Operator::Multiply, 2, 1),
            ("/", _) => (Operator::Divide, 2, 1),
            ("%", _) => (Operator::Remainder, 2, 1),
            _ => return None,
        })
    }

    /// Operands joined by operators that bind at least so tightly.
    fn sum(&mut self, least: u8) -> Result<Expression, Wrong> {
        let mut left = self.operand()?;
        while let Some((operator, binds, length)) = self.operator()
            && binds >= least
        {
            self.at += length;
            let right = self.sum(binds + 1)?;
            left = self.joined(operator, left, right)?;
        }
        Ok(left)
    }

    fn joined(
        &mut self,
        operator: Operator,
        left: Expression,
        right: Expression,
    ) -> Result<Expression, Wrong> {
        self.operators += 1;
        if self.operators > MAX_OPERATORS {
            return Err(self.wrong(TOO_LONG, SHORTER));
        }
        Ok(Expression::Binary(
            operator,
            Box::new(left),
            Box::new(right),
        ))
    }

    fn operand(&mut self) -> Result<Expression, Wrong> {
        let word = self.text(0);
        match word {
            "+" => {
                self.at += 1;
                self.operand()
            }
            "-" => {
                self.at += 1;
                let operand = self.operand()?;
                self.joined(Operator::Subtract, Expression::Number(0), operand)
            }
            "(" => {
                self.at += 1;
                if let Some(behind) = self.cast() {
                    self.at = behind;
                    return self.operand();
                }
                let inner = self.sum(0)?;
                self.expect(")")?;
                Ok(inner)
            }
            "static_cast" if self.text(1) == "<" => {
                while !matches!(self.text(0), "" | "(") {
                    self.at += 1;
                }
                self.operand()
            }
            "std" | "::" if self.text(1) == "::" || word == "::" => {
                self.at += usize::from(word == "std") + 1;
                self.operand()
            }
            "sizeof" => self.size_of(),
            "len" if self.text(1) == "(" => self.length(),
            "min" | "max" | "ceil_div" if self.text(1) == "(" => {
                let operator = match word {
                    "min" => Operator::Min,
                    "max" => Operator::Max,
                    _ => Operator::CeilDiv,
                };
                self.at += 2;
                let left = self.sum(0)?;
                self.expect(",")?;
                let right = self.sum(0)?;
                self.expect(")")?;
                self.joined(operator, left, right)
            }
            _ if TYPES.contains(&word) && self.text(1) == "(" => {
                self.at += 1;
                self.operand()
            }
            _ if word.starts_with(|c: char| c.is_ascii_digit()) => self.number(),
            _ if word.starts_with(|c: char| c.is_alphabetic() || c == '_') => self.name(),
            "" => Err(self.wrong("an operand is missing", OPERATORS)),
            _ => Err(self.wrong(format!("`{word}` is no number"), OPERATORS)),
        }
    }

    /// Where the operand of a cast starts whose type starts here, if one does.
    fn cast(&self) -> Option<usize> {
        let is_type = |token: &&Spot| {
            TYPES.contains(&token.text.as_str()) || matches!(token.text.as_str(), "std" | "::")
        };
        let words = self.tokens[self.at..].iter().take_while(is_type).count();
        let close = self.at + words;
        let closes = self.tokens.get(close).is_some_and(|it| it.text == ")");
        (words > 0 && closes).then_some(close + 1)
    }

    fn number(&mut self) -> Result<Expression, Wrong> {
        let text = self.text(0);
        let value = integer(text).ok_or_else(|| {
            self.wrong(
                format!("`{text}` is not a whole number of at most 64 bits"),
                "lengths and launches are counted in whole numbers",
            )
        })?;
        self.at += 1;
        Ok(Expression::Number(value))
    }

    /// `len(src)`.
    fn length(&mut self) -> Result<Expression, Wrong> {
        self.at += 2;
        let name = self.text(0);
        let params = self.names.params;
        let found = params.iter().position(|param| param.name == name);
        let Some(index) = found.filter(|at| matches!(params[*at].ty, ParamType::Pointer { .. }))
        else {
            let pointers = params
                .iter()
                .filter(|param| matches!(param.ty, ParamType::Pointer { .. }));
            return Err(self.wrong(
                format!("`{name}` is no pointer parameter, whose buffer has a length"),
                listed("the kernel's are", pointers.map(|it| it.name.as_str())),
            ));
        };
        self.at += 1;
        self.expect(")")?;
        Ok(Expression::Length(index))
    }

    /// `sizeof(float)`.
    fn size_of(&mut self) -> Result<Expression, Wrong> {
        self.at += 1;
        self.expect("(")?;
        let from = self.at;
        while !matches!(self.text(0), "" | ")") {
            self.at += 1;
        }
        let words: Vec<_> = self.tokens[from..self.at]
            .iter()
            .map(|it| it.text.as_str())
            .collect();
        let text = words.join(" ");
        let mut args = self.names.template.iter();
        let ty = match args.find(|(name, _)| *name == text) {
            Some((_, Arg::Type(ty))) => Some(ty.clone()),
            Some(_) => None,
            None => text.parse::<CType>().ok(),
        };
        let size = ty.and_then(|ty| self.names.types.size(&ty));
        let Some(size) = size else {
            self.at = from;
            return Err(self.wrong(
                format!("the size of `{text}` is not known here"),
                "write the number of bytes",
            ));
        };
        self.expect(")")?;
        Ok(Expression::Number(size))
    }

    /// A parameter, a field, a template's number, or the launch's block.
    fn name(&mut self) -> Result<Expression, Wrong> {
        let name = self.text(0);
        let params = self.names.params;
        if self.names.block && name == "block" {
            return self.block();
        }
        let template = self.names.template.iter();
        if let Some(param) = params.iter().position(|param| param.name == name) {
            return self.value(param);
        }
        if let Some((_, arg)) = template.clone().find(|(own, _)| own == name) {
            let Arg::Value(value) = arg else {
                return Err(self.wrong(format!("`{name}` is a type, not a number"), OPERATORS));
            };
            let value = value.rsplit(')').next().and_then(integer);
            let value = value.ok_or_else(|| {
                self.wrong(format!("`{name}` is no whole number here"), OPERATORS)
            })?;
            self.at += 1;
            return Ok(Expression::Number(value));
        }
        let numbers = params
            .iter()
            .filter(|param| matches!(&param.ty, ParamType::Value(ty) if is_integer(ty)));
        Err(self.wrong(
            format!("the kernel has no parameter `{name}`"),
            listed("its whole numbers are", numbers.map(|it| it.name.as_str())),
        ))
    }

    fn block(&mut self) -> Result<Expression, Wrong> {
        self.at += 1;
        if !self.is(".") {
            return Ok(Expression::Block(None));
        }
        self.at += 1;
        let axis = ["x", "y", "z"].iter().position(|axis| self.is(axis));
        let axis = axis.ok_or_else(|| self.wrong("a block has `.x`, `.y` and `.z`", OPERATORS))?;
        self.at += 1;
        Ok(Expression::Block(Some(axis)))
    }

    fn value(&mut self, param: usize) -> Result<Expression, Wrong> {
        let from = self.at;
        let name = &self.names.params[param].name;
        let mut ty = match &self.names.params[param].ty {
            ParamType::Value(ty) => ty.clone(),
            ParamType::Pointer { .. } => {
                return Err(self.wrong(
                    format!("`{name}` is a pointer, not a number"),
                    format!(
                        "`len({name})` is the length of its buffer; what is in it is on the device"
                    ),
                ));
            }
        };
        self.at += 1;
        let (mut fields, mut path) = (Vec::new(), name.clone());
        while self.is(".") {
            self.at += 1;
            let field = self.text(0).to_owned();
            let found = match &ty {
                Type::Struct(structure) => self.names.types.field(structure, &field),
                _ => None,
            };
            ty = found.ok_or_else(|| {
                self.wrong(
                    format!("`{path}` has no field `{field}`"),
                    "only fields of structs that are passed by value can be used",
                )
            })?;
            path = format!("{path}.{field}");
            fields.push(field);
            self.at += 1;
        }
        if !is_integer(&ty) {
            self.at = from;
            return Err(self.wrong(
                format!("`{path}` is not a whole number of at most 64 bits"),
                "lengths and launches are counted in whole numbers",
            ));
        }
        Ok(Expression::Value(Value { param, fields }))
    }
}

/// An integer literal with its digits' base, separators and suffix.
fn integer(text: &str) -> Option<u64> {
    let text = text.replace('\'', "").to_ascii_lowercase();
    let (base, digits) = match text.as_bytes() {
        [b'0', b'x', ..] => (16, &text[2..]),
        [b'0', b'b', ..] => (2, &text[2..]),
        [b'0', _, ..] => (8, &text[1..]),
        _ => (10, text.as_str()),
    };
    let digits = digits.trim_end_matches(['u', 'l', 'z']);
    let digits = if digits.is_empty() && base == 8 {
        "0"
    } else {
        digits
    };
    u64::from_str_radix(digits, base).ok()
}

/// Whether a value can be computed with.
pub(super) fn is_integer(ty: &Type) -> bool {
    use Scalar::{I8, I16, I32, I64, U8, U16, U32, U64};
    matches!(
        ty,
        Type::Scalar(I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64)
    )
}

fn listed<'a>(before: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => "it has none".to_owned(),
        names => format!("{before} {}", names.join(", ")),
    }
}
