//! Why the fleet is as it is: what is left out and how near it was, what is odd in the input, and what could
//! not be decided. Nothing here changes what was decided.

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
