//! Lays out headroom in one fleet: on the capacity that pods leave free, then on nodes created for it.
//!
//! The result depends on the nodes and their free capacity, never on their names or on whether they already exist. So
//! the next plan lays out the headroom on the same nodes, and needs all of them and no others. Never places or moves
//! pods. If limits keep pods from being placed, no node is created or kept for headroom.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{HostPort, LabelKey, Node, NodeName, PodKey, label};
use crate::snapshot::Snapshot;
use crate::solve::attempt::Attempt;
use crate::solve::came_off::{self, Fleet};
use crate::solve::demand::Demand;
use crate::solve::existing::{self, Standing};
use crate::solve::fit::limits::{Charges, Ledger};
use crate::solve::fleet::{Costs, zones};
use crate::solve::pack::finish::{self, Desk, ZoneCounts, finish};
use crate::solve::pack::{self, Effort};
use crate::solve::report::chain;
use crate::solve::shrink::imagined;
use crate::solve::shrink::trial::Scene;
use crate::solve::solution::NewNode;
use crate::solve::topology::census::Running;

/// Maximum number of rounds that create nodes for the remaining headroom or drop unused ones. Each round changes the
/// layout, and most fleets need one or two.
const ROUNDS_MAX: usize = 12;

/// Where the headroom is.
#[derive(Debug, Default)]
pub(in crate::solve) struct Layout {
    /// The placeholders on nodes that exist, by node.
    pub(in crate::solve) kept: BTreeMap<NodeName, Vec<PodKey>>,
    /// Placeholders that fit nowhere, with the index of their shape in the requested headroom.
    pub(in crate::solve) unplaced: Vec<(usize, PodKey)>,
    /// Number of unplaced placeholders of each shape.
    pub(in crate::solve) left: Vec<usize>,
}

