//! Checks Karpenter's placement by the same rules as ours.
//!
//! Never places a pod, and never accepts anything that those rules refuse.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{NodeName, PodKey};
use crate::solve::attempt::{Attempt, Ground};
use crate::solve::came_off::{self, Fleet};
use crate::solve::demand::Demand;
use crate::solve::existing::Standing;
use crate::solve::fit::Miss;
use crate::solve::fit::limits::Ledger;
use crate::solve::fit::variety::{self, Asked};
use crate::solve::fleet::Costs;
use crate::solve::pack::finish::{Finished, Shapes};
use crate::solve::shortfall::Shortfalls;
use crate::solve::solution::{NewNode, Variety};
use crate::solve::supply::Supply;
use crate::solve::topology::assign::{self, Assigned, Refused};
use crate::solve::topology::bundle::Riders;
use crate::solve::topology::census::Running;
use crate::solve::{overruled, shrink};

/// Karpenter's placement of the pods.
pub(super) struct Tried<'a> {
    nodes: Vec<Standing<'a>>,
    new: Vec<NewNode>,
    shapes: Vec<Shapes>,
    ledger: Ledger,
    /// Pods that their node refuses.
    off: BTreeMap<PodKey, Miss>,
}

impl<'a> Tried<'a> {
    /// Places the pods as Karpenter does; `None` if it places pods that are not pending, or creates nodes that cannot
    /// be bought.
    pub(super) fn of(
        ground: &Ground<'a>,
        (places, new): (BTreeMap<PodKey, NodeName>, Vec<NewNode>),
        ledger: Ledger,
    ) -> Option<Self> {
        let Ground { demand, supply, .. } = *ground;
        let numbers = came_off::numbers(demand, places.keys());
        let mut on: BTreeMap<&NodeName, Vec<&PodKey>> = BTreeMap::new();
        places.iter().for_each(|(pod, node)| on.entry(node).or_default().push(pod));
        let mut off = BTreeMap::new();
        let mut nodes = ground.nodes.to_vec();
        for standing in &mut nodes {
            let pods = on.remove(&standing.node.name).unwrap_or_default();
            let shapes: Vec<usize> =
                pods.iter().map(|pod| numbers.get(pod).copied()).collect::<Option<_>>()?;
            let asks = pods.iter().zip(&shapes).map(|(pod, shape)| (*pod, &demand.shapes[*shape].ask));
            off.extend(standing.site.seat(asks).into_iter().map(|(pod, miss)| (pod.clone(), miss)));
            standing.placed.extend(pods.into_iter().cloned());
            standing.shapes.extend(shapes);
        }
        let shapes = came_off::shapes_of(demand, &new);
        for (node, shapes) in new.iter().zip(&shapes) {
            let (pool, kind, usable) =
                supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type))?;
            let mut site = pool.site_with(kind, usable, &node.labels);
            if shapes.pods.len() != node.pods.len() || shapes.opened_for >= demand.shapes.len() {
                return None;
            }
            let asks = node.pods.iter().zip(&shapes.pods);
            let asks = asks.map(|(pod, shape)| (pod, &demand.shapes[*shape].ask));
            off.extend(site.seat(asks).into_iter().map(|(pod, miss)| (pod.clone(), miss)));
        }
        Some(Self { nodes, new, shapes, ledger, off })
    }

    /// Returns the pods that Kubernetes would not bind to their node.
    pub(super) fn refused(&mut self, ground: &Ground<'_>, running: &Running<'_>) -> BTreeMap<PodKey, Miss> {
        let Ground { snapshot, supply, policy, demand, .. } = *ground;
        let Self { nodes, new, shapes, off, .. } = self;
        if !off.is_empty() {
            return std::mem::take(off);
        }
        let fleet = Fleet { supply, policy, nodes, new, shapes };
        let mut refused = fleet.refused(demand, running);
        refused.extend(fleet.uneven(demand, (running.topology, snapshot)));
        refused
    }

    /// Returns the fleet without these pods.
    pub(super) fn attempt(
        self,
        ground: &Ground<'a>,
        (ours, refused): (&Attempt<'a>, BTreeMap<PodKey, Miss>),
    ) -> Option<Attempt<'a>> {
        let Ground { snapshot, policy, market, book, demand, supply, .. } = *ground;
        let Self { nodes, new, shapes, ledger, .. } = self;
        let opened = shapes.iter().map(|shapes| &demand.shapes[shapes.opened_for]);
        let is_overruled = overruled::count((supply, ground.topology), &ledger, new.iter().zip(opened)) > 0;
        if is_overruled || !new.iter().all(|node| has_choice(supply, node)) {
            return None;
        }
        let placed = nodes.iter().flat_map(|standing| &standing.placed);
        let placed: BTreeSet<&PodKey> = placed.chain(new.iter().flat_map(|node| &node.pods)).collect();
        let (refused, unplaced) = left(demand, (ours, refused), &placed);
        let shrunk = shrink::shrink(snapshot, policy, &nodes, demand);
        let costs = Costs::of(snapshot, &shrunk, market, book);
        let origins = (0..demand.shapes.len()).map(|place| (place, None)).collect();
        let assigned = Assigned { demand: demand.clone(), origins, refused, ..Assigned::default() };
        let finished = Finished { nodes: new, shapes, unplaced, ledger, took: BTreeMap::new() };
        let (shortfalls, riders) = (Shortfalls::default(), Riders::default());
        let approach = ground.approach;
        Some(Attempt { assigned, nodes, shrunk, costs, finished, shortfalls, riders, approach })
    }
}

