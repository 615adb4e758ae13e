//! Existing nodes, including those being launched: their free capacity, and filling it first.
//!
//! Never moves running pods, and never decides whether a node is worth keeping.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};

use crate::model::{
    Effect, HostPort, LabelKey, Node, NodeName, NodeStage, Pod, PodKey, PodPlace, Requirements, Resources,
    Stance, Taint, label,
};
use crate::snapshot::Snapshot;

use super::daemons::Daemons;
use super::demand::{Ask, Demand, Shape};
use super::fit::available::Choices;
use super::fit::company::Company;
use super::fit::mounts::Free;
use super::fit::slots::SizeSlots;
use super::fit::{Miss, Site, Undefined};
use super::intern::Bits;
use super::solution::NewNode;
use super::topology::eligible::Seen;
use super::topology::{Role, Topology};

/// Taint of a cordoned node.
const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";

/// Number of nodes that one thread reads before another thread helps.
pub(super) const NODES_AT_ONCE: usize = 128;

/// Existing node, or one being launched, with its free capacity.
#[derive(Clone, Debug)]
pub struct Standing<'a> {
    /// The node.
    pub node: &'a Node,
    /// Its labels, taints and free capacity; shrinks with every pod that is placed.
    pub site: Site<'a>,
    /// Pods bound to it.
    pub bound: Vec<&'a Pod>,
    /// Roles of the pods that run here regardless of placement, in rules between pods on one node.
    pub there: Company,
    /// Roles of the bound pods in rules between pods whose domains are larger than a node.
    pub parts: Arc<[Part]>,
    /// Pending pods placed here.
    pub placed: Vec<PodKey>,
    /// Indices of their shapes in the demand that was filled, in the same order.
    pub shapes: Vec<usize>,
}

/// Pods bound to one node that have the same role.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The role.
    pub role: Role,
    /// Whether they are being deleted.
    pub is_terminating: bool,
    /// Number of pods.
    pub pods: usize,
}

impl Standing<'_> {
    /// Returns what topology spreads see of the node.
    #[must_use]
    pub fn seen(&self) -> Seen<'_> {
        Seen { labels: &self.node.labels, site: &self.site.labels, taints: &self.site.taints }
    }

    /// Sorts the pods placed here.
    pub(super) fn sort_placed(&mut self) {
        let named = std::mem::take(&mut self.placed).into_iter();
        let mut placed: Vec<(PodKey, usize)> = named.zip(std::mem::take(&mut self.shapes)).collect();
        placed.sort_unstable();
        (self.placed, self.shapes) = placed.into_iter().unzip();
    }

    /// Returns whether only DaemonSet pods run here.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bound.iter().all(|pod| pod.is_daemon)
    }
}

/// Reads all nodes, sorted by name.
#[must_use]
pub fn standing<'a>(snapshot: &'a Snapshot, daemons: &Daemons<'_>, topology: &Topology) -> Vec<Standing<'a>> {
    let mut bound: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
    for pod in &snapshot.pods {
        if let PodPlace::Bound(node) = &pod.place {
            bound.entry(node).or_default().push(pod);
        }
    }
    let (slots, choices) = (SizeSlots::of(snapshot), Choices::of(&snapshot.storage));
    let of_node = |node: &'a Node| (node, bound.remove(&node.name).unwrap_or_default());
    let nodes: Vec<(&Node, Vec<&Pod>)> = snapshot.nodes.iter().map(of_node).collect();
    let mut nodes: Vec<Standing<'_>> = nodes
        .into_par_iter()
        .with_min_len(NODES_AT_ONCE)
        .map(|(node, mut pods)| {
            pods.sort_by(|a, b| a.key.cmp(&b.key));
            let mut site = site(node, &pods, (daemons, topology));
            let storage = &snapshot.storage;
            let is_estimate = slots.is_estimate_of(node, storage);
            let mut slots = slots.of_node(node, storage);
            slots.extend(choices.on(node, &pods, storage));
            site.volumes = Free::beside(slots, &node.name, &pods, storage).estimated(is_estimate);
            Standing {
                there: site.company.clone(),
                site,
                node,
                parts: parts(&pods, topology),
                bound: pods,
                placed: Vec::new(),
                shapes: Vec::new(),
            }
        })
        .collect();
    nodes.sort_by(|a, b| a.node.name.cmp(&b.node.name));
    nodes
}

/// Counts bound pods by role.
fn parts(bound: &[&Pod], topology: &Topology) -> Arc<[Part]> {
    let mut counts: BTreeMap<(Role, bool), usize> = BTreeMap::new();
    for pod in bound {
        for role in topology.roles(pod).iter().filter(|role| !topology.groups[role.group].is_of_hosts()) {
            *counts.entry((*role, pod.is_terminating)).or_default() += 1;
        }
    }
    counts.into_iter().map(|((role, is_terminating), pods)| Part { role, is_terminating, pods }).collect()
}