/// Lays out the headroom in the fleet of an attempt. Nodes that hold some of it are kept, and nodes created for it join
/// the other new nodes.
pub(in crate::solve) fn lay(
    scene: &Scene<'_>,
    (snapshot, effort): (&Snapshot, Effort<'_>),
    attempt: &mut Attempt<'_>,
) -> Layout {
    if scene.room.shapes.is_empty() {
        return Layout::default();
    }
    let mut floor = Floor::of(scene, (snapshot, effort), attempt);
    let mut settled = floor.settled(attempt);
    if floor.unsettles(attempt, &settled) {
        floor.is_short = true;
        settled = floor.settled(attempt);
    }
    let (made, mut laid, ledger) = settled;
    for (number, node) in attempt.finished.nodes.iter_mut().enumerate() {
        put(node, laid.on.remove(&name(number)).unwrap_or_default(), scene.room);
    }
    for Made { number, mut node, shape, .. } in made {
        let Some(pods) = laid.on.remove(&name(number)) else { continue };
        put(&mut node, pods, scene.room);
        node.opened_for = opener(&node, &scene.room.shapes[shape].pods);
        attempt.finished.nodes.push(node);
    }
    finish::sort(scene.supply, &mut attempt.finished.nodes, |node| node);
    attempt.finished.ledger = ledger;
    attempt.shrunk.removed.retain(|removal| !laid.on.contains_key(&removal.node));
    attempt.shrunk.held.retain(|removal| !laid.on.contains_key(&removal.node));
    attempt.shrunk.staying.retain(|(node, _)| !laid.on.contains_key(node));
    attempt.costs = Costs::of(snapshot, &attempt.shrunk, scene.market, scene.book);
    Layout { kept: laid.on, unplaced: left_over(scene.room, &laid.left), left: laid.left }
}

/// Returns the name of a node to be created. It is unique: real names contain no blank, and earlier steps use other
/// names.
fn name(number: usize) -> NodeName {
    NodeName::new(&*format!("next {number}"))
}

/// Adds placeholders to a node that is to be created.
pub(in crate::solve) fn put(node: &mut NewNode, pods: Vec<PodKey>, room: &Demand) {
    for pod in &pods {
        if let Some(shape) = room.shape_of(pod) {
            node.requests = node.requests.plus(&shape.ask.requests);
        }
    }
    node.pods.extend(pods);
    node.pods.sort();
}

/// Removes the placeholders from a node that is to be created.
pub(in crate::solve) fn take_off(node: &mut NewNode, room: &Demand) {
    let (placeholders, pods): (Vec<PodKey>, Vec<PodKey>) =
        std::mem::take(&mut node.pods).into_iter().partition(PodKey::is_placeholder);
    for shape in placeholders.iter().filter_map(|pod| room.shape_of(pod)) {
        node.requests = node.requests.minus(&shape.ask.requests);
    }
    node.pods = pods;
}

/// Returns the pod for which a node is created, given its current pods: one of `alike` if it has any, else its first
/// pod.
pub(in crate::solve) fn opener(node: &NewNode, alike: &[PodKey]) -> Option<PodKey> {
    let first = node.pods.iter().find(|pod| alike.binary_search(pod).is_ok());
    first.or(node.pods.first()).cloned()
}

/// Returns the unplaced placeholders: the last ones of each shape.
fn left_over(room: &Demand, left: &[usize]) -> Vec<(usize, PodKey)> {
    let of_shape = |(number, left): (usize, &usize)| {
        let pods = &room.shapes[number].pods;
        pods[pods.len() - left..].iter().map(move |pod| (number, pod.clone())).collect::<Vec<_>>()
    };
    left.iter().enumerate().flat_map(of_shape).collect()
}

/// A node that is created only for headroom.
struct Made {
    /// Its number among all nodes created in this fleet.
    number: usize,
    /// The node without placeholders.
    node: NewNode,
    /// The shape that it was created for.
    shape: usize,
    /// What it uses of limits.
    charges: Charges,
    /// The placeholders that it was created for.
    pods: Vec<PodKey>,
    /// Their shapes.
    shapes: Vec<usize>,
}

/// A layout: the placeholders on each node.
struct Laid {
    on: BTreeMap<NodeName, Vec<PodKey>>,
    /// Number of unplaced placeholders of each shape.
    left: Vec<usize>,
}

impl Laid {
    /// Returns this layout plus the placeholders that further nodes were created for.
    fn with(&self, more: &[Made]) -> Self {
        let (mut on, mut left) = (self.on.clone(), self.left.clone());
        for made in more {
            on.insert(name(made.number), made.pods.clone());
            made.shapes.iter().for_each(|shape| left[*shape] = left[*shape].saturating_sub(1));
        }
        Self { on, left }
    }

    /// Returns whether both layouts use the same nodes and leave equally much unplaced.
    fn is_like(&self, other: &Self) -> bool {
        self.left == other.left && self.on.keys().eq(other.on.keys())
    }
}

/// The nodes on which the headroom is laid out.
struct Floor<'p> {
    scene: &'p Scene<'p>,
    snapshot: &'p Snapshot,
    effort: Effort<'p>,
    /// The existing nodes that are kept, or may be kept.
    there: Vec<Standing<'p>>,
    /// The nodes to be created for pods, each with the host ports of those pods.
    new: Vec<(Node, NewNode, BTreeSet<HostPort>)>,
    /// The nodes that are removed unless they hold headroom.
    spare: BTreeSet<NodeName>,
    zones: ZoneCounts,
    /// Whether no node may be created or kept for headroom: limits keep pods from being placed, or pods would become
    /// unevenly spread.
    is_short: bool,
}

impl<'p> Floor<'p> {
    fn of(
        scene: &'p Scene<'p>,
        (snapshot, effort): (&'p Snapshot, Effort<'p>),
        attempt: &Attempt<'p>,
    ) -> Self {
        let finished = &attempt.finished;
        let shapes = &attempt.assigned.demand.shapes;
        let mut new = Vec::new();
        let mut zones = zones(&attempt.nodes, &attempt.shrunk);
        for (number, (node, of_pods)) in finished.nodes.iter().zip(&finished.shapes).enumerate() {
            let mut ports = ports_of_daemons(scene, node);
            ports.extend(of_pods.pods.iter().flat_map(|shape| shapes[*shape].ask.host_ports.iter().cloned()));
            let bought = (scene.policy, scene.supply);
            let joined = imagined::joined(bought, name(number), node, snapshot.at);
            *zones.entry((node.pool.clone(), node.zone.clone())).or_default() += 1;
            new.push((joined, node.clone(), ports));
        }
        Self {
            scene,
            snapshot,
            effort,
            there: attempt
                .nodes
                .iter()
                .filter(|standing| !standing.node.is_deleting)
                .map(|standing| Standing {
                    // Pods that were placed along with others have no shape of their own.
                    shapes: vec![usize::MAX; standing.placed.len()],
                    ..standing.clone()
                })
                .collect(),
            new,
            spare: attempt.shrunk.removed.iter().map(|removal| removal.node.clone()).collect(),
            zones,
            is_short: is_short(scene, attempt),
        }
    }

