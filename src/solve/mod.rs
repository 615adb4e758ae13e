//! Which nodes should exist, and where each pod would go.
//!
//! Pure and total: it never fails, it explains. Nothing here knows how a change is carried out.

pub mod solution;

pub use solution::{
    Cost, Held, Kept, NewNode, NodeRef, Removal, Report, Solution, Substitute, Target, Unplaced, Warning,
};
