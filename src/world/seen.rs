//! The state of the world that a rollout sees before each step: only the objects that its changes touch.
//!
//! A part that could not be read is absent, never empty: nothing is concluded from missing data. Values only; `read`
//! parses them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use crate::model::{ClaimName, NodeName, PodKey, PoolName, Taint};

/// The part of the world that a rollout touches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// Time of the observation.
    pub at: Timestamp,
    /// NodeClaims by name.
    pub claims: Option<BTreeMap<ClaimName, SeenClaim>>,
    /// Nodes by name.
    pub nodes: Option<BTreeMap<NodeName, SeenNode>>,
    /// Pods bound to a node, sorted.
    pub pods: Option<Vec<SeenPod>>,
    /// Pending pods without a node, with their UIDs.
    pub waiting: Option<BTreeMap<PodKey, Arc<str>>>,
    /// Nodes with attached volumes, and their VolumeAttachments.
    pub attached: Option<BTreeMap<NodeName, BTreeSet<Arc<str>>>>,
    /// VMs of the node resource group, by id in lower case.
    pub vms: Option<BTreeMap<Arc<str>, SeenVm>>,
    /// Network interfaces of the node resource group, by id in lower case.
    pub interfaces: Option<BTreeMap<Arc<str>, SeenInterface>>,
}

/// A NodeClaim.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenClaim {
    /// Its UID.
    pub uid: Arc<str>,
    /// Resource version, for optimistic locking of writes.
    pub version: Arc<str>,
    /// Its NodePool.
    pub pool: Option<PoolName>,
    /// Labels.
    pub labels: BTreeMap<Arc<str>, Arc<str>>,
    /// Annotations.
    pub annotations: BTreeMap<Arc<str>, Arc<str>>,
    /// Finalizers.
    pub finalizers: Vec<Arc<str>>,
    /// Taints of `spec.taints`.
    pub taints: Vec<Taint>,
    /// Taints that are removed while the node starts.
    pub startup_taints: Vec<Taint>,
    /// The VM, as `providerID`.
    pub provider_id: Option<Arc<str>>,
    /// Its Node.
    pub node: Option<NodeName>,
    /// Conditions of `status`, unchanged.
    pub conditions: Vec<Value>,
    /// Minimum resources that it requests, by name.
    pub promised: BTreeMap<Arc<str>, Value>,
    /// Creation time.
    pub created: Option<Timestamp>,
    /// Time since which it is being deleted.
    pub deleting_since: Option<Timestamp>,
}

/// A Node.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenNode {
    /// Its UID.
    pub uid: Arc<str>,
    /// Resource version.
    pub version: Arc<str>,
    /// The VM.
    pub provider_id: Option<Arc<str>>,
    /// Labels.
    pub labels: BTreeMap<Arc<str>, Arc<str>>,
    /// Annotations.
    pub annotations: BTreeMap<Arc<str>, Arc<str>>,
    /// Finalizers.
    pub finalizers: Vec<Arc<str>>,
    /// Taints.
    pub taints: Vec<Taint>,
    /// Whether its condition `Ready` is true.
    pub is_ready: bool,
    /// Capacity of `status`, unchanged.
    pub capacity: Value,
    /// Allocatable resources of `status`, unchanged.
    pub allocatable: Value,
    /// Whether it is being deleted.
    pub is_deleting: bool,
}

/// A pod on a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeenPod {
    /// Its namespace and name.
    pub key: PodKey,
    /// Its UID.
    pub uid: Arc<str>,
    /// Its node.
    pub node: NodeName,
    /// Whether it has ended: `Succeeded` or `Failed`.
    pub has_ended: bool,
    /// Whether it is owned by a DaemonSet.
    pub is_of_daemon_set: bool,
    /// Whether it is the mirror pod of a static pod.
    pub is_mirror: bool,
    /// Whether its priority class is one of Kubernetes' own.
    pub is_critical: bool,
    /// Whether it tolerates the taint of a drained node, so draining skips it.
    pub stays: bool,
    /// Whether it has `karpenter.sh/do-not-disrupt`.
    pub is_do_not_disrupt: bool,
    /// Deletion deadline, if it is being deleted.
    pub gone_by: Option<Timestamp>,
}

/// A VM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenVm {
    /// Its id, as Azure writes it.
    pub id: Arc<str>,
    /// Azure's unique VM id, never reused.
    pub vm_id: Option<Arc<str>>,
    /// Provisioning state.
    pub state: Provisioning,
    /// Its tags.
    pub tags: BTreeMap<Arc<str>, Arc<str>>,
}

/// A network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenInterface {
    /// Its id, as Azure writes it.
    pub id: Arc<str>,
    /// Provisioning state.
    pub state: Provisioning,
    /// Its tags.
    pub tags: BTreeMap<Arc<str>, Arc<str>>,
}

/// Provisioning state of an Azure resource (`provisioningState`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provisioning {
    /// It exists.
    Succeeded,
    /// It failed or was cancelled.
    Failed,
    /// It is being deleted.
    Deleting,
    /// Any other state, none of them final.
    Underway,
}

