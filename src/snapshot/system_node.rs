//! The system node that an AKS cluster has: what is assumed of it where the input holds no Node at all.
//!
//! It counts for spreads over hosts, takes no pod, and is nothing else: it is never planned with, priced or shown as a
//! node.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::manifests::Objects;
use crate::model::{
    Claimed, Effect, LabelKey, Node, NodeName, NodeStage, Pod, Resources, SpreadConstraint, Strength, Taint,
    label,
};

use super::Assumption;

/// Its name in what people read.
pub const NAME: &str = "the assumed system node";

/// The taint that AKS advises for system agent pools.
/// <https://learn.microsoft.com/azure/aks/use-system-pools>
const TAINT: &str = "CriticalAddonsOnly";

/// A zone that no pod names: which one it is in is not known.
const SOME_ZONE: &str = "unknown";

/// Returns whether one is assumed for this input: it holds no Node, and some pods are spread over hosts by constraints that
/// count tainted nodes.
#[must_use]
pub(super) fn is_assumed(objects: &Objects) -> bool {
    objects.nodes.is_empty() && objects.pods.iter().any(|pod| counting(pod).next().is_some())
}

/// Returns what is said of it where it decides how many nodes there are.
#[must_use]
pub(super) fn assumption(objects: &Objects) -> Option<Assumption> {
    let is_required = |constraint: &SpreadConstraint| constraint.strength == Strength::Required;
    let decides = |pod: &Pod| counting(pod).any(is_required);
    (objects.nodes.is_empty() && objects.pods.iter().any(decides)).then(|| Assumption {
        what: "1 tainted system node, which counts for spread over hosts with 0 pods".to_owned(),
        why: "the input holds no Node: add the output of `kubectl get nodes -o yaml`".to_owned(),
    })
}

/// Returns the constraints of a pod over hosts that count nodes whose taints it does not tolerate.
fn counting(pod: &Pod) -> impl Iterator<Item = &SpreadConstraint> {
    let over_hosts = |constraint: &&SpreadConstraint| {
        constraint.topology_key.as_str() == label::HOSTNAME && !constraint.honors_node_taints
    };
    pod.spec.spread.iter().filter(over_hosts)
}

/// Returns the node as Kubernetes would see it.
#[must_use]
pub fn node() -> Node {
    let labels = [
        (label::OS, "linux"),
        (label::ARCH, "amd64"),
        (label::AKS_MODE, "system"),
        (label::ZONE, SOME_ZONE),
        (label::HOSTNAME, NAME),
    ];
    let labels: BTreeMap<LabelKey, Arc<str>> =
        labels.into_iter().map(|(key, value)| (LabelKey::new(key), Arc::from(value))).collect();
    Node {
        name: NodeName::new(NAME),
        claim: None,
        pool: None,
        class: None,
        provider_id: None,
        uid: None,
        claim_uid: None,
        stage: NodeStage::Initialized,
        labels,
        taints: vec![Taint::new(TAINT, "true", Effect::NoSchedule)],
        capacity: Resources::none(),
        allocatable: Resources::none(),
        is_unschedulable: false,
        is_do_not_disrupt: false,
        kept_because: None,
        is_deleting: false,
        created: None,
        quiet_since: None,
        is_consolidatable: false,
        claimed: Claimed::default(),
        troubles: Vec::new(),
    }
}
