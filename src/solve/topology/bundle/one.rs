//! Combines pods that share a node into one shape with their combined requirements.
//!
//! Checks whether a node holds it; which pods share a node is decided elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Requirements, Toleration};
use crate::solve::demand::{Ask, Demand, Shape};
use crate::solve::existing::{self, Standing};
use crate::solve::fit::company::{Company, HostRole, HostRule, Tally};
use crate::solve::fit::{anti_affinity, ports};
use crate::solve::supply::Supply;
use crate::solve::topology::group::GroupKind;
use crate::solve::topology::{Role, Topology};

use super::World;

/// Number of pods by shape index.
pub(super) type Counts = BTreeMap<usize, usize>;

/// Returns the combined shape of these pods, if they may share a node and some node holds them.
pub(super) fn fits(demand: &Demand, counts: &Counts, world: World<'_>) -> Option<Shape> {
    let World { topology, supply, memo, nodes, .. } = world;
    let shape = as_one(demand, counts, topology)?;
    let ask = &shape.ask;
    let stands =
        |standing: &Standing<'_>| !standing.node.is_deleting && existing::why(standing, &shape).is_ok();
    let is_held = || memo.is_held(ask, || is_held_by_new(supply, ask));
    (nodes.iter().any(stands) || is_held()).then_some(shape)
}

/// Returns whether a new node of some size holds this.
fn is_held_by_new(supply: &Supply<'_>, ask: &Ask) -> bool {
    supply.pools.iter().any(|pool| {
        let mut large = pool.kinds.iter().filter(|kind| ask.requests.fit_in(&kind.kind.allocatable));
        large.any(|kind| kind.offerings.iter().any(|usable| pool.takes((kind, usable), ask)))
    })
}

/// Returns the combined shape of pods, without a name.
fn as_one(demand: &Demand, counts: &Counts, topology: &Topology) -> Option<Shape> {
    let mut bundle: Option<Shape> = None;
    // Pods on one node are in the same domain of every label.
    let (mut company, mut domains) = (Company::default(), BTreeMap::<usize, Tally>::new());
    for (place, count) in counts.iter().map(|(place, count)| (*place, *count)) {
        let shape = &demand.shapes[place];
        let others: Vec<HostRole> =
            shape.ask.company.iter().filter(|role| role.rule != HostRule::Beside).copied().collect();
        if company.most(&others) < count || (count > 1 && !shape.ask.host_ports.is_empty()) {
            return None;
        }
        company.put(&others, count);
        for role in shape.roles.iter().filter(|role| keeps_apart(topology, **role)) {
            let there = domains.entry(role.group).or_default();
            if anti_affinity::more(role.is_bound, role.counted > 0, *there) < count {
                return None;
            }
            there.add(role.is_bound, role.counted, count);
        }
        let several = times(shape, count);
        bundle = Some(match bundle {
            None => several,
            Some(bundle) => joined(bundle, &several)?,
        });
    }
    let mut bundle = bundle.filter(|_| has_order(demand, counts, topology))?;
    for role in &mut bundle.ask.company {
        // The pods that it must be beside are in the bundle.
        role.is_bound &= role.rule != HostRule::Beside;
    }
    Some(bundle)
}

/// Returns the combined shape of several pods of a shape, without a name. All of them may use the same alternative.
fn times(shape: &Shape, count: usize) -> Shape {
    let mut several = Shape { pods: Vec::new(), ..shape.clone() };
    let factor = i64::try_from(count).unwrap_or(i64::MAX);
    for (name, amount) in shape.ask.requests.iter() {
        several.ask.requests.set(name.clone(), amount.saturating_mul(factor));
    }
    several.ask.volumes = shape.ask.volumes.times(count);
    several.ask.company.iter_mut().for_each(|role| role.counted *= count);
    several.roles.iter_mut().for_each(|role| role.counted *= count);
    several
}

