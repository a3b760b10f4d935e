//! How a body runs: what a pass over PTX may ask before it moves or copies anything.
//!
//! - `layout`: the statements laid out flat; which mention a register, or set it
//! - `effect`: what moving an instruction could change
//! - `graph`: basic blocks, the edges between them, and which block dominates which
//! - `loops`: natural loops
//!
//! Values are not followed here; each pass knows what it is after.

mod effect;
mod graph;
mod layout;
mod loops;

pub(crate) use effect::{Effect, effect, overlaps};
pub(crate) use graph::{BlockId, Graph};
pub(crate) use layout::{Flow, NodeId, Role, each_operand};
pub(crate) use loops::{Loop, loops};
