//! Computes the fleet's cost if the most expensive workload spread over hosts did not count nodes whose taints it does
//! not tolerate.
//!
//! Solves for one more fleet, so the reported saving is real. Never changes the plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{
    MicroUsdPerHour, Pod, PodKey, PodSpec, SpreadConstraint, Strategy, Strength, Workload, label,
};
use crate::solve::{Honoring, Solution, Solver};

use super::World;

/// Returns the saving of `nodeTaintsPolicy: Honor` for the workload whose new nodes cost most; `None` if it saves
/// nothing or leaves more pods unplaced.
pub(super) fn honoring((world, solver): (&World, &Solver), solution: &Solution) -> Option<Honoring> {
    let is_whole = world.targets.is_empty() && !world.snapshot.supposed.wishes.only_removes();
    if world.strategy != Strategy::Cheapest || !is_whole {
        return None;
    }
    let (workload, pods) = dearest(&world.snapshot.pods, solution)?;
    let mut snapshot = world.snapshot.clone();
    let mut made: BTreeMap<usize, Arc<PodSpec>> = BTreeMap::new();
    for pod in snapshot.pods.iter_mut().filter(|pod| pod.workload.as_ref() == Some(&workload)) {
        let spec = made.entry(Arc::as_ptr(&pod.spec).addr()).or_insert_with(|| Arc::new(honored(&pod.spec)));
        pod.spec = Arc::clone(spec);
    }
    let other = solver.solve(&snapshot, &world.policy);
    let (now, then) = (solution.report.cost_after, other.report.cost_after);
    let saves = now.effective - then.effective;
    let places_as_many = other.report.left_over() <= solution.report.left_over();
    let is_known = now.unpriced_nodes == then.unpriced_nodes;
    let (instead_of, nodes) = (count(solution, &pods), count(&other, &pods));
    (places_as_many && is_known && saves.0 > 0 && nodes < instead_of).then_some(Honoring {
        workload,
        nodes,
        instead_of,
        saves,
        is_estimate: now.is_estimate || then.is_estimate,
    })
}

/// Returns the workload whose new nodes cost most among those that are spread over hosts and count tainted nodes, with
/// its pods.
fn dearest(pods: &[Pod], solution: &Solution) -> Option<(Workload, BTreeSet<PodKey>)> {
    let mut by_workload: BTreeMap<&Workload, BTreeSet<PodKey>> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| pod.spec.spread.iter().any(counts_tainted)) {
        if let Some(workload) = &pod.workload {
            by_workload.entry(workload).or_default().insert(pod.key.clone());
        }
    }
    let cost = |pods: &BTreeSet<PodKey>| -> MicroUsdPerHour {
        let new = solution.target.new.iter().filter(|node| node.pods.iter().any(|pod| pods.contains(pod)));
        new.filter_map(|node| node.effective_price.known()).sum()
    };
    let spread = by_workload.into_iter().filter(|(_, pods)| count(solution, pods) > 1);
    let dearest = spread.max_by_key(|(workload, pods)| (cost(pods), std::cmp::Reverse(*workload)));
    dearest.map(|(workload, pods)| (workload.clone(), pods))
}

/// Returns the number of new nodes that run some of these pods.
fn count(solution: &Solution, pods: &BTreeSet<PodKey>) -> usize {
    solution.target.new.iter().filter(|node| node.pods.iter().any(|pod| pods.contains(pod))).count()
}

fn counts_tainted(constraint: &SpreadConstraint) -> bool {
    constraint.strength == Strength::Required
        && constraint.topology_key.as_str() == label::HOSTNAME
        && !constraint.honors_node_taints
}

/// Returns a pod spec whose spread constraints over hosts only count nodes with tolerated taints.
fn honored(spec: &PodSpec) -> PodSpec {
    let mut spec = spec.clone();
    let spread = spec.spread.iter_mut().filter(|constraint| counts_tainted(constraint));
    spread.for_each(|constraint| constraint.honors_node_taints = true);
    spec
}
