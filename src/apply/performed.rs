//! What follows for a rollout from a failure of the API server or of Azure.

use jiff::{SignedDuration, Timestamp};

use crate::azure::Failure;
use crate::cluster::{ClusterFailure, ClusterFailureKind};
use crate::plan::Choice;
use crate::rollout::{Performed, consequence};

/// How long a closed gate is waited for.
pub(super) const GATE_WAIT: SignedDuration = SignedDuration::from_secs(2);

/// Says what follows from a failure of the API server.
pub(super) fn of_cluster(failure: &ClusterFailure) -> Performed {
    use ClusterFailureKind as Kind;
    let because = failure.what.clone();
    match failure.kind {
        // Somebody wrote or deleted it meanwhile: the next look shows what there is now.
        Kind::Conflict | Kind::NotFound => Performed::again(because),
        Kind::GateClosed | Kind::LeaseHeld => Performed::later(GATE_WAIT, because),
        // A role, a webhook or a definition may be mended at any time.
        Kind::Forbidden
        | Kind::Unauthenticated
        | Kind::Invalid
        | Kind::Settings
        | Kind::Unreachable
        | Kind::Expired
        | Kind::TooMany
        | Kind::Other => Performed::refused(code_of(failure.kind), because),
    }
}

/// Says what follows from a failure of Azure. `choice` is what was to be bought, if anything was.
pub(super) fn of_azure(failure: &Failure, choice: Option<&Choice>, now: Timestamp) -> Performed {
    let because = failure.to_string();
    let Some(fault) = failure.fault() else {
        // Nobody answered, or no Azure: what was done shows in the next list.
        let is_closed = matches!(failure, Failure::NotPermitted { .. });
        return if is_closed { Performed::later(GATE_WAIT, because) } else { Performed::backs_off(because) };
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
