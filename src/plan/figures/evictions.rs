//! Running pods that the plan evicts, each with the node that it leaves.
//!
//! Pods of DaemonSets are deleted with their node and not evicted, nor are pods being deleted or pods yet to start.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::model::{NodeName, PodKey, PodPlace};
use crate::plan::{Plan, PodGroup};

/// An eviction as a script reads it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct EvictionFigures {
    /// The node that it leaves.
    pub node: NodeName,
    /// The pod: namespace and name.
    pub pod: PodKey,
    /// The node on which the plan places it: the name of one that exists, or the first VM of one to create. Null where
    /// it becomes Pending.
    pub to: Option<NodeName>,
}

/// Returns the pods that are evicted, by node and name.
pub(super) fn evictions(plan: &Plan) -> Vec<EvictionFigures> {
    let gone: BTreeSet<&NodeName> = plan.spec.deletes().map(|(_, delete)| &delete.target.node).collect();
    if gone.is_empty() {
        return Vec::new();
    }
    let world = &plan.evidence.world;
    let preempting: BTreeSet<&PodKey> = world.preemptions.iter().map(|preemption| &preemption.pod).collect();
    let places = places(plan);
    let mut rows = Vec::new();
    for group in &world.pods {
        let PodGroup { namespace, place, is_daemon, is_terminating, state, names, .. } = group;
        let PodPlace::Bound(node) = place else { continue };
        // A pod nominated to the node does not run yet.
        let is_promised = state.nominated.as_ref() == Some(node);
        if *is_daemon || *is_terminating || is_promised || !gone.contains(node) {
            continue;
        }
        let keys = names.iter().map(|name| PodKey { namespace: namespace.clone(), name: name.clone() });
        rows.extend(keys.filter(|pod| !preempting.contains(pod)).map(|pod| {
            let to = places.get(&pod).cloned();
            EvictionFigures { node: node.clone(), pod, to }
        }));
    }
    rows.sort();
    rows
}

/// Returns the node of each pod that the plan places.
fn places(plan: &Plan) -> BTreeMap<&PodKey, NodeName> {
    let evidence = &plan.evidence;
    let kept = evidence.kept.iter().flat_map(|(node, pods)| pods.iter().map(move |pod| (pod, node.clone())));
    let new = plan.spec.creates().flat_map(|(id, create, _)| {
        let node = NodeName::new(&create.vm);
        let pods = evidence.placements.get(id).into_iter().flat_map(|placement| &placement.pods);
        pods.map(move |pod| (pod, node.clone()))
    });
    kept.chain(new).collect()
}
