//! A loaded module.
//!
//! - here: what can be asked of it
//! - `check`: what a driver's compiler refuses
//! - `load`: making one from PTX
//! - `layout`: where variables and parameters lie
//! - `lines`: source places of instructions

mod check;
mod layout;
mod lines;
mod load;

use std::fmt;
use std::sync::Arc;

use gpuk_ptx::Bounds;

pub use self::check::Complaint;
pub use self::layout::ParamLayout;
use self::lines::Lines;
pub use self::load::LoadError;
pub(crate) use self::load::load;
use crate::memory::Memory;
use crate::place::Place;
use crate::program::{Code, Op};

/// A variable of a module in global or constant memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Global {
    /// Its name.
    pub name: String,
    /// Its first byte.
    pub address: u64,
    /// Its bytes.
    pub bytes: u64,
    /// Whether it is constant memory.
    pub constant: bool,
}

/// An instruction that the simulator does not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// The function it stands in.
    pub function: String,
    /// The instruction, as the PTX has it.
    pub instruction: String,
    /// Source line, if the PTX has line information.
    pub place: Option<Place>,
}

/// A kernel of a module.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Number of its function.
    pub(crate) function: u32,
    params: Vec<ParamLayout>,
    /// Offset of each of the module's shared variables; `u32::MAX` for those that it does not reach.
    shared: Vec<u32>,
    /// Bytes of its static shared memory.
    pub(crate) static_shared: u32,
    /// Where dynamic shared memory begins.
    dynamic: u32,
    bounds: Bounds,
    /// Every function that it can reach, itself too.
    reach: Vec<u32>,
}

impl Entry {
    /// Where a shared variable lies.
    pub(crate) fn shared_offset(&self, variable: u32) -> u32 {
        self.shared.get(variable as usize).copied().unwrap_or(0)
    }

    /// Bytes of shared memory of a launch.
    pub(crate) const fn shared_bytes(&self, dynamic: u32) -> u32 {
        if dynamic == 0 {
            self.static_shared
        } else {
            self.dynamic.saturating_add(dynamic)
        }
    }
}

/// A loaded module. Its variables are freed when it is dropped.
pub struct Module {
    text: Box<str>,
    version: (u32, u32),
    target: String,
    functions: Vec<Code>,
    entries: Vec<Entry>,
    globals: Vec<Global>,
    lines: Lines,
    memory: Arc<Memory>,
}

impl Drop for Module {
    fn drop(&mut self) {
        for global in &self.globals {
            // A variable that the program freed itself is gone already.
            let _ = self.memory.free(global.address);
        }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Module")
            .field("target", &self.target)
            .field("entries", &self.entries.len())
            .finish_non_exhaustive()
    }
}

impl Module {
    /// The kernel of that name.
    #[must_use]
    pub fn function(self: &Arc<Self>, name: &str) -> Option<Function> {
        let index = self.entries.iter().position(|entry| entry.name == name)?;
        Some(Function {
            module: Arc::clone(self),
            index,
        })
    }

    /// All kernels.
    #[must_use]
    pub fn functions(self: &Arc<Self>) -> Vec<Function> {
        (0..self.entries.len())
            .map(|index| Function {
                module: Arc::clone(self),
                index,
            })
            .collect()
    }

    /// The variable of that name in global or constant memory: its address and its bytes.
    #[must_use]
    pub fn global(&self, name: &str) -> Option<(u64, u64)> {
        let found = self.globals.iter().find(|global| global.name == name)?;
        Some((found.address, found.bytes))
    }

    /// All variables in global and constant memory.
    #[must_use]
    pub fn globals(&self) -> &[Global] {
        &self.globals
    }

    /// The target with its suffix: `sm_90a`.
    #[must_use]
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The PTX ISA version: `(9, 0)`.
    #[must_use]
    pub const fn version(&self) -> (u32, u32) {
        self.version
    }

    /// The source line of the instruction of that number.
    #[must_use]
    pub fn place(&self, instruction: u32) -> Option<Place> {
        let (code, at) = self.instruction_at(instruction)?;
        self.lines.place(&self.text, code.lines[at].loc)
    }

