//! Azure's refusals: the refused VMs, the reason, and until when the refusal is respected.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::{CapacityType, Offering, SkuName, Zone};

/// Azure's "no zone".
const NO_ZONE: &str = "0";

/// Why Azure refused, in the words of Karpenter's Azure provider, which shows them as reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RefusedBecause {
    /// A quota is used up: the one of spot, or of the size's family.
    SubscriptionQuotaReached,
    /// The size cannot be had now, or the subscription may not use it.
    #[serde(rename = "SKUNotAvailable")]
    SkuNotAvailable,
    /// The zone has no room for the size.
    ZonalAllocationFailure,
    /// There is no room for the size.
    AllocationFailure,
    /// The zone has no room for the size as it was to be bought.
    OverconstrainedZonalAllocationFailure,
    /// There is no room for the size as it was to be bought.
    OverconstrainedAllocationFailure,
    /// An Azure Policy does not allow the size, bought in this way. Karpenter has no word for it; this is Azure's.
    RequestDisallowedByPolicy,
    /// Azure took such VMs away of late. Karpenter has no word for it.
    SpotEvicted,
}

impl RefusedBecause {
    /// Every reason, in the order of this enum.
    pub const ALL: [Self; 8] = [
        Self::SubscriptionQuotaReached,
        Self::SkuNotAvailable,
        Self::ZonalAllocationFailure,
        Self::AllocationFailure,
        Self::OverconstrainedZonalAllocationFailure,
        Self::OverconstrainedAllocationFailure,
        Self::RequestDisallowedByPolicy,
        Self::SpotEvicted,
    ];

    /// Returns whether what is said of a size is true of larger ones of its series as well.
    #[must_use]
    pub const fn is_of_larger(self) -> bool {
        match self {
            Self::SubscriptionQuotaReached
            | Self::SkuNotAvailable
            | Self::ZonalAllocationFailure
            | Self::AllocationFailure
            | Self::OverconstrainedZonalAllocationFailure
            | Self::OverconstrainedAllocationFailure => true,
            Self::RequestDisallowedByPolicy | Self::SpotEvicted => false,
        }
    }
}

impl fmt::Display for RefusedBecause {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SubscriptionQuotaReached => "SubscriptionQuotaReached",
            Self::SkuNotAvailable => "SKUNotAvailable",
            Self::ZonalAllocationFailure => "ZonalAllocationFailure",
            Self::AllocationFailure => "AllocationFailure",
            Self::OverconstrainedZonalAllocationFailure => "OverconstrainedZonalAllocationFailure",
            Self::OverconstrainedAllocationFailure => "OverconstrainedAllocationFailure",
            Self::RequestDisallowedByPolicy => "RequestDisallowedByPolicy",
            Self::SpotEvicted => "SpotEvicted",
        })
    }
}

/// Where it was refused.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum RefusedPlace {
    /// In every zone, and where no zone is asked for.
    Everywhere,
    /// In every zone; where no zone is asked for, Azure was not tried.
    EveryZone,
    /// In one zone; `0` is Azure's "no zone".
    Zone(Zone),
}

/// VMs that Azure refused to sell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Refusal {
    /// The size; `None` for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<SkuName>,
    /// Where.
    pub place: RefusedPlace,
    /// Bought in which way; `None` for both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity_type: Option<CapacityType>,
    /// Why.
    pub because: RefusedBecause,
    /// What Azure said of it beside its code, in a few words: the policy, or the limit and what is used of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said: Option<Arc<str>>,
    /// When it is forgotten: when it was last seen, and the time that Karpenter's Azure provider leaves such
    /// offerings alone.
    #[serde(with = "super::written::text")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub until: Timestamp,
}

impl Refusal {
    /// Returns why, with what Azure said of it.
    #[must_use]
    pub fn why(&self) -> String {
        let because = self.because;
        self.said.as_ref().map_or_else(|| because.to_string(), |said| format!("{because}: {said}"))
    }

    /// Returns whether nothing at all can be had, as where the quota of the region is used up: then no other size, zone or
    /// way to buy helps.
    #[must_use]
    pub fn is_of_all(&self) -> bool {
        self.size.is_none() && self.place == RefusedPlace::Everywhere && self.capacity_type.is_none()
    }

    /// Returns whether this way to have a VM was refused, its size aside.
    #[must_use]
    pub fn is_about(&self, offering: &Offering) -> bool {
        let is_there = match &self.place {
            RefusedPlace::Everywhere => true,
            RefusedPlace::EveryZone => offering.zone.as_str() != NO_ZONE,
            RefusedPlace::Zone(zone) => *zone == offering.zone,
        };
        is_there && self.capacity_type.is_none_or(|bought| bought == offering.capacity_type)
    }
}
