//! New nodes for whose pod a heavier pool has room after all.
//!
//! Pools are filled by weight, so that this comes up only where what limits had no room for when a node was opened is
//! not made in the end: pods came off again, or two steps became one. Nothing is mended here; who plans looks for
//! another way.

use crate::model::{MinValuesPolicy, PoolName};

use super::demand::Shape;
use super::fit::limits::Ledger;
use super::fit::variety;
use super::ledger;
use super::solution::NewNode;
use super::supply::{Kind, PoolSupply, Supply, Usable};

/// Counts the nodes whose pod a heavier pool could take, with what limits leave when all is made. Each node comes with
/// the shape of the pod that it was opened for.
pub(super) fn count<'n>(
    supply: &Supply<'_>,
    left: &Ledger,
    opened: impl Iterator<Item = (&'n NewNode, &'n Shape)>,
) -> usize {
    if supply.tiers() < 2 {
        return 0;
    }
    opened.filter(|opened| is_overruled(supply, left, *opened)).count()
}

fn is_overruled(supply: &Supply<'_>, left: &Ledger, opened: (&NewNode, &Shape)) -> bool {
    let Some(own) = tier(supply, &opened.0.pool) else { return false };
    supply.pools.iter().take_while(|pool| pool.tier < own).any(|pool| takes(pool, left, opened))
}

fn tier(supply: &Supply<'_>, name: &PoolName) -> Option<usize> {
    supply.pools.iter().find(|pool| pool.pool.name == *name).map(|pool| pool.tier)
}

fn takes(pool: &PoolSupply<'_>, left: &Ledger, (node, shape): (&NewNode, &Shape)) -> bool {
    let ask = &shape.ask;
    // Rules between pods and volumes decide in which zone such a pod may be, and bought in which way.
    let is_tied = !shape.roles.is_empty() || !ask.volumes.is_empty();
    let is_there = |usable: &Usable<'_>| {
        !is_tied || (usable.offering.zone == node.zone && usable.offering.capacity_type == node.capacity_type)
    };
    let is_left = |kind: &Kind<'_>, usable: &Usable<'_>| {
        let price = usable.quote.effective.known();
        let charges = ledger::charges(left, pool.pool, kind.kind, price);
        left.uses(&charges) > 0
    };
    let reaches: Vec<_> = ask
        .alternatives
        .iter()
        .filter_map(|alternative| Some((pool.reach(alternative)?, pool.unnamed(alternative))))
        .collect();
    let is_reached = |place: usize, usable: &Usable<'_>| {
        reaches.iter().any(|(reach, unnamed)| {
            reach.kinds.has(place) && !unnamed.has(place) && reach.placements.has(usable.placement)
        })
    };
    let mut ways = pool.kinds.iter().enumerate().flat_map(|(place, kind)| {
        let offered = kind.offerings.iter().filter(move |_| ask.requests.fit_in(&kind.kind.allocatable));
        let holding = offered.filter(move |usable| {
            // What has no price is a last resort, after lighter pools.
            usable.quote.effective.known().is_some()
                && is_there(usable)
                && is_reached(place, usable)
                && pool.site(kind, usable).why(ask).is_ok()
        });
        holding.map(move |usable| (kind, usable))
    });
    if pool.variety.is_empty() || pool.min_values_policy == MinValuesPolicy::BestEffort {
        return ways.any(|(kind, usable)| is_left(kind, usable));
    }
    let ways: Vec<_> = ways.collect();
    let offered = ways.iter().map(|(kind, usable)| (kind.kind, usable.offering));
    let there = variety::counts(&pool.variety, offered);
    pool.variety.iter().zip(there).all(|((_, least), there)| there >= *least)
        && ways.iter().any(|(kind, usable)| is_left(kind, usable))
}
