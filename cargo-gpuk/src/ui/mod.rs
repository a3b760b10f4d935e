//! The only place that prints.

mod progress;
mod shell;

pub use progress::Bar;
pub use shell::Shell;
