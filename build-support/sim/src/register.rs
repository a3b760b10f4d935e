//! The registers of a warp: a row of 32 values for each register, one a lane.
//!
//! 8-, 16- and 32-bit registers have rows of `u32`, the narrow ones with zeros above; 64-bit ones rows of `u64`,
//! 128-bit ones two of those, low half first; predicates are masks. Instructions name rows by number. Numbers
//! from [`CONSTANT`] up name a row of the function's constants, so that an immediate operand is a row as well.

use crate::wide::wide;

/// Threads of a warp.
pub(crate) const LANES: usize = 32;
/// All lanes.
pub(crate) const ALL: u32 = u32::MAX;

/// A row of 32-bit registers.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Row32(pub(crate) [u32; LANES]);

/// A row of 64-bit registers.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(crate) struct Row64(pub(crate) [u64; LANES]);

/// A row that is read: a register, or a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Src(pub(crate) u32);

/// A row that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dst(pub(crate) u32);

impl Dst {
    /// The same row, to be read.
    pub(crate) const fn src(self) -> Src {
        Src(self.0)
    }
}

/// The first number of constant rows.
pub(crate) const CONSTANT: u32 = 1 << 31;

/// The registers of a call of a function by a warp.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    pub(crate) r32: Vec<Row32>,
    pub(crate) r64: Vec<Row64>,
    pub(crate) p: Vec<u32>,
}

/// How many rows a function needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) r32: u32,
    pub(crate) r64: u32,
    pub(crate) p: u32,
}

/// Constant rows of a function.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    pub(crate) r32: Vec<Row32>,
    pub(crate) r64: Vec<Row64>,
}

impl Registers {
    /// Makes room; what the rows hold is of no matter unless `zero` says so.
    pub(crate) fn prepare(&mut self, counts: Counts, zero: bool) {
        if zero {
            self.r32.clear();
            self.r64.clear();
            self.p.clear();
        }
        let (r32, r64, p) = (counts.r32 as usize, counts.r64 as usize, counts.p as usize);
        if self.r32.len() < r32 {
            self.r32.resize(r32, Row32([0; LANES]));
        }
        if self.r64.len() < r64 {
            self.r64.resize(r64, Row64([0; LANES]));
        }
        if self.p.len() < p {
            self.p.resize(p, 0);
        }
    }
}

/// The registers and constants that an instruction works on.
pub(crate) struct File<'a> {
    pub(crate) registers: &'a mut Registers,
    pub(crate) constants: &'a Constants,
}

/// A value of a row.
pub(crate) trait Word: Copy + Default {
    fn row<'f>(file: &'f File<'_>, row: Src) -> &'f [Self; LANES];
    fn row_mut<'f>(file: &'f mut File<'_>, row: Dst) -> &'f mut [Self; LANES];
    /// Takes over the values of the lanes in `mask`.
    fn blend(target: &mut [Self; LANES], values: &[Self; LANES], mask: u32);
}

#[inline(always)]
fn blend<T: Copy>(target: &mut [T; LANES], values: &[T; LANES], mask: u32) {
    for lane in 0..LANES {
        target[lane] = if mask >> lane & 1 != 0 {
            values[lane]
        } else {
            target[lane]
        };
    }
}

#[inline(always)]
fn blended32(target: &mut [u32; LANES], values: &[u32; LANES], mask: u32) {
    blend(target, values, mask);
}

#[inline(always)]
fn blended64(target: &mut [u64; LANES], values: &[u64; LANES], mask: u32) {
    blend(target, values, mask);
}

// Not part of every instruction's own code, which would be as long again.
wide!(fn blend32(target: &mut [u32; LANES], values: &[u32; LANES], mask: u32) = blended32);
wide!(fn blend64(target: &mut [u64; LANES], values: &[u64; LANES], mask: u32) = blended64);

impl Word for u32 {
    #[inline(always)]
    fn row<'f>(file: &'f File<'_>, row: Src) -> &'f [Self; LANES] {
        if row.0 < CONSTANT {
            &file.registers.r32[row.0 as usize].0
        } else {
            &file.constants.r32[(row.0 - CONSTANT) as usize].0
        }
    }
    #[inline(always)]
    fn row_mut<'f>(file: &'f mut File<'_>, row: Dst) -> &'f mut [Self; LANES] {
        &mut file.registers.r32[row.0 as usize].0
    }
    #[inline(always)]
    fn blend(target: &mut [Self; LANES], values: &[Self; LANES], mask: u32) {
        blend32(target, values, mask);
    }
}

