//! Rows for operands.

use gpuk_ptx::{Operand, Register, Type};

use super::Decoder;
use super::link::{SharedPatch, Symbol};
use super::scope::Local;
use crate::family::{moves, special};
use crate::memory::window;
use crate::program::{Formal, Op, Pooled};
use crate::register::{CONSTANT, Dst, LANES, Pred, Row32, Row64, Src};

/// Where a declared register lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Its first row.
    pub(super) row: u32,
    /// Bits of an element; 1 for a predicate.
    pub(super) bits: u8,
    /// Elements of a vector; else 1.
    pub(super) lanes: u8,
}

/// A destination of whatever width it was declared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) row: Dst,
    /// 8, 16, 32, 64 or 128.
    pub(crate) bits: u8,
}

/// A source of whatever width it was declared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) row: Src,
    /// Whether it is a row of 64 bits.
    pub(crate) wide: bool,
}

/// A memory operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A kernel's parameter, at a fixed offset.
    KernelParam(u32),
    /// Local memory or parameters of the frame, at a fixed offset.
    Frame(u32),
    /// A row of addresses, and bytes added.
    Row(Source, i32),
}

impl Decoder<'_> {
    fn take32(&mut self, rows: u32) -> u32 {
        let row = self.code.counts.r32;
        self.code.counts.r32 += rows;
        row
    }

    fn take64(&mut self, rows: u32) -> u32 {
        let row = self.code.counts.r64;
        self.code.counts.r64 += rows;
        row
    }

    fn take_p(&mut self, rows: u32) -> u32 {
        let row = self.code.counts.p;
        self.code.counts.p += rows;
        row
    }

    /// A row of 32 bits that no register has.
    pub(crate) fn scratch32(&mut self) -> Dst {
        Dst(self.take32(1))
    }

    /// A row of 64 bits that no register has.
    pub(crate) fn scratch64(&mut self) -> Dst {
        Dst(self.take64(1))
    }

    /// The row of the carry flag (PTX ISA 9.7.2).
    pub(crate) fn carry(&mut self) -> Dst {
        if let Some(carry) = self.carry {
            return carry;
        }
        let carry = Dst(self.take_p(1));
        self.carry = Some(carry);
        carry
    }

    fn slot(&self, register: &Register) -> Option<Slot> {
        self.slots.get(register.id.0 as usize).copied()
    }

    /// The slot of a register or of an element of a vector.
    fn slot_of(&self, operand: &Operand) -> Option<Slot> {
        match operand {
            Operand::Register(register) => self.slot(register).filter(|slot| slot.lanes == 1),
            Operand::Element(register, element) => {
                let slot = self.slot(register)?;
                let at = match &**element {
                    "x" | "r" | "b0" => 0,
                    "y" | "g" | "b1" => 1,
                    "z" | "b" | "b2" => 2,
                    "w" | "a" | "b3" => 3,
                    _ => return None,
                };
                (at < u32::from(slot.lanes)).then_some(())?;
                let step = if slot.bits == 128 { 2 } else { 1 };
                Some(Slot {
                    row: slot.row + at * step,
                    bits: slot.bits,
                    lanes: 1,
                })
            }
            _ => None,
        }
    }

    pub(super) fn formal_register(&self, name: &str) -> Option<Formal> {
        // Registers of the signature are declared before the body's, so the first of that name is meant.
        let declared = self
            .body
            .registers
            .iter()
            .find(|known| &*known.name == name)?;
        let slot = *self.slots.get(declared.first.0 as usize)?;
        Some(match slot.bits {
            1 => Formal::Predicate(Dst(slot.row)),
            64 => Formal::R64(Dst(slot.row)),
            128 => return None,
            _ => Formal::R32(Dst(slot.row)),
        })
    }

    /// A constant row with the same value in every lane.
    pub(crate) fn constant32(&mut self, value: u32) -> Src {
        let rows = &mut self.code.constants.r32;
        let row = *self.known32.entry(value).or_insert_with(|| {
            rows.push(Row32([value; LANES]));
            rows.len() as u32 - 1
        });
        Src(CONSTANT + row)
    }

    /// A constant row with the same value in every lane.
    pub(crate) fn constant64(&mut self, value: u64) -> Src {
        let rows = &mut self.code.constants.r64;
        let row = *self.known64.entry(value).or_insert_with(|| {
            rows.push(Row64([value; LANES]));
            rows.len() as u32 - 1
        });
        Src(CONSTANT + row)
    }

    /// The bits that a constant operand has as a value of that type.
    pub(crate) fn immediate(operand: &Operand, ty: Type) -> Option<u64> {
        Some(match (operand, ty) {
            (Operand::Int(bits), Type::F16 | Type::Bf16 | Type::F16x2 | Type::Bf16x2) => *bits,
            (Operand::Int(bits), Type::F32) => u64::from((bits.cast_signed() as f32).to_bits()),
            (Operand::Int(bits), Type::F64) => (bits.cast_signed() as f64).to_bits(),
            (Operand::Int(bits), _) => *bits,
            (Operand::F32(bits), Type::F64) => f64::from(f32::from_bits(*bits)).to_bits(),
            (Operand::F32(bits), _) => u64::from(*bits),
            (Operand::F64(bits), Type::F32) => u64::from((f64::from_bits(*bits) as f32).to_bits()),
            (Operand::F64(bits), _) => *bits,
            _ => return None,
        })
    }

    /// A source of at most 32 bits.
    pub(crate) fn src32(&mut self, operand: &Operand, ty: Type) -> Option<Src> {
        let source = self.source(operand, ty)?;
        (!source.wide).then_some(source.row)
    }

    /// A source of 64 bits.
    pub(crate) fn src64(&mut self, operand: &Operand, ty: Type) -> Option<Src> {
        let source = self.source(operand, ty)?;
        source.wide.then_some(source.row)
    }

    /// A source as wide as the type.
    pub(crate) fn src(&mut self, operand: &Operand, ty: Type) -> Option<Src> {
        match ty.bits() {
            64 => self.src64(operand, ty),
            _ => self.src32(operand, ty),
        }
    }

    /// A source of any width; a constant is as wide as the type.
    pub(crate) fn source(&mut self, operand: &Operand, ty: Type) -> Option<Source> {
        if let Some(bits) = Self::immediate(operand, ty) {
            let wide = ty.bits() == 64;
            let row = if wide {
                self.constant64(bits)
            } else {
                self.constant32(match ty.bits() {
                    8 => bits as u32 & 0xff,
                    16 => bits as u32 & 0xffff,
                    _ => bits as u32,
                })
            };
            return Some(Source { row, wide });
        }
        match operand {
            Operand::Register(_) | Operand::Element(..) => {
                let slot = self.slot_of(operand)?;
                matches!(slot.bits, 8 | 16 | 32 | 64).then_some(())?;
                Some(Source {
                    row: Src(slot.row),
                    wide: slot.bits == 64,
                })
            }
            // Variables may have names that begin with a percent sign.
            Operand::Special(name) if self.scopes.local(name).is_some() => {
                self.symbol(name, 0, ty.bits() == 64)
            }
            Operand::Special(name) => {
                let register = special::Register::from_name(name)?;
                let wide = register.is_wide();
                let d = if wide {
                    self.scratch64()
                } else {
                    self.scratch32()
                };
                self.emit(Op::Special(special::Op { register, d }));
                Some(Source { row: d.src(), wide })
            }
            Operand::Symbol(name, 0) if &**name == "WARP_SZ" => {
                Some(self.number(LANES as u64, ty.bits() == 64))
            }
            Operand::Symbol(name, offset) => self.symbol(name, *offset, ty.bits() == 64),
            _ => None,
        }
    }

    /// The address of a symbol in its own space.
    fn symbol(&mut self, name: &str, offset: i64, wide: bool) -> Option<Source> {
        let symbol = match self.scopes.local(name) {
            Some(Local::Symbol(symbol)) => symbol,
            Some(Local::KernelParam(at)) => {
                let value = u64::from(at).wrapping_add_signed(offset);
                return Some(self.number(value, wide));
            }
            Some(Local::Frame { offset: at, .. }) => {
                let offset = i64::from(at) + offset;
                let d = if wide {
                    self.scratch64()
                } else {
                    self.scratch32()
                };
                self.emit(Op::Move(moves::Op::FrameAddress {
                    d,
                    wide,
                    offset: i32::try_from(offset).ok()?,
                }));
                return Some(Source { row: d.src(), wide });
            }
            None => *self.link.symbols.get(name)?,
        };
        match symbol {
            Symbol::Address(address) => {
                Some(self.number(address.wrapping_add_signed(offset), wide))
            }
            Symbol::Function(number) => {
                self.callees.insert(number);
                let address = window::CODE + u64::from(number) * window::CODE_STEP;
                Some(self.number(address, wide))
            }
            Symbol::Shared(variable) => self.shared(variable, offset, wide),
            Symbol::System(_) => None,
        }
    }

    fn number(&mut self, value: u64, wide: bool) -> Source {
        let row = if wide {
            self.constant64(value)
        } else {
            self.constant32(value as u32)
        };
        Source { row, wide }
    }

    /// A shared variable's address. A kernel has constant rows of its own for them; a function that several
    /// kernels may call asks the block.
    fn shared(&mut self, variable: u32, offset: i64, wide: bool) -> Option<Source> {
        self.shared_used.insert(variable);
        if !self.entry {
            let d = if wide {
                self.scratch64()
            } else {
                self.scratch32()
            };
            self.emit(Op::Move(moves::Op::SharedAddress {
                d,
                wide,
                variable,
                offset: i32::try_from(offset).ok()?,
            }));
            return Some(Source { row: d.src(), wide });
        }
        let known = (self.shared.iter())
            .find(|known| (known.variable, known.offset, known.wide) == (variable, offset, wide));
        if let Some(known) = known {
            return Some(Source {
                row: known.row,
                wide,
            });
        }
        let constants = &mut self.code.constants;
        let row = if wide {
            constants.r64.push(Row64([0; LANES]));
            constants.r64.len()
        } else {
            constants.r32.push(Row32([0; LANES]));
            constants.r32.len()
        };
        let row = Src(CONSTANT + row as u32 - 1);
        self.shared.push(SharedPatch {
            row,
            wide,
            variable,
            offset,
        });
        Some(Source { row, wide })
    }

    /// A destination of at most 32 bits.
    pub(crate) fn dst32(&mut self, operand: &Operand) -> Option<Dst> {
        if matches!(operand, Operand::Sink) {
            return Some(self.scratch32());
        }
        let slot = self.slot_of(operand)?;
        matches!(slot.bits, 8 | 16 | 32).then_some(Dst(slot.row))
    }

    /// A destination of 64 bits.
    pub(crate) fn dst64(&mut self, operand: &Operand) -> Option<Dst> {
        if matches!(operand, Operand::Sink) {
            return Some(self.scratch64());
        }
        let slot = self.slot_of(operand)?;
        (slot.bits == 64).then_some(Dst(slot.row))
    }

    /// A destination as wide as the type.
    pub(crate) fn dst(&mut self, operand: &Operand, ty: Type) -> Option<Dst> {
        match ty.bits() {
            64 => self.dst64(operand),
            _ => self.dst32(operand),
        }
    }

    /// A destination of any width; a sink is as wide as the type.
    pub(crate) fn target(&mut self, operand: &Operand, ty: Type) -> Option<Target> {
        if matches!(operand, Operand::Sink) {
            let bits = ty.bits().clamp(8, 64) as u8;
            let row = if bits == 64 {
                self.scratch64()
            } else {
                self.scratch32()
            };
            return Some(Target { row, bits });
        }
        let slot = self.slot_of(operand)?;
        (slot.bits != 1).then_some(Target {
            row: Dst(slot.row),
            bits: slot.bits,
        })
    }

    /// The first of the two 64-bit rows of a 128-bit register.
    pub(crate) fn row128(&mut self, operand: &Operand) -> Option<Dst> {
        if matches!(operand, Operand::Sink) {
            return Some(Dst(self.take64(2)));
        }
        let slot = self.slot_of(operand)?;
        (slot.bits == 128).then_some(Dst(slot.row))
    }

    /// A predicate that is read: a register, `!` of one, or a number.
    pub(crate) fn predicate(&mut self, operand: &Operand) -> Option<Pred> {
        match operand {
            Operand::Not(inner) => self.predicate(inner).map(Pred::not),
            Operand::Int(0) => Some(Pred::TRUE.not()),
            Operand::Int(_) => Some(Pred::TRUE),
            Operand::Special(name) if &**name == "%pt" => Some(Pred::TRUE),
            _ => {
                let slot = self.slot_of(operand)?;
                (slot.bits == 1).then_some(Pred::new(slot.row, false))
            }
        }
    }

    /// A predicate that is written.
    pub(crate) fn dst_predicate(&mut self, operand: &Operand) -> Option<Dst> {
        if matches!(operand, Operand::Sink) {
            return Some(Dst(self.take_p(1)));
        }
        let slot = self.slot_of(operand)?;
        (slot.bits == 1).then_some(Dst(slot.row))
    }

    /// The elements of a vector operand; a vector register's too.
    pub(crate) fn elements<'o>(&self, operand: &'o Operand) -> Vec<std::borrow::Cow<'o, Operand>> {
        use std::borrow::Cow;
        match operand {
            Operand::Vector(elements) => elements.iter().map(Cow::Borrowed).collect(),
            Operand::Register(register) => match self.slot(register) {
                Some(slot) if slot.lanes > 1 => ["x", "y", "z", "w"]
                    .into_iter()
                    .take(slot.lanes.into())
                    .map(|name| Cow::Owned(Operand::Element(register.clone(), name.into())))
                    .collect(),
                _ => vec![Cow::Borrowed(operand)],
            },
            _ => vec![Cow::Borrowed(operand)],
        }
    }

    /// What an address operand names.
    pub(crate) fn place(&mut self, operand: &Operand) -> Option<Place> {
        let Operand::Address(address) = operand else {
            return None;
        };
        address.rest.is_empty().then_some(())?;
        match &address.base {
            Operand::Special(name) | Operand::Symbol(name, _)
                if matches!(address.base, Operand::Symbol(..))
                    || self.scopes.local(name).is_some() =>
            {
                match self.scopes.local(name) {
                    Some(Local::KernelParam(at)) => {
                        let at = i64::from(at) + address.offset;
                        Some(Place::KernelParam(u32::try_from(at).ok()?))
                    }
                    Some(Local::Frame { offset, .. }) => {
                        let at = i64::from(offset) + address.offset;
                        Some(Place::Frame(u32::try_from(at).ok()?))
                    }
                    Some(Local::Symbol(_)) | None => {
                        Some(Place::Row(self.symbol(name, address.offset, true)?, 0))
                    }
                }
            }
            Operand::Int(base) => {
                let row = self.constant64(base.wrapping_add_signed(address.offset));
                Some(Place::Row(Source { row, wide: true }, 0))
            }
            base => {
                let source = self.source(base, Type::B64)?;
                Some(Place::Row(source, i32::try_from(address.offset).ok()?))
            }
        }
    }

    /// The number of a label, to be put where its place is wanted.
    pub(crate) fn label(&self, operand: &Operand) -> Option<u32> {
        match operand {
            Operand::Symbol(name, 0) => self.scopes.label(name),
            _ => None,
        }
    }

    /// The places of a `.branchtargets`, in the pool once all labels are known.
    pub(crate) fn branch_targets(&mut self, operand: &Operand) -> Option<Pooled> {
        let Operand::Symbol(name, 0) = operand else {
            return None;
        };
        let labels = self.scopes.list(name)?;
        let numbers: Option<Vec<u32>> = (labels.iter())
            .map(|label| self.scopes.label(label))
            .collect();
        let list = self.pool(&numbers?)?;
        self.targets.extend(list.range());
        Some(list)
    }

    /// Puts a list into the pool.
    pub(crate) fn pool(&mut self, list: &[u32]) -> Option<Pooled> {
        let start = self.code.pool.len() as u32;
        self.code.pool.extend_from_slice(list);
        Some(Pooled {
            start,
            len: u16::try_from(list.len()).ok()?,
        })
    }

    /// A variable of the function: its offset in the frame's local memory.
    pub(crate) fn frame_variable(&self, operand: &Operand) -> Option<u32> {
        match operand {
            Operand::Symbol(name, 0) | Operand::Special(name) => match self.scopes.local(name)? {
                Local::Frame { offset, .. } => Some(offset),
                Local::KernelParam(_) | Local::Symbol(_) => None,
            },
            _ => None,
        }
    }
}
