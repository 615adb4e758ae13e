//! Adds further pods to a node that is to be created.
//!
//! The needs of its own pods are known from their total requests and from the labels chosen for them. Never decides
//! whether pods should be added.

use std::collections::BTreeSet;

use crate::model::{LabelKey, Resources, SkuName};
use crate::solve::demand::Ask;
use crate::solve::existing;
use crate::solve::pack::finish::{chosen_labels, keys_wanted};
use crate::solve::solution::NewNode;

use super::trial::Scene;

/// Pods to add to a node: the requests of each kind, and their number.
pub(in crate::solve) type Coming<'a> = [(&'a Ask, usize)];

/// Adds these pods: restricts labels to the values that they allow, and keeps the substitutes that hold all pods in the
/// same zone with the same capacity type.
pub(in crate::solve) fn add(scene: &Scene<'_>, node: &mut NewNode, coming: &Coming<'_>) {
    settle(scene, node, coming);
    let mut substitutes = std::mem::take(&mut node.substitutes);
    substitutes.retain(|other| {
        (&other.zone, other.capacity_type) == (&node.zone, node.capacity_type)
            && holds(scene, node, &other.size, coming)
    });
    node.substitutes = substitutes;
    for (ask, count) in coming {
        node.requests.add(&ask.requests.times(*count));
    }
}

/// Returns whether a node of this size, in the same zone with the same capacity type, holds its pods and these.
pub(in crate::solve) fn holds(
    scene: &Scene<'_>,
    node: &NewNode,
    size: &SkuName,
    coming: &Coming<'_>,
) -> bool {
    let bought = scene.supply.bought(&node.pool, size, (&node.zone, node.capacity_type));
    let Some((pool, kind, usable)) = bought else { return false };
    let daemons = &pool.overheads[usable.overhead].requests;
    let room = kind.kind.allocatable.minus(daemons).minus(&node.requests.minus(&node.daemon_requests));
    let mut all = Resources::none();
    coming.iter().for_each(|(ask, count)| all.add(&ask.requests.times(*count)));
    // Nodes that do not fit nearly always lack capacity, which is cheap to check.
    if all.iter().any(|(name, amount)| amount > 0 && amount > room.get(name)) {
        return false;
    }
    let alternatives = coming.iter().flat_map(|(ask, _)| &ask.alternatives);
    let keys = alternatives.flat_map(|alternative| alternative.iter().map(|(key, _)| key));
    let keys: BTreeSet<&LabelKey> = keys.collect();
    let mut site = pool.site_for((kind, usable), &node.labels, keys);
    site.room = room;
    coming.iter().all(|(ask, count)| existing::most(&site, ask) >= *count && site.put(ask, *count).is_ok())
}

/// Gives a node the label values that these pods allow, where it needs one: labels left open when it was created are
/// open to them too.
fn settle(scene: &Scene<'_>, node: &mut NewNode, coming: &Coming<'_>) {
    let bought = scene.supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type));
    let Some((pool, kind, usable)) = bought else { return };
    let empty = pool.site(kind, usable);
    let mut site = pool.site_with(kind, usable, &node.labels);
    if coming.iter().all(|(ask, count)| site.put(ask, *count).is_ok()) {
        let wanted = keys_wanted(coming.iter().map(|(ask, _)| *ask));
        node.labels.extend(chosen_labels(pool, (&empty, &site), &wanted));
    }
}
