//! The outcome of a finished change, and the standing of an unfinished one.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::action::Action;
use crate::review::LeftOut;

/// The outcome of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum Outcome {
    /// Applied.
    Done,
    /// Already the case.
    AlreadySo,
    /// No longer needed.
    NoLongerNeeded {
        /// The reason.
        because: Arc<str>,
    },
    /// Outdated: its assumptions no longer hold.
    NoLongerHolds {
        /// The reason.
        because: Arc<str>,
    },
    /// Struck in review.
    Struck {
        /// The reason, unless its own line was struck.
        because: Option<Arc<str>>,
    },
    /// Tried without success.
    Failed {
        /// Azure's code, or nodeform's.
        code: Arc<str>,
        /// The reason.
        because: Arc<str>,
    },
    /// Not started because a change that it waits for failed.
    Withheld {
        /// The other change, and the reason.
        because: Arc<str>,
    },
}

impl Outcome {
    /// Returns the word for it in tables and in the ledger.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::AlreadySo => "already so",
            Self::NoLongerNeeded { .. } => "no longer needed",
            Self::NoLongerHolds { .. } => "no longer holds",
            Self::Struck { .. } => "struck in review",
            Self::Failed { .. } => "failed",
            Self::Withheld { .. } => "withheld",
        }
    }

    /// Returns whether the change is in effect or no longer wanted.
    #[must_use]
    pub const fn is_so(&self) -> bool {
        matches!(self, Self::Done | Self::AlreadySo | Self::NoLongerNeeded { .. } | Self::Struck { .. })
    }

    /// Returns why the change is not in effect.
    #[must_use]
    pub fn because(&self) -> Option<&str> {
        match self {
            Self::Done | Self::AlreadySo => None,
            Self::Struck { because } => because.as_deref(),
            Self::NoLongerNeeded { because }
            | Self::NoLongerHolds { because }
            | Self::Withheld { because }
            | Self::Failed { because, .. } => Some(because),
        }
    }

    /// Returns the outcome of a change that is left out; `None` if it may still start later.
    pub(super) fn of_left_out(left_out: &LeftOut) -> Option<Self> {
        Some(match left_out {
            LeftOut::Struck(because) => Self::Struck { because: because.clone() },
            LeftOut::Withheld(because) => Self::Withheld { because: because.clone() },
            LeftOut::NoLongerNeeded(because) => Self::NoLongerNeeded { because: because.clone() },
            LeftOut::NoLongerHolds(because) => Self::NoLongerHolds { because: because.clone() },
            LeftOut::Waits(_) => return None,
        })
    }

    pub(super) fn no_longer_holds(because: impl Into<Arc<str>>) -> Self {
        Self::NoLongerHolds { because: because.into() }
    }
}

/// The standing of a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// It is finished.
    Settled(Outcome),
    /// These side effects are next.
    Acts(Vec<Action>),
    /// It waits.
    Waits(Wait),
}

/// The wait of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// What it waits for, for users: `VM aks-general-4ip2n5q6ea to be made`.
    pub what: String,
    /// Latest end of the wait; `None` means unlimited.
    pub until: Option<Timestamp>,
    /// Kind of the wait.
    pub on: WaitsOn,
}

/// The kind of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsOn {
    /// An operation in progress in the cluster or in Azure, or a time in the near future.
    World,
    /// Another change of the plan.
    Change,
    /// Its turn: budgets, drains in progress or the circuit breaker allow no more concurrent changes.
    Turn,
    /// A freeze or a budget, outside nodeform's control.
    Brake,
}

impl WaitsOn {
    /// Returns whether the change is due but held back.
    #[must_use]
    pub const fn is_held_back(self) -> bool {
        matches!(self, Self::Turn | Self::Brake)
    }
}

impl Wait {
    /// Creates an unlimited wait for a brake.
    pub(super) fn held(what: impl Into<String>) -> Self {
        Self { what: what.into(), until: None, on: WaitsOn::Brake }
    }
}

impl Standing {
    pub(super) fn waits(what: impl Into<String>) -> Self {
        Self::Waits(Wait { what: what.into(), until: None, on: WaitsOn::World })
    }

    /// Creates a wait for another change.
    pub(super) fn behind(what: impl Into<String>) -> Self {
        Self::Waits(Wait { what: what.into(), until: None, on: WaitsOn::Change })
    }

    pub(super) fn waits_until(what: impl Into<String>, until: Timestamp) -> Self {
        Self::Waits(Wait { what: what.into(), until: Some(until), on: WaitsOn::World })
    }

    /// Returns the outcome if the change is finished.
    #[must_use]
    pub const fn outcome(&self) -> Option<&Outcome> {
        match self {
            Self::Settled(outcome) => Some(outcome),
            Self::Acts(_) | Self::Waits(_) => None,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.because() {
            Some(because) => write!(formatter, "{}: {because}", self.word()),
            None => formatter.write_str(self.word()),
        }
    }
}