    /// Creates nodes for the remaining headroom and drops nodes that hold none, until nothing changes.
    fn settled(&self, attempt: &Attempt<'_>) -> (Vec<Made>, Laid, Ledger) {
        let mut ledger = attempt.finished.ledger.clone();
        let mut closed = if self.is_short { self.spare.clone() } else { BTreeSet::new() };
        let mut made: Vec<Made> = Vec::new();
        let mut number = self.new.len();
        let mut may_make = !self.is_short;
        let mut meant: Option<Laid> = None;
        for _ in 0..ROUNDS_MAX {
            let laid = self.laid(&closed, &made);
            if may_make && laid.left.iter().any(|left| *left > 0) {
                let more = self.make(&laid.left, (&mut ledger, &mut number), &made);
                may_make = !more.is_empty();
                meant = made.is_empty().then(|| laid.with(&more));
                made.extend(more);
                if may_make {
                    continue;
                }
            }
            let idle: Vec<NodeName> =
                self.spare.iter().filter(|node| !laid.on.contains_key(*node)).cloned().collect();
            let before = (closed.len(), made.len());
            closed.extend(idle);
            without_idle(&mut made, &laid, &mut ledger);
            if before == (closed.len(), made.len()) {
                // Prefers the layout that the nodes were created for, if the final one is equivalent.
                let meant = meant.filter(|meant| meant.is_like(&laid));
                return (made, meant.unwrap_or(laid), ledger);
            }
        }
        let laid = self.laid(&closed, &made);
        without_idle(&mut made, &laid, &mut ledger);
        (made, laid, ledger)
    }

    /// Returns whether nodes that exist only for headroom invalidate the placement of pods: an empty domain is one more
    /// domain that pods must be spread over.
    fn unsettles(&self, attempt: &Attempt<'_>, (made, laid, _): &(Vec<Made>, Laid, Ledger)) -> bool {
        let Scene { supply, policy, topology, .. } = *self.scene;
        let is_spare = |node: &NodeName| self.spare.contains(node);
        if made.is_empty() && !laid.on.keys().any(is_spare) {
            return false;
        }
        let demand = &Demand::of(self.snapshot, topology);
        let placed = self.there.iter().flat_map(|standing| &standing.placed);
        let numbers = came_off::numbers(demand, placed);
        let mut nodes: Vec<Standing<'_>> = self.there.clone();
        nodes.retain(|standing| {
            let name = &standing.node.name;
            !is_spare(name) || laid.on.contains_key(name)
        });
        for standing in &mut nodes {
            let known = standing.placed.iter().filter_map(|pod| Some((pod.clone(), *numbers.get(pod)?)));
            (standing.placed, standing.shapes) = known.unzip();
        }
        let mut new = attempt.finished.nodes.clone();
        new.extend(made.iter().map(|made| made.node.clone()));
        let shapes = &came_off::shapes_of(demand, &new);
        let fleet = Fleet { supply, policy, nodes: &nodes, new: &new, shapes };
        !fleet.refused(demand, &Running::of(topology, &nodes)).is_empty()
    }

    /// Lays out the headroom on all nodes that are not closed.
    fn laid(&self, closed: &BTreeSet<NodeName>, made: &[Made]) -> Laid {
        let Self { scene, snapshot, there, new, .. } = self;
        let join = |made: &Made| {
            imagined::joined((scene.policy, scene.supply), name(made.number), &made.node, snapshot.at)
        };
        let joined: Vec<Node> = made.iter().map(join).collect();
        let no_ports = &BTreeSet::new();
        let mut nodes: Vec<Standing<'_>> =
            there.iter().filter(|standing| !closed.contains(&standing.node.name)).cloned().collect();
        let with_pods = new.iter().map(|(node, new, ports)| (node, new, ports));
        let all = with_pods.chain(joined.iter().zip(made).map(|(node, made)| (node, &made.node, no_ports)));
        nodes.extend(all.map(|(node, new, ports)| existing::made(node, new, ports, scene.daemons)));
        nodes.sort_by(by_content);
        let left = existing::fill(scene.room, &mut nodes);
        let on = nodes.into_iter().filter_map(|standing| {
            let room: Vec<PodKey> = standing.placed.into_iter().filter(PodKey::is_placeholder).collect();
            (!room.is_empty()).then(|| (standing.node.name.clone(), room))
        });
        Laid { on: on.collect(), left }
    }

