//! Unplaces pods that kube-scheduler would reject once the final domain counts are known.
//!
//! Never adds or replans anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::model::{LabelKey, PodKey, PodPlace, Requirements};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::demand::{Ask, Demand};
use super::existing::{NODES_AT_ONCE, Standing};
use super::fit::Miss;
use super::fit::company::Company;
use super::pack::finish::{Finished, Shapes};
use super::solution::NewNode;
use super::supply::Supply;
use super::topology::assign::{self, Assigned, Refused};
use super::topology::bundle::{self, Riders};
use super::topology::census::Running;
use super::topology::eligible::Seen;
use super::topology::settle::{self, Place};
use super::topology::{Topology, hosts};

/// Existing and new nodes, with the pods that are placed there.
pub(super) struct Fleet<'a> {
    pub(super) supply: &'a Supply<'a>,
    pub(super) policy: &'a Policy,
    pub(super) nodes: &'a [Standing<'a>],
    pub(super) new: &'a [NewNode],
    /// The shapes of the pods of each new node.
    pub(super) shapes: &'a [Shapes],
}

impl Fleet<'_> {
    /// Returns the placed pods of this demand that Kubernetes would not bind, given the final placement of all pods.
    /// Their spread over nodes was checked when the nodes were filled.
    pub(super) fn refused(&self, demand: &Demand, running: &Running<'_>) -> BTreeMap<PodKey, Miss> {
        let topology = running.topology;
        if topology.is_empty() {
            return BTreeMap::new();
        }
        self.seen(|places| settle::refused((demand, topology), running.census(), places))
    }

    /// Returns the pods that Kubernetes would not bind because of their spread over nodes, if that was not checked yet.
    pub(super) fn uneven(
        &self,
        demand: &Demand,
        (topology, snapshot): (&Topology, &Snapshot),
    ) -> BTreeMap<PodKey, Miss> {
        if !topology.spreads_over_hosts() {
            return BTreeMap::new();
        }
        let moving = snapshot.pods.iter().filter(|pod| pod.place != PodPlace::Waiting);
        let moving: BTreeSet<&PodKey> = moving.map(|pod| &pod.key).collect();
        let asked = (|pod: &PodKey| moving.contains(pod), snapshot.assumes_system_node);
        self.seen(|places| hosts::refused((demand, topology), places, asked))
    }

    /// Presents the nodes as rules between pods see them.
    fn seen<T>(&self, look: impl FnOnce(&[Place<'_>]) -> T) -> T {
        let sites: Vec<(BTreeMap<LabelKey, Arc<str>>, Requirements)> = self
            .new
            .par_iter()
            .with_min_len(NODES_AT_ONCE)
            .map(|node| {
                let labels = labels_of(self.supply, node);
                let own = labels.iter().map(|(key, value)| (key.as_str(), &**value));
                let site = Requirements::of_labels(own);
                (labels, site)
            })
            .collect();
        let staying = self.nodes.iter().filter(|standing| !standing.node.is_deleting);
        let mut places: Vec<Place<'_>> = staying
            .map(|standing| Place {
                seen: standing.seen(),
                there: &standing.there,
                pods: &standing.placed,
                shapes: &standing.shapes,
            })
            .collect();
        let nobody = Company::default();
        let new = self.new.iter().zip(self.shapes).zip(&sites);
        places.extend(new.map(|((node, shapes), (labels, site))| Place {
            seen: Seen { labels, site, taints: &self.policy.pools[&node.pool].taints },
            there: self.daemons(node).unwrap_or(&nobody),
            pods: &node.pods,
            shapes: &shapes.pods,
        }));
        look(&places)
    }

    /// Returns the roles of a new node's DaemonSet pods in rules between pods on one node.
    fn daemons(&self, node: &NewNode) -> Option<&Company> {
        let (pool, _, usable) =
            self.supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type))?;
        Some(&pool.overheads[usable.overhead].company)
    }
}

