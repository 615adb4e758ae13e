//! Quota: how many vCPUs a subscription may use in a region, in total and per VM family.
//!
//! Values only. A quota that is not listed is unknown and limits nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{CapacityType, Node, ResourceName, Resources, SkuName, label};

/// What Azure says of one quota.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Usage {
    /// The quota: `cores`, `lowPriorityCores`, or a family such as `standardDSv5Family`.
    pub name: Arc<str>,
    /// How much of it is used.
    pub used: i64,
    /// How much may be used; a negative number is no limit.
    pub limit: i64,
}

/// A quota, and how much of what is used of it the nodes of the input use.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct QuotaLimit {
    /// Its name, as Azure spells it.
    pub name: Arc<str>,
    /// How many vCPUs are used.
    pub used: i64,
    /// How many may be used; a negative number is no limit.
    pub limit: i64,
    /// How many of those that are used are of nodes in the input.
    pub of_nodes: i64,
}

impl QuotaLimit {
    /// Returns how many vCPUs may be used; none where there is no limit.
    #[must_use]
    pub fn most(&self) -> Option<i64> {
        (self.limit >= 0).then_some(self.limit)
    }

    /// Returns how many vCPUs are used beside the nodes of the input: less than none where the input has nodes that Azure
    /// did not count.
    #[must_use]
    pub const fn elsewhere(&self) -> i64 {
        self.used.saturating_sub(self.of_nodes)
    }
}

/// What a VM of a size takes of quotas.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SizeQuota {
    /// The family.
    pub family: Arc<str>,
    /// The vCPUs.
    pub vcpus: i64,
}

/// The quotas of a subscription in a region.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Quota {
    /// The quotas of vCPUs, by name in any letter case.
    pub limits: Vec<QuotaLimit>,
    /// What VMs of each size take.
    pub sizes: BTreeMap<SkuName, SizeQuota>,
}

/// What a VM takes: so many vCPUs of each of these quotas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken<'q> {
    /// The vCPUs.
    pub vcpus: i64,
    of: [Option<&'q str>; 2],
}

impl<'q> Taken<'q> {
    /// Returns the names of the quotas, be they listed or not: the family's first.
    pub fn names(self) -> impl Iterator<Item = &'q str> {
        self.of.into_iter().flatten()
    }
}

impl Quota {
    /// The quota of all vCPUs of a region that are not spot.
    pub const REGION: &str = "cores";

    /// The quota of all spot vCPUs of a region, whatever their family.
    pub const SPOT: &str = "lowPriorityCores";

    /// Sorts what Azure says of vCPUs; of a quota that is listed twice, the row that leaves less counts. Families that none
    /// of these sizes is of are left out, and so is what is not counted in vCPUs.
    #[must_use]
    pub fn new(usages: &[Usage], sizes: BTreeMap<SkuName, SizeQuota>) -> Self {
        let mut by_name: BTreeMap<String, &Usage> = BTreeMap::new();
        let left = |usage: &Usage| match usage.limit {
            ..0 => i64::MAX,
            limit => limit.saturating_sub(usage.used),
        };
        let families = sizes.values().map(|size| size.family.to_ascii_lowercase());
        let totals = [Self::REGION, Self::SPOT].map(str::to_ascii_lowercase);
        let needed: BTreeSet<String> = families.chain(totals).collect();
        for usage in usages.iter().filter(|usage| needed.contains(&usage.name.to_ascii_lowercase())) {
            let there = by_name.entry(usage.name.to_ascii_lowercase()).or_insert(usage);
            if (left(usage), usage) < (left(there), *there) {
                *there = usage;
            }
        }
        let limit = |Usage { name, used, limit }: &Usage| QuotaLimit {
            name: Arc::clone(name),
            used: *used,
            limit: *limit,
            of_nodes: 0,
        };
        Self { limits: by_name.into_values().map(limit).collect(), sizes }
    }

    /// Returns the place of a quota among the limits, whatever the case of its letters; none where it is unknown.
    #[must_use]
    pub fn place(&self, name: &str) -> Option<usize> {
        self.limits.binary_search_by(|limit| letters(&limit.name).cmp(letters(name))).ok()
    }

