//! What became of an action: done, to be tried again, or failed, with what follows for the rollout.

use std::sync::Arc;

use jiff::SignedDuration;

use super::memory::{Failed, Then};
use crate::model::Refusal;

/// What became of an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Performed {
    /// It was done, or was so already.
    Done,
    /// It was not, and may be tried again.
    Again {
        /// When.
        after: After,
        /// Why, for people.
        because: String,
        /// The code of who refused it.
        code: Option<Arc<str>>,
    },
    /// It was not, and is not tried again as it was.
    Failed {
        /// What follows for the change.
        failed: Failed,
        /// What Azure refuses to sell from now on.
        refusal: Option<Box<Refusal>>,
    },
}

/// When an action is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// As soon as the world was looked at again: what it rested on has changed meanwhile. That is no failure.
    Look,
    /// After a time of the cloud's clock, which somebody named or which is a rule.
    Time(SignedDuration),
    /// Later after each failure: it is refused or not answered, and that may end at any time.
    BackOff,
}

impl Performed {
    /// It may be tried again once the world was looked at.
    #[must_use]
    pub fn again(because: impl Into<String>) -> Self {
        Self::Again { after: After::Look, because: because.into(), code: None }
    }

    /// It may be tried again after a time of the cloud's clock.
    #[must_use]
    pub fn later(after: SignedDuration, because: impl Into<String>) -> Self {
        Self::Again { after: After::Time(after), because: because.into(), code: None }
    }

    /// It is tried again, later after each failure.
    #[must_use]
    pub fn backs_off(because: impl Into<String>) -> Self {
        Self::Again { after: After::BackOff, because: because.into(), code: None }
    }

    /// It was refused with a code, and is tried again, later after each refusal.
    #[must_use]
    pub fn refused(code: &str, because: impl Into<String>) -> Self {
        Self::Again { after: After::BackOff, because: because.into(), code: Some(code.into()) }
    }

    /// It is not tried again, and nothing else of the change can be done.
    #[must_use]
    pub fn given_up(code: &str, because: impl Into<String>) -> Self {
        let (code, because) = (code.into(), because.into().into());
        let failed = Failed { code, because, what: None, then: Then::GiveUp };
        Self::Failed { failed, refusal: None }
    }
}
