//! Turns a function's tree into instructions that a warp can execute.
//!
//! - here: the walk over the statements
//! - `flow`, `allocate`: which registers share a row
//! - `operand`: rows for operands
//! - `scope`: what labels and local names mean
//! - `mods`: the modifiers of an instruction
//! - `link`: what the names of the module mean
//!
//! What an opcode means is its family's to say: each has a `decode` that gives `None` for what it does not
//! know. What no family knows becomes [`Op::Unsupported`], which fails when it is executed.

mod allocate;
mod flow;
pub(crate) mod link;
pub(crate) mod mods;
pub(crate) mod operand;
mod scope;

use std::collections::{BTreeSet, HashMap};

use gpuk_ptx::{Body, Function, Param, Space, Statement, StatementKind, Variable};

use self::link::{Link, SharedPatch};
pub(crate) use self::mods::Mods;
use self::operand::Slot;
use self::scope::{Local, Scopes};
use crate::family;
use crate::program::{Code, Formal, Instruction, Line, Op};
use crate::register::{Dst, Pred};

/// What decoding a function gives.
pub(crate) struct Decoded {
    pub(crate) code: Code,
    /// Constant rows of shared variables' addresses.
    pub(crate) shared: Vec<SharedPatch>,
    /// Shared variables that the function names.
    pub(crate) shared_used: BTreeSet<u32>,
    /// Functions that it calls or whose address it takes.
    pub(crate) callees: BTreeSet<u32>,
    /// Whether it calls through pointers.
    pub(crate) indirect: bool,
}

/// The state of decoding a function.
pub(crate) struct Decoder<'m> {
    pub(crate) link: &'m Link,
    body: &'m Body,
    pub(crate) code: Code,
    /// Whether the function is a kernel.
    pub(crate) entry: bool,
    slots: Vec<Slot>,
    scopes: Scopes,
    known32: HashMap<u32, u32>,
    known64: HashMap<u64, u32>,
    carry: Option<Dst>,
    /// The guard of the instruction that is decoded.
    guard: Pred,
    line: Line,
    shared: Vec<SharedPatch>,
    shared_used: BTreeSet<u32>,
    pub(crate) callees: BTreeSet<u32>,
    pub(crate) indirect: bool,
    /// Places of the pool that hold a label's number until all labels are known.
    targets: Vec<usize>,
}

/// Decodes a function with a body. `locs` counts the module's `.loc`s.
pub(crate) fn decode<'m>(
    link: &'m Link,
    function: &Function,
    body: &'m Body,
    locs: &mut u32,
) -> Decoded {
    let (slots, counts, zero) = allocate::slots(function, body);
    let mut decoder = Decoder {
        link,
        body,
        code: Code {
            name: function.name.to_string(),
            counts,
            zero,
            ..Code::default()
        },
        entry: function.kind == gpuk_ptx::FunctionKind::Entry,
        slots,
        scopes: Scopes::default(),
        known32: HashMap::new(),
        known64: HashMap::new(),
        carry: None,
        guard: Pred::TRUE,
        line: Line {
            loc: u32::MAX,
            start: 0,
            end: 0,
        },
        shared: Vec::new(),
        shared_used: BTreeSet::new(),
        callees: BTreeSet::new(),
        indirect: false,
        targets: Vec::new(),
    };
    decoder.formals(function);
    decoder.statements(&body.statements, locs);
    // A body that does not end in one returns all the same.
    decoder.emit(Op::Control(family::control::Op::Return));
    decoder.resolve_targets();
    Decoded {
        code: decoder.code,
        shared: decoder.shared,
        shared_used: decoder.shared_used,
        callees: decoder.callees,
        indirect: decoder.indirect,
    }
}

