//! Serialized sizes of a plan's world: common labels of all sizes once, and each set of an offering's labels once.
//!
//! Sizes of one class share most of their labels, and offerings of one zone all of them; repeated for each, they were
//! most of a plan file. The encoding is lossless.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::model::{
    CapacityType, ClassName, DataDisks, InstanceType, LabelKey, Offering, OsDisk, Price, Requirement,
    Requirements, Resources, SkuName, Zone,
};

/// The sizes of a class.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Sizes"))]
#[serde(rename_all = "camelCase")]
pub(super) struct WireSizes {
    /// What the labels of the nodes of each of them are or may be.
    common: Requirements,
    /// What the labels of a node from an offering are, beyond those of its size; each set once.
    offered: Vec<Requirements>,
    /// The sizes.
    types: Vec<WireType>,
}

/// A size under one AKSNodeClass: what nodes of it have and how they can be had.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Size"))]
#[serde(rename_all = "camelCase")]
struct WireType {
    /// The size's name.
    name: SkuName,
    /// Labels of its nodes that have one value, beyond the common ones.
    labels: BTreeMap<LabelKey, Arc<str>>,
    /// What its nodes' other labels may be, beyond the common ones.
    #[serde(default, skip_serializing_if = "Requirements::is_empty")]
    requirements: Requirements,
    /// What a node has in all.
    capacity: Resources,
    /// What pods, daemonsets included, may use of it.
    allocatable: Resources,
    /// Where the operating system's disk is and what it costs.
    os_disk: OsDisk,
    /// How it can be had; sorted by zone and capacity type.
    offerings: Vec<WireOffering>,
    /// How many data disks its nodes take, where that is said of the size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data_disks: Option<DataDisks>,
    /// Whether zones, capabilities or shape are estimated from the size's name rather than read from Azure.
    is_estimate: bool,
}

/// One way to have a size.
#[derive(Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "SizeOffering"))]
#[serde(rename_all = "camelCase")]
struct WireOffering {
    /// The zone; `0` is Azure's "no zone".
    zone: Zone,
    /// How it is bought.
    capacity_type: CapacityType,
    /// What the VM costs by the list.
    price: Price,
    /// Whether it can be had now.
    is_available: bool,
    /// How many VMs of it are reserved and not used yet, where it is reserved and that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reserved_count: Option<u32>,
    /// What the labels of a node from it are: a place in `offered`.
    labels: usize,
}

/// The sizes as the world holds them.
type Sizes = BTreeMap<ClassName, Vec<InstanceType>>;

/// Writes the sizes by class.
pub(super) fn serialize<S: Serializer>(sizes: &Sizes, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(sizes.iter().map(|(class, types)| (class, WireSizes::of(types))))
}

/// Reads the sizes by class.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Sizes, D::Error> {
    let wire = BTreeMap::<ClassName, WireSizes>::deserialize(deserializer)?;
    wire.into_iter().map(|(class, sizes)| Ok((class, sizes.types().map_err(de::Error::custom)?))).collect()
}

impl WireSizes {
    fn of(types: &[InstanceType]) -> Self {
        let common = common(types);
        let mut offered: Vec<Requirements> = types
            .iter()
            .flat_map(|kind| &kind.offerings)
            .map(|offering| offering.requirements.clone())
            .collect();
        offered.sort();
        offered.dedup();
        let types = types.iter().map(|kind| WireType::of(kind, &common, &offered)).collect();
        Self { common, offered, types }
    }

    fn types(self) -> Result<Vec<InstanceType>, String> {
        let Self { common, offered, types } = self;
        types.into_iter().map(|wire| wire.kind(&common, &offered)).collect()
    }
}

/// Returns what is the same of all sizes.
fn common(types: &[InstanceType]) -> Requirements {
    let mut common = Requirements::none();
    let Some((first, others)) = types.split_first() else { return common };
    for (key, requirement) in first.requirements.iter() {
        let is_same = |kind: &InstanceType| kind.requirements.get(key.as_str()) == Some(requirement);
        if others.iter().all(is_same) {
            common.set(key.clone(), requirement.clone());
        }
    }
    common
}

impl WireType {
    fn of(kind: &InstanceType, common: &Requirements, offered: &[Requirements]) -> Self {
        let InstanceType {
            name,
            requirements,
            capacity,
            allocatable,
            os_disk,
            offerings,
            data_disks,
            is_estimate,
        } = kind;
        let (mut labels, mut others) = (BTreeMap::new(), Requirements::none());
        for (key, requirement) in requirements.iter().filter(|(key, _)| common.get(key.as_str()).is_none()) {
            match requirement.single().filter(|value| Requirement::one(value) == *requirement) {
                Some(value) => drop(labels.insert(key.clone(), Arc::clone(value))),
                None => others.set(key.clone(), requirement.clone()),
            }
        }
        let offering = |offering: &Offering| {
            let Offering { zone, capacity_type, price, is_available, reserved_count, requirements } =
                offering;
            WireOffering {
                zone: zone.clone(),
                capacity_type: *capacity_type,
                price: *price,
                is_available: *is_available,
                reserved_count: *reserved_count,
                labels: offered.binary_search(requirements).expect("each set is among them, in order"),
            }
        };
        Self {
            name: name.clone(),
            labels,
            requirements: others,
            capacity: capacity.clone(),
            allocatable: allocatable.clone(),
            os_disk: os_disk.clone(),
            offerings: offerings.iter().map(offering).collect(),
            data_disks: *data_disks,
            is_estimate: *is_estimate,
        }
    }

    fn kind(self, common: &Requirements, offered: &[Requirements]) -> Result<InstanceType, String> {
        let Self {
            name,
            labels,
            requirements: others,
            capacity,
            allocatable,
            os_disk,
            offerings,
            data_disks,
            is_estimate,
        } = self;
        let mut requirements = common.clone();
        let single = labels.iter().map(|(key, value)| (key.clone(), Requirement::one(value)));
        let others = others.iter().map(|(key, requirement)| (key.clone(), requirement.clone()));
        single.chain(others).for_each(|(key, requirement)| requirements.set(key, requirement));
        let offering = |wire: WireOffering| {
            let WireOffering { zone, capacity_type, price, is_available, reserved_count, labels } = wire;
            let requirements = offered.get(labels).cloned().ok_or_else(|| {
                format!("size `{name}` has an offering with labels {labels}, of which there are none")
            })?;
            Ok(Offering { zone, capacity_type, price, is_available, reserved_count, requirements })
        };
        let offerings = offerings.into_iter().map(offering).collect::<Result<_, String>>()?;
        Ok(InstanceType {
            name,
            requirements,
            capacity,
            allocatable,
            os_disk,
            offerings,
            data_disks,
            is_estimate,
        })
    }
}
