//! The simulated Azure and cluster, in memory: requests in, answers and objects out.

mod bad_input;
pub(crate) mod bodies;
mod client;
mod cluster;
mod determinism;
mod faults;
mod lives;
mod places;
mod protocol;
mod scale;
mod settings;
