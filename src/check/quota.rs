//! Quotas: no plan needs more vCPUs than the subscription's limits.
//!
//! A VM counts from the start of its creation until it is deleted: removals of a plan free nothing for its creations.
//! The vCPUs of a VM are derived here from the sizes that the quotas list; an unknown quota limits nothing.

use std::collections::BTreeMap;

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{CapacityType, InstanceType, LabelKey, Node, Quota, ResourceName, label};

/// Needed vCPUs of each quota, by lower-case name, when every node is created.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    vcpus: BTreeMap<String, i64>,
    /// The part of new nodes.
    made: BTreeMap<String, i64>,
}

/// A quota that is exceeded.
struct Exceeded {
    name: String,
    needed: i64,
    limit: i64,
}

impl Needs {
    /// Counts usage elsewhere, existing nodes and new nodes.
    pub(super) fn of(case: &Case<'_>) -> Self {
        let mut needs = Self::default();
        let Some(quota) = case.snapshot.quota.as_deref() else { return needs };
        for limit in &quota.limits {
            let name = limit.name.to_ascii_lowercase();
            needs.vcpus.insert(name, limit.used.saturating_sub(limit.of_nodes));
        }
        for node in &case.snapshot.nodes {
            for (name, vcpus) in of_node(quota, node) {
                *needs.vcpus.entry(name).or_default() += vcpus;
            }
        }
        // Nodes that Azure never counted and that are assumed gone free nothing.
        needs.vcpus.values_mut().for_each(|vcpus| *vcpus = (*vcpus).max(0));
        for made in &case.made {
            let Some((_, size, _)) = case.bought(made) else { continue };
            for (name, vcpus) in of_size(quota, (size, made.capacity_type)) {
                *needs.vcpus.entry(name.clone()).or_default() += vcpus;
                *needs.made.entry(name).or_default() += vcpus;
            }
        }
        needs
    }

    /// Returns whether one more VM stays within the quotas.
    pub(super) fn have_room(&self, case: &Case<'_>, vm: (&InstanceType, CapacityType)) -> bool {
        let Some(quota) = case.snapshot.quota.as_deref() else { return true };
        self.exceeded(quota, &of_size(quota, vm)).is_none()
    }

    /// Returns the quota that a substitute for a planned VM exceeds.
    pub(super) fn beyond_instead(
        &self,
        case: &Case<'_>,
        planned: (&InstanceType, CapacityType),
        other: (&InstanceType, CapacityType),
    ) -> Option<String> {
        let quota = case.snapshot.quota.as_deref()?;
        let own: BTreeMap<String, i64> = of_size(quota, planned).into_iter().collect();
        let more = |(name, vcpus): (String, i64)| {
            let more = vcpus - own.get(&name).copied().unwrap_or(0);
            (more > 0).then_some((name, more))
        };
        let more: Vec<(String, i64)> = of_size(quota, other).into_iter().filter_map(more).collect();
        let Exceeded { name, needed, limit } = self.exceeded(quota, &more)?;
        Some(format!("quota `{name}` would be used by {needed} vCPUs with it, the limit is {limit}"))
    }

    fn exceeded(&self, quota: &Quota, more: &[(String, i64)]) -> Option<Exceeded> {
        more.iter().find_map(|(name, more)| {
            let limit = limit(quota, name)?;
            let needed = self.vcpus.get(name).copied().unwrap_or(0).saturating_add(*more);
            (needed > limit).then(|| Exceeded { name: name.clone(), needed, limit })
        })
    }
}

/// Returns the quotas that the plan exceeds.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let Some(quota) = case.snapshot.quota.as_deref() else { return Vec::new() };
    let needs = Needs::of(case);
    let beyond = |(name, made): (&String, &i64)| {
        let (limit, needed) = (limit(quota, name)?, needs.vcpus.get(name)?);
        (*made > 0 && *needed > limit).then(|| {
            let why = format!("{needed} vCPUs with the {made} that the plan creates, the limit is {limit}");
            Finding::new(Rule::Quota, format!("quota `{name}`"), why)
        })
    };
    needs.made.iter().filter_map(beyond).collect()
}

/// Returns the limit of a quota, by lower-case name; `None` if it is unknown or unlimited.
fn limit(quota: &Quota, name: &str) -> Option<i64> {
    let known = quota.limits.iter().find(|limit| limit.name.eq_ignore_ascii_case(name))?;
    (known.limit >= 0).then_some(known.limit)
}

/// Returns the vCPUs that a VM needs, by quota. A VM in a reservation needs none: the reservation has them.
fn of_size(quota: &Quota, (size, capacity_type): (&InstanceType, CapacityType)) -> Vec<(String, i64)> {
    let listed = quota.sizes.get(&size.name);
    let cores = size.capacity.get(&ResourceName::Cpu).max(0);
    let vcpus = listed.map_or((cores + 999) / 1000, |listed| listed.vcpus);
    needed(capacity_type, listed.map(|listed| &*listed.family), vcpus)
}

fn needed(capacity_type: CapacityType, family: Option<&str>, vcpus: i64) -> Vec<(String, i64)> {
    let family = family.filter(|family| !family.is_empty()).map(str::to_ascii_lowercase);
    let names = match capacity_type {
        CapacityType::OnDemand => family.into_iter().chain(["cores".to_owned()]).collect(),
        CapacityType::Spot => vec!["lowprioritycores".to_owned()],
        CapacityType::Reserved => Vec::new(),
    };
    names.into_iter().map(|name| (name, vcpus)).collect()
}

/// Returns the vCPUs that a node's VM needs, by quota. A claim with several possible sizes needs those of the largest
/// one, and counts for a family only if all its sizes are of one.
fn of_node(quota: &Quota, node: &Node) -> Vec<(String, i64)> {
    let label = |key: &str| node.labels.get(&LabelKey::new(key)).map(|value| &**value);
    let capacity_type = label(label::CAPACITY_TYPE).and_then(CapacityType::parse);
    let capacity_type = capacity_type.unwrap_or(match label(label::AKS_SCALE_SET_PRIORITY) {
        Some("spot") => CapacityType::Spot,
        _ => CapacityType::OnDemand,
    });
    let sizes: Vec<&str> = match label(label::INSTANCE_TYPE) {
        Some(size) => vec![size],
        None => node.claimed.sizes.iter().map(|size| &**size).collect(),
    };
    let listed: Vec<_> = sizes.iter().map(|size| quota.sizes.get(*size)).collect();
    let mut families: Vec<Option<&str>> = listed.iter().map(|size| size.map(|size| &*size.family)).collect();
    families.dedup();
    let family = if let [family] = families.as_slice() { *family } else { None };
    let cores = (node.capacity.get(&ResourceName::Cpu).max(0) + 999) / 1000;
    let vcpus = listed.iter().flatten().map(|size| size.vcpus).max().unwrap_or(cores);
    needed(capacity_type, family, vcpus)
}
