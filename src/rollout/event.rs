//! What happens while a plan is carried out, for whoever shows it.

use super::action::Action;
use super::outcome::{Outcome, Wait};
use crate::plan::ChangeId;

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
