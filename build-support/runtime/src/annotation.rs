//! What a kernel's annotations say, computed for a launch: how much of each buffer it accesses, and its shape.
//!
//! Numbers are computed exactly, in 128 bits, whatever their types in C++; what does not fit is an error.

use crate::argument::Length;
use crate::error::LaunchError;
use crate::extent::{ExtentError, Numbers};
use crate::function::Function;
use crate::launch::Launch;

/// The annotations of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Annotations {
    /// Name of the Rust method.
    pub kernel: &'static str,
    /// The numbers that expressions name: `n`, `p.rows`.
    pub values: &'static [&'static str],
    /// The kernel's buffers.
    pub buffers: &'static [&'static str],
    /// Of some of the buffers, in their order.
    pub extents: &'static [Extent],
    /// `GPUK_LAUNCH`.
    pub shape: Option<Shape>,
}

/// How much of a buffer a kernel accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Index of the buffer.
    pub buffer: usize,
    /// Whether the null pointer may be passed instead.
    pub optional: bool,
    /// The expression as the source has it.
    pub written: &'static str,
    /// Items; bytes, where the parameter points to `void`.
    pub items: Expr,
}

/// How a kernel is launched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Threads of a block.
    pub block: Block,
    /// Blocks of the grid.
    pub grid: Grid,
    /// Bytes of dynamic shared memory.
    pub shared: Option<Expr>,
}

/// Threads of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Block {
    /// Those of [`KernelInfo::launch`](crate::KernelInfo::launch).
    Own,
    /// Along x, y, z.
    Given([Expr; 3]),
    /// As the driver's occupancy calculator suggests, along x.
    Auto,
}

/// Blocks of the grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Grid {
    /// Along x, y, z.
    Blocks([Expr; 3]),
    /// A thread for each of so many elements.
    Elements(Expr),
    /// A thread for each element along x, y, z.
    Axes([Expr; 3]),
}

/// A number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expr {
    /// Itself.
    Number(u64),
    /// That of a parameter: an index into [`Annotations::values`].
    Value(usize),
    /// The length of a buffer: an index into [`Annotations::buffers`].
    Length(usize),
    /// Threads of a block.
    Threads,
    /// Threads of a block along an axis.
    Block(usize),
    /// Sum.
    Add(&'static Self, &'static Self),
    /// Difference.
    Subtract(&'static Self, &'static Self),
    /// Product.
    Multiply(&'static Self, &'static Self),
    /// Quotient, rounded towards 0.
    Divide(&'static Self, &'static Self),
    /// What a division leaves.
    Remainder(&'static Self, &'static Self),
    /// Product with a power of two.
    ShiftLeft(&'static Self, &'static Self),
    /// Quotient by a power of two, rounded down.
    ShiftRight(&'static Self, &'static Self),
    /// The lesser.
    Min(&'static Self, &'static Self),
    /// The greater.
    Max(&'static Self, &'static Self),
    /// Quotient, rounded up.
    CeilDiv(&'static Self, &'static Self),
}

/// What a launch's expressions are computed from.
#[derive(Debug, Clone, Copy)]
struct Terms<'a> {
    annotations: &'a Annotations,
    values: &'a [i128],
    lengths: &'a [Length],
    block: [u32; 3],
}

impl Annotations {
    /// The number that the lengths of buffers are, which have to agree.
    ///
    /// # Errors
    ///
    /// If they do not, if none is known, or if the number has not room for it.
    pub fn derive<T: TryFrom<usize>>(
        &self,
        value: &'static str,
        buffers: &[usize],
        lengths: &[Length],
    ) -> Result<T, LaunchError> {
        let name = |buffer: usize| self.buffers.get(buffer).copied().unwrap_or_default();
        let known = buffers.iter().filter_map(|buffer| {
            let items = match lengths.get(*buffer)? {
                Length::Items(items) => *items,
                Length::Null => 0,
                Length::Unknown => return None,
            };
            Some((name(*buffer), items))
        });
        let mut known = known.collect::<Vec<_>>().into_iter();
        let Some((buffer, items)) = known.next() else {
            let buffer = buffers.first().map_or("", |buffer| name(*buffer));
            return Err(self.error(ExtentError::NoLength { buffer, of: value }));
        };
        if let Some((other, found)) = known.find(|(_, found)| *found != items) {
            return Err(self.error(ExtentError::Disagree {
                value,
                buffers: [buffer, other],
                items: [items, found],
            }));
        }
        T::try_from(items).map_err(|_| {
            self.error(ExtentError::TooLong {
                value,
                buffer,
                items,
                bits: 8 * size_of::<T>(),
            })
        })
    }

