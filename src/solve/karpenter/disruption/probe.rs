//! Simulation without some nodes: a pass of the scheduler in which their pods are pending.
//!
//! Never decides whether the result is better.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{NodeName, NodeStage, PodKey, PodPlace};
use crate::solve::karpenter::leaving::{Leaving, Quiet};
use crate::solve::karpenter::pass::{Pass, Start};
use crate::solve::karpenter::{Claim, Outcome};

use super::candidate::Candidate;
use super::scene::Scene;

/// Result of a simulation in which every running pod has a node.
pub(super) struct Without {
    /// Claims for pods that do not fit existing nodes.
    pub(super) claims: Vec<Claim>,
    /// The nodes that get pods.
    pub(super) moved: Vec<(NodeName, Vec<PodKey>)>,
}

/// Returns the result without the nodes of these candidates; `None` if some running pod would be unplaced, or would
/// move to a node that is not initialized and may never be.
pub(super) fn without(scene: &Scene<'_, '_>, candidates: &[&Candidate<'_>], quiet: Quiet) -> Option<Without> {
    let Scene { snapshot, store, settings, refused, .. } = *scene;
    let names: BTreeSet<NodeName> = candidates.iter().map(|one| one.node.name.clone()).collect();
    let leaving = Leaving { candidates: &names, quiet };
    let (placed, left_out) = (&BTreeMap::new(), &refused.pods);
    let start = Start { snapshot, store, settings, settled: &[], placed, left_out, leaving };
    let memory = &mut store.memory.borrow_mut();
    let mut pass = Pass::of(start, memory);
    pass.run();
    let Outcome { claims, existing, errors, ignored } = pass.outcome();
    let places: BTreeMap<&PodKey, &PodPlace> =
        snapshot.pods.iter().map(|pod| (&pod.key, &pod.place)).collect();
    let runs = |pod: &PodKey| matches!(places.get(pod), Some(PodPlace::Bound(_)));
    let mut homeless =
        errors.iter().map(|error| &error.pod).chain(ignored.iter().map(|ignored| &ignored.pod));
    if homeless.any(runs) {
        return None;
    }
    let is_chosen = |pod: &PodKey| match places.get(pod) {
        Some(PodPlace::Bound(node)) => names.contains(node),
        Some(PodPlace::Waiting) | None => false,
    };
    let unready: BTreeSet<&NodeName> = snapshot
        .nodes
        .iter()
        .filter(|node| node.stage != NodeStage::Initialized)
        .map(|node| &node.name)
        .collect();
    let mut unsure = existing.iter().filter(|(node, _)| unready.contains(node)).flat_map(|(_, pods)| pods);
    if unsure.any(is_chosen) {
        return None;
    }
    Some(Without { claims, moved: existing })
}