impl Provisioning {
    /// Parses Azure's state; `None` means that the resource exists.
    #[must_use]
    pub fn of(word: Option<&str>) -> Self {
        match word {
            None => Self::Succeeded,
            Some(word) if word.eq_ignore_ascii_case("Succeeded") => Self::Succeeded,
            Some(word) if word.eq_ignore_ascii_case("Failed") || word.eq_ignore_ascii_case("Canceled") => {
                Self::Failed
            }
            Some(word) if word.eq_ignore_ascii_case("Deleting") => Self::Deleting,
            Some(_) => Self::Underway,
        }
    }
}

impl SeenClaim {
    /// Returns the condition of this type.
    #[must_use]
    pub fn condition(&self, kind: &str) -> Option<&Value> {
        self.conditions.iter().find(|condition| condition["type"] == kind)
    }

    /// Returns whether the condition of this type is true.
    #[must_use]
    pub fn is(&self, kind: &str) -> bool {
        self.condition(kind).is_some_and(|condition| condition["status"] == "True")
    }

    /// Returns the last transition time of the condition of this type.
    #[must_use]
    pub fn since(&self, kind: &str) -> Option<Timestamp> {
        self.condition(kind)?["lastTransitionTime"].as_str()?.parse().ok()
    }
}

impl SeenPod {
    /// Returns whether a drain waits for this pod: mirror pods, ended pods and pods that tolerate the drain taint are
    /// skipped.
    #[must_use]
    pub const fn is_drained(&self) -> bool {
        !self.is_mirror && !self.has_ended && !self.stays
    }

    /// Returns whether this pod makes its node non-empty.
    #[must_use]
    pub const fn is_of_workload(&self) -> bool {
        !self.is_mirror && !self.has_ended && !self.is_of_daemon_set
    }
}

/// The objects of a completely read [`Seen`].
#[derive(Clone, Copy, Debug)]
pub struct Whole<'s> {
    /// Time of the observation.
    pub at: Timestamp,
    /// NodeClaims.
    pub claims: &'s BTreeMap<ClaimName, SeenClaim>,
    /// Nodes.
    pub nodes: &'s BTreeMap<NodeName, SeenNode>,
    /// Pods bound to a node.
    pub pods: &'s [SeenPod],
    /// Pending pods without a node, with their UIDs.
    pub waiting: &'s BTreeMap<PodKey, Arc<str>>,
    /// Nodes with attached volumes, and their VolumeAttachments.
    pub attached: &'s BTreeMap<NodeName, BTreeSet<Arc<str>>>,
    /// VMs by id in lower case.
    pub vms: &'s BTreeMap<Arc<str>, SeenVm>,
    /// Network interfaces by id in lower case.
    pub interfaces: &'s BTreeMap<Arc<str>, SeenInterface>,
}

impl Seen {
    /// Returns all parts, or `None` if one could not be read.
    #[must_use]
    pub fn whole(&self) -> Option<Whole<'_>> {
        let Self { at, claims, nodes, pods, waiting, attached, vms, interfaces } = self;
        Some(Whole {
            at: *at,
            claims: claims.as_ref()?,
            nodes: nodes.as_ref()?,
            pods: pods.as_deref()?,
            waiting: waiting.as_ref()?,
            attached: attached.as_ref()?,
            vms: vms.as_ref()?,
            interfaces: interfaces.as_ref()?,
        })
    }
}

impl<'s> Whole<'s> {
    /// Returns the VM with this id, ignoring case.
    #[must_use]
    pub fn vm(&self, id: &str) -> Option<&'s SeenVm> {
        self.vms.get(id.to_ascii_lowercase().as_str())
    }

    /// Returns the network interface with this id, ignoring case.
    #[must_use]
    pub fn interface(&self, id: &str) -> Option<&'s SeenInterface> {
        self.interfaces.get(id.to_ascii_lowercase().as_str())
    }

    /// Returns the Node of a VM.
    #[must_use]
    pub fn node_of(&self, vm: &str) -> Option<(&'s NodeName, &'s SeenNode)> {
        self.nodes.iter().find(|(_, node)| {
            let id = node.provider_id.as_deref().and_then(|id| id.strip_prefix("azure://"));
            id.is_some_and(|id| is_same_id(id, vm))
        })
    }

    /// Returns the pods of a node.
    pub fn pods_of(&self, node: &NodeName) -> impl Iterator<Item = &'s SeenPod> {
        let node = node.clone();
        self.pods.iter().filter(move |pod| pod.node == node)
    }
}

/// Returns whether two ids name the same resource, ignoring case. Compares from the end because ids of one resource
/// group share a prefix.
fn is_same_id(one: &str, other: &str) -> bool {
    let mut from_end = one.bytes().rev().zip(other.bytes().rev());
    one.len() == other.len() && from_end.all(|(one, other)| one.eq_ignore_ascii_case(&other))
}
