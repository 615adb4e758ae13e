//! What a pool can buy: requirement by requirement, and what its limits leave.

use crate::model::{CapacityType, PoolName, Price, ResourceName, Resources, SkuName, Zone};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::daemons::Daemons;
use crate::solve::market::Market;
use crate::solve::price::PriceBook;
use crate::solve::solution::Solution;
use crate::solve::supply::{Supply, narrowed, refusal};
use crate::solve::topology::Topology;

/// How much of a limit is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitUse {
    /// What is limited; `None` is the number of nodes.
    pub what: Option<ResourceName>,
    /// What the pool's nodes have today.
    pub now: i64,
    /// What they have with the plan's new nodes. As in limits, nodes that go still count.
    pub planned: i64,
    /// The most.
    pub most: i64,
}

/// A way to have a node of the pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The size.
    pub size: SkuName,
    /// The zone.
    pub zone: Zone,
    /// How it is bought.
    pub capacity_type: CapacityType,
    /// What it costs the user.
    pub price: Price,
    /// Whether it serves only pods that name it.
    pub needs_name: bool,
}

/// What is known about a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolExplanation {
    /// The pool.
    pub pool: PoolName,
    /// Why nothing is made of it, where that is so.
    pub unused: Option<String>,
    /// Which requirements leave it no size, where that is so.
    pub conflict: Option<String>,
    /// How many sizes its class may use.
    pub offered: usize,
    /// Its requirements, and how many sizes are left after each and those before.
    pub steps: Vec<(String, usize)>,
    /// The cheapest way to have each size, the cheapest size first.
    pub ways: Vec<Way>,
    /// Its limits.
    pub limits: Vec<LimitUse>,
    /// How many nodes it has, and how many the plan makes.
    pub nodes: (usize, usize),
}

/// Explains a pool; `None` where there is no such pool.
#[must_use]
pub fn explain_pool(
    snapshot: &Snapshot,
    policy: &Policy,
    solution: &Solution,
    name: &PoolName,
) -> Option<PoolExplanation> {
    let pool = policy.pools.get(name)?;
    let (market, daemons) = (Market::of(snapshot, policy), Daemons::of(snapshot, &Topology::of(snapshot)));
    let book = PriceBook::new(&policy.fleet.prices);
    let supply = Supply::of(policy, &market, &book, &daemons);
    let offered = refusal(policy, pool, &market);
    let types = offered.as_ref().map_or(&[][..], |offered| &offered.types);
    let steps =
        narrowed(pool, types).into_iter().map(|((key, wanted), left)| (format!("`{key}` {wanted}"), left));
    let own = supply.pools.iter().find(|supply| supply.pool.name == *name);
    let conflict = own.and_then(|own| own.emptied.as_ref()).map(|miss| miss.because.clone());
    let kinds = own.into_iter().flat_map(|own| &own.kinds);
    let cheapest = |kind: &crate::solve::supply::Kind<'_>| {
        let price = |usable: &&crate::solve::supply::Usable<'_>| {
            let price = usable.quote.effective.known();
            (price.is_none(), price, usable.offering.zone.clone())
        };
        let usable = kind.offerings.iter().min_by_key(price)?;
        Some(Way {
            size: kind.kind.name.clone(),
            zone: usable.offering.zone.clone(),
            capacity_type: usable.offering.capacity_type,
            price: usable.quote.effective,
            needs_name: kind.needs_name,
        })
    };
    let mut ways: Vec<Way> = kinds.filter_map(cheapest).collect();
    ways.sort_by_key(|way| {
        (way.needs_name, way.price.known().is_none(), way.price.known(), way.size.clone())
    });
    let there: Vec<&Resources> = snapshot
        .nodes
        .iter()
        .filter(|node| node.pool.as_ref() == Some(name))
        .map(|node| &node.capacity)
        .collect();
    let made: Vec<&Resources> = solution
        .target
        .new
        .iter()
        .filter(|node| node.pool == *name)
        .filter_map(|node| types.iter().find(|kind| kind.name == node.size).map(|kind| &kind.capacity))
        .collect();
    // What a static pool makes is offered to nobody else.
    let new = solution.target.new.iter().filter(|node| node.pool == *name).count();
    let limits = limits(pool, &there, &made);
    Some(PoolExplanation {
        pool: name.clone(),
        unused: offered.as_ref().err().map(|warning| warning.what.clone()),
        conflict,
        offered: types.len(),
        steps: steps.collect(),
        ways,
        limits,
        nodes: (there.len(), new),
    })
}

fn limits(pool: &crate::model::Pool, there: &[&Resources], made: &[&Resources]) -> Vec<LimitUse> {
    let sum =
        |nodes: &[&Resources], name: &ResourceName| nodes.iter().map(|node| node.get(name)).sum::<i64>();
    let count = |nodes: usize| i64::try_from(nodes).unwrap_or(i64::MAX);
    let nodes = pool.nodes_max.map(|most| LimitUse {
        what: None,
        now: count(there.len()),
        planned: count(there.len() + made.len()),
        most: i64::try_from(most).unwrap_or(i64::MAX),
    });
    let resources = pool.limits.iter().map(|(name, most)| {
        let now = sum(there, name);
        LimitUse { what: Some(name.clone()), now, planned: now + sum(made, name), most }
    });
    nodes.into_iter().chain(resources).collect()
}
