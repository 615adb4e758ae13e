//! What became of an action: done, to be tried again, or failed, with what follows for the rollout.

use std::time::Duration;

use jiff::Timestamp;

use crate::arm::BuyAs;
use crate::arm::fault::{Blocked, Capacity, FaultKind, Sizes, Zones};
use crate::azure::Failure;
use crate::cluster::{ClusterFailure, ClusterFailureKind};
use crate::model::{CapacityType, Refusal, RefusedBecause, RefusedPlace};
use crate::plan::Choice;
use crate::rollout::{Failed, Then};

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
            Kind::Unreachable | Kind::Expired | Kind::TooMany | Kind::GateClosed | Kind::Other => {
                Self::later(Duration::from_secs(5), because)
            }
        }
    }

    /// Says what follows from a failure of Azure. `choice` is what was to be bought, if anything was.
    pub(super) fn of_azure(failure: &Failure, choice: Option<&Choice>, now: Timestamp) -> Self {
        let because = failure.to_string();
        let Some(fault) = failure.fault() else {
            // Nobody answered, or no Azure: what was done shows in the next list.
            return Self::later(Duration::from_secs(5), because);
        };
        let wait = Duration::from_secs(fault.retry_after().as_secs().unsigned_abs());
        let give_up = || Self::given_up(if fault.code.is_empty() { "Refused" } else { &fault.code }, because.clone());
        match fault.kind {
            FaultKind::Throttled | FaultKind::Unavailable | FaultKind::Conflict => Self::later(wait, because),
            FaultKind::NicReserved => Self::later(Duration::from_secs(180), because),
            FaultKind::SubnetFull
            | FaultKind::PolicyDenied
            | FaultKind::Locked
            | FaultKind::ReferenceMissing
            | FaultKind::ImageGone
            | FaultKind::NotAuthenticated
            | FaultKind::NotAllowed
            | FaultKind::SubscriptionDisabled
            | FaultKind::SubscriptionNotFound
            | FaultKind::GroupNotFound
            | FaultKind::ApiVersionGone
            | FaultKind::BadRequest => give_up(),
            FaultKind::FamilyQuota { .. }
            | FaultKind::SpotQuota
            | FaultKind::RegionQuota
            | FaultKind::SizeNotAvailable
            | FaultKind::NoCapacityInZone
            | FaultKind::NoCapacity
            | FaultKind::OverconstrainedInZone
            | FaultKind::Overconstrained
            | FaultKind::AlreadyExists
            | FaultKind::NotFound
            | FaultKind::Other => match choice {
                Some(choice) => {
                    let code = if fault.code.is_empty() { "Refused" } else { &fault.code };
                    let failed = Failed { code: code.into(), because: because.into(), then: Then::NextChoice };
                    Self::Failed { failed, refusal: refusal(fault, choice, now) }
                }
                None => give_up(),
            },
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
        | ClusterFailureKind::Other => "ApiServerFailed",
    }
}

/// What Azure will not sell for a while after it refused a choice.
fn refusal(fault: &crate::arm::Fault, choice: &Choice, now: Timestamp) -> Option<Refusal> {
    let buy_as = match choice.capacity_type {
        CapacityType::Spot => BuyAs::Spot,
        CapacityType::OnDemand | CapacityType::Reserved => BuyAs::OnDemand,
    };
    let block = fault.blocks(buy_as, now);
    let Blocked::Offerings { sizes, zones, capacity } = block.what else { return None };
    let because = match fault.kind {
        FaultKind::FamilyQuota { .. } | FaultKind::SpotQuota | FaultKind::RegionQuota => {
            RefusedBecause::SubscriptionQuotaReached
        }
        FaultKind::NoCapacityInZone => RefusedBecause::ZonalAllocationFailure,
        FaultKind::NoCapacity => RefusedBecause::AllocationFailure,
        FaultKind::OverconstrainedInZone => RefusedBecause::OverconstrainedZonalAllocationFailure,
        FaultKind::Overconstrained => RefusedBecause::OverconstrainedAllocationFailure,
        _ => RefusedBecause::SkuNotAvailable,
    };
    let is_regional = choice.zone.as_str() == "0";
    Some(Refusal {
        size: match sizes {
            Sizes::This | Sizes::FamilyFromThisUp | Sizes::Family => Some(choice.size.clone()),
            Sizes::All => None,
        },
        place: match zones {
            Zones::All => RefusedPlace::Everywhere,
            Zones::AttemptedScope if !is_regional => RefusedPlace::EveryZone,
            Zones::This | Zones::AttemptedScope => RefusedPlace::Zone(choice.zone.clone()),
        },
        capacity_type: match capacity {
            Capacity::This => Some(choice.capacity_type),
            Capacity::Spot => Some(CapacityType::Spot),
            Capacity::Both => None,
        },
        because,
        until: block.until?,
    })
}
