//! The nodes that Karpenter lets go, where little is there: the fleet without them is taken where it is better than ours.
//!
//! Sets of nodes are compared by drafts, which may not see how few pods are left over, or how little a fleet costs. This
//! set is one more, planned in full. Only nodes go that may go, and no pod that runs loses its place for those that wait.

use std::collections::BTreeSet;

use crate::model::{ConsolidationPolicy, NodeName};
use crate::snapshot::Snapshot;
use crate::solve::karpenter::{self, Refused, Settings};
use crate::solve::scheduler;
use crate::solve::shrink::trial::Scene;
use crate::solve::shrink::{candidate, whole};
use crate::solve::solution::Solution;
use crate::solve::steps;

/// The most pods and nodes beside which it is asked: each time is as long as a plan.
const PLANNED_MAX: usize = 150;

/// Returns the fleet without the nodes that Karpenter lets go, where it leaves fewer pods over or saves enough beside ours,
/// in which these go. `gone` works a fleet out without some nodes.
pub(in crate::solve) fn or(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    (ours, leaving): (Solution, &BTreeSet<NodeName>),
    gone: impl Fn(BTreeSet<NodeName>) -> Solution,
) -> Solution {
    let is_small = snapshot.pods.len() + snapshot.nodes.len() <= PLANNED_MAX;
    let mut pools = scene.policy.pools.values();
    // Whether moves of a balanced pool are worth it is asked of each set by itself.
    let is_balanced = pools.any(|pool| pool.disruption.policy == ConsolidationPolicy::Balanced);
    if !scene.looks_further || !is_small || is_balanced || snapshot.nodes.is_empty() {
        return ours;
    }
    let settings = Settings::of(scene.policy);
    let theirs = karpenter::solve(snapshot, scene.policy, settings, &Refused::default());
    let thresholds = candidate::thresholds(scene, snapshot);
    let removed = theirs.target.removed_names();
    let set: BTreeSet<NodeName> = removed.into_iter().filter(|node| thresholds.contains_key(node)).collect();
    let threshold =
        |set: &BTreeSet<NodeName>| set.iter().filter_map(|node| thresholds.get(node)).sum::<i64>();
    let is_better = |other: &Solution, moves: i64| {
        steps::is_worth_it(snapshot, (other, moves), (&ours, threshold(leaving)))
    };
    if set == *leaving || !is_better(&theirs, threshold(&set)) {
        return ours;
    }
    let other = gone(set.clone());
    // As where sets are compared: that the scheduler strands nobody is worth something.
    let is_lost = |solution: &Solution| !scheduler::stranded(scene, snapshot, &solution.target).is_empty();
    let worth = scheduler::worth(ours.report.cost_after.effective).0;
    let moves = threshold(&set) + if is_lost(&other) && !is_lost(&ours) { worth } else { 0 };
    let is_taken = is_better(&other, moves)
        && super::is_outside(&other.target.new) <= super::is_outside(&ours.target.new)
        && !steps::strands(snapshot, &other, &set)
        && whole::is_right(scene, snapshot, &other);
    if is_taken { other } else { ours }
}