    /// Returns what a VM takes that is bought so. One that was reserved took its quota when the reservation was made. Of a
    /// size that is not known, `capacity` says the vCPUs.
    #[must_use]
    pub fn taken(&self, size: &str, capacity_type: CapacityType, capacity: &Resources) -> Taken<'_> {
        let known = self.sizes.get(size);
        let cpu = || capacity.get(&ResourceName::Cpu).max(0);
        let vcpus = known.map_or_else(|| cpu().saturating_add(999) / 1_000, |known| known.vcpus);
        let family = known.map(|known| &*known.family).filter(|family| !family.is_empty());
        let of = match capacity_type {
            CapacityType::Spot => [None, Some(Self::SPOT)],
            CapacityType::OnDemand => [family, Some(Self::REGION)],
            CapacityType::Reserved => [None, None],
        };
        Taken { vcpus, of }
    }

    /// Returns what the VM of a node takes. A claim whose size Azure has not chosen yet takes what its largest size has, of
    /// the family where all its sizes are of one.
    #[must_use]
    pub fn taken_by(&self, node: &Node) -> Taken<'_> {
        let value = |key: &str| node.labels.get(key).map(|value| &**value);
        let is_spot = value(label::AKS_SCALE_SET_PRIORITY) == Some("spot");
        let otherwise = if is_spot { CapacityType::Spot } else { CapacityType::OnDemand };
        let capacity_type = value(label::CAPACITY_TYPE).and_then(CapacityType::parse).unwrap_or(otherwise);
        if let Some(size) = value(label::INSTANCE_TYPE) {
            return self.taken(size, capacity_type, &node.capacity);
        }
        let listed = || node.claimed.sizes.iter().map(|size| self.sizes.get(&**size));
        let families = || listed().map(|size| size.map(|size| &*size.family));
        let family = families().next().flatten().filter(|first| families().all(|other| other == Some(first)));
        let vcpus = listed().flatten().map(|size| size.vcpus).max();
        let own = self.taken("", capacity_type, &node.capacity);
        let of = if capacity_type == CapacityType::OnDemand { [family, Some(Self::REGION)] } else { own.of };
        Taken { vcpus: vcpus.unwrap_or(own.vcpus), of }
    }

    /// Counts what the VMs of nodes take of what Azure says is used.
    #[must_use]
    pub fn with_nodes<'n>(mut self, counted: impl IntoIterator<Item = &'n Node>) -> Self {
        for node in counted {
            let taken = self.taken_by(node);
            let vcpus = taken.vcpus;
            for place in taken.names().filter_map(|name| self.place(name)).collect::<Vec<_>>() {
                let of_nodes = &mut self.limits[place].of_nodes;
                *of_nodes = of_nodes.saturating_add(vcpus);
            }
        }
        self
    }

    /// Returns the same with no sizes but these, and the quotas that they count for.
    #[must_use]
    pub fn with_only(mut self, is_needed: impl Fn(&SkuName) -> bool) -> Self {
        self.sizes.retain(|size, _| is_needed(size));
        let families: BTreeSet<String> =
            self.sizes.values().map(|size| size.family.to_ascii_lowercase()).collect();
        let is_total =
            |name: &str| [Self::REGION, Self::SPOT].iter().any(|total| total.eq_ignore_ascii_case(name));
        self.limits
            .retain(|limit| is_total(&limit.name) || families.contains(&limit.name.to_ascii_lowercase()));
        self
    }
}

fn letters(name: &str) -> impl Iterator<Item = u8> {
    name.bytes().map(|letter| letter.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::Arc;

    use super::{Quota, SizeQuota, Usage};
    use crate::model::{CapacityType, ResourceName, Resources, SkuName};

    fn usage(name: &str, used: i64, limit: i64) -> Usage {
        Usage { name: Arc::from(name), used, limit }
    }

    fn quota(usages: &[Usage]) -> Quota {
        let size = SizeQuota { family: Arc::from("standardDSv5Family"), vcpus: 4 };
        Quota::new(usages, BTreeMap::from([(SkuName::new("Standard_D4s_v5"), size)]))
    }

    #[test]
    fn a_family_is_known_in_any_letter_case() {
        let quota = quota(&[usage("cores", 1, 2), usage("STANDARDdsV5family", 3, 4), usage("a", 0, 0)]);
        assert_eq!(quota.place("StandardDSv5Family").map(|place| quota.limits[place].limit), Some(4));
        assert_eq!(quota.place("standardDSv4Family"), None);
    }

    #[test]
    fn of_a_quota_that_is_listed_twice_the_row_that_leaves_less_counts() {
        let quota = quota(&[usage("Cores", 1, -1), usage("cores", 1, 9), usage("cores", 9, 10)]);
        assert_eq!(quota.limits.len(), 1);
        assert_eq!(quota.limits[0].limit, 10);
    }

    #[test]
    fn spot_counts_for_its_own_quota_and_a_reserved_vm_for_none() {
        let quota = quota(&[]);
        let of = |capacity_type| {
            let taken = quota.taken("Standard_D4s_v5", capacity_type, &Resources::none());
            (taken.vcpus, taken.names().collect::<Vec<_>>())
        };
        assert_eq!(of(CapacityType::OnDemand), (4, vec!["standardDSv5Family", "cores"]));
        assert_eq!(of(CapacityType::Spot), (4, vec!["lowPriorityCores"]));
        assert_eq!(of(CapacityType::Reserved), (4, Vec::new()));
    }

    #[test]
    fn a_size_that_is_not_known_counts_by_its_cores_rounded_up() {
        let (quota, capacity) = (quota(&[]), Resources::none().with(ResourceName::Cpu, 3_500));
        let taken = quota.taken("other", CapacityType::OnDemand, &capacity);
        assert_eq!((taken.vcpus, taken.names().collect::<Vec<_>>()), (4, vec!["cores"]));
    }
}