    /// How much of each buffer is accessed, 0 where nothing is said; that each has so much.
    ///
    /// # Errors
    ///
    /// If one has not, or if an expression has no value.
    pub fn extents<const N: usize>(
        &self,
        values: &[i128],
        lengths: &[Length; N],
    ) -> Result<[usize; N], LaunchError> {
        let terms = self.terms(values, lengths);
        let mut found = [0; N];
        for extent in self.extents {
            let (Some(slot), Some(length)) =
                (found.get_mut(extent.buffer), lengths.get(extent.buffer))
            else {
                continue;
            };
            if extent.optional && *length == Length::Null {
                continue;
            }
            let buffer = self.buffers.get(extent.buffer).copied().unwrap_or_default();
            *slot = terms.whole(buffer, extent.written, &extent.items)?;
            let items = match *length {
                Length::Items(items) => items,
                Length::Null => 0,
                Length::Unknown => continue,
            };
            if items < *slot {
                return Err(self.error(ExtentError::Short {
                    buffer,
                    is_null: *length == Length::Null,
                    items,
                    written: extent.written,
                    needed: *slot,
                    numbers: terms.numbers(&extent.items),
                }));
            }
        }
        Ok(found)
    }

    /// The shape of a launch: that which is given, else the annotated one.
    ///
    /// # Errors
    ///
    /// If an expression has no value, or one that no launch can have; if the driver cannot suggest a block.
    pub fn launch(
        &self,
        function: &Function,
        given: Option<Launch>,
        values: &[i128],
        lengths: &[Length],
    ) -> Result<Launch, LaunchError> {
        if let Some(launch) = given {
            return Ok(launch);
        }
        let info = function.info();
        let own = info.launch();
        let Some(shape) = &self.shape else {
            return Ok(own);
        };
        let mut terms = self.terms(values, lengths);
        let block = match &shape.block {
            Block::Own => own.block,
            Block::Given(axes) => terms.axes("block", axes)?,
            Block::Auto if info.exact_block.is_some() => own.block,
            Block::Auto => {
                let shared = shape.shared.as_ref();
                let shared = shared.map_or(Ok(0), |shared| terms.small("shared", shared))?;
                [function.suggested_block(shared)?, 1, 1]
            }
        };
        terms.block = block;
        let mut launch = own.block(block);
        if let Some(shared) = &shape.shared {
            launch.shared = terms.small("shared", shared)?;
        }
        let cluster = info.cluster.unwrap_or([1; 3]);
        let whole = |blocks: u32, axis: usize| {
            let cluster = cluster[axis].max(1);
            blocks.checked_next_multiple_of(cluster).unwrap_or(u32::MAX)
        };
        Ok(match &shape.grid {
            Grid::Blocks(axes) => launch.grid(terms.axes("grid", axes)?),
            Grid::Elements(elements) => {
                let launch = launch.elements(terms.whole("elements", "", elements)?);
                let [x, y, z] = launch.grid;
                launch.grid([whole(x, 0), whole(y, 1), whole(z, 2)])
            }
            Grid::Axes(axes) => {
                let [x, y, z] = terms.axes("elements", axes)?;
                let blocks =
                    |elements: u32, axis: usize| whole(elements.div_ceil(block[axis].max(1)), axis);
                launch.grid([blocks(x, 0), blocks(y, 1), blocks(z, 2)])
            }
        })
    }

    fn terms<'a>(&'a self, values: &'a [i128], lengths: &'a [Length]) -> Terms<'a> {
        Terms {
            annotations: self,
            values,
            lengths,
            block: [1; 3],
        }
    }

    fn error(&self, error: ExtentError) -> LaunchError {
        LaunchError::Extent {
            kernel: self.kernel,
            error: Box::new(error),
        }
    }
}

/// Why an expression has no value.
#[derive(Debug, Clone, Copy)]
enum Obstacle {
    Overflow,
    Division,
    Length(usize),
}

