//! Karpenter's whole fleet, removals included, as a candidate for small clusters; it is taken if it is better than
//! ours.
//!
//! Sets of nodes to remove are compared by drafts, which may not see how few pods a fleet leaves unplaced or how little
//! it costs. Planning in one step also misses fleets that Karpenter reaches step by step. So Karpenter's target is
//! evaluated as it is, and the set of nodes that it removes is planned in full as one more set. Never removes a node
//! that must stay, and never gives the capacity of a running pod to pending pods.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ConsolidationPolicy, NodeName};
use crate::snapshot::Snapshot;
use crate::solve::karpenter::{self, Refused, Settings};
use crate::solve::scheduler;
use crate::solve::shrink::trial::Scene;
use crate::solve::shrink::{candidate, whole};
use crate::solve::solution::{Removal, Solution, Target};
use crate::solve::steps;

/// Maximum number of pods and nodes together for which Karpenter's fleet is tried: each try takes as long as a plan.
const PLANNED_MAX: usize = 150;

/// Maximum number of retries without the removals that leave pods unplaced.
const MENDS_MAX: usize = 3;

/// A fleet, and the nodes that it removes to save cost.
pub(in crate::solve) type Leaving = (Solution, BTreeSet<NodeName>);

/// Functions that plan fleets without some nodes.
pub(in crate::solve) struct Gone<F, A> {
    /// Plans with our own packing.
    pub(in crate::solve) anew: F,
    /// Takes the placement of a target; `None` if rules refuse it.
    pub(in crate::solve) as_in: A,
}

/// Returns Karpenter's fleet, or ours without the nodes that Karpenter removes, if it leaves fewer pods unplaced or
/// saves enough compared to ours.
pub(in crate::solve) fn or(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    ours: Leaving,
    gone: Gone<
        impl Fn(BTreeSet<NodeName>) -> Solution,
        impl Fn(BTreeSet<NodeName>, &Target) -> Option<Solution>,
    >,
) -> Solution {
    if !is_asked(scene, snapshot) {
        return ours.0;
    }
    let contest = Contest { scene, snapshot, thresholds: candidate::thresholds(scene, snapshot) };
    theirs(scene, snapshot)
        .into_iter()
        .fold(ours, |ours, theirs| {
            let removed = theirs.target.removed_names();
            let set: BTreeSet<NodeName> =
                removed.into_iter().filter(|node| contest.thresholds.contains_key(node)).collect();
            if !contest.is_better((&theirs, contest.moves(&set)), &ours) {
                return ours;
            }
            let as_in = (gone.as_in)(set.clone(), &theirs.target);
            let anew = (set != ours.1).then(|| (gone.anew)(set.clone()));
            let others = as_in.into_iter().chain(anew);
            others.fold(ours, |best, other| contest.winner(best, (other, set.clone())))
        })
        .0
}

/// Returns Karpenter's fleet without the nodes that are due, and the fleet in which Karpenter removes those itself
/// after pending pods have nodes, if it removes all of them.
fn theirs(scene: &Scene<'_>, snapshot: &Snapshot) -> Vec<Solution> {
    let mut fleets = vec![stranding_none(scene, snapshot)];
    if !scene.asked.is_empty() {
        let mut before = snapshot.clone();
        before.nodes.iter_mut().for_each(|node| node.is_deleting &= !scene.asked.contains(&node.name));
        fleets.push(stranding_none(scene, &before));
        fleets.retain(|fleet| !fleet.target.kept.iter().any(|kept| scene.asked.contains(&kept.node)));
    }
    fleets
}

/// Returns Karpenter's fleet, keeping the nodes whose removal would leave pods unplaced, as far as a few rounds find
/// them.
fn stranding_none(scene: &Scene<'_>, snapshot: &Snapshot) -> Solution {
    let mut refused = Refused::default();
    let settings = Settings::of(scene.policy);
    let solve =
        |refused: &Refused| karpenter::beside(scene.memos, (snapshot, scene.policy), settings, refused);
    let mut fleet = solve(&refused);
    for _ in 0..MENDS_MAX {
        let stranding = steps::stranding(scene, snapshot, (&fleet, &fleet.target.removed_names()));
        let before = refused.clone();
        let removed = fleet.target.removed.iter();
        for Removal { node, reason, .. } in removed.filter(|it| stranding.contains(&it.node)) {
            refused.removal(node, *reason, "its pods would have no place");
        }
        if refused == before {
            break;
        }
        fleet = solve(&refused);
    }
    fleet
}

/// Returns whether the cluster is small and the required savings are known. For `Balanced` pools they depend on each
/// set of nodes.
fn is_asked(scene: &Scene<'_>, snapshot: &Snapshot) -> bool {
    let mut pools = scene.policy.pools.values();
    let is_balanced = pools.any(|pool| pool.disruption.policy == ConsolidationPolicy::Balanced);
    let is_small = snapshot.pods.len() + snapshot.nodes.len() <= PLANNED_MAX;
    is_small && (!is_balanced || snapshot.nodes.is_empty())
}

/// Inputs for comparing fleets of one snapshot.
struct Contest<'c, 's> {
    scene: &'c Scene<'s>,
    snapshot: &'c Snapshot,
    /// Minimum saving that each node's removal requires.
    thresholds: BTreeMap<NodeName, i64>,
}

impl Contest<'_, '_> {
    /// Returns the minimum saving that removing these nodes requires.
    fn moves(&self, set: &BTreeSet<NodeName>) -> i64 {
        set.iter().filter_map(|node| self.thresholds.get(node)).sum()
    }

    /// Returns whether a fleet leaves fewer pods unplaced, or as many at a lower cost.
    fn is_better(&self, other: (&Solution, i64), (ours, leaving): &Leaving) -> bool {
        steps::is_worth_it(self.snapshot, other, (ours, self.moves(leaving)))
    }

    /// Returns the other fleet if it is better and valid, else ours. As in the comparison of sets, it must save more if
    /// the scheduler strands more pods in it.
    fn winner(&self, ours: Leaving, (other, set): Leaving) -> Leaving {
        let Self { scene, snapshot, .. } = *self;
        let lost = |solution: &Solution| scheduler::count_stranded(scene, snapshot, &solution.target);
        let worth = scheduler::worth(ours.0.report.cost_after.effective).0;
        let moves = self.moves(&set) + if lost(&other) > lost(&ours.0) { worth } else { 0 };
        let is_taken = self.is_better((&other, moves), &ours)
            // If no node is removed, new nodes without a zone are accepted, as for pending pods.
            && (set.is_empty()
                || super::is_outside(&other.target.new) <= super::is_outside(&ours.0.target.new))
            && without_room(&other) <= without_room(&ours.0)
            && steps::stranding(scene, snapshot, (&other, &set)).is_empty()
            && whole::is_right(scene, snapshot, &other);
        if is_taken { (other, set) } else { ours }
    }
}

/// Counts the unplaced placeholder pods, which are not in the snapshot.
fn without_room(solution: &Solution) -> usize {
    let left_over = solution.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
    left_over.filter(|pod| pod.is_placeholder()).count()
}
