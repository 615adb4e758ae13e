//! Karpenter's whole fleet, with what it lets go, where little is there: it is taken where it is better than ours.
//!
//! Sets of nodes are compared by drafts, which may not see how few pods are left over, or how little a fleet costs; and
//! what Karpenter comes to step after step nothing finds that plans at once. So its target is looked at as it is, and the
//! set of nodes that it lets go is one more, planned in full. Only nodes go that may go, and no pod that runs loses its
//! place for those that wait.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ConsolidationPolicy, NodeName};
use crate::snapshot::Snapshot;
use crate::solve::karpenter::{self, Refused, Settings};
use crate::solve::scheduler;
use crate::solve::shrink::trial::Scene;
use crate::solve::shrink::{candidate, whole};
use crate::solve::solution::{Removal, Solution, Target};
use crate::solve::steps;

/// The most pods and nodes beside which it is asked: each time is as long as a plan.
const PLANNED_MAX: usize = 150;

/// How often it is asked again without the removals that leave pods without a place.
const MENDS_MAX: usize = 3;

/// A fleet, and the nodes that go in it for what that saves.
pub(in crate::solve) type Leaving = (Solution, BTreeSet<NodeName>);

/// Works fleets out without some nodes.
pub(in crate::solve) struct Gone<F, A> {
    /// As we do.
    pub(in crate::solve) anew: F,
    /// As in a target; nothing where rules refuse that.
    pub(in crate::solve) as_in: A,
}

/// Returns Karpenter's fleet, or ours without the nodes that Karpenter lets go, where it leaves fewer pods over or saves
/// enough beside ours.
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

/// Returns Karpenter's fleet without what is due; beside that the one in which it lets go what is due in its own turn, when
/// what waits has its nodes, where it lets all of that go.
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

/// Returns Karpenter's fleet in which nodes stay whose pods would have no place, as far as a few rounds find those.
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

/// Returns whether little is there, and it is known what moves are worth: of a balanced pool that is asked of each set by
/// itself.
fn is_asked(scene: &Scene<'_>, snapshot: &Snapshot) -> bool {
    let mut pools = scene.policy.pools.values();
    let is_balanced = pools.any(|pool| pool.disruption.policy == ConsolidationPolicy::Balanced);
    let is_small = snapshot.pods.len() + snapshot.nodes.len() <= PLANNED_MAX;
    is_small && (!is_balanced || snapshot.nodes.is_empty())
}

/// What fleets of one world are compared by.
struct Contest<'c, 's> {
    scene: &'c Scene<'s>,
    snapshot: &'c Snapshot,
    /// What taking a node away must save at least.
    thresholds: BTreeMap<NodeName, i64>,
}

impl Contest<'_, '_> {
    /// Returns what taking these nodes away must save.
    fn moves(&self, set: &BTreeSet<NodeName>) -> i64 {
        set.iter().filter_map(|node| self.thresholds.get(node)).sum()
    }

    /// Returns whether a fleet leaves fewer pods over, or as many for less.
    fn is_better(&self, other: (&Solution, i64), (ours, leaving): &Leaving) -> bool {
        steps::is_worth_it(self.snapshot, other, (ours, self.moves(leaving)))
    }

    /// Returns the other fleet where it is better and right, else ours. As where sets are compared, that the scheduler
    /// strands fewer is worth something.
    fn winner(&self, ours: Leaving, (other, set): Leaving) -> Leaving {
        let Self { scene, snapshot, .. } = *self;
        let lost = |solution: &Solution| scheduler::count_stranded(scene, snapshot, &solution.target);
        let worth = scheduler::worth(ours.0.report.cost_after.effective).0;
        let moves = self.moves(&set) + if lost(&other) > lost(&ours.0) { worth } else { 0 };
        let is_taken = self.is_better((&other, moves), &ours)
            // Where no node goes, one in no zone is taken as where what waits is placed.
            && (set.is_empty()
                || super::is_outside(&other.target.new) <= super::is_outside(&ours.0.target.new))
            && without_room(&other) <= without_room(&ours.0)
            && steps::stranding(scene, snapshot, (&other, &set)).is_empty()
            && whole::is_right(scene, snapshot, &other);
        if is_taken { (other, set) } else { ours }
    }
}

/// Counts the pods to come for which there is no room: the snapshot has none of them.
fn without_room(solution: &Solution) -> usize {
    let left_over = solution.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
    left_over.filter(|pod| pod.is_placeholder()).count()
}
