//! What a driver may show while units are compiled. Nothing is printed here.

use std::time::Duration;

use crate::run::ToolCommand;

/// Told about each unit as it starts and ends, from several threads.
pub trait Progress: Sync {
    /// So many units have to be compiled.
    fn planned(&self, units: usize) {
        let _ = units;
    }

    /// A unit starts: `kernels/gather.cu (sm_80)`.
    fn started(&self, unit: &str) {
        let _ = unit;
    }

    /// How a unit is compiled, in a few words.
    fn remark(&self, unit: &str, text: &str) {
        let _ = (unit, text);
    }

    /// A unit waits for others to end: it is expected to need so many bytes of memory, and they leave less.
    fn held(&self, unit: &str, bytes: u64) {
        let _ = (unit, bytes);
    }

    /// A compiler is started.
    fn running(&self, command: &ToolCommand) {
        let _ = command;
    }

    /// It ended after so long, well or not.
    fn finished(&self, unit: &str, took: Duration, well: bool) {
        let _ = (unit, took, well);
    }

    /// Another build of the same package is running, and this one waits for it.
    fn waiting(&self) {}
}

/// Shows nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Progress for Silent {}
