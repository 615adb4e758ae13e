//! The ways to have a node of a pool that nothing asks for but the pool: sizes with their offerings, the cheapest first.
//!
//! Nothing is placed here.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::Zone;
use crate::solve::fit::limits::{self, Charges, Ledger};
use crate::solve::ledger;
use crate::solve::pack::finish::chosen_labels;
use crate::solve::solution::{NewNode, Variety};
use crate::solve::supply::{Kind, PoolSupply, Usable};

/// A size, and a way to have it.
pub(super) type Way<'p, 's> = (&'p Kind<'s>, &'p Usable<'s>);

/// Why a node cannot be made of which no size can be had.
pub(super) const NOTHING: &str = "no size that it may use can be had";

/// Takes the cheapest way to have a node of a pool that limits let in, in the zone that has the fewest of it, with what it
/// takes of limits. What costs nobody knows what is taken only where there is nothing else.
pub(super) fn taken<'p, 's>(
    pool: &'p PoolSupply<'s>,
    zones: &BTreeMap<Zone, usize>,
    left: &Ledger,
) -> Result<(Way<'p, 's>, Charges), String> {
    let mut all: Vec<Way<'p, 's>> = ways(pool).collect();
    all.sort_by_cached_key(|(kind, usable)| {
        let zone = &usable.offering.zone;
        let price = usable.choice_price();
        let crowd = zones.get(zone).copied().unwrap_or(0);
        (price.is_none(), price, kind.kind.name.clone(), zone.as_str() == "0", crowd, zone.clone())
    });
    let mut refused = None;
    for way in all {
        let charges = ledger::charges(left, pool.pool, way.0.kind, way.1.quote.effective.known());
        match limits::why(left, &charges) {
            Ok(()) => return Ok((way, charges)),
            Err(miss) => {
                refused.get_or_insert(miss.because);
            }
        }
    }
    Err(refused.unwrap_or_else(|| NOTHING.to_owned()))
}

/// Returns the ways to have a node of a pool that daemonsets alone are not too much for.
pub(super) fn ways<'p, 's>(pool: &'p PoolSupply<'s>) -> impl Iterator<Item = Way<'p, 's>> {
    let kinds = pool.kinds.iter().filter(|kind| !kind.needs_name);
    let each = kinds.flat_map(|kind| kind.offerings.iter().map(move |usable| (kind, usable)));
    each.filter(|(kind, usable)| pool.overheads[usable.overhead].requests.fit_in(&kind.kind.allocatable))
}

/// Returns a node with its daemonsets alone.
pub(super) fn new_node(pool: &PoolSupply<'_>, (kind, usable): Way<'_, '_>) -> NewNode {
    let site = pool.site(kind, usable);
    let daemon_requests = pool.overheads[usable.overhead].requests.clone();
    NewNode {
        pool: pool.pool.name.clone(),
        size: kind.kind.name.clone(),
        zone: usable.offering.zone.clone(),
        capacity_type: usable.offering.capacity_type,
        list_price: usable.quote.list,
        effective_price: usable.quote.effective,
        premium: usable.premium,
        requests: daemon_requests.clone(),
        daemon_requests,
        allocatable: kind.kind.allocatable.clone(),
        capacity: kind.kind.capacity.clone(),
        labels: chosen_labels(pool, (&site, &site), &BTreeSet::new()),
        opened_for: None,
        pods: Vec::new(),
        substitutes: Vec::new(),
        variety: Variety::default(),
        is_estimate: kind.kind.is_estimate,
    }
}
