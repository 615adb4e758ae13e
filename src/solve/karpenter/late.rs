//! Pods that are left over and fit on nodes that are there: kube-scheduler binds them, whatever Karpenter makes of them.
//!
//! Karpenter passes pods over that kube-scheduler takes, makes nodes for preferences where limits then leave no room, and
//! frees nodes while others wait. Pods that mind where others are stay left over: it depends on the order who has a place.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{NodeName, Pod, PodKey, PodPlace};
use crate::snapshot::Snapshot;
use crate::solve::daemons::Daemons;
use crate::solve::demand::Demand;
use crate::solve::existing;
use crate::solve::solution::Unplaced;
use crate::solve::topology::Topology;

use super::{Refused, desk};

/// Places pods that are reported as left over, and takes them out of the report, apart from those that are refused. In the
/// world, nodes that go are being deleted; `places` says where the other pods are.
pub(super) fn place(
    (world, refused): (&Snapshot, &Refused),
    (daemons, topology): (&Daemons<'_>, &Topology),
    unplaced: &mut Vec<Unplaced>,
    places: &mut BTreeMap<PodKey, NodeName>,
) {
    let left: BTreeSet<&PodKey> = unplaced.iter().flat_map(|group| &group.pods).collect();
    let is_free = |pod: &Pod| !desk::is_tied(pod) && pod.spec.volumes.is_empty();
    let is_meant =
        |pod: &Pod| left.contains(&pod.key) && !refused.pods.contains_key(&pod.key) && is_free(pod);
    if !world.pods.iter().any(is_meant) {
        return;
    }
    let mut settled = world.clone();
    for pod in &mut settled.pods {
        if let Some(node) = places.get(&pod.key) {
            pod.place = PodPlace::Bound(node.clone());
        }
    }
    let mut nodes = existing::standing(&settled, daemons, topology);
    // How many are left of a shape is seen from who is placed.
    let _ = existing::fill(&Demand::of_these(&settled, topology, is_meant), &mut nodes);
    let late: BTreeMap<PodKey, NodeName> = nodes
        .into_iter()
        .flat_map(|node| node.placed.into_iter().map(move |pod| (pod, node.node.name.clone())))
        .collect();
    for group in &mut *unplaced {
        group.pods.retain(|pod| !late.contains_key(pod));
    }
    unplaced.retain(|group| !group.pods.is_empty());
    places.extend(late);
}