/// Unplaces the pods that Kubernetes would not bind.
pub(super) fn take_off(
    (supply, policy, running): (&Supply<'_>, &Policy, &Running<'_>),
    demand: &Demand,
    nodes: &mut [Standing<'_>],
    finished: &mut Finished,
) -> Vec<Refused> {
    let fleet = Fleet { supply, policy, nodes, new: &finished.nodes, shapes: &finished.shapes };
    let refused = fleet.refused(demand, running);
    if refused.is_empty() {
        return Vec::new();
    }
    let stays = |pod: &PodKey| !refused.contains_key(pod);
    for standing in nodes {
        retain(&mut standing.placed, &mut standing.shapes, stays);
    }
    let before: Vec<Option<PodKey>> = finished.nodes.iter().map(|node| node.opened_for.clone()).collect();
    for (node, shapes) in finished.nodes.iter_mut().zip(&mut finished.shapes) {
        for (pod, shape) in node.pods.iter().zip(&shapes.pods) {
            if !stays(pod) {
                node.requests = node.requests.minus(&demand.shapes[*shape].ask.requests);
            }
        }
        retain(&mut node.pods, &mut shapes.pods, stays);
        if node.opened_for.as_ref().is_some_and(|pod| !stays(pod)) {
            match shapes.pods.iter().position(|shape| *shape == shapes.opened_for) {
                Some(place) => node.opened_for = Some(node.pods[place].clone()),
                // The others only share the node: they alone may not justify a node of this pool.
                None => finished.unplaced.extend(shapes.pods.drain(..).zip(node.pods.drain(..))),
            }
        }
    }
    finished.without_empty(&before);
    assign::grouped(demand, refused)
}

/// Unplaces the pods of shapes from index `first` on, and drops new nodes that carry nothing else.
pub(super) fn without_slack(
    demand: &Demand,
    first: usize,
    nodes: &mut [Standing<'_>],
    finished: &mut Finished,
) {
    if demand.shapes.len() == first {
        return;
    }
    let slack: BTreeSet<&PodKey> = demand.shapes[first..].iter().flat_map(|shape| &shape.pods).collect();
    let stays = |pod: &PodKey| !slack.contains(pod);
    for standing in nodes {
        retain(&mut standing.placed, &mut standing.shapes, stays);
    }
    let before: Vec<Option<PodKey>> = finished.nodes.iter().map(|node| node.opened_for.clone()).collect();
    for (node, shapes) in finished.nodes.iter_mut().zip(&mut finished.shapes) {
        for shape in shapes.pods.iter().filter(|shape| **shape >= first) {
            node.requests = node.requests.minus(&demand.shapes[*shape].ask.requests);
        }
        retain(&mut node.pods, &mut shapes.pods, stays);
        if shapes.opened_for >= first
            && let (Some(pod), Some(shape)) = (node.pods.first(), shapes.pods.first())
        {
            (node.opened_for, shapes.opened_for) = (Some(pod.clone()), *shape);
        }
    }
    finished.unplaced.retain(|(shape, _)| *shape < first);
    finished.without_empty(&before);
}

/// Keeps some pods, with their shapes.
fn retain(pods: &mut Vec<PodKey>, shapes: &mut Vec<usize>, stays: impl Fn(&PodKey) -> bool) {
    let kept: Vec<bool> = pods.iter().map(stays).collect();
    let mut of_pods = kept.iter();
    pods.retain(|_| of_pods.next().is_some_and(|stays| *stays));
    let mut of_shapes = kept.iter();
    shapes.retain(|_| of_shapes.next().is_some_and(|stays| *stays));
}

/// Adds co-located pods next to the pods that stand for them, wherever those are.
pub(super) fn unbundle(
    riders: &Riders,
    assigned: &mut Assigned,
    nodes: &mut [Standing<'_>],
    finished: &mut Finished,
) {
    if riders.is_empty() {
        return;
    }
    let placed = nodes.iter_mut().map(|standing| &mut standing.placed);
    let made = finished.nodes.iter_mut().map(|node| &mut node.pods);
    let refused = assigned.refused.iter_mut().map(|refused| &mut refused.pods);
    placed.chain(made).chain(refused).for_each(|pods| bundle::with_riders(pods, riders));
    let along = |(shape, pod): &(usize, PodKey)| {
        let pods = riders.get(pod).into_iter().flatten();
        pods.map(|pod| (*shape, pod.clone())).collect::<Vec<_>>()
    };
    let more: Vec<(usize, PodKey)> = finished.unplaced.iter().flat_map(along).collect();
    finished.unplaced.extend(more);
}

/// Returns the labels that a new node is certain to have.
pub(super) fn labels_of(supply: &Supply<'_>, node: &NewNode) -> BTreeMap<LabelKey, Arc<str>> {
    let mut labels = node.labels.clone();
    let bought = supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type));
    let Some((pool, kind, usable)) = bought else { return labels };
    for (key, requirement) in pool.site(kind, usable).labels.iter() {
        if let Some(value) = requirement.single() {
            labels.entry(key.clone()).or_insert_with(|| value.clone());
        }
    }
    labels
}

/// Returns the shapes of the pods of new nodes, if a fleet was not finished from this demand.
pub(super) fn shapes_of(demand: &Demand, nodes: &[NewNode]) -> Vec<Shapes> {
    let numbers = numbers(demand, nodes.iter().flat_map(|node| &node.pods));
    let number = |pod: &PodKey| numbers.get(pod).copied();
    nodes
        .iter()
        .map(|node| Shapes {
            opened_for: node.opened_for.as_ref().and_then(number).unwrap_or(usize::MAX),
            pods: node.pods.iter().filter_map(number).collect(),
        })
        .collect()
}

/// Counts these pods by their requirements; pods outside the demand are not counted.
pub(super) fn counted<'d>(
    demand: &'d Demand,
    numbers: &BTreeMap<&PodKey, usize>,
    pods: &[PodKey],
) -> Vec<(&'d Ask, usize)> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for shape in pods.iter().filter_map(|pod| numbers.get(pod)) {
        *counts.entry(*shape).or_default() += 1;
    }
    counts.into_iter().map(|(shape, count)| (&demand.shapes[shape].ask, count)).collect()
}

/// Returns the index of each pod's shape.
pub(super) fn all_numbers(demand: &Demand) -> BTreeMap<&PodKey, usize> {
    let of_shape = |place| move |pod| (pod, place);
    let shapes = demand.shapes.iter().enumerate();
    shapes.flat_map(|(place, shape)| shape.pods.iter().map(of_shape(place))).collect()
}

/// Returns the shape indices of those of these pods that are in the demand.
pub(super) fn numbers<'p>(
    demand: &Demand,
    pods: impl Iterator<Item = &'p PodKey>,
) -> BTreeMap<&'p PodKey, usize> {
    let all = all_numbers(demand);
    let wanted: BTreeSet<&PodKey> = pods.collect();
    wanted.into_iter().filter_map(|pod| Some((pod, *all.get(pod)?))).collect()
}
