//! Plans carried out in memory: stopped after each side effect, each answer lost, then gone on with to the same end.
#![expect(clippy::unwrap_used, reason = "a test fails by `unwrap`")]

mod by_hand;
mod faulty;
mod invariants;
mod other_ids;
mod pace;
mod planted;
mod refused;
mod scenarios;
mod seeds;
mod stage;
mod tokens;
mod updates;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
