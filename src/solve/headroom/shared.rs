//! Headroom on larger new nodes shared with pods, if these cost less than separate nodes for headroom.
//!
//! Headroom is packed together with the pods and then removed again, so that it is laid out after them as always; only
//! the larger sizes remain. A fleet is taken only if it costs less and leaves no more unplaced.

use std::collections::BTreeSet;

use crate::model::PodKey;
use crate::snapshot::Snapshot;
use crate::solve::demand::{Demand, Shape};
use crate::solve::fleet;
use crate::solve::shrink::trial::Scene;
use crate::solve::shrink::whole;
use crate::solve::solution::{NewNode, Solution};

/// Returns the cheaper of the fleet with nodes only for headroom and the fleets whose new nodes hold both, with the
/// headroom that was packed for it.
pub(in crate::solve) fn shared(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    apart: Solution,
) -> (Solution, Demand) {
    let is_of_room = |node: &&NewNode| node.opened_for.as_ref().is_some_and(PodKey::is_placeholder);
    let (own, with_pods): (Vec<&NewNode>, Vec<&NewNode>) = apart.target.new.iter().partition(is_of_room);
    if own.is_empty() || with_pods.is_empty() {
        return (apart, Demand::default());
    }
    let alone: BTreeSet<&PodKey> = own.iter().flat_map(|node| &node.pods).collect();
    let every: BTreeSet<&PodKey> = scene.room.shapes.iter().flat_map(|shape| &shape.pods).collect();
    let mut rooms = vec![alone, every];
    rooms.dedup();
    let mut best = (apart.clone(), Demand::default());
    for pods in rooms {
        let slack = packed(scene.room, &pods);
        let next = fleet::without(&Scene { slack: &slack, ..*scene }, snapshot);
        let is_cheaper = next.report.cost_after.effective < best.0.report.cost_after.effective;
        let places = next.report.left_over() <= apart.report.left_over();
        if is_cheaper && places && whole::is_right(scene, snapshot, &next) {
            best = (next, slack);
        }
    }
    best
}

/// Returns the headroom of these placeholders as demand that is packed after all pods.
fn packed(room: &Demand, pods: &BTreeSet<&PodKey>) -> Demand {
    let of_shape = |shape: &Shape| {
        let pods: Vec<PodKey> = shape.pods.iter().filter(|pod| pods.contains(pod)).cloned().collect();
        (!pods.is_empty()).then(|| Shape { priority: i32::MIN, pods, ..shape.clone() })
    };
    Demand { shapes: room.shapes.iter().filter_map(of_shape).collect(), ..Demand::default() }
}
