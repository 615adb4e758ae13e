//! Ways to buy a node of a static pool regardless of pods: sizes with their offerings, the cheapest first.
//!
//! Never places a pod.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::NO_ZONE;
use crate::model::Zone;
use crate::solve::demand::{Ask, Demand};
use crate::solve::fit::limits::{self, Charges, Ledger};
use crate::solve::ledger;
use crate::solve::pack::finish::chosen_labels;
use crate::solve::solution::{NewNode, Variety};
use crate::solve::supply::{Kind, PoolSupply, Usable};

/// A size and one of its offerings.
pub(super) type Way<'p, 's> = (&'p Kind<'s>, &'p Usable<'s>);

/// The reason why no node can be created if no size is available.
pub(super) const NOTHING: &str = "no size that it may use can be had";

/// The ways to buy a node of a pool, the cheapest first. Those without a known price come last.
pub(super) struct Choice<'p, 's> {
    pool: &'p PoolSupply<'s>,
    /// Ways grouped by price, size, and zonal or not; those of one entry differ in nothing else that matters for the
    /// choice.
    alike: Vec<Vec<Way<'p, 's>>>,
    /// The requests of pending pods whose volumes may restrict them to one zone, with the number of pods.
    tied: Vec<(&'p Ask, usize)>,
    /// Number of these pods that each zone of the current entry suits, computed on first use.
    wanted: Option<BTreeMap<Zone, usize>>,
    /// The first entry that limits may still allow: limits only get tighter.
    first: usize,
    /// The first reason for a refusal.
    refused: Option<String>,
}

impl<'p, 's> Choice<'p, 's> {
    /// Sorts the ways of a pool; `demand` is that of the pending pods.
    pub(super) fn of(pool: &'p PoolSupply<'s>, demand: &'p Demand) -> Self {
        let mut alike: BTreeMap<_, Vec<Way<'p, 's>>> = BTreeMap::new();
        for (kind, usable) in ways(pool) {
            let (price, zone) = (usable.choice_price(), &usable.offering.zone);
            let key = (price.is_none(), price, &kind.kind.name, zone.as_str() == NO_ZONE);
            alike.entry(key).or_default().push((kind, usable));
        }
        let tied = demand.shapes.iter().filter(|shape| !shape.ask.volumes.is_empty());
        let tied = tied.map(|shape| (&shape.ask, shape.pods.len())).collect();
        let alike = alike.into_values().collect();
        Self { pool, alike, tied, wanted: None, first: 0, refused: None }
    }

    /// Takes the cheapest way that limits allow, with what it uses of them. It prefers the zone with the fewest nodes
    /// of the pool, then the zone with the volumes of the most pending pods.
    ///
    /// # Errors
    /// Why no way is left.
    pub(super) fn taken(
        &mut self,
        zones: &BTreeMap<Zone, usize>,
        left: &Ledger,
    ) -> Result<(Way<'p, 's>, Charges), String> {
        while let Some(alike) = self.alike.get_mut(self.first) {
            let wanted = &*self.wanted.get_or_insert_with(|| wanted(self.pool, &self.tied, alike));
            alike.sort_by_key(|(_, usable)| {
                let zone = &usable.offering.zone;
                let count = |of: &BTreeMap<Zone, usize>| of.get(zone).copied().unwrap_or(0);
                (count(zones), Reverse(count(wanted)), zone.clone())
            });
            for way in alike {
                let charges = ledger::charges(left, self.pool.pool, way.1.vm(way.0));
                match limits::why(left, &charges) {
                    Ok(()) => return Ok((*way, charges)),
                    Err(miss) => self.refused.get_or_insert(miss.because),
                };
            }
            self.first += 1;
            self.wanted = None;
        }
        Err(self.refused.clone().unwrap_or_else(|| NOTHING.to_owned()))
    }
}

/// Returns, by zone, how many of these pods fit there but not in every way of a size.
fn wanted(pool: &PoolSupply<'_>, tied: &[(&Ask, usize)], ways: &[Way<'_, '_>]) -> BTreeMap<Zone, usize> {
    let mut wanted: BTreeMap<Zone, usize> = BTreeMap::new();
    for (ask, pods) in tied {
        let zones: Vec<&Zone> = ways
            .iter()
            .filter(|way| pool.takes(**way, ask))
            .map(|(_, usable)| &usable.offering.zone)
            .collect();
        if zones.len() < ways.len() {
            zones.into_iter().for_each(|zone| *wanted.entry(zone.clone()).or_default() += pods);
        }
    }
    wanted
}

/// Returns the ways to buy a node of a pool on which its DaemonSets fit.
pub(super) fn ways<'p, 's>(pool: &'p PoolSupply<'s>) -> impl Iterator<Item = Way<'p, 's>> {
    let kinds = pool.kinds.iter().filter(|kind| !kind.needs_name);
    let each = kinds.flat_map(|kind| kind.offerings.iter().map(move |usable| (kind, usable)));
    each.filter(|(kind, usable)| pool.overheads[usable.overhead].requests.fit_in(&kind.kind.allocatable))
}

/// Returns a node that carries only its DaemonSets.
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
