//! Reads groups of pods that are bound together (gang scheduling): the group of a pod, and the group's minimum size.
//!
//! Supports Kubernetes' own groups in all served versions (`Workload` of 1.35, `PodGroup` of 1.36 and later), and
//! Volcano's.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::gang::{Group, GroupRef, WorkloadGroup};

use super::cursor::Cursor;
use super::kind::GroupKind;
use super::meta::Meta;

/// Annotations that name a pod's Volcano PodGroup, the usual one first.
pub const GROUP_ANNOTATIONS: [&str; 2] = ["scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name"];

/// Range of group sizes in Kubernetes.
const COUNT: std::ops::RangeInclusive<i64> = 1..=2_147_483_647;

/// Reads the group that a pod's `spec` names.
#[must_use]
pub fn of_spec(spec: Cursor<'_>) -> Option<GroupRef> {
    let named = |holder: Cursor<'_>, key: &str| holder.text(key).filter(|name| !name.is_empty()).cloned();
    if let Some(group) = spec.get("schedulingGroup").and_then(|group| named(group, "podGroupName")) {
        return Some(GroupRef::PodGroup(group));
    }
    let reference = spec.get("workloadRef")?;
    Some(GroupRef::Workload(WorkloadGroup {
        workload: named(reference, "name")?,
        group: named(reference, "podGroup")?,
        replica: named(reference, "podGroupReplicaKey"),
    }))
}

/// Returns the group named by a pod's annotations.
#[must_use]
pub fn of_annotations<K: AsRef<str>>(annotations: &BTreeMap<K, Arc<str>>) -> Option<GroupRef> {
    let value = |wanted: &str| annotations.iter().find(|(key, _)| key.as_ref() == wanted);
    let mut values = GROUP_ANNOTATIONS.into_iter().filter_map(value).map(|(_, value)| value);
    values.find(|name| !name.is_empty()).map(|name| GroupRef::Volcano(Arc::clone(name)))
}

/// Sorts groups.
#[must_use]
pub fn sorted(mut groups: Vec<Group>) -> Vec<Group> {
    groups.sort();
    groups
}

/// Reads the groups that an object declares.
#[must_use]
pub fn read(object: Cursor<'_>, kind: GroupKind) -> Vec<Group> {
    let meta = Meta::read(object);
    let Some(spec) = object.get("spec") else {
        object.missing("spec", "it says how many pods are bound together");
        return Vec::new();
    };
    let declared: Vec<(Option<Arc<str>>, Option<u32>)> = match kind {
        GroupKind::PodGroup => {
            policy(spec, "schedulingPolicy").into_iter().map(|least| (None, least)).collect()
        }
        GroupKind::Volcano => {
            vec![(None, count(spec, "minMember", 0..=2_147_483_647).filter(|least| *least > 0))]
        }
        GroupKind::Workload => {
            let groups = spec.items("podGroups").into_iter();
            groups.filter_map(named_policy).collect()
        }
    };
    let Some(meta) = meta else { return Vec::new() };
    let group = |(part, least): (Option<Arc<str>>, Option<u32>)| {
        let own = Arc::clone(&meta.name);
        let name = match (kind, part) {
            (GroupKind::Volcano, _) => GroupRef::Volcano(own),
            (GroupKind::Workload, Some(group)) => {
                GroupRef::Workload(WorkloadGroup { workload: own, group, replica: None })
            }
            (GroupKind::PodGroup | GroupKind::Workload, _) => GroupRef::PodGroup(own),
        };
        Group { namespace: meta.namespace.clone(), name, least }
    };
    declared.into_iter().map(group).collect()
}

/// Reads a group of a Workload: its name and policy. Reports faults of both.
fn named_policy(group: Cursor<'_>) -> Option<(Option<Arc<str>>, Option<u32>)> {
    let (name, policy) = (name(group), policy(group, "policy"));
    Some((Some(name?), policy?))
}

fn name(group: Cursor<'_>) -> Option<Arc<str>> {
    if group.get("name").is_none() {
        group.missing("name", "pods name the group by it (`workloadRef.podGroup`)");
    }
    group.text("name").cloned()
}

/// Reads the policy of a group: the minimum number of its pods, or none if they are bound one by one.
fn policy(holder: Cursor<'_>, key: &str) -> Option<Option<u32>> {
    let Some(policy) = holder.get(key) else {
        holder.missing(key, "it is `gang: {minCount: …}` or `basic: {}`");
        return None;
    };
    let Some(gang) = policy.get("gang") else { return Some(None) };
    if gang.get("minCount").is_none() {
        gang.missing("minCount", "it is the least number of pods that are bound, or none is");
    }
    count(gang, "minCount", COUNT).map(Some)
}

fn count(holder: Cursor<'_>, key: &str, range: std::ops::RangeInclusive<i64>) -> Option<u32> {
    holder.integer(key, range).and_then(|count| u32::try_from(count).ok())
}

/// A supported kind of group, for the reference.
#[derive(Clone, Copy, Debug)]
pub struct ReadGroup {
    /// The versions and the kind.
    pub kind: &'static str,
    /// The field or annotation of a pod, or a pod template, that names its group.
    pub named_by: &'static str,
    /// The field with the minimum number of its pods.
    pub least: &'static str,
}

/// All supported kinds of groups.
pub const READ_GROUPS: [ReadGroup; 3] = [
    ReadGroup {
        kind: "PodGroup of `scheduling.k8s.io` `v1alpha2`, `v1alpha3` and `v1beta1` (Kubernetes 1.36 and later)",
        named_by: "`spec.schedulingGroup.podGroupName`",
        least: "`spec.schedulingPolicy.gang.minCount`",
    },
    ReadGroup {
        kind: "Workload of `scheduling.k8s.io/v1alpha1` (Kubernetes 1.35)",
        named_by: "`spec.workloadRef`: `name` and `podGroup`; the pods of each `podGroupReplicaKey` are a gang of their own",
        least: "`spec.podGroups[].policy.gang.minCount`",
    },
    ReadGroup {
        kind: "PodGroup of `scheduling.volcano.sh` (Volcano)",
        named_by: "annotation `scheduling.k8s.io/group-name` or `scheduling.volcano.sh/group-name`",
        least: "`spec.minMember`",
    },
];