/// Reads the labels, taints and free capacity of a node, without volumes.
pub(super) fn site<'a>(
    node: &'a Node,
    bound: &[&Pod],
    (daemons, topology): (&Daemons<'_>, &Topology),
) -> Site<'a> {
    let mut site = bare(node);
    // DaemonSets ignore a cordon, so only the node's own taints count.
    let to_come = daemons.to_come(node, &site, bound);
    let mut used = to_come.requests;
    let mut ports: BTreeSet<HostPort> = to_come.ports;
    site.company = to_come.company;
    for pod in bound {
        let mut company = topology.on_hosts(topology.roles(pod));
        // Kubernetes ignores terminating pods in topology spread.
        company.retain(|role| !(pod.is_terminating && role.spreads()));
        site.company.put_running(&company);
        used.add(&pod.spec.requests);
        ports.extend(pod.spec.host_ports.iter().cloned());
    }
    site.room = node.allocatable.minus(&used);
    site.ports = ports;
    site
}

/// Reads the labels and taints of a node, without its free capacity.
pub(super) fn bare(node: &Node) -> Site<'_> {
    Site {
        labels: labels_of(node),
        undefined: Undefined::Absent,
        taints: taints(node),
        room: Resources::none(),
        ports: BTreeSet::new(),
        company: Company::default(),
        volumes: Free::default(),
    }
}

/// Returns the labels of a node, including its hostname.
pub(super) fn labels_of(node: &Node) -> Requirements {
    let mut labels = Requirements::of_labels(node.labels.iter().map(|(key, value)| (key.as_str(), &**value)));
    if labels.get(label::HOSTNAME).is_none() && node.stage != NodeStage::Launching {
        labels.add(LabelKey::new(label::HOSTNAME), crate::model::Requirement::one(node.name.as_str()));
    }
    labels
}

/// Returns whether pods with these terms may join an existing node, regardless of its free capacity.
pub(super) fn is_open(node: &Node, (alternatives, stance): Terms<'_>) -> bool {
    !node.is_deleting
        && super::fit::taints::are_stood(&taints(node), stance)
        && super::fit::labels::are_met(alternatives, &labels_of(node), &Undefined::Absent)
}

/// Reads a new node as if it had joined, with its pods, which use these host ports. Rules between pods and volumes are
/// left out.
pub(super) fn made<'a>(
    node: &'a Node,
    new: &NewNode,
    ports: &BTreeSet<HostPort>,
    daemons: &Daemons<'_>,
) -> Standing<'a> {
    let mut site = site(node, &[], (daemons, &Topology::default()));
    site.room = node.allocatable.minus(&new.requests);
    site.ports.extend(ports.iter().cloned());
    Standing {
        node,
        site,
        there: Company::default(),
        bound: Vec::new(),
        parts: Arc::default(),
        placed: new.pods.clone(),
        shapes: vec![usize::MAX; new.pods.len()],
    }
}

/// Returns the taints of a node, including the one of a cordon.
pub(super) fn taints(node: &Node) -> Cow<'_, [Taint]> {
    let cordon = Taint::new(UNSCHEDULABLE, "", Effect::NoSchedule);
    if !node.is_unschedulable || node.taints.contains(&cordon) {
        return Cow::Borrowed(&node.taints);
    }
    Cow::Owned(node.taints.iter().cloned().chain([cordon]).collect())
}

/// Checks whether a pod of this shape may join the node.
///
/// # Errors
/// The first rule that the pod fails.
pub fn why(standing: &Standing<'_>, shape: &Shape) -> Result<(), Miss> {
    standing.site.why(&shape.ask).map(|_| ())
}

/// Returns how many pods of a shape fit on a node that they may join, if nothing else is placed there.
#[must_use]
pub fn most(site: &Site<'_>, ask: &Ask) -> usize {
    if site.has_no_room(ask) {
        return 0;
    }
    let by_resource = ask
        .requests
        .iter()
        .filter(|(_, amount)| *amount > 0)
        .map(|(name, amount)| usize::try_from(site.room.get(name) / amount).unwrap_or(0));
    let by_volume = (!ask.volumes.is_empty()).then(|| site.volumes.most(&ask.volumes));
    let by_port = (!ask.host_ports.is_empty()).then_some(1);
    let by_company = (!ask.company.is_empty()).then(|| site.company.most(&ask.company));
    let others = by_volume.into_iter().chain(by_port).chain(by_company);
    by_resource.chain(others).min().unwrap_or(usize::MAX)
}