impl Word for u64 {
    #[inline(always)]
    fn row<'f>(file: &'f File<'_>, row: Src) -> &'f [Self; LANES] {
        if row.0 < CONSTANT {
            &file.registers.r64[row.0 as usize].0
        } else {
            &file.constants.r64[(row.0 - CONSTANT) as usize].0
        }
    }
    #[inline(always)]
    fn row_mut<'f>(file: &'f mut File<'_>, row: Dst) -> &'f mut [Self; LANES] {
        &mut file.registers.r64[row.0 as usize].0
    }
    #[inline(always)]
    fn blend(target: &mut [Self; LANES], values: &[Self; LANES], mask: u32) {
        blend64(target, values, mask);
    }
}

impl File<'_> {
    /// A row's values.
    #[inline(always)]
    pub(crate) fn get<T: Word>(&self, row: Src) -> [T; LANES] {
        *T::row(self, row)
    }

    /// Writes the values of the lanes in `mask`.
    #[inline(always)]
    pub(crate) fn put<T: Word>(&mut self, row: Dst, values: &[T; LANES], mask: u32) {
        let target = T::row_mut(self, row);
        if mask == ALL {
            *target = *values;
        } else {
            T::blend(target, values, mask);
        }
    }

    /// A predicate's lanes.
    #[inline(always)]
    pub(crate) fn predicate(&self, source: Pred) -> u32 {
        let flip = if source.negated() { ALL } else { 0 };
        match source.index() {
            Some(index) => self.registers.p[index] ^ flip,
            None => ALL ^ flip,
        }
    }

    /// Writes a predicate's lanes in `mask`.
    #[inline(always)]
    pub(crate) fn put_predicate(&mut self, row: Dst, values: u32, mask: u32) {
        let target = &mut self.registers.p[row.0 as usize];
        *target = *target & !mask | values & mask;
    }

    #[inline(always)]
    pub(crate) fn map1<D: Word, A: Word>(&mut self, mask: u32, d: Dst, a: Src, f: impl Fn(A) -> D) {
        let a = A::row(self, a);
        let mut out = [D::default(); LANES];
        for lane in 0..LANES {
            out[lane] = f(a[lane]);
        }
        self.put(d, &out, mask);
    }

    #[inline(always)]
    pub(crate) fn map2<D: Word, A: Word, B: Word>(
        &mut self,
        mask: u32,
        d: Dst,
        (a, b): (Src, Src),
        f: impl Fn(A, B) -> D,
    ) {
        let a = A::row(self, a);
        let b = B::row(self, b);
        let mut out = [D::default(); LANES];
        for lane in 0..LANES {
            out[lane] = f(a[lane], b[lane]);
        }
        self.put(d, &out, mask);
    }

    #[inline(always)]
    pub(crate) fn map3<D: Word, A: Word, B: Word, C: Word>(
        &mut self,
        mask: u32,
        d: Dst,
        (a, b, c): (Src, Src, Src),
        f: impl Fn(A, B, C) -> D,
    ) {
        let a = A::row(self, a);
        let b = B::row(self, b);
        let c = C::row(self, c);
        let mut out = [D::default(); LANES];
        for lane in 0..LANES {
            out[lane] = f(a[lane], b[lane], c[lane]);
        }
        self.put(d, &out, mask);
    }

    /// The lanes for which `f` holds.
    #[inline(always)]
    pub(crate) fn test2<A: Word, B: Word>(
        &self,
        (a, b): (Src, Src),
        f: impl Fn(A, B) -> bool,
    ) -> u32 {
        let a = A::row(self, a);
        let b = B::row(self, b);
        let mut out = 0;
        for lane in 0..LANES {
            out |= u32::from(f(a[lane], b[lane])) << lane;
        }
        out
    }
}

/// A predicate that is read: its register, negated or not, or always true.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pred(u32);

impl Pred {
    /// True in every lane.
    pub(crate) const TRUE: Self = Self(0);

    pub(crate) const fn new(index: u32, negated: bool) -> Self {
        Self((index + 1) << 1 | negated as u32)
    }

    pub(crate) const fn not(self) -> Self {
        Self(self.0 ^ 1)
    }

    #[inline(always)]
    pub(crate) const fn negated(self) -> bool {
        self.0 & 1 != 0
    }

    #[inline(always)]
    pub(crate) const fn index(self) -> Option<usize> {
        match self.0 >> 1 {
            0 => None,
            index => Some(index as usize - 1),
        }
    }
}

/// `f` of every lane. Unlike `array::map` it is always a loop that vectors can do.
#[inline(always)]
pub(crate) fn each<A: Copy, B: Copy + Default>(row: &[A; LANES], f: impl Fn(A) -> B) -> [B; LANES] {
    let mut out = [B::default(); LANES];
    for lane in 0..LANES {
        out[lane] = f(row[lane]);
    }
    out
}

/// The lanes of a mask, lowest first.
#[inline(always)]
pub(crate) fn lanes_of(mut mask: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = mask.trailing_zeros() as usize;
        (mask != 0).then(|| {
            mask &= mask - 1;
            lane
        })
    })
}