/// Returns whether a claim lists as many distinct values as its pool requires (`minValues`); Karpenter counts only
/// values of instance types. Every combination of the listed sizes, zones and capacity types must be known to hold the
/// pods.
fn has_choice(supply: &Supply<'_>, node: &NewNode) -> bool {
    let Variety { asked, among } = &node.variety;
    let own = (&node.size, &node.zone, node.capacity_type);
    let others = among.iter().map(|other| (&other.size, &other.zone, other.capacity_type));
    let ways: Vec<_> = std::iter::once(own)
        .chain(others)
        .filter_map(|(size, zone, bought)| supply.bought(&node.pool, size, (zone, bought)))
        .map(|(_, kind, usable)| (kind.kind, usable.offering))
        .collect();
    let asked: Vec<Asked> = asked.iter().map(|(key, least)| (key.clone(), *least)).collect();
    let there = variety::counts(&asked, ways.into_iter());
    variety::why(&asked, &there).is_ok() && is_block(supply, node)
}

/// Returns whether a node's substitutes include all available combinations of its own size, zone and capacity type with
/// those that its claim must list.
fn is_block(supply: &Supply<'_>, node: &NewNode) -> bool {
    let among = &node.variety.among;
    let sizes: BTreeSet<_> = among.iter().map(|other| &other.size).chain([&node.size]).collect();
    let zones: BTreeSet<_> = among.iter().map(|other| &other.zone).chain([&node.zone]).collect();
    let types: BTreeSet<_> =
        among.iter().map(|other| other.capacity_type).chain([node.capacity_type]).collect();
    let holds: BTreeSet<_> = node
        .substitutes
        .iter()
        .map(|other| (&other.size, &other.zone, other.capacity_type))
        .chain([(&node.size, &node.zone, node.capacity_type)])
        .collect();
    let ways = sizes.iter().flat_map(|size| zones.iter().map(move |zone| (*size, *zone)));
    let mut ways = ways.flat_map(|(size, zone)| types.iter().map(move |bought| (size, zone, *bought)));
    ways.all(|way @ (size, zone, bought)| {
        holds.contains(&way) || supply.bought(&node.pool, size, (zone, bought)).is_none()
    })
}

/// Returns the unplaced pods: those that a known rule between pods refuses, and the rest.
fn left(
    demand: &Demand,
    (ours, refused): (&Attempt<'_>, BTreeMap<PodKey, Miss>),
    placed: &BTreeSet<&PodKey>,
) -> (Vec<Refused>, Vec<(usize, PodKey)>) {
    let mut known = refused;
    let mut unplaced = Vec::new();
    for (number, shape) in demand.shapes.iter().enumerate() {
        let of_shape = |pod: &PodKey| shape.pods.binary_search(pod).is_ok();
        // Identical pods are interchangeable: ours may place a different one of them.
        let like = ours.assigned.refused.iter().find(|refused| refused.pods.iter().any(of_shape));
        for pod in shape.pods.iter().filter(|pod| !placed.contains(pod)) {
            match like {
                Some(like) => {
                    known.entry(pod.clone()).or_insert_with(|| like.miss.clone());
                }
                None if known.contains_key(pod) => {}
                None => unplaced.push((number, pod.clone())),
            }
        }
    }
    let mut refused = assign::grouped(demand, known);
    refused.iter_mut().for_each(|refused| refused.was_placed = false);
    (refused, unplaced)
}
