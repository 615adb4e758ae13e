//! The pieces of a plan's page, one idea a file: what the terminal shows as lines, Markdown as items.
//!
//! Each reads the plan alone and returns whole sentences; who puts them on a page chooses their order and how many.

pub(super) mod additions;
pub(super) mod assumptions;
pub(super) mod cost;
pub(super) mod evictions;
pub(super) mod headline;
pub(super) mod moved;
pub(super) mod not_done;
pub(super) mod pending;
pub(super) mod preemptions;
pub(super) mod preferences;
pub(super) mod question;
pub(super) mod refused;
pub(super) mod removals;
pub(super) mod shape;
pub(super) mod stays;
pub(super) mod strategies;
pub(super) mod whole;
pub(super) mod workloads;
