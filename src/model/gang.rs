//! Gangs: groups of pods of which Kubernetes' scheduler or Volcano binds at least a minimum number or none.
//!
//! A pod names its group, and an object sets the group's minimum. A group of policy `basic` is no gang: its pods are
//! bound one by one. Only counts existing pods; never places or decides anything.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::{Namespace, Node, NodeName, Pod, PodPlace};

/// The group that a pod says it is of, in its own namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum GroupRef {
    /// A PodGroup of `scheduling.k8s.io`, by its name.
    PodGroup(Arc<str>),
    /// A group of a Workload of `scheduling.k8s.io`.
    Workload(WorkloadGroup),
    /// A PodGroup of Volcano, by its name.
    Volcano(Arc<str>),
}

/// A group of a Workload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkloadGroup {
    /// The Workload.
    pub workload: Arc<str>,
    /// The name of one of its `podGroups`.
    pub group: Arc<str>,
    /// `podGroupReplicaKey`: the pods of each key are a gang of their own.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub replica: Option<Arc<str>>,
}

impl GroupRef {
    /// Returns the group whose object says how many pods are the least: the same for every replica of it.
    #[must_use]
    pub fn declared(&self) -> Self {
        match self {
            Self::PodGroup(_) | Self::Volcano(_) => self.clone(),
            Self::Workload(group) => Self::Workload(WorkloadGroup { replica: None, ..group.clone() }),
        }
    }

    /// Returns the field that says how many pods are the least.
    #[must_use]
    pub const fn least_field(&self) -> &'static str {
        match self {
            Self::PodGroup(_) | Self::Workload(_) => "minCount",
            Self::Volcano(_) => "minMember",
        }
    }

    /// Returns what `kubectl get` calls the kind of the object that says how many pods are the least.
    #[must_use]
    pub const fn resource(&self) -> &'static str {
        match self {
            Self::PodGroup(_) => "podgroups.scheduling.k8s.io",
            Self::Workload(_) => "workloads.scheduling.k8s.io",
            Self::Volcano(_) => "podgroups.scheduling.volcano.sh",
        }
    }
}

/// A group as its object declares it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// Its namespace.
    pub namespace: Namespace,
    /// What pods call it, whatever replica they are of.
    pub name: GroupRef,
    /// How many of its pods are bound at least, if any; none of policy `basic`, whose pods are bound one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub least: Option<u32>,
}

/// Pods of one gang, or of a group that nothing declares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gang<'a> {
    /// Their namespace.
    pub namespace: &'a Namespace,
    /// The group that they name.
    pub group: &'a GroupRef,
    /// How many are bound at least; none where the object that says so is not there.
    pub least: Option<usize>,
    /// The pods, by key; those that are being deleted are not counted.
    pub pods: Vec<&'a Pod>,
}

impl<'a> Gang<'a> {
    /// Returns the pods that run where their node stays up: it is not one of these.
    pub fn running(&self, down: &BTreeSet<&NodeName>) -> impl Iterator<Item = &'a Pod> {
        self.pods.iter().copied().filter(|pod| match &pod.place {
            PodPlace::Bound(node) => !down.contains(node),
            PodPlace::Waiting => false,
        })
    }

    /// Returns how many of the pods that run so may be evicted: as many as leave the least running.
    #[must_use]
    pub fn spare(&self, down: &BTreeSet<&NodeName>) -> usize {
        self.running(down).count().saturating_sub(self.least.unwrap_or(0))
    }
}

impl fmt::Display for Gang<'_> {
    /// Writes the group with its namespace.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { namespace, group, .. } = self;
        match group {
            GroupRef::PodGroup(name) => write!(formatter, "PodGroup `{namespace}/{name}`"),
            GroupRef::Volcano(name) => write!(formatter, "PodGroup `{namespace}/{name}` of Volcano"),
            GroupRef::Workload(WorkloadGroup { workload, group, replica }) => {
                write!(formatter, "pod group `{group}` of Workload `{namespace}/{workload}`")?;
                replica.iter().try_for_each(|key| write!(formatter, " (replica `{key}`)"))
            }
        }
    }
}

/// Every gang of some pods, and every group that they name and nothing declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gangs<'a>(Vec<Gang<'a>>);

impl<'a> Gangs<'a> {
    /// Finds the gangs of these pods, by namespace and group.
    #[must_use]
    pub fn of(groups: &'a [Group], pods: &'a [Pod]) -> Self {
        let mut found: BTreeMap<(&Namespace, &GroupRef), Vec<&Pod>> = BTreeMap::new();
        for pod in pods.iter().filter(|pod| !pod.is_daemon && !pod.is_terminating) {
            if let Some(group) = &pod.spec.group {
                found.entry((&pod.key.namespace, group)).or_default().push(pod);
            }
        }
        if found.is_empty() {
            return Self::default();
        }
        let declared: BTreeMap<(&Namespace, &GroupRef), Option<u32>> =
            groups.iter().map(|group| ((&group.namespace, &group.name), group.least)).collect();
        let gang = |((namespace, group), mut pods): ((&'a Namespace, &'a GroupRef), Vec<&'a Pod>)| {
            let least = match declared.get(&(namespace, &group.declared())) {
                None => None,
                Some(least) => Some(usize::try_from((*least)?).unwrap_or(usize::MAX)),
            };
            pods.sort_by_key(|pod| &pod.key);
            Some(Gang { namespace, group, least, pods })
        };
        Self(found.into_iter().filter_map(gang).collect())
    }

    /// Returns them in order.
    #[must_use]
    pub fn all(&self) -> &[Gang<'a>] {
        &self.0
    }
}

/// Returns the nodes where no pod is sure to go on running: they are being deleted, or not ready.
#[must_use]
pub fn down(nodes: &[Node]) -> BTreeSet<&NodeName> {
    nodes.iter().filter(|node| node.is_deleting || !node.is_ready()).map(|node| &node.name).collect()
}
