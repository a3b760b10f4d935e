//! How control flows through a body, and where each register's value is still wanted.
//!
//! An opcode that is not known to write its first operand is taken to read all of them, which keeps values longer than
//! need be but never too short.

use gpuk_ptx::{Body, Instruction, Operand, RegisterId, Statement, StatementKind};

use super::scope::Scopes;

/// A body as a list of instructions, with where each goes on.
pub(super) struct Flow<'m> {
    pub(super) instructions: Vec<&'m Instruction>,
    /// Numbers of the labels that an instruction goes to, then their places.
    targets: Vec<(usize, Vec<u32>)>,
}

/// A run of instructions that is entered at its start and left at its end.
#[derive(Debug, Default)]
struct Block {
    start: usize,
    end: usize,
    next: Vec<usize>,
}

/// The instructions over which a register has a value that is wanted, or is mentioned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Where registers are wanted.
pub(super) struct Liveness {
    /// By register; `None` for those that are never mentioned.
    pub(super) intervals: Vec<Option<Interval>>,
    /// Registers that may be read before they are written.
    pub(super) at_entry: Vec<RegisterId>,
}

/// Bits that liveness may take for a function; beyond it every register has a row of its own.
const MOST_BITS: usize = 1 << 29;

impl<'m> Flow<'m> {
    /// `None` if some branch goes where no label is.
    pub(super) fn new(body: &'m Body) -> Option<Self> {
        let mut flow = Self {
            instructions: Vec::new(),
            targets: Vec::new(),
        };
        let mut scopes = Scopes::default();
        flow.walk(&body.statements, &mut scopes)?;
        for (_, labels) in &mut flow.targets {
            for label in labels {
                *label = scopes.place_of(*label);
            }
        }
        Some(flow)
    }

