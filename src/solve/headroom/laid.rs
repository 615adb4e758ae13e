//! Headroom for strategies that know only pods: binds placeholders to existing nodes and leaves the rest pending.
//!
//! A placeholder then holds its node as a pod would, and may be moved like one. Placeholders that fit nowhere are
//! pending like pods of the lowest priority.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{DisruptionReason, NodeName, PodKey, PodPlace};
use crate::snapshot::Snapshot;
use crate::solve::daemons::Daemons;
use crate::solve::demand::Demand;
use crate::solve::existing::{self, Standing};
use crate::solve::solution::{Solution, Unplaced};
use crate::solve::topology::Topology;

use super::{said, without_room};

/// Computes a fleet with `fleet`, including the headroom of buffers and its cost.
pub fn solve(snapshot: &Snapshot, fleet: impl Fn(&Snapshot) -> Solution) -> Solution {
    match without_room(snapshot) {
        Cow::Borrowed(_) => fleet(snapshot),
        Cow::Owned(bare) => {
            let laid = laid_out(snapshot);
            compared(snapshot, shown(&laid, fleet(&laid)), fleet(&bare))
        }
    }
}

/// Binds placeholders to existing nodes, using the capacity that pending pods leave free.
fn laid_out(snapshot: &Snapshot) -> Snapshot {
    let topology = Topology::of(snapshot);
    let (demand, daemons) = (Demand::of(snapshot, &topology), Daemons::of(snapshot, &topology));
    let mut nodes = existing::standing(snapshot, &daemons, &topology);
    // Placeholders have the lowest priority and are placed last; those that do not fit stay pending.
    let _left = existing::fill(&demand, &mut nodes);
    let of_node = |standing: &Standing<'_>| {
        let room = standing.placed.iter().filter(|pod| pod.is_placeholder());
        room.map(|pod| (pod.clone(), standing.node.name.clone())).collect::<Vec<_>>()
    };
    let places: BTreeMap<PodKey, NodeName> = nodes.iter().flat_map(of_node).collect();
    let mut laid = snapshot.clone();
    for pod in &mut laid.pods {
        if let Some(node) = places.get(&pod.key) {
            pod.place = PodPlace::Bound(node.clone());
        }
    }
    laid
}

/// Lists headroom that stays on its node among the pods placed there, because placeholders are never bound. A removed
/// node that carries only such headroom is removed as empty.
fn shown(laid: &Snapshot, mut solution: Solution) -> Solution {
    let target = &mut solution.target;
    let placed = target.kept.iter().flat_map(|kept| &kept.pods);
    let placed: BTreeSet<PodKey> =
        placed.chain(target.new.iter().flat_map(|node| &node.pods)).cloned().collect();
    let mut staying: BTreeMap<&NodeName, Vec<PodKey>> = BTreeMap::new();
    let mut busy: BTreeSet<&NodeName> = BTreeSet::new();
    for pod in laid.pods.iter().filter(|pod| !pod.is_daemon) {
        let PodPlace::Bound(node) = &pod.place else { continue };
        if !pod.key.is_placeholder() {
            busy.insert(node);
        } else if !placed.contains(&pod.key) {
            staying.entry(node).or_default().push(pod.key.clone());
        }
    }
    for kept in &mut target.kept {
        kept.pods.extend(staying.remove(&kept.node).into_iter().flatten());
        kept.pods.sort();
    }
    for removal in target.removed.iter_mut().filter(|removal| !busy.contains(&removal.node)) {
        if removal.reason == DisruptionReason::Underutilized {
            removal.reason = DisruptionReason::Empty;
        }
    }
    solution
}

/// Chooses between the fleets with and without headroom, and reports what the headroom costs.
fn compared(snapshot: &Snapshot, with: Solution, mut without: Solution) -> Solution {
    let priorities: BTreeMap<&PodKey, i32> =
        snapshot.pods.iter().map(|pod| (&pod.key, pod.spec.priority)).collect();
    if left_over(&with, &priorities) > left_over(&without, &priorities) {
        let placeholders = snapshot.pods.iter().map(|pod| &pod.key).filter(|key| key.is_placeholder());
        let because = "pods that wait need what it would take";
        without.report.unplaced.push(Unplaced {
            pods: placeholders.cloned().collect(),
            rule: "priority".to_owned(),
            because: because.to_owned(),
            nearest: None,
            details: vec![because.to_owned()],
        });
        without.report.unplaced.sort_by(|one, other| one.pods.cmp(&other.pods));
        return without;
    }
    said(with, &without)
}

/// Counts the unplaced pods by priority, the highest first.
fn left_over(solution: &Solution, priorities: &BTreeMap<&PodKey, i32>) -> Vec<(Reverse<i32>, usize)> {
    let every: BTreeSet<Reverse<i32>> = priorities.values().map(|priority| Reverse(*priority)).collect();
    let mut left: BTreeMap<Reverse<i32>, usize> = every.into_iter().map(|priority| (priority, 0)).collect();
    let pods = solution.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
    for pod in pods.filter(|pod| !pod.is_placeholder()) {
        if let Some(priority) = priorities.get(pod) {
            *left.entry(Reverse(*priority)).or_default() += 1;
        }
    }
    left.into_iter().collect()
}
