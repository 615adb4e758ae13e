//! What may go: nodes that carry nothing, nodes whose pods fit elsewhere for less, and nodes that are due.
//!
//! A node that goes is planned like one that is being deleted: its pods are part of the demand, and everything else
//! is as always. So a set of nodes is judged by planning without it (`trial`), `consolidate` looks for the set that saves
//! most, and `due` finds the nodes that differ from what is asked for, are too old or unhealthy. Nothing here drains a
//! node or says in which order they go.

pub mod alone;
mod balanced;
pub(super) mod candidate;
pub(super) mod composed;
pub(super) mod consolidate;
mod drift;
pub(super) mod due;
pub mod empty;
mod excess;
mod expiry;
pub(super) mod fuller;
pub(super) mod imagined;
pub(super) mod moment;
pub(super) mod needed;
mod outcome;
mod repair;
pub(super) mod trial;
pub(super) mod whole;
mod worth;

pub use empty::{Shrunk, shrink};
