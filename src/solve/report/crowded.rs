//! Warns about DaemonSets that select a kept node but do not fit there, because no node is bought for them.
//!
//! Mentions that kube-scheduler evicts pods for DaemonSets of a higher priority; never plans it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Node, NodeName, Pod, PodPlace, ResourceName, Resources};
use crate::snapshot::{Daemon, Snapshot};
use crate::solve::daemons::Daemons;
use crate::solve::existing;
use crate::solve::solution::Warning;
use crate::solve::topology::Topology;

/// Maximum number of nodes that are named per DaemonSet.
const NODES_NAMED_MAX: usize = 3;

/// A node that a DaemonSet selects but does not fit on.
struct Full<'a> {
    node: &'a NodeName,
    /// The insufficient resource, the amount requested, and the amount left.
    lacking: (ResourceName, i64, i64),
    /// Whether pods of a lower priority run there.
    has_lower: bool,
}

/// Returns a warning for each DaemonSet of the input that does not fit on some kept node, sorted.
#[must_use]
pub fn warnings(snapshot: &Snapshot, removed: &BTreeSet<NodeName>) -> Vec<Warning> {
    let topology = Topology::default();
    let daemons = Daemons::of(snapshot, &topology);
    let mut running: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
    for pod in &snapshot.pods {
        if let PodPlace::Bound(node) = &pod.place {
            running.entry(node).or_default().push(pod);
        }
    }
    let mut full: BTreeMap<&Daemon, Vec<Full<'_>>> = BTreeMap::new();
    // A node without allocatable resources is reported as a gap.
    let stays = |node: &&Node| {
        !node.is_deleting && !removed.contains(&node.name) && node.allocatable != Resources::none()
    };
    for node in snapshot.nodes.iter().filter(stays) {
        let there = running.get(&node.name).map_or(&[][..], Vec::as_slice);
        for (daemon, found) in without_room(node, there, &daemons) {
            full.entry(daemon).or_default().push(found);
        }
    }
    full.into_iter().map(|(daemon, nodes)| warning(daemon, &nodes)).collect()
}

/// Returns the DaemonSets of the input that do not fit beside a node's running pods; the most important ones are placed
/// first.
fn without_room<'a>(
    node: &'a Node,
    running: &[&Pod],
    daemons: &'a Daemons<'_>,
) -> Vec<(&'a Daemon, Full<'a>)> {
    let site = existing::bare(node);
    let mut coming = daemons.coming(node, &site, running);
    coming.sort_by_key(|(daemon, _)| (Reverse(daemon.spec.priority), *daemon));
    let mut room = node.allocatable.clone();
    for pod in running {
        room = room.minus(&pod.spec.requests);
    }
    let mut full = Vec::new();
    for (daemon, ask) in coming {
        let lacks = |(name, wanted): &(&ResourceName, i64)| *wanted > 0 && room.get(name) < *wanted;
        let lacking = ask.requests.iter().find(lacks);
        match lacking.map(|(name, wanted)| (name.clone(), wanted, room.get(name).max(0))) {
            None => room = room.minus(&ask.requests),
            // An assumed DaemonSet may not exist.
            Some(_) if daemon.is_assumed => {}
            Some(lacking) => {
                let is_lower = |pod: &&Pod| !pod.is_daemon && pod.spec.priority < daemon.spec.priority;
                let has_lower = running.iter().any(is_lower);
                full.push((daemon, Full { node: &node.name, lacking, has_lower }));
            }
        }
    }
    full
}

fn warning(daemon: &Daemon, nodes: &[Full<'_>]) -> Warning {
    let names: Vec<String> =
        nodes.iter().take(NODES_NAMED_MAX).map(|full| format!("`{}`", full.node)).collect();
    let on = match nodes.len() {
        1 => format!("node {}, which it selects", names.join(", ")),
        count if count <= NODES_NAMED_MAX => format!("nodes {}, which it selects", names.join(", ")),
        count => {
            let more = count - names.len();
            format!("{count} nodes that it selects: {} and {more} more", names.join(", "))
        }
    };
    let lacking = nodes.first().map(|full| {
        let (name, wanted, left) = &full.lacking;
        format!(": {name} {} requested, {} left", name.show(*wanted), name.show(*left))
    });
    let hint = if nodes.iter().any(|full| full.has_lower) {
        "kube-scheduler evicts pods of a lower priority for it; a node that they would need is not in this plan"
    } else {
        "its pods stay Pending there: lower its requests, or give it a PriorityClass above the pods that run there"
    };
    Warning {
        object: format!("DaemonSet `{}/{}`", daemon.namespace, daemon.name),
        what: format!("has no room on {on}{}", lacking.unwrap_or_default()),
        hint: Some(hint.to_owned()),
    }
}
