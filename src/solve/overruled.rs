//! Weight violations: new nodes of a lighter pool although a heavier one had capacity for their pod.
//!
//! Pools are filled by weight, so this happens only if a limit was used up when the node was opened, but what used it
//! is not created in the end: pods were unplaced again, or two steps were merged. Never repairs anything; the caller
//! tries another approach.

use crate::model::{MinValuesPolicy, PoolName, Requirements};

use super::demand::{Ask, Shape};
use super::fit::limits::Ledger;
use super::fit::{labels, variety};
use super::ledger;
use super::solution::NewNode;
use super::supply::{Kind, PoolSupply, Supply, Usable};
use super::topology::group::GroupKind;
use super::topology::{Role, Topology};

/// Counts the nodes whose pod a heavier pool could take within the limits that are left after all creations. Each node
/// comes with the shape of the pod that it was opened for.
pub(super) fn count<'n>(
    (supply, topology): (&Supply<'_>, &Topology),
    left: &Ledger,
    opened: impl Iterator<Item = (&'n NewNode, &'n Shape)>,
) -> usize {
    if supply.tiers() < 2 {
        return 0;
    }
    let is_overruled = |(node, shape): &(&NewNode, &Shape)| {
        let Some(own) = tier(supply, &node.pool) else { return false };
        let heavier = supply.pools.iter().take_while(|pool| pool.tier < own);
        let is_tied = is_tied(topology, shape);
        let terms = terms_in_use(supply, node, &shape.ask);
        let takes = |pool: &PoolSupply<'_>| {
            let by = |term: &&Requirements| takes(pool, left, (node, &shape.ask), (term, is_tied));
            terms.iter().all(by)
        };
        !terms.is_empty() && heavier.into_iter().any(takes)
    };
    opened.filter(is_overruled).count()
}

/// Returns whether rules between pods, or volumes, decide in which zone and with which capacity type such a pod may
/// run. A spread that only counts the pod does not justify a lighter pool.
fn is_tied(topology: &Topology, shape: &Shape) -> bool {
    let is_only_counted =
        |role: &Role| !role.is_bound && matches!(topology.groups[role.group].kind, GroupKind::Spread(_));
    !shape.ask.volumes.is_empty() || !shape.roles.iter().all(is_only_counted)
}

fn tier(supply: &Supply<'_>, name: &PoolName) -> Option<usize> {
    supply.pools.iter().find(|pool| pool.pool.name == *name).map(|pool| pool.tier)
}

/// Returns the node terms that a pod meets on its node: under another term a lighter pool may be right.
fn terms_in_use<'a>(supply: &Supply<'_>, node: &NewNode, ask: &'a Ask) -> Vec<&'a Requirements> {
    let bought = supply.bought(&node.pool, &node.size, (&node.zone, node.capacity_type));
    let Some((pool, kind, usable)) = bought else { return ask.alternatives.iter().collect() };
    let site = pool.site_with(kind, usable, &node.labels);
    let holds = |term: &&Requirements| labels::holds(term, &site.labels, &site.undefined).is_ok();
    ask.alternatives.iter().filter(holds).collect()
}

fn takes(
    pool: &PoolSupply<'_>,
    left: &Ledger,
    (node, ask): (&NewNode, &Ask),
    (term, is_tied): (&Requirements, bool),
) -> bool {
    let Some(reach) = pool.reach(term) else { return false };
    let unnamed = pool.unnamed(term);
    let by_term = &Ask { alternatives: vec![term.clone()], ..ask.clone() };
    let is_there = |usable: &Usable<'_>| {
        !is_tied || (usable.offering.zone == node.zone && usable.offering.capacity_type == node.capacity_type)
    };
    let is_left = |kind: &Kind<'_>, usable: &Usable<'_>| {
        let charges = ledger::charges(left, pool.pool, usable.vm(kind));
        left.uses(&charges) > 0
    };
    let is_reached = |place: usize, usable: &Usable<'_>| {
        reach.kinds.has(place) && !unnamed.has(place) && reach.placements.has(usable.placement)
    };
    let mut ways = pool.kinds.iter().enumerate().flat_map(|(place, kind)| {
        let offered = kind.offerings.iter().filter(move |_| ask.requests.fit_in(&kind.kind.allocatable));
        let holding = offered.filter(move |usable| {
            // Offerings without a price are a last resort, after lighter pools.
            usable.quote.effective.known().is_some() && is_there(usable) && is_reached(place, usable)
        });
        holding.map(move |usable| (kind, usable))
    });
    if pool.variety.is_empty() || pool.min_values_policy == MinValuesPolicy::BestEffort {
        return ways.any(|(kind, usable)| is_left(kind, usable) && pool.takes((kind, usable), by_term));
    }
    let ways: Vec<_> = ways.filter(|way| pool.takes(*way, by_term)).collect();
    let offered = ways.iter().map(|(kind, usable)| (kind.kind, usable.offering));
    let there = variety::counts(&pool.variety, offered);
    pool.variety.iter().zip(there).all(|((_, least), there)| there >= *least)
        && ways.iter().any(|(kind, usable)| is_left(kind, usable))
}