impl Terms<'_> {
    fn axes(&self, of: &'static str, axes: &[Expr; 3]) -> Result<[u32; 3], LaunchError> {
        let [x, y, z] = axes;
        Ok([self.small(of, x)?, self.small(of, y)?, self.small(of, z)?])
    }

    fn small(&self, of: &'static str, expr: &Expr) -> Result<u32, LaunchError> {
        let whole = self.whole(of, "", expr)?;
        // A number beyond u32 is beyond every device, so the launch will be refused with the limit.
        Ok(u32::try_from(whole).unwrap_or(u32::MAX))
    }

    fn whole(
        &self,
        of: &'static str,
        written: &'static str,
        expr: &Expr,
    ) -> Result<usize, LaunchError> {
        let error = |error| self.annotations.error(error);
        let value = self.value(expr).map_err(|obstacle| {
            let numbers = self.numbers(expr);
            error(match obstacle {
                Obstacle::Overflow => ExtentError::Overflow {
                    of,
                    written,
                    numbers,
                },
                Obstacle::Division => ExtentError::Division {
                    of,
                    written,
                    numbers,
                },
                Obstacle::Length(buffer) => ExtentError::NoLength {
                    buffer: self
                        .annotations
                        .buffers
                        .get(buffer)
                        .copied()
                        .unwrap_or_default(),
                    of,
                },
            })
        })?;
        usize::try_from(value).map_err(|_| {
            let numbers = self.numbers(expr);
            error(match value < 0 {
                true => ExtentError::Negative {
                    of,
                    written,
                    value,
                    numbers,
                },
                false => ExtentError::Overflow {
                    of,
                    written,
                    numbers,
                },
            })
        })
    }

    fn value(&self, expr: &Expr) -> Result<i128, Obstacle> {
        let both = |left: &Expr, right: &Expr| Ok((self.value(left)?, self.value(right)?));
        let found = match *expr {
            Expr::Number(number) => Some(number.into()),
            Expr::Value(index) => self.values.get(index).copied(),
            Expr::Length(buffer) => match self.lengths.get(buffer) {
                Some(Length::Items(items)) => i128::try_from(*items).ok(),
                Some(Length::Null) => Some(0),
                Some(Length::Unknown) | None => return Err(Obstacle::Length(buffer)),
            },
            Expr::Threads => {
                let [x, y, z] = self.block.map(i128::from);
                Some(x * y * z)
            }
            Expr::Block(axis) => self.block.get(axis).map(|threads| (*threads).into()),
            Expr::Add(left, right) => both(left, right).map(|(a, b)| a.checked_add(b))?,
            Expr::Subtract(left, right) => both(left, right).map(|(a, b)| a.checked_sub(b))?,
            Expr::Multiply(left, right) => both(left, right).map(|(a, b)| a.checked_mul(b))?,
            Expr::Min(left, right) => both(left, right).map(|(a, b)| Some(a.min(b)))?,
            Expr::Max(left, right) => both(left, right).map(|(a, b)| Some(a.max(b)))?,
            Expr::ShiftLeft(left, right) => {
                let (left, right) = both(left, right)?;
                let right = u32::try_from(right).map_err(|_| Obstacle::Overflow)?;
                1_i128
                    .checked_shl(right)
                    .filter(|power| *power > 0)
                    .and_then(|power| left.checked_mul(power))
            }
            Expr::ShiftRight(left, right) => {
                let (left, right) = both(left, right)?;
                let right = u32::try_from(right).map_err(|_| Obstacle::Overflow)?;
                left.checked_shr(right)
            }
            Expr::Divide(left, right)
            | Expr::Remainder(left, right)
            | Expr::CeilDiv(left, right) => {
                let (left, right) = both(left, right)?;
                if right == 0 {
                    return Err(Obstacle::Division);
                }
                match expr {
                    Expr::Divide(..) => left.checked_div(right),
                    Expr::Remainder(..) => left.checked_rem(right),
                    _ => left.checked_div_euclid(right).and_then(|quotient| {
                        let rest = i128::from(left.rem_euclid(right) != 0);
                        quotient.checked_add(if right > 0 { rest } else { 0 })
                    }),
                }
            }
        };
        found.ok_or(Obstacle::Overflow)
    }

    /// What an expression is computed from, each once.
    fn numbers(&self, expr: &Expr) -> Numbers {
        let mut found = Vec::new();
        if !matches!(expr, Expr::Value(_)) {
            self.collect(expr, &mut found);
        }
        Numbers(found)
    }

    fn collect(&self, expr: &Expr, into: &mut Vec<(String, i128)>) {
        let name = match *expr {
            Expr::Value(index) => self
                .annotations
                .values
                .get(index)
                .map(|it| (*it).to_owned()),
            Expr::Length(buffer) => {
                let name = self.annotations.buffers.get(buffer);
                name.map(|name| format!("len({name})"))
            }
            Expr::Threads => Some("block".to_owned()),
            Expr::Block(axis) => ["x", "y", "z"]
                .get(axis)
                .map(|axis| format!("block.{axis}")),
            Expr::Number(_) => None,
            Expr::Add(left, right)
            | Expr::Subtract(left, right)
            | Expr::Multiply(left, right)
            | Expr::Divide(left, right)
            | Expr::Remainder(left, right)
            | Expr::ShiftLeft(left, right)
            | Expr::ShiftRight(left, right)
            | Expr::Min(left, right)
            | Expr::Max(left, right)
            | Expr::CeilDiv(left, right) => {
                self.collect(left, into);
                self.collect(right, into);
                None
            }
        };
        if let (Some(name), Ok(value)) = (name, self.value(expr))
            && into.iter().all(|(known, _)| *known != name)
        {
            into.push((name, value));
        }
    }
}
