//! What the NodeFleet remembers of nodes, and what follows from it and from what was seen.
//!
//! Must never take what is remembered for what is: of a node that is there, the node itself is asked.

use std::sync::Arc;

use jiff::Timestamp;

use crate::api::node_fleet::{NodeFleetStatus, TriedNode};
use crate::catalog::Catalog;
use crate::manifests::Objects;
use crate::model::{Learned, NetworkSetup, Node, NodeName, PoolName, Purpose, Tried};
use crate::policy::Policy;
use crate::snapshot::tried::{Scene, Tries, tries};

/// Returns what is remembered. Two NodeFleets contradict each other, so that neither is believed.
pub(super) fn remembered(objects: &Objects) -> Learned {
    let mut fleets = objects.ours.iter().filter(|object| &*object.kind == "NodeFleet");
    let (Some(fleet), None) = (fleets.next(), fleets.next()) else { return Learned::default() };
    let status = fleet.value.get("status").cloned().unwrap_or_default();
    let status: NodeFleetStatus = serde_json::from_value(status).unwrap_or_default();
    Learned { tried: status.tried.iter().flatten().filter_map(tried).collect() }
}

fn tried(wire: &TriedNode) -> Option<Tried> {
    let TriedNode { node, pods, pool, made_from, joined, because } = wire;
    Some(Tried {
        node: NodeName::new(node),
        pods: pods.iter().map(Purpose::new).collect(),
        pool: PoolName::new(pool),
        made_from: made_from.as_str().into(),
        joined: joined.parse().ok()?,
        because: because.as_str().into(),
    })
}

/// Returns what nodes came to that were made for pods which wait; nothing where no time is known.
pub(super) fn tried_in(
    (objects, nodes): (&Objects, &[Node]),
    policy: &Policy,
    sold: (&Catalog, NetworkSetup),
    at: Option<Timestamp>,
) -> Arc<Tries> {
    let Some(at) = at else { return Arc::default() };
    let Learned { tried: known } = remembered(objects);
    let (pods, waiting_since) = (&objects.pods, &objects.waiting_since);
    Arc::new(tries(Scene { nodes, pods, waiting_since, policy, sold, known: &known, at }))
}
