//! Applies an approved plan: reads the world, asks `rollout` for the next actions, performs them, and reads again.
//!
//! ```text
//!        ┌──────────── Reader: lists ────────────┐
//!        ▼                                       │
//!  rollout::next ─▶ actions ─▶ Actor: one write each, several at once ─▶ Event ─▶ whoever shows progress
//! ```
//!
//! The only decision here is when to read again. Must never write without an action, nor past a closed gate.

mod actor;
mod book;
mod brakes;
mod carrying;
mod driver;
mod hand;
mod keeper;
mod lift;
mod performed;
mod reader;
mod stop;
mod tidy;
mod token;

pub use actor::{Actor, Means};
pub use book::{Book, By, NotBegun, ended, file, propose, recorded, settle, text};
pub use brakes::BrakeReader;
pub use carrying::{Carrying, WITHDRAWN};
pub use driver::{Driver, PATIENCE};
pub use hand::Hand;
pub use keeper::{Keeper, Kept};
pub use lift::lift;
pub use reader::{ReadFailure, Reader};
pub use stop::Stop;
pub use tidy::tidy;
