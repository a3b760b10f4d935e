//! What a driver's compiler refuses of a text that can be read: names that are declared twice or not at all,
//! opcodes that the PTX ISA does not have, numbers and widths of operands that do not fit.
//!
//! Not here: what is right, but unknown to the simulator. That is an error when it is executed. And what only a
//! compiler's tables could tell: modifiers that an opcode does not take.
//!
//! - here: what stands at module scope, and the list of what is wrong
//! - `body`: statements and instructions
//! - `call`: calls
//! - `opcode`: the instructions of the PTX ISA
//! - `operand`: what kinds of operands an instruction takes
//! - `scope`: which names are in sight

mod body;
mod call;
mod opcode;
mod operand;
mod scope;

use std::collections::{HashMap, HashSet};
use std::fmt;

use gpuk_ptx::{
    Function, Init, Item, ItemKind, Linkage, Module as Tree, Name, Space, Span, Value, Variable,
};

use self::scope::{Scopes, Symbol};
use crate::family::call::System;

/// Something wrong with a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint {
    /// The line, from 1; `None` for what is wrong with the whole.
    pub line: Option<usize>,
    /// Whether what follows was not looked at.
    pub fatal: bool,
    /// What is wrong, in the words of NVIDIA's `ptxas`.
    pub text: String,
}

/// As `ptxas` writes it, without the name of the file.
impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.text)
    }
}

/// The most complaints about one module.
const MOST: usize = 100;

/// Everything that is wrong with a module, in the order of the text.
pub(super) fn check(tree: &Tree) -> Vec<Complaint> {
    let mut checker = Checker::new(tree);
    for item in tree.items() {
        if checker.item(item).is_err() {
            break;
        }
    }
    if checker.complaints.is_empty() {
        checker.debug();
        checker.unresolved();
    }
    checker.complaints
}

/// Nothing more is looked at.
struct Stop;

struct Checker<'t> {
    tree: &'t Tree,
    /// The first byte of each line.
    lines: Vec<usize>,
    complaints: Vec<Complaint>,
    symbols: HashMap<&'t str, Symbol<'t>>,
    scopes: Scopes<'t>,
    /// Functions that are called, in the order of the text.
    called: Vec<&'t Name>,
    known: HashSet<&'t str>,
}

impl<'t> Checker<'t> {
    fn new(tree: &'t Tree) -> Self {
        let ends = tree.text().bytes().enumerate();
        let ends = ends.filter(|(_, byte)| *byte == b'\n');
        Self {
            tree,
            lines: std::iter::once(0)
                .chain(ends.map(|(at, _)| at + 1))
                .collect(),
            complaints: Vec::new(),
            symbols: HashMap::new(),
            scopes: Scopes::default(),
            called: Vec::new(),
            known: HashSet::new(),
        }
    }

    fn complain(&mut self, at: Span, fatal: bool, text: String) -> Result<(), Stop> {
        let line = self.lines.partition_point(|start| *start <= at.start);
        self.complaints.push(Complaint {
            line: Some(line),
            fatal,
            text,
        });
        if fatal || self.complaints.len() >= MOST {
            return Err(Stop);
        }
        Ok(())
    }

    fn error(&mut self, at: Span, text: impl Into<String>) -> Result<(), Stop> {
        self.complain(at, false, text.into())
    }

    fn fatal(&mut self, at: Span, text: impl Into<String>) -> Result<(), Stop> {
        self.complain(at, true, text.into())
    }

    fn item(&mut self, item: &'t Item) -> Result<(), Stop> {
        match &item.kind {
            ItemKind::Variables(variables) => {
                for variable in variables {
                    self.module_variable(variable)?;
                }
            }
            ItemKind::Function(function) => self.function(function)?,
            ItemKind::Alias { alias, function } => {
                for name in [alias, function] {
                    if !self.symbols.contains_key(&**name) {
                        self.error(item.span, format!("Unknown symbol '{name}'"))?;
                    }
                }
                if let Some(Symbol::Function { defined, .. }) = self.symbols.get_mut(&**alias) {
                    *defined = true;
                }
            }
            ItemKind::Other => self.other(item.span, &["pragma"])?,
            ItemKind::File(_) | ItemKind::Section { .. } => {}
        }
        Ok(())
    }

    /// A directive that the reader skipped.
    fn other(&mut self, at: Span, known: &[&str]) -> Result<(), Stop> {
        let text = self.tree.at(at);
        let name = text.trim_start_matches('.');
        let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &name[..end.unwrap_or(name.len())];
        if known.contains(&name) || self.tree.version() > opcode::COMPLETE {
            return Ok(());
        }
        let near = if text.starts_with('.') {
            &text[..=name.len()]
        } else {
            text
        };
        self.fatal(at, format!("Parsing error near '{near}': syntax error"))
    }

