//! What became of an action: done, to be tried again, or failed, with what follows for the rollout.

use std::time::Duration;

use jiff::Timestamp;

use crate::azure::Failure;
use crate::cluster::{ClusterFailure, ClusterFailureKind};
use crate::model::Refusal;
use crate::plan::Choice;
use crate::rollout::{Consequence, Failed, Then, consequence};

/// What became of an action.
#[derive(Clone, Debug, PartialEq)]
pub enum Performed {
    /// It was done, or was so already.
    Done,
    /// It was not, and may be tried again.
    Again {
        /// Not before this time has passed; `None`: as soon as the world was looked at again.
        after: Option<Duration>,
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
    pub(super) fn again(because: impl Into<String>) -> Self {
        Self::Again { after: None, because: because.into() }
    }

    pub(super) fn later(after: Duration, because: impl Into<String>) -> Self {
        Self::Again { after: Some(after), because: because.into() }
    }

    pub(super) fn given_up(code: &str, because: impl Into<String>) -> Self {
        let failed = Failed { code: code.into(), because: because.into().into(), then: Then::GiveUp };
        Self::Failed { failed, refusal: None }
    }

    /// Says what follows from a failure of the API server.
    pub(super) fn of_cluster(failure: &ClusterFailure) -> Self {
        use ClusterFailureKind as Kind;
        let because = failure.what.clone();
        match failure.kind {
            Kind::Conflict => Self::again(because),
            Kind::Forbidden | Kind::Unauthenticated | Kind::Invalid | Kind::Settings => {
                Self::given_up(code_of(failure.kind), because)
            }
            Kind::NotFound => Self::again(because),
            Kind::Unreachable
            | Kind::Expired
            | Kind::TooMany
            | Kind::GateClosed
            | Kind::LeaseHeld
            | Kind::Other => Self::later(Duration::from_secs(5), because),
        }
    }

    /// Says what follows from a failure of Azure. `choice` is what was to be bought, if anything was.
    pub(super) fn of_azure(failure: &Failure, choice: Option<&Choice>, now: Timestamp) -> Self {
        let because = failure.to_string();
        let Some(fault) = failure.fault() else {
            // Nobody answered, or no Azure: what was done shows in the next list.
            return Self::later(Duration::from_secs(5), because);
        };
        match consequence(fault, &because, choice, now) {
            Consequence::Again(after) => Self::later(after.unsigned_abs(), because),
            Consequence::Failed { failed, refusal } => Self::Failed { failed, refusal },
        }
    }
}

/// The word for a failure of the API server in tables.
const fn code_of(kind: ClusterFailureKind) -> &'static str {
    match kind {
        ClusterFailureKind::Forbidden => "Forbidden",
        ClusterFailureKind::Unauthenticated => "Unauthorized",
        ClusterFailureKind::Invalid => "Invalid",
        ClusterFailureKind::Settings
        | ClusterFailureKind::Unreachable
        | ClusterFailureKind::NotFound
        | ClusterFailureKind::Conflict
        | ClusterFailureKind::Expired
        | ClusterFailureKind::TooMany
        | ClusterFailureKind::GateClosed
        | ClusterFailureKind::LeaseHeld
        | ClusterFailureKind::Other => "ApiServerFailed",
    }
}
