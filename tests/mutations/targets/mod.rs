//! What must hold of every input, whatever is in it: one file for each fuzz target, which is built apart (`tests/fuzz`).

pub(crate) mod manifest;
pub(crate) mod plan;
pub(crate) mod quantity;
pub(crate) mod selector;
