//! What became of a change, and where one stands that has not ended.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::action::Action;
use crate::review::LeftOut;

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum Outcome {
    /// It was done.
    Done,
    /// It was so already.
    AlreadySo,
    /// Nothing asks for it any more.
    NoLongerNeeded {
        /// Why not.
        because: Arc<str>,
    },
    /// What it was made for no longer holds.
    NoLongerHolds {
        /// Why not.
        because: Arc<str>,
    },
    /// A reviewer took it out of the plan.
    Struck {
        /// Why, where no line of its own was struck.
        because: Option<Arc<str>>,
    },
    /// It was tried and did not succeed.
    Failed {
        /// Azure's code, or ours.
        code: Arc<str>,
        /// What happened.
        because: Arc<str>,
    },
    /// It was not begun, since another change failed that it waits for.
    Withheld {
        /// Which, and why.
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

    /// Returns whether the world is as the change wanted it, or the change is wanted no more.
    #[must_use]
    pub const fn is_so(&self) -> bool {
        matches!(self, Self::Done | Self::AlreadySo | Self::NoLongerNeeded { .. } | Self::Struck { .. })
    }

    /// Returns why the world is not as the change wanted it.
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

    /// Returns how a change ends that is left out, unless it may be begun later.
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

/// Where a change stands.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// It has ended.
    Settled(Outcome),
    /// These side effects are next.
    Acts(Vec<Action>),
    /// It waits.
    Waits(Wait),
}

/// What a change waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// For what, for people: `VM aks-general-4ip2n5q6ea to be made`.
    pub what: String,
    /// Until when at most; `None`: as long as it takes.
    pub until: Option<Timestamp>,
    /// On what.
    pub on: WaitsOn,
}

/// On what a change waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitsOn {
    /// What is under way in the cluster or in Azure, or a time that comes soon.
    World,
    /// Another change of the plan.
    Change,
    /// Its turn: budgets, drains under way or the breaker let no more begin beside what is under way.
    Turn,
    /// A freeze or a budget: nobody here can bring it about.
    Brake,
}

impl WaitsOn {
    /// Returns whether it is due and held back.
    #[must_use]
    pub const fn is_held_back(self) -> bool {
        matches!(self, Self::Turn | Self::Brake)
    }
}

impl Wait {
    /// Waits for as long as somebody keeps it.
    pub(super) fn held(what: impl Into<String>) -> Self {
        Self { what: what.into(), until: None, on: WaitsOn::Brake }
    }
}

impl Standing {
    pub(super) fn waits(what: impl Into<String>) -> Self {
        Self::Waits(Wait { what: what.into(), until: None, on: WaitsOn::World })
    }

    /// Waits for another change.
    pub(super) fn behind(what: impl Into<String>) -> Self {
        Self::Waits(Wait { what: what.into(), until: None, on: WaitsOn::Change })
    }

    pub(super) fn waits_until(what: impl Into<String>, until: Timestamp) -> Self {
        Self::Waits(Wait { what: what.into(), until: Some(until), on: WaitsOn::World })
    }

    /// Returns what became of it, if it has ended.
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
