//! Support for the tests of the whole: projects made in code, commands run in them, output made comparable.

mod counter;
mod fetch;
mod output;
mod project;

pub use counter::Counter;
pub use fetch::{copy, fetch, fetch_wheel};
pub use output::Output;
pub use project::{Project, workspace_root};
