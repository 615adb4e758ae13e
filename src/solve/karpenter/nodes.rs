//! Existing nodes, and the claims of earlier passes: their labels, their free capacity, and whether a pod may join.
//!
//! Initialized nodes come first, then by name; the first that holds a pod gets it. Labels of an existing node are
//! fixed: a pod never changes them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    HostPort, LabelKey, Node, NodeName, NodeStage, Pod, PodSpec, Requirement, Requirements, Resources, Taint,
    label, taint,
};
use crate::snapshot::Snapshot;
use crate::solve::existing;

use super::amounts::{self, Amounts, Columns};
use super::leaving::Leaving;
use super::meeting::{Asked, Meetings};
use super::settle::Settled;
use super::volumes::{self, Attached};

/// A node that may take pods.
pub(super) struct Spot<'a> {
    /// Its name; a generated one for the claim of an earlier pass.
    pub(super) name: NodeName,
    /// Its labels.
    pub(super) labels: Asked,
    /// Its taints.
    pub(super) taints: Cow<'a, [Taint]>,
    /// Its free capacity.
    pub(super) room: Amounts,
    /// Host ports in use.
    pub(super) ports: BTreeSet<HostPort>,
    /// Its attached volumes.
    pub(super) attached: Attached,
    /// Whether it waits for `consolidateAfter`: it takes no pod that need not move.
    pub(super) is_shy: bool,
    /// Pending pods that are placed here, by their index in the queue.
    pub(super) pods: Vec<usize>,
    /// Index of the claim that it was, among those of earlier passes.
    pub(super) settled: Option<usize>,
}

/// Returns the alternative terms of a DaemonSet's pod.
pub(super) fn daemon_terms(spec: &PodSpec) -> Vec<Requirements> {
    let Some(terms) = &spec.node_affinity.required else { return vec![spec.node_selector.clone()] };
    let joined = terms.iter().map(|term| {
        let mut both = spec.node_selector.clone();
        both.add_all(term);
        both
    });
    joined.collect()
}

/// Returns the labels of a node, its own name included.
pub(super) fn labels(node: &Node) -> Requirements {
    let mut labels = Requirements::of_labels(node.labels.iter().map(|(key, value)| (key.as_str(), &**value)));
    if labels.get(label::HOSTNAME).is_none() {
        labels.add(LabelKey::new(label::HOSTNAME), Requirement::one(node.name.as_str()));
    }
    labels
}

/// Reads the nodes that may take pods, in the order in which they are tried. `bound` has the pods of each.
pub(super) fn spots<'a>(
    (snapshot, leaving): (&'a Snapshot, Leaving<'_>),
    bound: &BTreeMap<&NodeName, Vec<&Pod>>,
    settled: &'a [Settled],
    (meetings, columns): (&mut Meetings<'_>, &Columns),
) -> Vec<Spot<'a>> {
    let mut nodes: Vec<&Node> = snapshot.nodes.iter().filter(|node| !leaving.has(node)).collect();
    nodes.sort_by_key(|node| (node.stage != NodeStage::Initialized, &node.name));
    let mut spots: Vec<Spot<'_>> = nodes
        .into_iter()
        .map(|node| {
            let pods = bound.get(&node.name).map_or(&[][..], Vec::as_slice);
            spot(node, pods, snapshot, (meetings, columns))
        })
        .collect();
    for (place, settled) in settled.iter().enumerate() {
        let pods = bound.get(&settled.name).map_or(&[][..], Vec::as_slice);
        let mut room = columns.row(&settled.room);
        let mut ports = settled.ports.clone();
        for pod in pods {
            room = amounts::minus(&room, &columns.row(&pod.spec.requests));
            ports.extend(pod.spec.host_ports.iter().cloned());
        }
        spots.push(Spot {
            name: settled.name.clone(),
            labels: meetings.number(&settled.labels),
            taints: Cow::Borrowed(&settled.taints),
            room,
            ports,
            attached: Attached::default(),
            is_shy: false,
            pods: Vec::new(),
            settled: Some(place),
        });
    }
    spots
}

fn spot<'a>(
    node: &'a Node,
    bound: &[&Pod],
    snapshot: &Snapshot,
    (meetings, columns): (&mut Meetings<'_>, &Columns),
) -> Spot<'a> {
    let labels = meetings.number(&labels(node));
    let taints = existing::taints(node);
    let mut used = columns.row(&Resources::none());
    let mut running = used.clone();
    let mut ports = BTreeSet::new();
    let mut attached = Attached::of(&node.name, &snapshot.storage);
    for pod in bound {
        let requests = columns.row(&pod.spec.requests);
        used = amounts::plus(&used, &requests);
        if pod.workload.as_ref().is_some_and(|owner| &*owner.kind == "DaemonSet") {
            running = amounts::plus(&running, &requests);
        }
        ports.extend(pod.spec.host_ports.iter().cloned());
        if let Ok(volumes) = volumes::of(pod, &snapshot.storage) {
            attached.add(&volumes.mounts);
        }
    }
    // Requests of running DaemonSet pods are subtracted from those of all expected ones, whichever they are.
    let expected = expected(snapshot, (labels, &node.taints), (meetings, columns));
    let mut to_come = amounts::minus(&expected, &running);
    amounts::raise(&mut to_come, &columns.row(&Resources::none()));
    let room = amounts::minus(&amounts::minus(&columns.row(&node.allocatable), &used), &to_come);
    let name = node.name.clone();
    Spot { name, labels, taints, room, ports, attached, is_shy: false, pods: Vec::new(), settled: None }
}

/// Returns the requests of all DaemonSets that may run on a node, including those that already do.
fn expected(
    snapshot: &Snapshot,
    (labels, taints): (Asked, &[Taint]),
    (meetings, columns): (&mut Meetings<'_>, &Columns),
) -> Amounts {
    let mut sum = columns.row(&Resources::none());
    for daemon in &snapshot.daemons {
        if taint::first_untolerated(taints, &daemon.spec.tolerations).is_none()
            && daemon_terms(&daemon.spec).iter().any(|wanted| {
                let wanted = meetings.number(wanted);
                meetings.holds(labels, wanted)
            })
        {
            sum = amounts::plus(&sum, &columns.row(&daemon.spec.requests));
        }
    }
    sum
}

/// Returns whether all taints are tolerated, including `PreferNoSchedule`.
pub(super) fn tolerates(tolerations: &[crate::model::Toleration], taints: &[Taint]) -> bool {
    taints.iter().all(|taint| tolerations.iter().any(|toleration| toleration.tolerates(taint)))
}
