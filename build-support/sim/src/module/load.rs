//! Loading: from PTX to a module with its variables in memory.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use gpuk_ptx::{
    FunctionKind, ItemKind, Linkage, Module as Tree, Name, ParseError, Space, StatementKind, Value,
    Variable,
};

use super::check::{self, Complaint};
use super::layout::{self, SharedVariable};
use super::lines::Lines;
use super::{Entry, Global, Module};
use crate::decode::link::{Link, Symbol};
use crate::decode::{self, Decoded};
use crate::family::call::System;
use crate::memory::{Kind, Memory, OutOfMemory, window};
use crate::register::CONSTANT;

/// A module that cannot be loaded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The text is not PTX.
    #[error("not PTX: {0}")]
    Parse(#[from] ParseError),
    /// It is for a newer device.
    #[error("the module is for {target}, the device has compute capability {}.{}", capability.0, capability.1)]
    Target {
        /// What the module says.
        target: String,
        /// What the device has.
        capability: (u32, u32),
    },
    /// Its addresses have not 64 bits.
    #[error("the module's addresses have {0} bits, not 64")]
    AddressSize(u32),
    /// A driver's compiler refuses it.
    #[error("{}", listed(.0))]
    Invalid(Vec<Complaint>),
    /// An initialiser names a function that the module only declares.
    #[error("the initialiser of `{variable}` names `{symbol}`, which the module does not define")]
    Undefined {
        /// The variable.
        variable: String,
        /// What it names.
        symbol: String,
    },
    /// More registers than any program has.
    #[error("function `{0}` declares more than 2^20 registers")]
    Registers(String),
    /// Its variables do not fit into memory.
    #[error("variable `{variable}`: {error}")]
    Memory {
        /// The variable.
        variable: String,
        /// What is wrong.
        error: OutOfMemory,
    },
}

impl LoadError {
    /// The `CUresult` that a driver gives for it.
    #[must_use]
    pub const fn code(&self) -> u32 {
        match self {
            Self::Target { .. } => 209,
            Self::Memory { .. } => 2,
            _ => 218,
        }
    }
}

/// Complaints, a line each.
fn listed(complaints: &[Complaint]) -> String {
    let lines = complaints.iter().map(ToString::to_string);
    lines.collect::<Vec<_>>().join("\n")
}

/// Registers that a function may declare.
const MAX_REGISTERS: u64 = 1 << 20;

/// The variables at module scope. One that is defined is not declared besides.
fn module_variables(tree: &Tree) -> Vec<&Variable> {
    let is_extern = |variable: &Variable| variable.linkage == Linkage::Extern;
    let defined: HashSet<&Name> = (tree.variables().filter(|variable| !is_extern(variable)))
        .map(|variable| &variable.name)
        .collect();
    tree.variables()
        .filter(|variable| !is_extern(variable) || !defined.contains(&variable.name))
        .collect()
}

/// The variables that functions declare.
fn inner_variables(tree: &Tree) -> Vec<&Variable> {
    let mut list = Vec::new();
    for body in tree
        .functions()
        .filter_map(|function| function.body.as_ref())
    {
        body.walk(&mut |statement| {
            if let StatementKind::Variables(found) = &statement.kind {
                list.extend(found);
            }
        });
    }
    list
}