    /// Creates nodes for the remaining headroom.
    fn make(
        &self,
        left: &[usize],
        (ledger, number): (&mut Ledger, &mut usize),
        before: &[Made],
    ) -> Vec<Made> {
        let Scene { supply, memo, book, room, .. } = *self.scene;
        let mut zones = self.zones.clone();
        for Made { node, .. } in before {
            *zones.entry((node.pool.clone(), node.zone.clone())).or_default() += 1;
        }
        let (problem, packing) =
            pack::pack((room, left), (supply, memo), (ledger, book), (self.effort, false));
        let desk = Desk { problem: &problem, supply, memo, demand: room, book, effort: self.effort };
        let finished = finish(&desk, packing, &mut zones);
        *ledger = finished.ledger;
        let took = finished.took;
        let made = finished.nodes.into_iter().zip(finished.shapes).map(|(mut node, shapes)| {
            let charges = node.opened_for.as_ref().and_then(|pod| took.get(pod)).cloned().unwrap_or_default();
            let pods = std::mem::take(&mut node.pods);
            node.requests = node.daemon_requests.clone();
            *number += 1;
            Made { number: *number - 1, node, shape: shapes.opened_for, charges, pods, shapes: shapes.pods }
        });
        made.collect()
    }
}

/// Returns the host ports that DaemonSets may take on a node.
fn ports_of_daemons(scene: &Scene<'_>, node: &NewNode) -> BTreeSet<HostPort> {
    let bought = scene.supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type));
    bought.map(|(pool, kind, usable)| pool.site(kind, usable).ports).unwrap_or_default()
}

/// Drops the created nodes that hold no headroom.
fn without_idle(made: &mut Vec<Made>, laid: &Laid, ledger: &mut Ledger) {
    made.retain(|made| {
        let is_used = laid.on.contains_key(&name(made.number));
        if !is_used {
            ledger.give_back(&made.charges);
        }
        is_used
    });
}

/// Orders nodes by pool, labels, taints and free capacity, not by name.
fn by_content(one: &Standing<'_>, other: &Standing<'_>) -> Ordering {
    fn labels<'n>(standing: &'n Standing<'_>) -> impl Iterator<Item = (&'n LabelKey, &'n Arc<str>)> {
        standing.node.labels.iter().filter(|(key, _)| key.as_str() != label::HOSTNAME)
    }
    let is_bare = |standing: &Standing<'_>| standing.is_empty() && standing.placed.is_empty();
    (one.node.pool.cmp(&other.node.pool))
        .then_with(|| labels(one).cmp(labels(other)))
        .then_with(|| one.site.taints.cmp(&other.site.taints))
        .then_with(|| is_bare(one).cmp(&is_bare(other)))
        .then_with(|| one.site.ports.cmp(&other.site.ports))
        .then_with(|| one.site.room.cmp(&other.site.room))
}

/// Returns whether limits keep pods from being placed that would fit without limits.
fn is_short(scene: &Scene<'_>, attempt: &Attempt<'_>) -> bool {
    let ledger = &attempt.finished.ledger;
    if !ledger.has_limits() {
        return false;
    }
    let unlimited = ledger.without_limits();
    let shapes: BTreeSet<usize> = attempt.finished.unplaced.iter().map(|(shape, _)| *shape).collect();
    let asks = shapes.into_iter().map(|shape| &attempt.assigned.demand.shapes[shape].ask);
    let mut pairs = asks.flat_map(|ask| scene.supply.pools.iter().map(move |pool| (pool, ask)));
    pairs.any(|(pool, ask)| chain::at_pool(pool, ask, (&unlimited, &attempt.nodes)).miss.is_none())
}
