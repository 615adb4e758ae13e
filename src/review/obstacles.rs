//! Obstacles that block a plan before its first write: missing CRDs and permissions, and other node provisioners.
//!
//! Decided from the snapshot alone. Must never block because of unknown data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::approve::NotApproved;
use crate::model::{LabelKey, Node, NodeName, Pod, PodKey, PodPlace, Requirements, Taint, label};
use crate::plan::{Change, ChangeId, Plan, PlannedChange};
use crate::snapshot::obstacles::{Obstacles, OtherProvisioner, TAGS_WRITE};
use crate::snapshot::{AzureFacts, Snapshot};

/// AKS label with the agent pool of a node.
const AGENT_POOL: &str = "kubernetes.azure.com/agentpool";

/// Returns all obstacles to a plan.
pub(super) fn found(plan: &Plan, snapshot: &Snapshot) -> Vec<NotApproved> {
    let Some(facts) = &snapshot.azure else { return Vec::new() };
    let Obstacles { kinds, actions, others } = &facts.obstacles;
    let mut found = Vec::new();
    if !kinds.is_empty() {
        found.push(NotApproved::MissingKinds { kinds: kinds.clone() });
    }
    let actions: Vec<Arc<str>> = actions.iter().filter(|action| &***action != TAGS_WRITE).cloned().collect();
    if !actions.is_empty() {
        found.push(NotApproved::MissingActions { actions, group: group(facts).into() });
    }
    found.extend(others.iter().filter_map(|other| of_other(plan, snapshot, facts, other)));
    found
}

/// Returns the updates in place for which the caller lacks permission, with the fix. They block nothing else: nodes are
/// created and deleted with the tags that they have.
#[must_use]
pub fn not_allowed(plan: &Plan, snapshot: &Snapshot) -> BTreeMap<ChangeId, Arc<str>> {
    let Some(facts) = &snapshot.azure else { return BTreeMap::new() };
    let Some(action) = facts.obstacles.actions.iter().find(|action| &***action == TAGS_WRITE) else {
        return BTreeMap::new();
    };
    let missing = NotApproved::MissingActions { actions: vec![action.clone()], group: group(facts).into() };
    let because: Arc<str> = format!("{missing}; {}", missing.hint()).into();
    let is_tagged = |planned: &PlannedChange| matches!(&planned.change, Change::Update(update) if !update.tags.is_empty());
    let tagged = plan.spec.changes.iter().filter(|(_, planned)| is_tagged(planned));
    tagged.map(|(id, _)| (id.clone(), because.clone())).collect()
}

fn of_other(
    plan: &Plan,
    snapshot: &Snapshot,
    facts: &AzureFacts,
    other: &OtherProvisioner,
) -> Option<NotApproved> {
    let cluster = Arc::clone(&facts.cluster.id);
    match other {
        OtherProvisioner::NodeAutoProvisioning => Some(NotApproved::NodeAutoProvisioning { cluster }),
        OtherProvisioner::Karpenter { namespace, name } => {
            Some(NotApproved::Karpenter { namespace: namespace.clone(), name: name.clone() })
        }
        OtherProvisioner::ClusterAutoscaler { pool, labels, taints } => {
            let pools = Agents::of(snapshot, pool, labels, taints);
            let pod = planned(plan, snapshot).find(|pod| pools.could_take(pod))?;
            let pod = pod.key.clone();
            Some(NotApproved::ClusterAutoscaler { cluster, pool: pool.clone(), pod })
        }
    }
}

/// Returns the existing pods that the plan's new nodes are for: pending pods, and pods of nodes whose removal waits for
/// a new one.
fn planned<'s>(plan: &'s Plan, snapshot: &'s Snapshot) -> impl Iterator<Item = &'s Pod> {
    let execution = plan.spec.execution.iter();
    let nominated: BTreeSet<&PodKey> =
        execution.clone().flat_map(|execution| execution.nominations.values()).flatten().collect();
    let waits_for_new = |id: &ChangeId| {
        execution.clone().any(|it| it.removals.get(id).is_some_and(|removal| !removal.after.is_empty()))
    };
    let goes: BTreeSet<&NodeName> = plan
        .spec
        .deletes()
        .filter(|(id, _)| waits_for_new(id))
        .map(|(_, delete)| &delete.target.node)
        .collect();
    snapshot.pods.iter().filter(move |pod| {
        let leaves = matches!(&pod.place, PodPlace::Bound(node) if goes.contains(node)) && !pod.is_daemon;
        !pod.key.is_placeholder() && (leaves || nominated.contains(&pod.key))
    })
}

/// Labels and taints of an agent pool's nodes: those of an existing node, or else those of the managed cluster.
struct Agents {
    labels: Requirements,
    taints: Vec<Taint>,
}

impl Agents {
    fn of(snapshot: &Snapshot, pool: &str, labels: &BTreeMap<LabelKey, Arc<str>>, taints: &[Taint]) -> Self {
        let is_of_pool = |node: &&Node| node.labels.get(AGENT_POOL).is_some_and(|name| **name == *pool);
        let (labels, taints) = match snapshot.nodes.iter().find(is_of_pool) {
            Some(node) => (&node.labels, &node.taints[..]),
            None => (labels, taints),
        };
        let labels = labels.iter().filter(|(key, _)| !may_be_any(key));
        let labels = labels.map(|(key, value)| (key.as_str(), &**value));
        Self { labels: Requirements::of_labels(labels), taints: taints.to_vec() }
    }

    /// Returns whether kube-scheduler could bind the pod to such a node, ignoring its capacity.
    fn could_take(&self, pod: &Pod) -> bool {
        let spec = &pod.spec;
        let meets = |wanted: &Requirements| wanted.satisfied_by(&self.labels, may_be_any).is_ok();
        let is_tolerated = |taint: &Taint| !taint.repels() || taint.is_tolerated(&spec.tolerations);
        self.taints.iter().all(is_tolerated)
            && meets(&spec.node_selector)
            && spec.node_affinity.required.as_ref().is_none_or(|terms| terms.iter().any(meets))
    }
}

/// Returns whether a label may differ between nodes of one agent pool: zone and region.
fn may_be_any(key: &LabelKey) -> bool {
    [label::ZONE, label::REGION].contains(&key.as_str())
}

/// Returns the id of the nodes' resource group.
fn group(facts: &AzureFacts) -> String {
    let cluster = &*facts.cluster.id;
    let subscription = cluster.split('/').nth(2).unwrap_or_default();
    format!("/subscriptions/{subscription}/resourceGroups/{}", facts.cluster.node_resource_group)
}
