//! Pods unplaced only because nodes being deleted still count against limits: the next plan can place them.
//!
//! Changes only the report.

use std::collections::BTreeSet;

use crate::model::{NodeName, PodKey, PodPlace};
use crate::snapshot::Snapshot;

use super::fit::Rule;
use super::fleet;
use super::ledger;
use super::shrink::imagined;
use super::shrink::trial::Scene;
use super::solution::{Solution, Target, Unplaced};

/// Reports which pods that limits leave unplaced can be placed by the next plan.
pub(super) fn say(scene: &Scene<'_>, snapshot: &Snapshot, solution: &mut Solution) {
    let limits = Rule::Limits.to_string();
    let is_limited = |unplaced: &Unplaced| unplaced.rule == limits;
    if !ledger::has_limits(scene.market.limiting(scene.policy))
        || !solution.report.unplaced.iter().any(is_limited)
    {
        return;
    }
    let (then, gone) = when_gone(scene, snapshot, &solution.target);
    let Some(first) = gone.first() else { return };
    let placed = placed(fleet::without(scene, &then));
    let once = match gone.len() {
        1 => format!("once node `{first}` is gone, the next plan has room"),
        count => format!("once the {count} nodes are gone that leave, the next plan has room"),
    };
    let unplaced = std::mem::take(&mut solution.report.unplaced);
    for mut group in unplaced {
        if is_limited(&group) {
            let pods = std::mem::take(&mut group.pods).into_iter();
            let (later, never): (Vec<PodKey>, Vec<PodKey>) = pods.partition(|pod| placed.contains(pod));
            if !later.is_empty() {
                let because = format!("{}; {once}", group.because);
                solution.report.unplaced.push(Unplaced { pods: later, because, ..group.clone() });
            }
            group.pods = never;
        }
        if !group.pods.is_empty() {
            solution.report.unplaced.push(group);
        }
    }
    solution.report.unplaced.sort_by(|one, other| one.pods.cmp(&other.pods));
}

/// Returns the world after the target is reached and deleted nodes are gone, with the names of those nodes.
pub(super) fn when_gone(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    target: &Target,
) -> (Snapshot, BTreeSet<NodeName>) {
    let mut then = imagined::after(scene, snapshot, target);
    let going = then.nodes.iter().filter(|node| node.is_deleting);
    let gone: BTreeSet<NodeName> = going.map(|node| node.name.clone()).collect();
    then.nodes.retain(|node| !node.is_deleting);
    then.pods.retain(|pod| match &pod.place {
        PodPlace::Bound(node) => !gone.contains(node),
        PodPlace::Waiting => true,
    });
    (then, gone)
}

fn placed(solution: Solution) -> BTreeSet<PodKey> {
    let kept = solution.target.kept.into_iter().flat_map(|kept| kept.pods);
    let new = solution.target.new.into_iter().flat_map(|node| node.pods);
    kept.chain(new).collect()
}