    /// The instruction of that number, as the PTX has it.
    #[must_use]
    pub fn instruction(&self, instruction: u32) -> String {
        let text = self.instruction_at(instruction).and_then(|(code, at)| {
            let line = code.lines[at];
            self.text.get(line.start as usize..line.end as usize)
        });
        let mut words = text.unwrap_or_default().split_whitespace();
        let first = words.next().unwrap_or_default().to_owned();
        words.fold(first, |line, word| line + " " + word)
    }

    /// The instructions that the simulator does not have, in the order of the text.
    #[must_use]
    pub fn unsupported(&self) -> Vec<Unsupported> {
        let mut list = Vec::new();
        for code in &self.functions {
            for (at, instruction) in code.instructions.iter().enumerate() {
                if matches!(instruction.op, Op::Unsupported) {
                    let number = code.first + at as u32;
                    list.push(Unsupported {
                        function: code.name.clone(),
                        instruction: self.instruction(number),
                        place: self.place(number),
                    });
                }
            }
        }
        list
    }

    fn instruction_at(&self, number: u32) -> Option<(&Code, usize)> {
        let after = self.functions.partition_point(|code| code.first <= number);
        let code = self.functions.get(after.checked_sub(1)?)?;
        let at = (number - code.first) as usize;
        (at < code.instructions.len()).then_some((code, at))
    }

    /// How many instructions there are.
    pub(crate) fn instructions(&self) -> usize {
        self.functions
            .iter()
            .map(|code| code.instructions.len())
            .sum()
    }

    pub(crate) fn code(&self, function: u32) -> &Code {
        &self.functions[function as usize]
    }

    /// Whether that number is a function that can be called.
    pub(crate) fn is_callable(&self, function: u32) -> bool {
        let exists = (function as usize) < self.functions.len();
        exists && self.entries.iter().all(|entry| entry.function != function)
    }
}

/// A kernel of a module.
#[derive(Debug, Clone)]
pub struct Function {
    module: Arc<Module>,
    index: usize,
}

impl Function {
    pub(crate) fn entry(&self) -> &Entry {
        &self.module.entries[self.index]
    }

    /// The module it belongs to.
    #[must_use]
    pub const fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.entry().name
    }

    /// Where its parameters lie.
    #[must_use]
    pub fn params(&self) -> &[ParamLayout] {
        &self.entry().params
    }

    /// Bytes that its parameters take.
    #[must_use]
    pub fn param_bytes(&self) -> u32 {
        let last = self.params().last();
        last.map_or(0, |last| last.offset + last.size)
    }

    /// Bytes of its static shared memory.
    #[must_use]
    pub fn static_shared(&self) -> u32 {
        self.entry().static_shared
    }

    /// What its directives say about launches.
    #[must_use]
    pub fn bounds(&self) -> &Bounds {
        &self.entry().bounds
    }

    /// The most threads a block may have.
    #[must_use]
    pub fn max_threads(&self) -> u32 {
        const DEVICE: u64 = 1024;
        let bounds = self.bounds();
        let shape = bounds.exact_block.or(bounds.max_block);
        shape.map_or(DEVICE as u32, |shape| {
            let threads = shape.iter().map(|size| u64::from(*size)).product::<u64>();
            threads.clamp(1, DEVICE) as u32
        })
    }

    /// Bytes of the module's constant variables.
    #[must_use]
    pub fn const_bytes(&self) -> u64 {
        let globals = self.module.globals.iter();
        let constants = globals.filter(|global| global.constant);
        constants.map(|global| global.bytes).sum()
    }

    /// Bytes of local memory that its own variables and those of what it calls take, each once.
    #[must_use]
    pub fn local_bytes(&self) -> u32 {
        let reach = self.entry().reach.iter();
        let local = reach.map(|function| self.module.code(*function).local);
        local.fold(0, u32::saturating_add)
    }

    /// Registers a thread needs; a guess, as registers are assigned by `ptxas`.
    #[must_use]
    pub fn registers(&self) -> u32 {
        let counts = self.module.code(self.entry().function).counts;
        (counts.r32 + 2 * counts.r64).clamp(16, 255)
    }

    /// The instructions that it can reach and that the simulator does not have.
    #[must_use]
    pub fn unsupported(&self) -> Vec<Unsupported> {
        let names: Vec<&str> = (self.entry().reach.iter())
            .map(|function| &*self.module.code(*function).name)
            .collect();
        let mut list = self.module.unsupported();
        list.retain(|found| names.contains(&&*found.function));
        list
    }
}
