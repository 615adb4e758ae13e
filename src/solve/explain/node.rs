//! Why a node exists, has its size, or is deleted.

use crate::model::{DisruptionReason, NodeName, Pod, PodKey, Price, Resources};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::daemons::Daemons;
use crate::solve::existing;
use crate::solve::shrink::alone::Alone;
use crate::solve::solution::{NewNode, NodeRef, Solution, Substitute};
use crate::solve::steps;
use crate::solve::topology::Topology;

/// Outcome for an existing node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeFate {
    /// It is kept, with the reason if it is empty.
    Stays(Option<String>),
    /// It is kept with the pods that it carries, with what keeps it given the rest of the plan.
    StaysInUse(Alone),
    /// It is being deleted already.
    Leaves,
    /// It is removed.
    Removed(DisruptionReason),
}

/// Explanation of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeExplanation {
    /// An existing node.
    Existing {
        /// The node.
        node: NodeName,
        /// Its outcome.
        fate: NodeFate,
        /// The pods that run there, by name, without DaemonSet pods and terminating ones.
        runs: Vec<PodKey>,
        /// The pending pods that are placed there.
        placed: Vec<PodKey>,
        /// Free capacity once the pending pods are there too.
        room: Resources,
    },
    /// A new node.
    New {
        /// The node.
        node: Box<NewNode>,
        /// Capacity beyond its requests.
        room: Resources,
        /// Price difference of each alternative, the cheapest first; unknown if a price is.
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
