//! Building blocks of a plan's page, one topic per file: lines on the terminal, items in Markdown.
//!
//! Each reads the plan alone and returns whole sentences; the caller decides on order and number.

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
