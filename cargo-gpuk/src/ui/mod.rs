//! The only place that prints.

mod progress;
mod shell;

pub(crate) use progress::Bar;
pub(crate) use shell::Shell;
