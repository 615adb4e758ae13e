//! What a fault blocks, and until when.
//!
//! The durations are those of Karpenter's Azure provider, which were chosen by Azure's team; if it has none, our own
//! with a reason. Must never block anything that the fault does not concern.

use jiff::{SignedDuration, Timestamp};

use super::{Fault, FaultKind};
use crate::arm::BuyAs;

/// Quota is released when other VMs are deleted.
const QUOTA: SignedDuration = SignedDuration::from_mins(10);
/// A quota of 0 changes only by a quota request.
const QUOTA_ZERO: SignedDuration = SignedDuration::from_hours(1);
/// An exhausted spot quota or lack of capacity usually persists.
const CAPACITY: SignedDuration = SignedDuration::from_hours(1);
/// A policy is changed only manually.
const POLICY: SignedDuration = SignedDuration::from_hours(1);
/// A size that is not sold to a subscription is blocked for almost a day, so that a daily plan notices a change.
const NOT_SOLD: SignedDuration = SignedDuration::from_hours(23);
/// Azure's reservation of a NIC for the VM whose creation failed.
const NIC_RESERVED: SignedDuration = SignedDuration::from_secs(180);
/// Addresses of deleted NICs become free after as long as Azure reserves NICs.
const SUBNET: SignedDuration = SignedDuration::from_secs(180);
/// Resource Manager's documented wait if `Retry-After` is absent.
const RETRY_AFTER_DEFAULT: SignedDuration = SignedDuration::from_secs(60);
/// Maximum accepted `Retry-After`; Azure documents up to 10 minutes, and penalties up to an hour.
pub(crate) const RETRY_AFTER_SECONDS_MAX: i64 = 3600;

/// A block with its expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Scope of the block.
    pub what: Blocked,
    /// Time of the next attempt; `None`: only after someone has fixed the cause.
    pub until: Option<Timestamp>,
}

/// Scope of a block, relative to the failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// Only this attempt.
    Nothing,
    /// Offerings: sizes, in zones, by capacity type.
    Offerings {
        /// Which sizes.
        sizes: Sizes,
        /// The zones.
        zones: Zones,
        /// The capacity types.
        capacity: Capacity,
    },
    /// Every node in the subnet.
    Subnet,
    /// The NIC of this name.
    NetworkInterface,
    /// The resource, while another operation is in progress.
    Resource,
    /// All requests that draw from the same bucket.
    Bucket,
    /// Every write to Azure.
    Writes,
}

/// Sizes of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// The size of the attempt.
    This,
    /// Sizes of the same family with at least as many CPUs.
    FamilyFromThisUp,
    /// All sizes of the family.
    Family,
    /// All sizes.
    All,
}

/// Zones of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zones {
    /// The zone of the attempt.
    This,
    /// All zones if the attempt was zonal; only regional placement (no zone) if it was regional.
    AttemptedScope,
    /// All zones and regional placement.
    All,
}

/// Capacity types of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// The capacity type of the attempt.
    This,
    /// Spot.
    Spot,
    /// Both.
    Both,
}

const fn offerings(sizes: Sizes, zones: Zones, capacity: Capacity) -> Blocked {
    Blocked::Offerings { sizes, zones, capacity }
}

impl Fault {
    /// Returns the block after a failed attempt with this capacity type.
    #[must_use]
    pub fn blocks(&self, buy_as: BuyAs, now: Timestamp) -> Block {
        let retry_after = self.retry_after();
        let (what, wait) = match self.kind {
            FaultKind::FamilyQuota { is_zero: true } => {
                (offerings(Sizes::Family, Zones::All, Capacity::This), Some(QUOTA_ZERO))
            }
            FaultKind::FamilyQuota { is_zero: false } => {
                (offerings(Sizes::FamilyFromThisUp, Zones::All, Capacity::This), Some(QUOTA))
            }
            FaultKind::SpotQuota => (offerings(Sizes::All, Zones::All, Capacity::Spot), Some(CAPACITY)),
            FaultKind::RegionQuota => (offerings(Sizes::All, Zones::All, Capacity::Both), Some(QUOTA)),
            FaultKind::SizeNotAvailable => match buy_as {
                BuyAs::Spot => {
                    (offerings(Sizes::This, Zones::AttemptedScope, Capacity::This), Some(CAPACITY))
                }
                BuyAs::OnDemand => (offerings(Sizes::This, Zones::All, Capacity::This), Some(NOT_SOLD)),
            },
            FaultKind::NoCapacityInZone => {
                (offerings(Sizes::This, Zones::This, Capacity::Both), Some(CAPACITY))
            }
            FaultKind::NoCapacity => {
                (offerings(Sizes::This, Zones::AttemptedScope, Capacity::Both), Some(CAPACITY))
            }
            FaultKind::OverconstrainedInZone => {
                (offerings(Sizes::This, Zones::This, Capacity::This), Some(CAPACITY))
            }
            FaultKind::Overconstrained => {
                (offerings(Sizes::This, Zones::All, Capacity::This), Some(CAPACITY))
            }
            FaultKind::SubnetFull => (Blocked::Subnet, Some(SUBNET)),
            FaultKind::NicReserved => (Blocked::NetworkInterface, Some(NIC_RESERVED)),
            FaultKind::Conflict => (Blocked::Resource, Some(retry_after)),
            FaultKind::Throttled => (Blocked::Bucket, Some(retry_after)),
            FaultKind::Unavailable => (Blocked::Nothing, Some(retry_after)),
            FaultKind::Locked
            | FaultKind::NotAuthenticated
            | FaultKind::NotAllowed
            | FaultKind::SubscriptionDisabled
            | FaultKind::SubscriptionNotFound
            | FaultKind::GroupNotFound
            | FaultKind::ApiVersionGone => (Blocked::Writes, None),
            FaultKind::PolicyDenied => (offerings(Sizes::This, Zones::All, Capacity::This), Some(POLICY)),
            FaultKind::ReferenceMissing
            | FaultKind::ImageGone
            | FaultKind::AlreadyExists
            | FaultKind::NotFound
            | FaultKind::BadRequest
            | FaultKind::Other => (Blocked::Nothing, None),
        };
        // If the time is out of range, the block does not expire.
        Block { what, until: wait.and_then(|wait| now.checked_add(wait).ok()) }
    }

    /// Returns the wait before the same request may be retried: as requested by Azure, otherwise the default.
    #[must_use]
    pub fn retry_after(&self) -> SignedDuration {
        let asked = self.retry_after_seconds.map(|seconds| {
            let seconds = i64::try_from(seconds).unwrap_or(RETRY_AFTER_SECONDS_MAX);
            SignedDuration::from_secs(seconds.min(RETRY_AFTER_SECONDS_MAX))
        });
        asked.unwrap_or(RETRY_AFTER_DEFAULT)
    }
}
