//! Carries an approved plan out: looks at the world, asks `rollout` what is next, has it done, and looks again.
//!
//! ```text
//!        ┌──────────── Reader: lists ────────────┐
//!        ▼                                       │
//!  rollout::next ─▶ actions ─▶ Actor: one write each, several at once ─▶ Event ─▶ whoever shows progress
//! ```
//!
//! Nothing is decided here but when to look again. Must never write what no action asks for, nor past a closed gate.

mod actor;
mod driver;
mod performed;
mod reader;
mod token;

pub use actor::{Actor, Materials, Means};
pub use driver::{Driver, Ended, Stop};
pub use performed::Performed;
pub use reader::{ReadFailure, Reader};

use crate::plan::ChangeId;
use crate::rollout::{Action, Outcome, Wait};

/// What happened, for whoever shows it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A side effect has begun.
    Began(Action),
    /// It was had.
    Did(Action),
    /// It was not, and is tried again.
    TriesAgain {
        /// Which.
        action: Action,
        /// Why.
        because: String,
    },
    /// It was not, and is not tried again as it was.
    Failed {
        /// Which.
        action: Action,
        /// Why.
        because: String,
    },
    /// A change waits.
    Waits {
        /// Which.
        change: ChangeId,
        /// For what.
        wait: Wait,
    },
    /// A change has ended.
    Settled {
        /// Which.
        change: ChangeId,
        /// How.
        outcome: Outcome,
    },
    /// A part of the world could not be read; nothing is done until it can.
    Blind {
        /// What, and why.
        because: String,
    },
}