/// Fills existing nodes, and returns how many pods of each shape are left; pods of a shape are placed in the order of
/// their names.
#[must_use]
pub fn fill(demand: &Demand, nodes: &mut [Standing<'_>]) -> Vec<usize> {
    let mut left: Vec<usize> = demand.shapes.iter().map(|shape| shape.pods.len()).collect();
    if nodes.is_empty() {
        return left;
    }
    let accesses = accesses(demand, nodes);
    let mut order: Vec<usize> = (0..demand.shapes.len()).collect();
    let largest = largest_room(nodes);
    order.sort_by_cached_key(|shape| {
        let Shape { priority, ask, .. } = &demand.shapes[*shape];
        // Among shapes with equal requests, those bound by rules have fewer candidate nodes.
        let is_free = !ask.company.iter().any(|role| role.is_bound);
        (std::cmp::Reverse(*priority), std::cmp::Reverse(share(&ask.requests, &largest)), is_free, *shape)
    });
    let mut queue: BTreeSet<(Preference, usize)> =
        nodes.iter().enumerate().map(|(node, standing)| (preference(standing, &largest), node)).collect();
    for number in order {
        let Shape { ask, pods, .. } = &demand.shapes[number];
        let open = &accesses[&(&ask.alternatives, &ask.stance)];
        let mut filled = Vec::new();
        for (preference, node) in queue.iter().filter(|(_, node)| open.has(*node)) {
            let standing = &mut nodes[*node];
            let count = most(&standing.site, ask).min(left[number]);
            if count > 0 && standing.site.put(ask, count).is_ok() {
                let next = pods.len() - left[number];
                standing.placed.extend(pods[next..next + count].iter().cloned());
                standing.shapes.extend(std::iter::repeat_n(number, count));
                left[number] -= count;
                filled.push((*preference, *node));
            }
            if left[number] == 0 {
                break;
            }
        }
        for (before, node) in filled {
            queue.remove(&(before, node));
            queue.insert((preference(&nodes[node], &largest), node));
        }
    }
    nodes.iter_mut().for_each(Standing::sort_placed);
    left
}

/// Sort key of nodes: the node to fill first has the smallest.
type Preference = (bool, NodeStage, i64);

/// Returns the sort key of a node: one with pods comes first, because an empty one of a pool may be removed; then one
/// that has joined; then the fullest.
fn preference(standing: &Standing<'_>, largest: &Resources) -> Preference {
    let is_spare = standing.node.pool.is_some() && standing.is_empty() && standing.placed.is_empty();
    // A node that has joined is better than one that may still fail to.
    let stage = match standing.node.stage {
        NodeStage::Initialized | NodeStage::Registered => NodeStage::Launching,
        NodeStage::Launching => NodeStage::Initialized,
    };
    (is_spare, stage, share(&standing.site.room, largest))
}

/// Node terms and tolerations.
type Terms<'a> = (&'a Vec<Requirements>, &'a Stance);

/// Returns the nodes that each pair of node terms and tolerations may join at all.
fn accesses<'a>(demand: &'a Demand, nodes: &[Standing<'_>]) -> BTreeMap<Terms<'a>, Bits> {
    let of_shape = |shape: &'a Shape| (&shape.ask.alternatives, &shape.ask.stance);
    let terms: BTreeSet<Terms<'a>> = demand.shapes.iter().map(of_shape).collect();
    let opened = |terms: Terms<'a>| {
        let mut open = Bits::none(nodes.len());
        open_to(nodes, terms).into_iter().for_each(|node| open.insert(node));
        (terms, open)
    };
    let terms: Vec<Terms<'a>> = terms.into_iter().collect();
    let least = (NODES_AT_ONCE * NODES_AT_ONCE / nodes.len().max(1)).max(1);
    terms.into_par_iter().with_min_len(least).map(opened).collect()
}

/// Returns the nodes that pods with these terms may join, if there is free capacity; excludes nodes being deleted.
pub(super) fn open_to(nodes: &[Standing<'_>], (alternatives, stance): Terms<'_>) -> Vec<usize> {
    let is_open = |Standing { node, site, .. }: &Standing<'_>| {
        !node.is_deleting
            && super::fit::taints::are_stood(&site.taints, stance)
            && super::fit::labels::are_met(alternatives, &site.labels, &site.undefined)
    };
    (0..nodes.len()).filter(|node| is_open(&nodes[*node])).collect()
}

fn largest_room(nodes: &[Standing<'_>]) -> Resources {
    nodes.iter().fold(Resources::none(), |largest, standing| Resources::max(&largest, &standing.site.room))
}

/// Returns the largest share of these amounts in the largest free capacity, in millionths.
fn share(amounts: &Resources, largest: &Resources) -> i64 {
    let parts = amounts.iter().map(|(name, amount)| {
        let part = i128::from(amount) * 1_000_000 / i128::from(largest.get(name).max(1));
        i64::try_from(part).unwrap_or(i64::MAX)
    });
    parts.max().unwrap_or(0)
}
