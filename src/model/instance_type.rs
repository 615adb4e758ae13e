//! Instance types: a VM size's capacity, and its offerings with their prices.

use std::collections::BTreeSet;

use super::{CapacityType, MicroUsdPerHour, Price, Requirements, Resources, SkuName, Zone};

/// What the operating system's disk is on a size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OsDisk {
    /// On the VM's own storage, for nothing.
    Ephemeral,
    /// A managed disk with its price by the hour.
    Managed(Price),
}

impl OsDisk {
    /// Returns what it costs by the hour.
    #[must_use]
    pub const fn price(&self) -> Price {
        match self {
            Self::Ephemeral => Price::Listed(MicroUsdPerHour(0)),
            Self::Managed(price) => *price,
        }
    }
}

/// How many data disks can be attached to a VM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DataDisks {
    /// At most so many.
    pub most: u32,
    /// Whether no list says it of the size: then it is the least of all sizes with as many vCPUs.
    pub is_estimate: bool,
}

/// One way to have an instance type.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Offering {
    /// The zone; `0` is Azure's "no zone".
    pub zone: Zone,
    /// How it is bought.
    pub capacity_type: CapacityType,
    /// What the VM costs by the list.
    pub price: Price,
    /// Whether it can be had now.
    pub is_available: bool,
    /// How many VMs of it are reserved and not used yet, where it is reserved and that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserved_count: Option<u32>,
    /// What the labels of a node from this offering are, beyond those of the type: zone, capacity type,
    /// placement scope and the like.
    pub requirements: Requirements,
}

/// A size under one AKSNodeClass: what nodes of it have and how they can be had.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InstanceType {
    /// The size's name.
    pub name: SkuName,
    /// What the labels of its nodes are or may be, offerings included.
    pub requirements: Requirements,
    /// What a node has in all.
    pub capacity: Resources,
    /// What pods, daemonsets included, may use of it.
    pub allocatable: Resources,
    /// Where the operating system's disk is and what it costs.
    pub os_disk: OsDisk,
    /// How it can be had; sorted by zone and capacity type.
    pub offerings: Vec<Offering>,
    /// How many data disks its nodes take, where the list that the type is of says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_disks: Option<DataDisks>,
    /// Whether zones, capabilities or shape are estimated from the size's name rather than read from Azure.
    pub is_estimate: bool,
}

impl InstanceType {
    /// Marks what is sold in these zones as not to be had.
    pub fn withdraw(&mut self, zones: &BTreeSet<Zone>) {
        for offering in self.offerings.iter_mut().filter(|offering| zones.contains(&offering.zone)) {
            offering.is_available = false;
        }
    }
}
