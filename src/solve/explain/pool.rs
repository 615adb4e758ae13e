//! What a pool can buy: requirement by requirement, and the usage of its limits.

use crate::model::{CapacityType, PoolName, Price, ResourceName, Resources, SkuName, Zone};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::daemons::Daemons;
use crate::solve::market::Market;
use crate::solve::price::PriceBook;
use crate::solve::solution::Solution;
use crate::solve::supply::{Supply, narrowed, refusal};
use crate::solve::topology::Topology;

/// Usage of a limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitUse {
    /// The limited resource; `None` is the number of nodes.
    pub what: Option<ResourceName>,
    /// Usage by the pool's nodes today.
    pub now: i64,
    /// Usage including the plan's new nodes. As in limits, nodes being deleted still count.
    pub planned: i64,
    /// The limit.
    pub most: i64,
}

/// An offering of the pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The size.
    pub size: SkuName,
    /// The zone.
    pub zone: Zone,
    /// Its capacity type.
    pub capacity_type: CapacityType,
    /// Its price for the user.
    pub price: Price,
    /// Whether it is used only for pods that name it.
    pub needs_name: bool,
}

/// Explanation of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolExplanation {
    /// The pool.
    pub pool: PoolName,
    /// Why it creates no nodes, if so.
    pub unused: Option<String>,
    /// The requirements that leave it no size, if so.
    pub conflict: Option<String>,
    /// Number of sizes that its class may use.
    pub offered: usize,
    /// Its requirements, with the number of sizes left after each and those before.
    pub steps: Vec<(String, usize)>,
    /// The cheapest offering of each size, the cheapest size first.
    pub ways: Vec<Way>,
    /// Its limits.
    pub limits: Vec<LimitUse>,
    /// Number of nodes that it has, and that the plan creates.
    pub nodes: (usize, usize),
}

/// Explains a pool; `None` if there is no such pool.
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
    // `made` lacks the nodes of a static pool, which offers no sizes to pods.
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
