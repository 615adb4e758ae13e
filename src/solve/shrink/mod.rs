//! Removals: empty nodes, nodes whose pods fit elsewhere at lower cost, and due nodes.
//!
//! A removed node is planned like one that is being deleted: its pods become part of the demand, and everything else
//! stays as usual. So a set of nodes is evaluated by planning without it (`trial`), `consolidate` searches for the set
//! that saves most, and `due` finds nodes that have drifted, expired or become unhealthy. Never drains a node or
//! decides the order of removals.

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