    fn module_variable(&mut self, variable: &'t Variable) -> Result<(), Stop> {
        let name = &variable.name;
        let at = variable.name_span;
        match self.symbols.get(&**name) {
            Some(Symbol::Function { .. }) => {
                self.error(
                    at,
                    format!("Inconsistent redefinition of variable '{name}'"),
                )?;
            }
            Some(Symbol::Variable { linkage }) => match (*linkage, variable.linkage) {
                (Linkage::Extern, Linkage::Internal) => self.error(
                    at,
                    format!("'.extern' variable '{name}' cannot be resolved by a '.static'"),
                )?,
                (Linkage::Extern, _) | (_, Linkage::Extern) => {}
                _ => self.error(at, format!("Duplicate definition of variable '{name}'"))?,
            },
            None => {}
        }
        self.variable(variable)?;
        let linkage = match self.symbols.get(&**name) {
            // What is defined stays so.
            Some(Symbol::Variable { linkage }) if *linkage != Linkage::Extern => *linkage,
            _ => variable.linkage,
        };
        self.symbols.insert(name, Symbol::Variable { linkage });
        Ok(())
    }

    /// What is wrong with a variable wherever it stands.
    fn variable(&mut self, variable: &'t Variable) -> Result<(), Stop> {
        let (name, at) = (&variable.name, variable.name_span);
        if !variable.alignment().is_power_of_two() {
            self.error(at, "Alignment must be a power of two")?;
        }
        let holds = matches!(variable.space, Space::Global | Space::Const);
        if holds && variable.size().is_none() && variable.linkage != Linkage::Extern {
            self.error(
                at,
                format!("Non-external variable '{name}' has incomplete type"),
            )?;
        }
        if variable.init.is_some() && !holds {
            let text = format!("No initial value is allowed for '{name}' in this state space");
            self.error(at, text)?;
        }
        let room = variable.dims.iter().try_fold(1_u64, |all, dim| {
            dim.and_then(|count| all.checked_mul(count))
        });
        if let (Some(Init::List(values)), Some(room)) = (&variable.init, room)
            && values.len() as u64 > room.saturating_mul(variable.lanes)
        {
            self.fatal(at, "Greater number of elements in array initializer")?;
        }
        for value in variable.values() {
            if let Value::Address { symbol, .. } = value
                && !self.symbols.contains_key(&**symbol)
                && !self.scopes.is_declared(symbol)
                && **symbol != **name
            {
                self.fatal(at, format!("Invalid initial value symbol '{symbol}'"))?;
            }
        }
        Ok(())
    }

    fn function(&mut self, function: &'t Function) -> Result<(), Stop> {
        let (name, at) = (&function.name, function.name_span);
        let defined = function.body.is_some();
        match self.symbols.get_mut(&**name) {
            Some(Symbol::Variable { .. }) => {
                self.error(
                    at,
                    format!("Inconsistent redefinition of variable '{name}'"),
                )?;
                self.fatal(at, format!("Inconsistent redefinition of symbol '{name}'"))?;
            }
            Some(Symbol::Function {
                first,
                defined: before,
            }) => {
                let (first, twice) = (*first, defined && *before);
                *before |= defined;
                if twice {
                    self.error(at, format!("Duplicate definition of function '{name}'"))?;
                } else if first.params.len() != function.params.len() {
                    let text = "number of parameters differ";
                    self.error(at, format!("Inconsistent prototypes of '{name}', {text}"))?;
                }
            }
            None => {
                let first = function;
                self.symbols
                    .insert(name, Symbol::Function { first, defined });
            }
        }
        for directive in &function.directives {
            const KNOWN: [&str; 16] = [
                "maxnreg",
                "maxntid",
                "reqntid",
                "minnctapersm",
                "maxnctapersm",
                "noreturn",
                "pragma",
                "abi_preserve",
                "abi_preserve_control",
                "reqnctapercluster",
                "explicitcluster",
                "maxclusterrank",
                "blocksareclusters",
                "attribute",
                "unified",
                "managed",
            ];
            self.other(directive.span, &KNOWN)?;
        }
        match &function.body {
            Some(body) => self.body(function, body),
            None => Ok(()),
        }
    }

    /// A target with debug information needs some.
    fn debug(&mut self) {
        let wanted = self.tree.target_options().any(|option| option == "debug");
        let is_debug = |item: &Item| match &item.kind {
            ItemKind::Section { name, .. } => name.starts_with(".debug_"),
            _ => false,
        };
        if wanted && !self.tree.items().iter().any(is_debug) {
            self.complaints.push(Complaint {
                line: None,
                fatal: false,
                text: "Debug information not found in presence of .target debug".to_owned(),
            });
        }
    }

    /// Functions that are called and defined nowhere. Those of the system are there without.
    fn unresolved(&mut self) {
        let missing = self.called.iter().find(|name| {
            let symbol = self.symbols.get(&****name);
            let declared = matches!(symbol, Some(Symbol::Function { defined: false, .. }));
            // It is there on devices, and is an error when it is called.
            declared && System::from_name(name).is_none() && &****name != "cudaGraphLaunch"
        });
        if let Some(name) = missing {
            self.complaints.push(Complaint {
                line: None,
                fatal: true,
                text: format!("Unresolved extern function '{name}'"),
            });
        }
    }
}
