//! What a fault blocks, and until when.
//!
//! The times are those of Karpenter's Azure provider, which Azure's team chose; where it has none, ours with a reason.
//! Must never block what the fault says nothing about.

use jiff::{SignedDuration, Timestamp};

use super::{Fault, FaultKind};
use crate::arm::BuyAs;

/// A quota comes back when other VMs end.
const QUOTA: SignedDuration = SignedDuration::from_mins(10);
/// A quota of 0 changes by a person's request.
const QUOTA_ZERO: SignedDuration = SignedDuration::from_hours(1);
/// Spot quota and lack of room last.
const CAPACITY: SignedDuration = SignedDuration::from_hours(1);
/// A policy changes by a person's hand.
const POLICY: SignedDuration = SignedDuration::from_hours(1);
/// What is not sold to a subscription is not sold for a day; less than one, so that a daily plan sees a change.
const NOT_SOLD: SignedDuration = SignedDuration::from_hours(23);
/// Azure keeps a NIC for the VM that failed with it.
const NIC_RESERVED: SignedDuration = SignedDuration::from_secs(180);
/// Addresses of deleted NICs come back after as long as Azure reserves NICs.
const SUBNET: SignedDuration = SignedDuration::from_secs(180);
/// Resource Manager's contract: wait so long where `Retry-After` is absent.
const RETRY_AFTER_DEFAULT: SignedDuration = SignedDuration::from_secs(60);
/// The longest `Retry-After` that is believed; Azure's contract ends at 10 minutes, penalties at an hour.
pub(crate) const RETRY_AFTER_SECONDS_MAX: i64 = 3600;

/// What is blocked, and until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// What is blocked.
    pub what: Blocked,
    /// When it may be tried again; none: when a person has changed something.
    pub until: Option<Timestamp>,
}

/// What is blocked, seen from the attempt that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocked {
    /// Nothing but this attempt.
    Nothing,
    /// Offerings: sizes, in zones, by capacity type.
    Offerings {
        /// Which sizes.
        sizes: Sizes,
        /// In which zones.
        zones: Zones,
        /// Bought in which way.
        capacity: Capacity,
    },
    /// Every node in the subnet.
    Subnet,
    /// The NIC of this name.
    NetworkInterface,
    /// The resource, while another operation goes on.
    Resource,
    /// All requests that draw from the same budget.
    Bucket,
    /// Every write to Azure.
    Writes,
}

/// Which sizes are blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// The size of the attempt.
    This,
    /// Sizes of its family with at least as many CPUs.
    FamilyFromThisUp,
    /// All sizes of its family.
    Family,
    /// All sizes.
    All,
}

/// In which zones offerings are blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zones {
    /// In the zone of the attempt.
    This,
    /// Where the attempt was placed: of a zonal one all zones, of a regional one the region without zone.
    AttemptedScope,
    /// Everywhere.
    All,
}

/// By which capacity type offerings are blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// By that of the attempt.
    This,
    /// By spot.
    Spot,
    /// By both.
    Both,
}

const fn offerings(sizes: Sizes, zones: Zones, capacity: Capacity) -> Blocked {
    Blocked::Offerings { sizes, zones, capacity }
}

impl Fault {
    /// Returns what is blocked after an attempt that was bought this way, and until when.
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
        // A time that no calendar holds has no end.
        Block { what, until: wait.and_then(|wait| now.checked_add(wait).ok()) }
    }

    /// How long to wait before the same request: what Azure asks for, else its default.
    #[must_use]
    pub fn retry_after(&self) -> SignedDuration {
        let asked = self.retry_after_seconds.map(|seconds| {
            let seconds = i64::try_from(seconds).unwrap_or(RETRY_AFTER_SECONDS_MAX);
            SignedDuration::from_secs(seconds.min(RETRY_AFTER_SECONDS_MAX))
        });
        asked.unwrap_or(RETRY_AFTER_DEFAULT)
    }
}
