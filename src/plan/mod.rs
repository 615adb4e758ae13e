//! From what is to what should be: the changes, their order, and the file that is reviewed.
//!
//! Pure and total: a plan may be empty, planning never fails. This module decides what is done and in which
//! order, never which nodes should exist (that is `solve`).

pub mod change;
pub mod evidence;
pub mod precondition;
pub mod reason;
pub mod spec;
pub mod world;

pub use change::{
    Adopt, Change, ChangeId, Choice, ClaimSpec, ClaimSpecId, Create, Delete, ExistingNode, Forget, NoOp,
    OldNew, Replace, Update,
};
pub use evidence::{Evidence, HeldRemoval, NodeShape, Placement};
pub use precondition::Precondition;
pub use reason::Reason;
pub use spec::{Inputs, PlanSpec, PlannedChange, Step, Wave};
pub use world::{PodGroup, World};

/// What would change, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Every decision; what is digested.
    pub spec: PlanSpec,
    /// What it was made from and why; outside the digest.
    pub evidence: Evidence,
}