/// Returns a bundle with more pods; `None` if no node could satisfy all requirements.
fn joined(mut bundle: Shape, shape: &Shape) -> Option<Shape> {
    let (ask, more) = (&mut bundle.ask, &shape.ask);
    if ports::why(&more.host_ports, &ask.host_ports).is_err() {
        return None;
    }
    ask.requests.add(&more.requests);
    ask.host_ports.extend(more.host_ports.iter().cloned());
    ask.volumes.add(&more.volumes);
    ask.alternatives = pairs(&ask.alternatives, &more.alternatives);
    let (own, others) = (&ask.stance.tolerations, &more.stance.tolerations);
    let both = own.iter().flat_map(|one| others.iter().map(|other| one.meet(other)));
    let both: BTreeSet<Toleration> = both.flatten().collect();
    ask.stance.tolerations = both.into_iter().collect();
    ask.stance.refuses_soft |= more.stance.refuses_soft;
    ask.company = summed_hosts(ask, &more.company);
    bundle.roles = summed(&bundle.roles, &shape.roles);
    bundle.priority = bundle.priority.max(shape.priority);
    (!bundle.ask.alternatives.is_empty()).then_some(bundle)
}

/// Returns whether the pods can be bound one after the other: each that requires others follows one of them, or is the
/// first of self-matching pods.
fn has_order(demand: &Demand, counts: &Counts, topology: &Topology) -> bool {
    let near = |shape: usize| {
        let of_hosts = demand.shapes[shape].ask.company.iter();
        let of_hosts = of_hosts.filter(|role| role.rule == HostRule::Beside);
        let others = demand.shapes[shape].roles.iter();
        let others = others.filter(|role| topology.groups[role.group].kind == GroupKind::Affinity);
        let hosts = of_hosts.map(|role| (role.group, role.is_bound, role.counted > 0));
        hosts.chain(others.map(|role| (role.group, role.is_bound, role.counted > 0))).collect::<Vec<_>>()
    };
    let mut waiting: BTreeMap<usize, Vec<_>> = counts.keys().map(|shape| (*shape, near(*shape))).collect();
    let mut there: BTreeSet<usize> = BTreeSet::new();
    while let Some(shape) = waiting.iter().find_map(|(shape, near)| {
        let comes = |(group, bound, counts): &(usize, bool, bool)| !bound || *counts || there.contains(group);
        near.iter().all(comes).then_some(*shape)
    }) {
        let near = waiting.remove(&shape).unwrap_or_default();
        there.extend(near.into_iter().filter(|(_, _, counts)| *counts).map(|(group, _, _)| group));
    }
    waiting.is_empty()
}

fn keeps_apart(topology: &Topology, role: Role) -> bool {
    matches!(topology.groups[role.group].kind, GroupKind::AntiAffinity)
}

fn pairs(one: &[Requirements], other: &[Requirements]) -> Vec<Requirements> {
    let mut pairs: BTreeSet<Requirements> = BTreeSet::new();
    for first in one {
        for second in other.iter().filter(|second| second.intersects(first).is_ok()) {
            let mut both = first.clone();
            both.add_all(second);
            pairs.insert(both);
        }
    }
    pairs.into_iter().collect()
}

fn summed(one: &[Role], other: &[Role]) -> Vec<Role> {
    let mut sums: BTreeMap<usize, Role> = one.iter().map(|role| (role.group, *role)).collect();
    for role in other {
        let sum = sums.entry(role.group).or_insert(Role { group: role.group, is_bound: false, counted: 0 });
        sum.is_bound |= role.is_bound;
        sum.counted += role.counted;
    }
    sums.into_values().collect()
}

fn summed_hosts(ask: &Ask, other: &[HostRole]) -> Vec<HostRole> {
    let mut sums: BTreeMap<usize, HostRole> = ask.company.iter().map(|role| (role.group, *role)).collect();
    for role in other {
        let sum = sums.entry(role.group).or_insert(HostRole { is_bound: false, counted: 0, ..*role });
        sum.is_bound |= role.is_bound;
        sum.is_free &= role.is_free && !sum.is_bound;
        sum.counted += role.counted;
    }
    sums.into_values().collect()
}
