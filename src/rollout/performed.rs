//! What became of an action: done, to be tried again, or failed, with what follows for the rollout.

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
        /// Not before this time of the cloud's clock has passed; `None`: as soon as the world was looked at again.
        after: Option<SignedDuration>,
        /// Why, for people.
        because: String,
    },
    /// It was not, and is not tried again as it was.
    Failed {
        /// What follows for the change.
        failed: Failed,
        /// What Azure refuses to sell from now on.
        refusal: Option<Refusal>,
    },
}

impl Performed {
    /// It may be tried again once the world was looked at.
    #[must_use]
    pub fn again(because: impl Into<String>) -> Self {
        Self::Again { after: None, because: because.into() }
    }

    /// It may be tried again after a time of the cloud's clock.
    #[must_use]
    pub fn later(after: SignedDuration, because: impl Into<String>) -> Self {
        Self::Again { after: Some(after), because: because.into() }
    }

    /// It is not tried again, and nothing else of the change can be done.
    #[must_use]
    pub fn given_up(code: &str, because: impl Into<String>) -> Self {
        let (code, because) = (code.into(), because.into().into());
        let failed = Failed { code, because, what: None, then: Then::GiveUp };
        Self::Failed { failed, refusal: None }
    }
}
