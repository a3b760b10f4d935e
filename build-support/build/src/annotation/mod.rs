//! What a kernel's annotations say: how much of each buffer it accesses, and how it is launched.
//!
//! `resolve` reads them off a declaration; `generate` makes them constants that the run time evaluates.

mod expression;
mod resolve;
mod shape;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub(crate) use resolve::{Types, resolve};

/// All annotations of a kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Annotations {
    /// For each parameter that has one, in the order of the declaration.
    pub extents: Vec<Extent>,
    /// `GPUK_LAUNCH`.
    pub shape: Option<Shape>,
}

/// `GPUK_IN(rows * width)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Index of the parameter, a pointer.
    pub param: usize,
    /// What the kernel does there.
    pub access: Access,
    /// Whether the null pointer may be passed instead.
    pub optional: bool,
    /// The expression as written.
    pub written: String,
    /// How many items; bytes, where it points to `void`.
    pub items: Expression,
    /// The parameter that the expression is, by its name alone.
    pub length_of: Option<usize>,
}

/// What a kernel does with the items of a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// It reads them.
    In,
    /// It writes them all before it reads any.
    Out,
    /// It reads and writes them.
    InOut,
}

/// `GPUK_LAUNCH(block = 256, elements = n)`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// As written.
    pub written: String,
    /// Threads of a block.
    pub block: Block,
    /// Blocks of the grid.
    pub grid: Grid,
    /// Bytes of dynamic shared memory.
    pub shared: Option<Expression>,
}

/// Threads of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Block {
    /// What the kernel's bounds suggest.
    Own,
    /// Along x, y, z; those left out are 1.
    Given(Vec<Expression>),
    /// What the driver's occupancy calculator suggests.
    Auto,
}

/// Blocks of the grid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Grid {
    /// Along x, y, z; those left out are 1.
    Blocks(Vec<Expression>),
    /// As many as give each element a thread; a lone number of elements is shared out over all threads of a block,
    /// several along the axes.
    Elements(Vec<Expression>),
}

/// A whole number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expression {
    /// A literal.
    Number(u64),
    /// A number among the parameters.
    Value(Value),
    /// `len(src)`: the length of the buffer that is passed for the parameter.
    Length(usize),
    /// `block`: threads of a block; `block.y`: along an axis.
    Block(Option<usize>),
    /// Two and what is done with them.
    Binary(Operator, Box<Self>, Box<Self>),
}

/// A parameter, or a field of one: `n`, `p.rows`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Value {
    /// Index of the parameter.
    pub param: usize,
    /// Names of the fields, outermost first.
    pub fields: Vec<String>,
}

/// What is done with two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is its name")]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    /// Rounded towards 0, as in C++.
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    Min,
    Max,
    /// `ceil_div(a, b)`: rounded up.
    CeilDiv,
}

impl Annotations {
    /// The extent of a parameter.
    pub fn extent(&self, param: usize) -> Option<&Extent> {
        self.extents.iter().find(|it| it.param == param)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.extents.is_empty() && self.shape.is_none()
    }

    /// Whether a wrapper can allocate the buffer of a parameter.
    pub fn is_allocated(&self, param: usize) -> bool {
        let extent = self.extent(param);
        extent.is_some_and(|it| it.access == Access::Out && !it.optional)
    }

    /// The buffers whose lengths a parameter is; none if it is passed.
    ///
    /// They are those that the kernel reads and that have to be passed: by themselves they say how much there is.
    pub fn lengths(&self, param: usize) -> Vec<usize> {
        let extents = self.extents.iter();
        let of = extents
            .filter(|it| it.length_of == Some(param) && it.access != Access::Out && !it.optional);
        of.map(|it| it.param).collect()
    }

    /// All expressions.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let extents = self.extents.iter().map(|it| &it.items);
        let shape = self.shape.iter().flat_map(Shape::expressions);
        extents.chain(shape)
    }
}

impl Extent {
    /// As the source has it.
    pub(crate) fn shown(&self) -> String {
        let access = match self.access {
            Access::In => "IN",
            Access::Out => "OUT",
            Access::InOut => "INOUT",
        };
        let optional = if self.optional { "_OPT" } else { "" };
        format!("GPUK_{access}{optional}({})", self.written)
    }
}

impl Shape {
    fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let block: &[_] = match &self.block {
            Block::Given(block) => block,
            Block::Own | Block::Auto => &[],
        };
        let (Grid::Blocks(grid) | Grid::Elements(grid)) = &self.grid;
        block.iter().chain(grid).chain(&self.shared)
    }
}

impl Expression {
    /// Calls with the expression and each in it.
    pub fn visit<'a>(&'a self, of: &mut dyn FnMut(&'a Self)) {
        of(self);
        if let Self::Binary(_, left, right) = self {
            left.visit(of);
            right.visit(of);
        }
    }
}
