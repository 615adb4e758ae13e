//! The consequence of Azure's refusal of a write: retry, another choice, or give up.

use jiff::{SignedDuration, Timestamp};

use super::memory::{Failed, Then};
use super::performed::Performed;
use crate::arm::fault::{Blocked, Capacity, FaultKind, Sizes, Zones};
use crate::arm::{BuyAs, Fault};
use crate::model::{CapacityType, Refusal, RefusedBecause, RefusedPlace};
use crate::plan::Choice;

/// Code used if Azure gives none.
const NO_CODE: &str = "Refused";

/// Time for which Azure reserves a network interface for the VM that failed with it.
const RESERVED: SignedDuration = SignedDuration::from_secs(180);

/// Returns the consequence of a fault. `choice` is the choice to be bought, if any; `because` is for users.
#[must_use]
pub fn consequence(fault: &Fault, because: &str, choice: Option<&Choice>, now: Timestamp) -> Performed {
    let code: &str = if fault.code.is_empty() { NO_CODE } else { &fault.code };
    let what = (fault.kind != FaultKind::Other).then(|| fault.said().into());
    match fault.kind {
        // Azure gives the time.
        FaultKind::Throttled if fault.retry_after_seconds.is_some() => {
            Performed::later(fault.retry_after(), because)
        }
        FaultKind::NicReserved => Performed::later(RESERVED, because),
        // nodeform cannot fix the cause, but it may disappear at any time: a missing role, a lock that is removed,
        // addresses that become free.
        FaultKind::Throttled
        | FaultKind::Unavailable
        | FaultKind::Conflict
        | FaultKind::SubnetFull
        | FaultKind::Locked
        | FaultKind::ReferenceMissing
        | FaultKind::ImageGone
        | FaultKind::NotAuthenticated
        | FaultKind::NotAllowed
        | FaultKind::SubscriptionDisabled
        | FaultKind::SubscriptionNotFound
        | FaultKind::GroupNotFound
        | FaultKind::ApiVersionGone
        | FaultKind::BadRequest => Performed::refused(code, because),
        FaultKind::FamilyQuota { .. }
        | FaultKind::SpotQuota
        | FaultKind::RegionQuota
        | FaultKind::SizeNotAvailable
        | FaultKind::NoCapacityInZone
        | FaultKind::NoCapacity
        | FaultKind::OverconstrainedInZone
        | FaultKind::Overconstrained
        | FaultKind::PolicyDenied
        | FaultKind::AlreadyExists
        | FaultKind::NotFound
        | FaultKind::Other => match choice {
            Some(choice) => {
                let failed =
                    Failed { code: code.into(), because: because.into(), what, then: Then::NextChoice };
                Performed::Failed { failed, refusal: refusal(fault, choice, now).map(Box::new) }
            }
            None => Performed::refused(code, because),
        },
    }
}

/// Returns the offerings that Azure will not sell for a while after it refused a choice.
fn refusal(fault: &Fault, choice: &Choice, now: Timestamp) -> Option<Refusal> {
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
        FaultKind::PolicyDenied => RefusedBecause::RequestDisallowedByPolicy,
        FaultKind::SizeNotAvailable
        | FaultKind::Locked
        | FaultKind::SubnetFull
        | FaultKind::NicReserved
        | FaultKind::ReferenceMissing
        | FaultKind::ImageGone
        | FaultKind::Conflict
        | FaultKind::AlreadyExists
        | FaultKind::Throttled
        | FaultKind::NotAuthenticated
        | FaultKind::NotAllowed
        | FaultKind::SubscriptionDisabled
        | FaultKind::SubscriptionNotFound
        | FaultKind::GroupNotFound
        | FaultKind::NotFound
        | FaultKind::ApiVersionGone
        | FaultKind::Unavailable
        | FaultKind::BadRequest
        | FaultKind::Other => RefusedBecause::SkuNotAvailable,
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
        said: fault.detail().map(Into::into),
        until: block.until?,
    })
}
