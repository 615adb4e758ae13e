//! Consequences for a rollout of failures of the API server or of Azure.

use jiff::{SignedDuration, Timestamp};

use crate::azure::Failure;
use crate::cluster::{ClusterFailure, ClusterFailureKind};
use crate::plan::Choice;
use crate::rollout::{Performed, consequence};

/// Delay before a write is retried while the gate is closed.
pub(super) const GATE_WAIT: SignedDuration = SignedDuration::from_secs(2);

/// Returns the consequence of a failure of the API server.
pub(super) fn of_cluster(failure: &ClusterFailure) -> Performed {
    use ClusterFailureKind as Kind;
    let because = failure.what.clone();
    match failure.kind {
        // The object was changed or deleted meanwhile: the next read shows the current state.
        Kind::Conflict | Kind::NotFound => Performed::again(because),
        Kind::GateClosed | Kind::LeaseHeld => Performed::later(GATE_WAIT, because),
        // A role, a webhook or a definition may be repaired at any time.
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

/// Returns the consequence of a failure of Azure. `choice` is the offering that was requested, if any.
pub(super) fn of_azure(failure: &Failure, choice: Option<&Choice>, now: Timestamp) -> Performed {
    let because = failure.to_string();
    let Some(fault) = failure.fault() else {
        // No answer, or none from Azure: the next list shows what was applied.
        let is_closed = matches!(failure, Failure::NotPermitted { .. });
        return if is_closed { Performed::later(GATE_WAIT, because) } else { Performed::backs_off(because) };
    };
    consequence(fault, &because, choice, now)
}

/// Returns the code of a failure of the API server, as shown in tables.
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
