//! Calls (PTX ISA 9.7.12.5).

use gpuk_ptx::{Call, Name, Operand, Span};

use super::scope::Symbol;
use super::{Checker, Stop};

impl<'t> Checker<'t> {
    pub(super) fn call(&mut self, at: Span, call: &'t Call) -> Result<(), Stop> {
        match &call.target {
            Operand::Symbol(name, 0) => self.callee(at, call, name)?,
            // Through a pointer, which a register holds.
            target => {
                self.named(at, target)?;
                if call.prototype.is_none() {
                    self.error(at, "Label expected for argument 0 of instruction 'call'")?;
                    self.fatal(at, "Call target not recognized")?;
                }
            }
        }
        for operand in call.returns.iter().chain(&call.args) {
            self.named(at, operand)?;
        }
        if let Some(prototype) = &call.prototype
            && !self.scopes.is_label(prototype)
            && !self.symbols.contains_key(&**prototype)
        {
            self.error(at, "Arguments mismatch for instruction 'call'")?;
            self.error(at, format!("Unknown symbol '{prototype}'"))?;
        }
        Ok(())
    }

    fn callee(&mut self, at: Span, call: &Call, name: &'t Name) -> Result<(), Stop> {
        if self.scopes.is_declared(name) {
            return self.error(at, "Label expected for argument 0 of instruction 'call'");
        }
        let Some(symbol) = self.symbols.get(&**name) else {
            self.error(at, format!("Call to '{name}' requires call prototype"))?;
            return self.error(at, format!("Unknown symbol '{name}'"));
        };
        if symbol.is_kernel() {
            return self.error(at, "Illegal call target, device function expected");
        }
        let Symbol::Function { first, .. } = symbol else {
            self.error(at, "Label expected for argument 0 of instruction 'call'")?;
            return self.error(at, "Argument 0 of instruction 'call': must be register");
        };
        let fits =
            first.returns.len() == call.returns.len() && first.params.len() == call.args.len();
        if self.known.insert(name) {
            self.called.push(name);
        }
        if fits {
            Ok(())
        } else {
            self.error(at, "Call has wrong number of parameters")
        }
    }
}
