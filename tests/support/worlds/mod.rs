//! Worlds for tests: builders with one obvious default each, a small catalogue, and plans that are always
//! judged.

pub(crate) mod build;
pub(crate) mod by_hand;
pub(crate) mod fleet;
pub(crate) mod judged;
pub(crate) mod random;
mod show;
pub(crate) mod sizes;
pub(crate) mod stored;
pub(crate) mod ties;
pub(crate) mod topology;

pub(crate) use build::{daemon, pod, world};
pub(crate) use fleet::{node, pool};
pub(crate) use judged::planned;
