//! Reports on the fleet: what is not placed and its nearest miss, oddities in the input, and what could not be
//! determined. Never changes a decision.

pub mod agent_labels;
pub mod attached;
pub mod chain;
pub mod claims;
pub mod contradictions;
pub mod crowded;
pub mod devices;
pub mod evicted_again;
pub mod fixed;
mod meant;
pub mod nearest;
pub mod plain;
mod quota;
pub mod systems;
pub mod tied;
pub mod together;
pub mod undecided;
pub mod variety;
pub mod warnings;