impl Decoder<'_> {
    fn formals(&mut self, function: &Function) {
        self.scopes.open();
        if self.entry {
            let mut offset = 0;
            for param in &function.params {
                let (bytes, align) = size_of(param);
                offset = u64::next_multiple_of(offset, align);
                let name = param.name.clone();
                self.scopes.define(name, Local::KernelParam(offset as u32));
                offset += bytes;
            }
            return;
        }
        self.code.returns = (function.returns.iter())
            .map(|param| self.formal(param))
            .collect();
        self.code.params = (function.params.iter())
            .map(|param| self.formal(param))
            .collect();
    }

    fn formal(&mut self, param: &Param) -> Formal {
        if param.register
            && let Some(formal) = self.formal_register(&param.name)
        {
            return formal;
        }
        let (bytes, align) = size_of(param);
        let offset = self.take_local(bytes, align);
        (self.scopes).define(
            param.name.clone(),
            Local::Frame {
                offset,
                param: true,
            },
        );
        Formal::Param {
            offset,
            bytes: bytes as u32,
        }
    }

    /// Room in the frame's local memory. Every variable begins at a multiple of 4, so that rows of words can
    /// be copied for parameters.
    fn take_local(&mut self, bytes: u64, align: u64) -> u32 {
        let align = align.clamp(4, 1 << 16).next_power_of_two() as u32;
        let offset = self.code.local.next_multiple_of(align);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX / 4);
        self.code.local = offset.saturating_add(bytes).min(u32::MAX / 2);
        offset
    }

    fn statements(&mut self, statements: &[Statement], locs: &mut u32) {
        self.scopes.enter(statements);
        for statement in statements {
            match &statement.kind {
                StatementKind::Label(name) => {
                    let at = self.code.instructions.len() as u32;
                    self.scopes.place_label(name, at);
                }
                StatementKind::Variables(variables) => {
                    for variable in variables {
                        self.variable(variable);
                    }
                }
                StatementKind::Loc(_) => {
                    self.line.loc = *locs;
                    *locs += 1;
                }
                StatementKind::Block(inner) => self.statements(inner, locs),
                StatementKind::Instruction(instruction) => {
                    self.line.start = statement.span.start as u32;
                    self.line.end = statement.span.end as u32;
                    self.instruction(instruction);
                }
                StatementKind::Registers(_)
                | StatementKind::Pragma(_)
                | StatementKind::BranchTargets { .. }
                | StatementKind::CallTargets { .. }
                | StatementKind::CallPrototype { .. }
                | StatementKind::Other => {}
            }
        }
        self.scopes.close();
    }

    /// Variables in `.local` and `.param` belong to the frame; the link knows where those of the other spaces lie.
    fn variable(&mut self, variable: &Variable) {
        let param = match variable.space {
            Space::Local => false,
            Space::Param => true,
            _ => {
                if let Some(symbol) = self.link.inner.get(&variable.name_span.start) {
                    (self.scopes).define(variable.name.clone(), Local::Symbol(*symbol));
                }
                return;
            }
        };
        let bytes = variable.size().unwrap_or(0);
        let offset = self.take_local(bytes, variable.alignment());
        (self.scopes).define(variable.name.clone(), Local::Frame { offset, param });
    }

    fn instruction(&mut self, instruction: &gpuk_ptx::Instruction) {
        let guard = match &instruction.guard {
            None => Some(Pred::TRUE),
            Some(guard) => self
                .predicate(&guard.predicate)
                .map(|found| if guard.negated { found.not() } else { found }),
        };
        let before = self.code.instructions.len();
        self.guard = guard.unwrap_or(Pred::TRUE);
        let op = guard.and_then(|_| family::decode(instruction, self));
        if op.is_none() {
            // What a family prepared before it gave up is of no use.
            self.code.instructions.truncate(before);
            self.code.lines.truncate(before);
        }
        self.emit_guarded(op.unwrap_or(Op::Unsupported));
    }

    /// Adds an instruction that only fills rows of the decoder's own, and may do so for every lane.
    pub(crate) fn emit(&mut self, op: Op) {
        let guard = Pred::TRUE;
        self.code.instructions.push(Instruction { guard, op });
        self.code.lines.push(self.line);
    }

    /// Adds an instruction that has the guard of the one that is decoded.
    pub(crate) fn emit_guarded(&mut self, op: Op) {
        let guard = self.guard;
        self.code.instructions.push(Instruction { guard, op });
        self.code.lines.push(self.line);
    }

    fn resolve_targets(&mut self) {
        for at in std::mem::take(&mut self.targets) {
            if let Some(target) = self.code.pool.get_mut(at) {
                *target = self.scopes.place_of(*target);
            }
        }
        let scopes = &self.scopes;
        for instruction in &mut self.code.instructions {
            if let Op::Control(family::control::Op::Branch { target }) = &mut instruction.op {
                *target = scopes.place_of(*target);
            }
        }
    }
}

/// Bytes and alignment of a parameter.
pub(crate) fn size_of(param: &Param) -> (u64, u64) {
    let align = param.alignment().clamp(1, 1 << 16).next_power_of_two();
    (param.size().unwrap_or(0), align)
}
