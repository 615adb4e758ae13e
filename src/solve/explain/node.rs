//! Why a node is there, of that size, or goes.

use crate::model::{DisruptionReason, NodeName, Pod, PodKey, Price, Resources};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::daemons::Daemons;
use crate::solve::existing;
use crate::solve::shrink::alone::Alone;
use crate::solve::solution::{NewNode, NodeRef, Solution, Substitute};
use crate::solve::steps;
use crate::solve::topology::Topology;

/// What becomes of a node that exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeFate {
    /// It stays; why it does although it is empty, where it is.
    Stays(Option<String>),
    /// It stays with the pods that it carries, for what keeps it beside all that is planned.
    StaysInUse(Alone),
    /// It is being deleted already.
    Leaves,
    /// It is removed.
    Removed(DisruptionReason),
}

/// What is known about a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeExplanation {
    /// A node that exists.
    Existing {
        /// The node.
        node: NodeName,
        /// What becomes of it.
        fate: NodeFate,
        /// The pods that run there, by name, without those of daemonsets and those that are being deleted.
        runs: Vec<PodKey>,
        /// The waiting pods that are placed there.
        placed: Vec<PodKey>,
        /// What is left of it once the waiting pods are there too.
        room: Resources,
    },
    /// A node to make.
    New {
        /// The node.
        node: Box<NewNode>,
        /// What it has beyond what is asked of it.
        room: Resources,
        /// What another way to have it costs more, the cheapest first; unknown where a price is.
        dearer_by: Vec<(Substitute, Price)>,
    },
    /// There is no such node.
    Unknown,
}

/// Explains a node.
#[must_use]
pub fn explain_node(
    (snapshot, policy): (&Snapshot, &Policy),
    solution: &Solution,
    node: &NodeRef,
) -> NodeExplanation {
    let mut explanation = match node {
        NodeRef::New(place) => solution.target.new.get(*place).map_or(NodeExplanation::Unknown, new),
        NodeRef::Existing(name) => existing_node(snapshot, solution, name),
    };
    if let NodeExplanation::Existing { node, fate, runs, .. } = &mut explanation
        && *fate == NodeFate::Stays(None)
        && !runs.is_empty()
        && let Some(alone) = steps::alone((snapshot, policy), &solution.target, node)
    {
        *fate = NodeFate::StaysInUse(alone);
    }
    explanation
}

fn new(node: &NewNode) -> NodeExplanation {
    let own = node.effective_price.known();
    let dearer = |other: &Substitute| {
        let more = match own {
            Some(own) => other.effective_price.map(|price| price - own),
            None => Price::Unknown,
        };
        (other.clone(), more)
    };
    NodeExplanation::New {
        room: node.allocatable.minus(&node.requests).at_least_zero(),
        dearer_by: node.substitutes.iter().map(dearer).collect(),
        node: Box::new(node.clone()),
    }
}

fn existing_node(snapshot: &Snapshot, solution: &Solution, name: &NodeName) -> NodeExplanation {
    let topology = Topology::of(snapshot);
    let standing = existing::standing(snapshot, &Daemons::of(snapshot, &topology), &topology);
    let Some(standing) = standing.into_iter().find(|standing| standing.node.name == *name) else {
        return NodeExplanation::Unknown;
    };
    let removal = solution.target.removed.iter().find(|removal| removal.node == *name);
    let staying = solution.report.staying.iter().find(|(node, _)| node == name);
    let fate = match removal {
        Some(removal) => NodeFate::Removed(removal.reason),
        None if standing.node.is_deleting => NodeFate::Leaves,
        None => NodeFate::Stays(staying.map(|(_, reason)| reason.clone())),
    };
    let placed = solution.target.kept.iter().find(|kept| kept.node == *name).map(|kept| kept.pods.clone());
    let placed = placed.unwrap_or_default();
    let is_placed = |pod: &&Pod| placed.contains(&pod.key);
    let room = snapshot
        .pods
        .iter()
        .filter(is_placed)
        .fold(standing.site.room.clone(), |room, pod| room.minus(&pod.spec.requests));
    NodeExplanation::Existing {
        node: name.clone(),
        fate,
        runs: standing
            .bound
            .iter()
            .filter(|pod| !pod.is_daemon && !pod.is_terminating)
            .map(|pod| pod.key.clone())
            .collect(),
        placed,
        room: room.at_least_zero(),
    }
}
