//! What follows for a rollout from a failure of the API server or of Azure.

use jiff::{SignedDuration, Timestamp};

use crate::azure::Failure;
use crate::cluster::{ClusterFailure, ClusterFailureKind};
use crate::plan::Choice;
use crate::rollout::{Performed, consequence};

/// How long is waited where nobody answered, of the cloud's clock.
const NO_ANSWER_WAIT: SignedDuration = SignedDuration::from_secs(5);

/// Says what follows from a failure of the API server.
pub(super) fn of_cluster(failure: &ClusterFailure) -> Performed {
    use ClusterFailureKind as Kind;
    let because = failure.what.clone();
    match failure.kind {
        Kind::Conflict => Performed::again(because),
        Kind::Forbidden | Kind::Unauthenticated | Kind::Invalid | Kind::Settings => {
            Performed::given_up(code_of(failure.kind), because)
        }
        Kind::NotFound => Performed::again(because),
        Kind::Unreachable
        | Kind::Expired
        | Kind::TooMany
        | Kind::GateClosed
        | Kind::LeaseHeld
        | Kind::Other => Performed::later(NO_ANSWER_WAIT, because),
    }
}

/// Says what follows from a failure of Azure. `choice` is what was to be bought, if anything was.
pub(super) fn of_azure(failure: &Failure, choice: Option<&Choice>, now: Timestamp) -> Performed {
    let because = failure.to_string();
    let Some(fault) = failure.fault() else {
        // Nobody answered, or no Azure: what was done shows in the next list.
        return Performed::later(NO_ANSWER_WAIT, because);
    };
    consequence(fault, &because, choice, now)
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
