//! The world plus the nodes that static pools lack, and the list of these nodes.
//!
//! Never places pods or reports nodes as new.

use std::collections::BTreeMap;

use crate::model::{NodeName, Pool, PoolName, Zone, label};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::daemons::Daemons;
use crate::solve::demand::Demand;
use crate::solve::ledger;
use crate::solve::market::Market;
use crate::solve::price::{self, PriceBook, Uncommitted};
use crate::solve::shrink::imagined;
use crate::solve::solution::{NewNode, Warning};
use crate::solve::supply::{PoolSupply, Supply};
use crate::solve::topology::Topology;

use super::ways::{self, Choice, NOTHING, Way};
use super::{asked, name_by_number, present};

/// The world with the missing nodes of static pools.
pub(super) struct Filled<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) policy: &'a Policy,
    pub(super) market: Market,
    pub(super) world: Snapshot,
    pub(super) made: BTreeMap<NodeName, NewNode>,
    pub(super) warnings: Vec<Warning>,
}

impl<'a> Filled<'a> {
    pub(super) fn of(
        snapshot: &'a Snapshot,
        policy: &'a Policy,
        replaced: &BTreeMap<PoolName, usize>,
    ) -> Self {
        let market = Market::of(snapshot, policy);
        let mut filled = Self {
            snapshot,
            policy,
            market: Market::default(),
            world: snapshot.clone(),
            made: BTreeMap::new(),
            warnings: Vec::new(),
        };
        filled.fill(&market, replaced);
        filled.market = market;
        filled.world.nodes.sort_by(|one, other| one.name.cmp(&other.name));
        filled
    }

    fn fill(&mut self, market: &Market, replaced: &BTreeMap<PoolName, usize>) {
        let Self { snapshot, policy, .. } = *self;
        let book = PriceBook::new(&policy.fleet.prices);
        let topology = Topology::of(snapshot);
        let daemons = Daemons::of(snapshot, &topology);
        let supply = Supply::of_fixed(policy, market, &book, &daemons);
        let demand = &Demand::of(snapshot, &topology);
        let there = price::cost(&snapshot.nodes, market, &book).effective;
        let mut left =
            ledger::opened(market.limiting(policy), &snapshot.nodes, &Uncommitted(Vec::new()), there);
        for pool in policy.pools.values().filter(|pool| !pool.is_deleting) {
            let Some(asked) = asked(pool) else { continue };
            let more = replaced.get(&pool.name).copied().unwrap_or(0);
            let missing = asked.saturating_sub(present(snapshot, &pool.name));
            let own = supply.pools.iter().find(|own| own.pool.name == pool.name);
            let mut choice = own.map(|own| (own, Choice::of(own, demand)));
            let mut zones = zones(snapshot, &pool.name);
            for number in 0..missing + more {
                let taken = choice.as_mut().map(|(own, choice)| (*own, choice.taken(&zones, &left)));
                let why = match taken {
                    Some((own, Ok((way, charges)))) => {
                        left.take(&charges, 1);
                        *zones.entry(way.1.offering.zone.clone()).or_default() += 1;
                        self.add(&supply, own, way);
                        None
                    }
                    Some((_, Err(why))) => Some(why),
                    None => Some(NOTHING.to_owned()),
                };
                if let Some(why) = why {
                    // Failing to create a replacement needs no warning: the old node is kept.
                    if number < missing {
                        self.warn(pool, (asked, missing - number), &why);
                    }
                    break;
                }
            }
        }
        self.warnings.extend(market.caution.warnings(&supply));
        self.warnings.extend(supply.warnings);
    }

    fn add(&mut self, supply: &Supply<'_>, own: &PoolSupply<'_>, way: Way<'_, '_>) {
        let new = ways::new_node(own, way);
        let name = name_by_number(&own.pool.name, self.made.len());
        let node = imagined::joined((self.policy, supply), name, &new, self.snapshot.at);
        self.made.insert(node.name.clone(), new);
        self.world.nodes.push(node);
    }

    fn warn(&mut self, pool: &Pool, (asked, missing): (usize, usize), why: &str) {
        self.warnings.push(Warning {
            object: format!("pool `{}`", pool.name),
            what: format!("asks for {asked} nodes (`replicas`), and {missing} of them cannot be made: {why}"),
            hint: None,
        });
    }
}

/// Counts the nodes of a pool by zone.
fn zones(snapshot: &Snapshot, pool: &PoolName) -> BTreeMap<Zone, usize> {
    let mut zones = BTreeMap::new();
    let own = snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(pool) && !node.is_deleting);
    for zone in own.filter_map(|node| node.labels.get(label::ZONE)) {
        *zones.entry(Zone::from(&**zone)).or_default() += 1;
    }
    zones
}