/// Reads, decodes, and puts the variables into memory.
pub(crate) fn load(
    memory: &Arc<Memory>,
    capability: (u32, u32),
    text: &str,
) -> Result<Module, LoadError> {
    let tree = Tree::parse(text)?;
    let wanted = tree.capability().unwrap_or(0);
    if wanted > capability.0 * 10 + capability.1 {
        return Err(LoadError::Target {
            target: tree.target().to_owned(),
            capability,
        });
    }
    if tree.address_size() != 64 {
        return Err(LoadError::AddressSize(tree.address_size()));
    }
    for function in tree.functions() {
        let declared = function.body.iter().flat_map(|body| &body.registers);
        let count = declared.map(|row| u64::from(row.count.unwrap_or(1)) * row.lanes.min(8));
        if count.sum::<u64>() > MAX_REGISTERS {
            return Err(LoadError::Registers(function.name.to_string()));
        }
    }
    let complaints = check::check(&tree);
    if !complaints.is_empty() {
        return Err(LoadError::Invalid(complaints));
    }
    // From here on the module owns what is allocated, and frees it if something goes wrong.
    let mut module = Module {
        text: text.into(),
        version: tree.version(),
        target: tree.target().to_owned(),
        functions: Vec::new(),
        entries: Vec::new(),
        globals: Vec::new(),
        lines: Lines::new(&tree),
        memory: Arc::clone(memory),
    };
    let mut link = Link::default();
    let mut shared = Vec::new();
    let (outer, inner) = (module_variables(&tree), inner_variables(&tree));
    for variable in &outer {
        if let Some(symbol) = declare(&mut module, &link, &mut shared, variable)? {
            link.symbols.insert(variable.name.clone(), symbol);
        }
    }
    for variable in &inner {
        if let Some(symbol) = place(&mut module, &mut shared, variable)? {
            link.inner.insert(variable.name_span.start, symbol);
        }
    }
    functions(&tree, &mut link);
    for variable in &outer {
        let symbol = link.symbols.get(&variable.name).copied();
        initialise(&module, &link, variable, symbol)?;
    }
    for variable in &inner {
        let symbol = link.inner.get(&variable.name_span.start).copied();
        initialise(&module, &link, variable, symbol)?;
    }
    let mut locs = 0;
    let mut decoded = Vec::new();
    for function in tree.functions() {
        if let Some(body) = &function.body {
            decoded.push((function, decode::decode(&link, function, body, &mut locs)));
        }
    }
    let graph = Graph::new(decoded.iter().map(|(_, decoded)| decoded));
    let mut first = 0;
    for (number, (function, mut decoded)) in decoded.into_iter().enumerate() {
        decoded.code.first = first;
        first += decoded.code.instructions.len() as u32;
        if function.kind == FunctionKind::Entry {
            let reach = graph.reach(number as u32);
            let used: BTreeSet<u32> = (reach.iter())
                .flat_map(|function| graph.shared[*function as usize].iter().copied())
                .collect();
            let layout = layout::shared(&shared, &used);
            patch(&mut decoded, &layout.offsets);
            module.entries.push(Entry {
                name: function.name.to_string(),
                function: number as u32,
                params: layout::params(&function.params),
                shared: layout.offsets,
                static_shared: layout.static_bytes,
                dynamic: layout.dynamic,
                bounds: function.bounds(),
                reach,
            });
        }
        module.functions.push(decoded.code);
    }
    Ok(module)
}

/// Gives a variable at module scope its place, unless it has one.
fn declare(
    module: &mut Module,
    link: &Link,
    shared: &mut Vec<SharedVariable>,
    variable: &Variable,
) -> Result<Option<Symbol>, LoadError> {
    match link.symbols.contains_key(&variable.name) {
        true => Ok(None),
        false => place(module, shared, variable),
    }
}

/// Gives a variable its place in memory, or among the shared ones.
fn place(
    module: &mut Module,
    shared: &mut Vec<SharedVariable>,
    variable: &Variable,
) -> Result<Option<Symbol>, LoadError> {
    let size = variable.size();
    let kind = match variable.space {
        Space::Global => Kind::Global,
        Space::Const => Kind::Constant,
        Space::Shared => {
            let number = shared.len() as u32;
            shared.push(SharedVariable {
                bytes: size.unwrap_or(0),
                align: variable.alignment(),
                dynamic: size.is_none(),
            });
            return Ok(Some(Symbol::Shared(number)));
        }
        Space::Local | Space::Param | Space::Tex => return Ok(None),
    };
    // Without a size it is `.extern`, and defined nowhere.
    let Some(bytes) = size else {
        return Ok(None);
    };
    let name = variable.name.to_string();
    let memory = &module.memory;
    let address = memory
        .alloc_named(bytes, kind, variable.alignment(), Some(name.clone()))
        .map_err(|error| LoadError::Memory {
            variable: name.clone(),
            error,
        })?;
    module.globals.push(Global {
        name,
        address,
        bytes,
        constant: kind == Kind::Constant,
    });
    Ok(Some(Symbol::Address(address)))
}

