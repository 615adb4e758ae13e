//! The result of an action: done, to be retried, or failed, with the consequence for the rollout.

use std::sync::Arc;

use jiff::SignedDuration;

use super::memory::{Failed, Then};
use crate::model::Refusal;

/// The result of an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Performed {
    /// Done, or already the case.
    Done,
    /// Not done, but may be retried.
    Again {
        /// When to retry.
        after: After,
        /// The reason, for users.
        because: String,
        /// Code of the refusal.
        code: Option<Arc<str>>,
    },
    /// Not done, and not retried unchanged.
    Failed {
        /// The consequence for the change.
        failed: Failed,
        /// The offerings that Azure refuses to sell from now on.
        refusal: Option<Box<Refusal>>,
    },
}

/// When an action is retried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// After the next look at the world, because its preconditions have changed. Not a failure.
    Look,
    /// After a fixed time in the cloud's clock, given by a response or a rule.
    Time(SignedDuration),
    /// After an increasing time: it was refused or got no response, which may end at any time.
    BackOff,
}

impl Performed {
    /// Creates a retry after the next look at the world.
    #[must_use]
    pub fn again(because: impl Into<String>) -> Self {
        Self::Again { after: After::Look, because: because.into(), code: None }
    }

    /// Creates a retry after a fixed time in the cloud's clock.
    #[must_use]
    pub fn later(after: SignedDuration, because: impl Into<String>) -> Self {
        Self::Again { after: After::Time(after), because: because.into(), code: None }
    }

    /// Creates a retry, with a longer wait after each failure.
    #[must_use]
    pub fn backs_off(because: impl Into<String>) -> Self {
        Self::Again { after: After::BackOff, because: because.into(), code: None }
    }

    /// Creates a retry of an action refused with a code, with a longer wait after each refusal.
    #[must_use]
    pub fn refused(code: &str, because: impl Into<String>) -> Self {
        Self::Again { after: After::BackOff, because: because.into(), code: Some(code.into()) }
    }

    /// Creates a failure that gives up the whole change.
    #[must_use]
    pub fn given_up(code: &str, because: impl Into<String>) -> Self {
        let (code, because) = (code.into(), because.into().into());
        let failed = Failed { code, because, what: None, then: Then::GiveUp };
        Self::Failed { failed, refusal: None }
    }
}
