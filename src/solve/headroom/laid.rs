//! Room for strategies that know only pods: its placeholders stand on nodes that are there, and wait for the rest.
//!
//! There room holds its node as a pod would, and may be moved like one. What finds no place waits as a pod of the lowest
//! priority does.

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

/// Works out a fleet by `fleet`, with the room that buffers keep and what it costs.
pub fn solve(snapshot: &Snapshot, fleet: impl Fn(&Snapshot) -> Solution) -> Solution {
    match without_room(snapshot) {
        Cow::Borrowed(_) => fleet(snapshot),
        Cow::Owned(bare) => {
            let laid = laid_out(snapshot);
            compared(snapshot, shown(&laid, fleet(&laid)), fleet(&bare))
        }
    }
}

/// Puts the placeholders onto the nodes that are there, as far as the pods that wait leave room.
fn laid_out(snapshot: &Snapshot) -> Snapshot {
    let topology = Topology::of(snapshot);
    let (demand, daemons) = (Demand::of(snapshot, &topology), Daemons::of(snapshot, &topology));
    let mut nodes = existing::standing(snapshot, &daemons, &topology);
    // The lowest priority comes last; what is left waits.
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

/// Lists room that stays where it was laid out with what its node gets: nobody stands there yet. A node that carries
/// nothing but such room goes for being empty.
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

/// Chooses between the fleet with the room and the one without it, and says what the room costs.
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

/// Counts the pods that have no place, of the highest priority first.
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
