//! What Azure sells in one region: sizes, zones, prices; and the instance types that follow from it.
//!
//! A catalogue is a value of one region. This module never fetches anything and never chooses a size.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ClassName, InstanceType, LabelKey, NetworkSetup, NodeClass, Price, Region, SkuName};

/// What can be bought in one region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    /// The region.
    pub region: Region,
    recorded: BTreeMap<ClassName, Vec<InstanceType>>,
    well_known: BTreeSet<LabelKey>,
}

/// A size that an AKSNodeClass cannot use, and why.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusedSize {
    /// The size.
    pub size: SkuName,
    /// Why, for people.
    pub because: String,
}

/// What a catalogue offers to one AKSNodeClass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// The instance types, sorted by name.
    pub types: Vec<InstanceType>,
    /// The sizes that are left out, sorted by name.
    pub refused: Vec<RefusedSize>,
}

impl Catalog {
    /// Makes a catalogue of recorded answers: the instance types of each class, and labels that have a
    /// meaning beside Karpenter's and the Azure provider's.
    #[must_use]
    pub const fn recorded(
        region: Region,
        recorded: BTreeMap<ClassName, Vec<InstanceType>>,
        well_known: BTreeSet<LabelKey>,
    ) -> Self {
        Self { region, recorded, well_known }
    }

    /// Returns the instance types that nodes of this class may have.
    #[must_use]
    pub fn offered(&self, class: &NodeClass, network: NetworkSetup) -> Offered {
        let _ = network;
        let types = self.recorded.get(&class.name).cloned().unwrap_or_default();
        Offered { types, refused: Vec::new() }
    }

    /// Returns whether a pod may ask for this label without its NodePool naming it.
    #[must_use]
    pub fn is_well_known(&self, key: &LabelKey) -> bool {
        crate::model::label::WELL_KNOWN.contains(&key.as_str())
            || crate::model::label::WELL_KNOWN_AZURE.contains(&key.as_str())
            || self.well_known.contains(key)
    }

    /// Returns the list price by the hour of a managed OS disk of this many GB.
    #[must_use]
    pub fn os_disk_price(&self, size_gb: u32) -> Price {
        let _ = size_gb;
        Price::Unknown
    }
}
