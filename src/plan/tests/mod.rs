//! Tests of plan, and the world that tests of render, sim and report share with them.

pub(crate) mod world;

mod bare;
mod claims;
mod saved;
mod standing;
mod waves;
