//! Statements and instructions.

use gpuk_ptx::{Body, Function, Instruction, Name, Operand, Span, Statement, StatementKind};

use super::{Checker, Stop, opcode, operand};

impl<'t> Checker<'t> {
    pub(super) fn body(&mut self, function: &'t Function, body: &'t Body) -> Result<(), Stop> {
        self.scopes.open();
        for param in function.returns.iter().chain(&function.params) {
            if param.register && function.is_entry() {
                let text = format!(
                    "Entry parameter '{}' must have .param state space",
                    param.name
                );
                self.error(param.span, text)?;
            }
            if &*param.name != "_" && !self.scopes.declare(&param.name) {
                let text = format!("Duplicate definition of variable '{}'", param.name);
                self.error(param.span, text)?;
            }
        }
        self.statements(body, &body.statements)?;
        self.scopes.close();
        Ok(())
    }

    fn statements(&mut self, body: &'t Body, statements: &'t [Statement]) -> Result<(), Stop> {
        self.scopes.enter(statements);
        for statement in statements {
            self.statement(body, statement)?;
        }
        Ok(())
    }

    fn statement(&mut self, body: &'t Body, statement: &'t Statement) -> Result<(), Stop> {
        let at = statement.span;
        match &statement.kind {
            StatementKind::Label(label) => self.label(at, label)?,
            StatementKind::CallPrototype { label, .. } => self.label(at, label)?,
            StatementKind::BranchTargets { label, targets } => {
                self.label(at, label)?;
                for target in targets {
                    if !self.scopes.is_label(target) {
                        self.error(at, format!("Unknown symbol '{target}'"))?;
                    }
                }
            }
            StatementKind::CallTargets { label, targets } => {
                self.label(at, label)?;
                for target in targets {
                    if !self.symbols.contains_key(&**target) {
                        self.error(at, format!("Unknown symbol '{target}'"))?;
                    }
                }
            }
            StatementKind::Registers(range) => {
                for declared in body.registers.get(range.clone()).unwrap_or_default() {
                    let twice = match declared.count {
                        Some(count) => self.scopes.declare_row(&declared.name, count),
                        None => (!self.scopes.declare(&declared.name))
                            .then(|| declared.name.to_string()),
                    };
                    if let Some(name) = twice {
                        self.error(at, format!("Duplicate definition of variable '{name}'"))?;
                    }
                }
            }
            StatementKind::Variables(variables) => {
                for variable in variables {
                    if !self.scopes.declare(&variable.name) {
                        let text = format!("Duplicate definition of variable '{}'", variable.name);
                        self.error(variable.name_span, text)?;
                    }
                    self.variable(variable)?;
                }
            }
            StatementKind::Block(inner) => {
                self.scopes.open();
                self.statements(body, inner)?;
                self.scopes.close();
            }
            StatementKind::Instruction(instruction) => self.instruction(body, at, instruction)?,
            StatementKind::Other => self.other(at, &["file"])?,
            StatementKind::Loc(_) | StatementKind::Pragma(_) => {}
        }
        Ok(())
    }

    fn label(&mut self, at: Span, label: &'t Name) -> Result<(), Stop> {
        if self.scopes.pass(label) {
            return Ok(());
        }
        self.error(at, format!("Duplicate definition of label '{label}'"))
    }

    fn instruction(
        &mut self,
        body: &'t Body,
        at: Span,
        instruction: &'t Instruction,
    ) -> Result<(), Stop> {
        let name = &instruction.opcode;
        let operands = &instruction.operands;
        // What could not be read is the text of an operand.
        let read = !operands
            .iter()
            .any(|part| matches!(part, Operand::Other(..)));
        match opcode::find(name) {
            None if self.tree.version() > opcode::COMPLETE => {}
            None => self.error(at, format!("Not a name of any known instruction: '{name}'"))?,
            Some(opcode) => {
                if self
                    .tree
                    .capability()
                    .is_some_and(|target| target < opcode.target)
                {
                    let text = format!("requires .target sm_{} or higher", opcode.target);
                    self.error(at, format!("Feature '{name}' {text}"))?;
                }
                if self.tree.version() < opcode.version {
                    let (major, minor) = opcode.version;
                    let text = format!("requires PTX ISA .version {major}.{minor} or later");
                    self.error(at, format!("Feature '{name}' {text}"))?;
                }
                let (least, most) = opcode.operands;
                let count = operands.len();
                let many = !(least..=most).contains(&count) && read;
                if &**name == "bra" && count == 1 {
                    self.target(at, operands)?;
                } else if self.illegal_address(operands) {
                    self.error(at, format!("Illegal operand type to instruction '{name}'"))?;
                } else if many || operands.iter().any(|part| self.is_unknown(part)) {
                    self.error(at, format!("Arguments mismatch for instruction '{name}'"))?;
                } else if let Some(text) = operand::wrong(body, instruction) {
                    self.error(at, text)?;
                }
            }
        }
        if let Some(guard) = &instruction.guard {
            let is_predicate = operand::bits(body, &guard.predicate) == Some(1);
            if !is_predicate {
                self.error(at, "Predicate expression expected")?;
            }
            self.named(at, &guard.predicate)?;
        }
        if let Some(call) = &instruction.call {
            self.call(at, call)?;
        }
        for part in operands {
            self.named(at, part)?;
        }
        Ok(())
    }

    fn target(&mut self, at: Span, operands: &'t [Operand]) -> Result<(), Stop> {
        let (is_label, is_symbol) = match operands {
            [Operand::Symbol(name, 0) | Operand::Special(name)] => {
                let is_symbol = self.symbols.contains_key(&**name);
                // A label that is still to come does not hide what is in sight already.
                let is_label = match is_symbol {
                    true => self.scopes.is_passed(name),
                    false => self.scopes.is_label(name) || self.is_unknown(&operands[0]),
                };
                (is_label, is_symbol)
            }
            [Operand::Other(..)] => (true, false),
            _ => (false, false),
        };
        if is_label {
            return Ok(());
        }
        self.error(at, "Label expected for argument 0 of instruction 'bra'")?;
        if is_symbol {
            self.error(at, "Argument 0 of instruction 'bra': must be register")?;
        }
        Ok(())
    }

    /// Whether an address names what is not in sight.
    fn illegal_address(&self, operands: &[Operand]) -> bool {
        operands.iter().any(|operand| match operand {
            Operand::Address(address) => self.is_unknown(&address.base),
            _ => false,
        })
    }

    /// Complains of every name in an operand that is not in sight.
    pub(super) fn named(&mut self, at: Span, operand: &'t Operand) -> Result<(), Stop> {
        if matches!(operand, Operand::Other(..)) {
            return Ok(());
        }
        let mut unknown = Vec::new();
        operand.walk(&mut |part| {
            if let Operand::Symbol(name, _) | Operand::Special(name) = part
                && self.is_unknown(part)
            {
                unknown.push(name);
            }
        });
        for name in unknown {
            self.error(at, format!("Unknown symbol '{name}'"))?;
        }
        Ok(())
    }

    /// Whether a name is not in sight. Registers that are have been told apart by the reader.
    fn is_unknown(&self, operand: &Operand) -> bool {
        let name = match operand {
            Operand::Symbol(name, _) => name,
            Operand::Special(name) if !operand::is_special(name) => name,
            _ => return false,
        };
        &**name != "WARP_SZ"
            && !self.scopes.is_declared(name)
            && !self.scopes.is_label(name)
            && !self.symbols.contains_key(&**name)
    }
}