/// Numbers the functions that have a body, in the order of the text.
fn functions(tree: &Tree, link: &mut Link) {
    let mut number = 0;
    for function in tree.functions() {
        if function.body.is_some() {
            (link.symbols).insert(function.name.clone(), Symbol::Function(number));
            number += 1;
        }
    }
    for function in tree.functions() {
        if function.body.is_none()
            && let Some(system) = System::from_name(&function.name)
        {
            (link.symbols)
                .entry(function.name.clone())
                .or_insert(Symbol::System(system));
        }
    }
    for item in tree.items() {
        if let ItemKind::Alias { alias, function } = &item.kind
            && let Some(symbol) = link.symbols.get(function).copied()
        {
            link.symbols.insert(alias.clone(), symbol);
        }
    }
}

/// Writes the initial bytes. What an initialiser leaves out is zero already.
fn initialise(
    module: &Module,
    link: &Link,
    variable: &Variable,
    symbol: Option<Symbol>,
) -> Result<(), LoadError> {
    let Some(Symbol::Address(base)) = symbol else {
        return Ok(());
    };
    if variable.init.is_none() {
        return Ok(());
    }
    let width = variable.ty.bytes() as usize;
    let mut bytes = Vec::new();
    for value in variable.values() {
        let bits = match value {
            Value::Int(bits) | Value::F64(bits) => u128::from(*bits),
            Value::F32(bits) => u128::from(*bits),
            Value::Address {
                symbol,
                offset,
                mask,
                ..
            } => {
                let address = address(link, symbol).ok_or_else(|| LoadError::Undefined {
                    variable: variable.name.to_string(),
                    symbol: symbol.to_string(),
                })?;
                let address = address.wrapping_add_signed(*offset);
                let address = mask.map_or(address, |mask| {
                    (address & mask)
                        .checked_shr(mask.trailing_zeros())
                        .unwrap_or(0)
                });
                u128::from(address)
            }
        };
        bytes.extend_from_slice(bits.to_le_bytes().get(..width).unwrap_or_default());
    }
    let size = usize::try_from(variable.size().unwrap_or(0)).unwrap_or(0);
    bytes.truncate(size);
    let written = module.memory.write(base, &bytes);
    debug_assert!(written.is_ok(), "a variable's initial bytes fit it");
    Ok(())
}

fn address(link: &Link, symbol: &Name) -> Option<u64> {
    match *link.symbols.get(symbol)? {
        Symbol::Address(address) => Some(address),
        Symbol::Function(number) => Some(window::CODE + u64::from(number) * window::CODE_STEP),
        // Every kernel has its own place for it.
        Symbol::Shared(_) => Some(window::SHARED),
        Symbol::System(_) => None,
    }
}

/// Puts the addresses of shared variables into a kernel's constants.
fn patch(decoded: &mut Decoded, offsets: &[u32]) {
    for patch in &decoded.shared {
        let start = offsets.get(patch.variable as usize).copied().unwrap_or(0);
        let address = u64::from(start).wrapping_add_signed(patch.offset);
        let row = (patch.row.0 - CONSTANT) as usize;
        let constants = &mut decoded.code.constants;
        if patch.wide {
            constants.r64[row].0.fill(address);
        } else {
            constants.r32[row].0.fill(address as u32);
        }
    }
}

/// Which functions reach which.
struct Graph {
    callees: HashMap<u32, BTreeSet<u32>>,
    indirect: BTreeSet<u32>,
    shared: Vec<BTreeSet<u32>>,
}

impl Graph {
    fn new<'d>(decoded: impl Iterator<Item = &'d Decoded>) -> Self {
        let mut graph = Self {
            callees: HashMap::new(),
            indirect: BTreeSet::new(),
            shared: Vec::new(),
        };
        for (number, decoded) in decoded.enumerate() {
            let number = number as u32;
            graph.callees.insert(number, decoded.callees.clone());
            if decoded.indirect {
                graph.indirect.insert(number);
            }
            graph.shared.push(decoded.shared_used.clone());
        }
        graph
    }

    /// Every function that `from` can reach. Through a pointer that is any.
    fn reach(&self, from: u32) -> Vec<u32> {
        let mut found = BTreeSet::from([from]);
        let mut left = vec![from];
        while let Some(function) = left.pop() {
            if self.indirect.contains(&function) {
                return (0..self.shared.len() as u32).collect();
            }
            for callee in self.callees.get(&function).into_iter().flatten() {
                if found.insert(*callee) {
                    left.push(*callee);
                }
            }
        }
        found.into_iter().collect()
    }
}