    fn walk(&mut self, statements: &'m [Statement], scopes: &mut Scopes) -> Option<()> {
        scopes.enter(statements);
        for statement in statements {
            match &statement.kind {
                StatementKind::Label(name) => {
                    scopes.place_label(name, self.instructions.len() as u32);
                }
                StatementKind::Block(inner) => self.walk(inner, scopes)?,
                StatementKind::Instruction(instruction) => {
                    let at = self.instructions.len();
                    self.instructions.push(instruction);
                    match &*instruction.opcode {
                        "bra" => {
                            let label = scopes.label(name_of(instruction.operands.first()?)?)?;
                            self.targets.push((at, vec![label]));
                        }
                        "brx" => {
                            let list = scopes.list(name_of(instruction.operands.get(1)?)?)?;
                            let labels: Option<Vec<u32>> =
                                list.iter().map(|label| scopes.label(label)).collect();
                            self.targets.push((at, labels?));
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        scopes.close();
        Some(())
    }

    fn blocks(&self) -> Vec<Block> {
        let count = self.instructions.len();
        let mut leads = vec![false; count + 1];
        leads[0] = true;
        let mut ends = vec![false; count];
        for (at, instruction) in self.instructions.iter().enumerate() {
            if matches!(
                &*instruction.opcode,
                "bra" | "brx" | "ret" | "exit" | "trap"
            ) {
                leads[at + 1] = true;
                ends[at] = instruction.guard.is_none();
            }
        }
        for (_, targets) in &self.targets {
            for target in targets {
                leads[(*target as usize).min(count)] = true;
            }
        }
        let mut number = vec![0; count + 1];
        let mut blocks: Vec<Block> = Vec::new();
        for at in 0..count {
            if leads[at] {
                blocks.push(Block {
                    start: at,
                    ..Block::default()
                });
            }
            number[at] = blocks.len().saturating_sub(1);
            if let Some(block) = blocks.last_mut() {
                block.end = at + 1;
            }
        }
        let total = blocks.len();
        for (index, block) in blocks.iter_mut().enumerate() {
            if !ends[block.end - 1] && index + 1 < total {
                block.next.push(index + 1);
            }
        }
        for (at, targets) in &self.targets {
            for target in targets {
                // The end of the body is no block.
                if (*target as usize) < count {
                    blocks[number[*at]].next.push(number[*target as usize]);
                }
            }
        }
        blocks
    }

    /// Where registers are wanted; `None` if it is too much to find out.
    pub(super) fn liveness(&self, registers: usize) -> Option<Liveness> {
        let blocks = self.blocks();
        let words = registers.div_ceil(64);
        (blocks.len().checked_mul(registers)? <= MOST_BITS).then_some(())?;
        let rows = blocks.len() * words;
        // What a block reads before it writes it, what it writes, and what is wanted at its start.
        let (mut reads, mut writes) = (vec![0_u64; rows], vec![0_u64; rows]);
        for (index, block) in blocks.iter().enumerate() {
            let row = index * words;
            for instruction in &self.instructions[block.start..block.end] {
                mentions(instruction, &mut |register, is| {
                    let (word, bit) = (row + register / 64, 1 << (register % 64));
                    match is {
                        Mention::Read if writes[word] & bit == 0 => reads[word] |= bit,
                        Mention::Write => writes[word] |= bit,
                        _ => {}
                    }
                });
            }
        }
        let mut wanted = reads.clone();
        let mut changed = true;
        while changed {
            changed = false;
            for (index, block) in blocks.iter().enumerate().rev() {
                for next in &block.next {
                    for word in 0..words {
                        let after = wanted[next * words + word] & !writes[index * words + word];
                        let here = &mut wanted[index * words + word];
                        changed |= *here | after != *here;
                        *here |= after;
                    }
                }
            }
        }
        Some(self.intervals(&blocks, &wanted, registers))
    }

    fn intervals(&self, blocks: &[Block], wanted: &[u64], registers: usize) -> Liveness {
        let words = registers.div_ceil(64);
        let mut intervals: Vec<Option<Interval>> = vec![None; registers];
        let mut cover = |register: usize, from: usize, to: usize| {
            if let Some(interval) = intervals.get_mut(register) {
                *interval = Some(match *interval {
                    None => Interval {
                        start: from,
                        end: to,
                    },
                    Some(known) => Interval {
                        start: known.start.min(from),
                        end: known.end.max(to),
                    },
                });
            }
        };
        for (at, instruction) in self.instructions.iter().enumerate() {
            mentions(instruction, &mut |register, _| cover(register, at, at));
        }
        for (index, block) in blocks.iter().enumerate() {
            for word in 0..words {
                for register in bits(wanted[index * words + word], word) {
                    cover(register, block.start, block.start);
                }
                let after = block.next.iter().map(|next| wanted[next * words + word]);
                for register in bits(after.fold(0, |all, next| all | next), word) {
                    cover(register, block.end - 1, block.end - 1);
                }
            }
        }
        let entry = wanted.get(..words).unwrap_or_default();
        let at_entry = (entry.iter().enumerate())
            .flat_map(|(word, set)| bits(*set, word))
            .map(|register| RegisterId(register as u32))
            .collect();
        Liveness {
            intervals,
            at_entry,
        }
    }
}

/// The registers of a word of a set.
fn bits(mut set: u64, word: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = set.trailing_zeros() as usize;
        (set != 0).then(|| {
            set &= set - 1;
            64 * word + bit
        })
    })
}

fn name_of(operand: &Operand) -> Option<&str> {
    match operand {
        Operand::Symbol(name, 0) => Some(name),
        _ => None,
    }
}

/// What an instruction does with a register that it mentions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mention {
    Read,
    /// It has another value afterwards, whatever it had before.
    Write,
    /// It may have another value afterwards.
    MayWrite,
}

/// Opcodes that write their first operand and read the others.
const WRITES: &[&str] = &[
    "abs",
    "activemask",
    "add",
    "addc",
    "and",
    "atom",
    "bfe",
    "bfi",
    "bfind",
    "bmsk",
    "brev",
    "clz",
    "cnot",
    "copysign",
    "cos",
    "cvt",
    "cvta",
    "div",
    "dp2a",
    "dp4a",
    "elect",
    "ex2",
    "fma",
    "fns",
    "getctarank",
    "isspacep",
    "ld",
    "ldmatrix",
    "ldu",
    "lg2",
    "lop3",
    "mad",
    "mad24",
    "madc",
    "mapa",
    "match",
    "max",
    "mbarrier",
    "min",
    "mma",
    "mov",
    "movmatrix",
    "mul",
    "mul24",
    "neg",
    "not",
    "or",
    "popc",
    "prmt",
    "rcp",
    "redux",
    "rem",
    "rsqrt",
    "sad",
    "selp",
    "set",
    "setp",
    "shf",
    "shfl",
    "shl",
    "shr",
    "sin",
    "slct",
    "sqrt",
    "sub",
    "subc",
    "szext",
    "tanh",
    "testp",
    "vote",
    "xor",
];

fn writes_first(instruction: &Instruction) -> bool {
    match &*instruction.opcode {
        "bar" | "barrier" => instruction.has("red"),
        "wmma" => instruction.has("load") || instruction.has("mma"),
        opcode => WRITES.binary_search(&opcode).is_ok(),
    }
}

/// Calls `visit` for the registers, those that are read first.
fn mentions(instruction: &Instruction, visit: &mut dyn FnMut(usize, Mention)) {
    fn read(operand: &Operand, visit: &mut dyn FnMut(usize, Mention)) {
        operand.walk(&mut |part| match part {
            Operand::Register(register) | Operand::Element(register, _) => {
                visit(register.id.0 as usize, Mention::Read);
            }
            _ => {}
        });
    }
    let whole = if instruction.guard.is_some() {
        Mention::MayWrite
    } else {
        Mention::Write
    };
    let written: &[Operand] = match &instruction.call {
        Some(call) => &call.returns,
        None if writes_first(instruction) => instruction.operands.get(..1).unwrap_or_default(),
        None => &[],
    };
    if let Some(guard) = &instruction.guard {
        read(&guard.predicate, visit);
    }
    if let Some(call) = &instruction.call {
        read(&call.target, visit);
        call.args.iter().for_each(|arg| read(arg, visit));
    }
    for operand in instruction.operands.iter().skip(written.len()) {
        read(operand, visit);
    }
    for operand in written {
        operand.walk(&mut |part| match part {
            Operand::Register(register) => visit(register.id.0 as usize, whole),
            // The other elements stay as they are.
            Operand::Element(register, _) => visit(register.id.0 as usize, Mention::MayWrite),
            Operand::Address(_) => read(part, visit),
            _ => {}
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opcodes_are_sorted() {
        assert!(WRITES.is_sorted());
    }
}
