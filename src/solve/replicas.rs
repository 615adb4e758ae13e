//! Pools that ask for a fixed number of nodes (`replicas`): what is missing is made, whatever pods ask for.
//!
//! The nodes to make stand in a copy of the world as if they had joined: pods use them as they use what exists, and
//! nothing is bought beside them without need. Afterwards they are named as new. Which nodes are too many is decided
//! with those that are due ([`super::shrink::due`]). Nothing here places a pod.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::model::{
    LabelKey, Node, NodeName, PodKey, PodPlace, Pool, PoolName, Price, Requirements, Zone, label,
};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::came_off::labels_of;
use super::daemons::Daemons;
use super::demand::{Ask, Demand, Shape};
use super::fit::limits::{self, Charges, Ledger};
use super::market::Market;
use super::pack::finish::chosen_labels;
use super::price::{self, PriceBook, Quote, Uncommitted};
use super::shrink::due::Due;
use super::solution::{Kept, NewNode, Solution, Substitute, Variety, Warning};
use super::supply::{Kind, PoolSupply, Supply, Usable};
use super::topology::Topology;
use super::{existing, ledger};

/// How often the world is planned again because nodes stay that were to be replaced.
const ROUNDS_MAX: usize = 4;

/// Plans a world in which pools have the nodes that they ask for, with one more for each that is to be replaced.
pub(super) fn with_replacements(
    snapshot: &Snapshot,
    policy: &Policy,
    solve: impl Fn(&Snapshot) -> Solution,
) -> Solution {
    if !has_any(policy) {
        return solve(snapshot);
    }
    let mut replaced = Due::of(snapshot, policy).without_room();
    let mut round = 0;
    loop {
        let filled = Filled::of(snapshot, policy, &replaced);
        let solution = filled.named(solve(&filled.world));
        let idle = idle(snapshot, policy, &solution, &replaced);
        round += 1;
        if idle.is_empty() {
            return solution;
        }
        for (pool, idle) in idle {
            replaced.entry(pool).and_modify(|count| *count -= idle);
        }
        if round == ROUNDS_MAX {
            replaced.clear();
        }
    }
}

/// Plans a world in which pools have the nodes that they ask for, and what is drifted stays.
pub(super) fn without_replacements(
    snapshot: &Snapshot,
    policy: &Policy,
    solve: impl Fn(&Snapshot) -> Solution,
) -> Solution {
    if !has_any(policy) {
        return solve(snapshot);
    }
    let filled = Filled::of(snapshot, policy, &BTreeMap::new());
    filled.named(solve(&filled.world))
}

/// Returns the world, and its fleet, as if the nodes were there that pools ask for: no fleet is without them.
pub(super) fn as_if_there(snapshot: &Snapshot, policy: &Policy, solution: &Solution) -> (Snapshot, Solution) {
    let (mut world, mut fleet) = (snapshot.clone(), solution.clone());
    let (fixed, new): (Vec<NewNode>, Vec<NewNode>) =
        fleet.target.new.into_iter().partition(|node| node.opened_for.is_none());
    fleet.target.new = new;
    if fixed.is_empty() {
        return (world, fleet);
    }
    let (market, topology) = (Market::of(snapshot, policy), Topology::of(snapshot));
    let (book, daemons) = (PriceBook::new(&policy.fleet.prices), Daemons::of(snapshot, &topology));
    let supply = Supply::of_fixed(policy, &market, &book, &daemons);
    for (number, new) in fixed.into_iter().enumerate() {
        let Some(pool) = policy.pools.get(&new.pool) else { continue };
        let node = joined(pool, number, (&new, &supply), snapshot.at);
        fleet.target.kept.push(Kept { node: node.name.clone(), pods: new.pods });
        world.nodes.push(node);
    }
    world.nodes.sort_by(|one, other| one.name.cmp(&other.name));
    fleet.target.kept.sort_by(|one, other| one.node.cmp(&other.node));
    (world, fleet)
}

/// Returns whether a node is one that only a copy of the world has: no real name has a blank.
pub(super) fn is_imagined(node: &NodeName) -> bool {
    node.as_str().contains(' ')
}

fn has_any(policy: &Policy) -> bool {
    policy.pools.values().any(|pool| pool.replicas.is_some() && !pool.is_deleting)
}

/// Returns how many nodes of a pool there are that are not on their way out.
pub(super) fn present(snapshot: &Snapshot, pool: &PoolName) -> usize {
    snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(pool) && !node.is_deleting).count()
}

/// Returns how many nodes a pool asks for, where it does.
pub(super) fn asked(pool: &Pool) -> Option<usize> {
    pool.replicas.map(|replicas| usize::try_from(replicas).unwrap_or(usize::MAX))
}

/// Returns of each pool how many nodes were made for others that stay after all.
fn idle(
    snapshot: &Snapshot,
    policy: &Policy,
    solution: &Solution,
    replaced: &BTreeMap<PoolName, usize>,
) -> BTreeMap<PoolName, usize> {
    let gone: BTreeSet<&NodeName> = solution.target.removed.iter().map(|removal| &removal.node).collect();
    let of_pool = |(name, replaced): (&PoolName, &usize)| {
        let asked = asked(policy.pools.get(name)?)?;
        let own = |node: &&Node| node.pool.as_ref() == Some(name) && !node.is_deleting;
        let stay = snapshot.nodes.iter().filter(own).filter(|node| !gone.contains(&node.name)).count();
        let made = solution.target.new.iter().filter(|node| node.pool == *name).count();
        let idle = (stay + made).saturating_sub(asked).min(*replaced).min(made);
        (idle > 0).then(|| (name.clone(), idle))
    };
    replaced.iter().filter_map(of_pool).collect()
}

/// A size, and a way to have it.
type Way<'p, 's> = (&'p Kind<'s>, &'p Usable<'s>);

/// The world with the nodes that pools lack.
struct Filled<'a> {
    snapshot: &'a Snapshot,
    policy: &'a Policy,
    market: Market,
    world: Snapshot,
    made: BTreeMap<NodeName, NewNode>,
    warnings: Vec<Warning>,
}

impl<'a> Filled<'a> {
    fn of(snapshot: &'a Snapshot, policy: &'a Policy, replaced: &BTreeMap<PoolName, usize>) -> Self {
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
        let there = price::cost(&snapshot.nodes, market, &book).effective;
        let mut left = ledger::opened(policy, &snapshot.nodes, &Uncommitted(Vec::new()), there);
        for pool in policy.pools.values().filter(|pool| !pool.is_deleting) {
            let Some(asked) = asked(pool) else { continue };
            let more = replaced.get(&pool.name).copied().unwrap_or(0);
            let missing = asked.saturating_sub(present(snapshot, &pool.name));
            let own = supply.pools.iter().find(|own| own.pool.name == pool.name);
            let mut zones = zones(snapshot, &pool.name);
            for number in 0..missing + more {
                let taken = own.map(|own| (own, taken(own, &zones, &left)));
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
                    // What only replaces another need not be: that one stays.
                    if number < missing {
                        self.warn(pool, (asked, missing - number), &why);
                    }
                    break;
                }
            }
        }
        self.warnings.extend(supply.warnings);
    }

    fn add(&mut self, supply: &Supply<'_>, own: &PoolSupply<'_>, way: (&Kind<'_>, &Usable<'_>)) {
        let new = new_node(own, way);
        let node = joined(own.pool, self.made.len(), (&new, supply), self.snapshot.at);
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

    /// Names the nodes of a fleet of this world that are only imagined as new ones.
    fn named(&self, solution: Solution) -> Solution {
        let Solution { mut target, mut report } = solution;
        let book = PriceBook::new(&self.policy.fleet.prices);
        let gone: BTreeSet<&NodeName> = target.removed.iter().map(|removal| &removal.node).collect();
        let stays = |node: &&Node| !node.is_deleting && !gone.contains(&node.name);
        let mut staying: Vec<&Node> = self.world.nodes.iter().filter(stays).collect();
        staying.sort_by(|one, other| one.name.cmp(&other.name));
        let (quotes, _) = price::quote_nodes(staying.iter().copied(), &self.market, &book);
        let quotes: BTreeMap<&NodeName, Option<Quote>> =
            staying.iter().map(|node| &node.name).zip(quotes).collect();
        let mut new = Vec::new();
        let desk = Desk::of(self, &book, &target.kept);
        for kept in &target.kept {
            let Some(node) = self.made.get(&kept.node) else { continue };
            let quote = quotes.get(&kept.node).copied().flatten();
            new.push(desk.carrying(&kept.pods, node.clone(), quote));
        }
        new.sort_by(|one, other| {
            let key = |node: &NewNode| {
                (node.pool.clone(), node.size.clone(), node.zone.clone(), node.capacity_type)
            };
            key(one).cmp(&key(other)).then_with(|| one.pods.cmp(&other.pods))
        });
        new.append(&mut target.new);
        target.new = new;
        target.kept.retain(|kept| !self.made.contains_key(&kept.node));
        report.staying.retain(|(node, _)| !self.made.contains_key(node));
        report.cost_before = price::cost(self.snapshot.nodes_today(), &self.market, &book);
        report.warnings.extend(self.warnings.iter().cloned());
        report.warnings.sort();
        Solution { target, report }
    }
}

/// What the nodes are named with.
struct Desk<'d> {
    supply: Supply<'d>,
    /// What the pods ask for that stand on the nodes.
    demand: Demand,
    shapes: BTreeMap<PodKey, usize>,
}

impl<'d> Desk<'d> {
    fn of(filled: &'d Filled<'_>, book: &PriceBook<'_>, kept: &[Kept]) -> Self {
        let Filled { snapshot, policy, market, made, .. } = filled;
        let carried = kept.iter().filter(|kept| made.contains_key(&kept.node));
        let carried: BTreeSet<&PodKey> = carried.flat_map(|kept| &kept.pods).collect();
        let mut world = (*snapshot).clone();
        world.pods.retain(|pod| carried.contains(&pod.key));
        world.pods.iter_mut().for_each(|pod| pod.place = PodPlace::Waiting);
        let topology = Topology::of(snapshot);
        let demand = Demand::of(&world, &topology);
        let of_shape = |(number, shape): (usize, &Shape)| {
            shape.pods.iter().map(move |pod| (pod.clone(), number)).collect::<Vec<_>>()
        };
        let shapes = demand.shapes.iter().enumerate().flat_map(of_shape).collect();
        let daemons = Daemons::of(snapshot, &topology);
        Self { supply: Supply::of_fixed(policy, market, book, &daemons), demand, shapes }
    }

    /// Returns a node with its pods and price, and with what else would hold them.
    fn carrying(&self, pods: &[PodKey], mut node: NewNode, quote: Option<Quote>) -> NewNode {
        let mut load: BTreeMap<usize, usize> = BTreeMap::new();
        for shape in pods.iter().filter_map(|pod| self.shapes.get(pod)) {
            *load.entry(*shape).or_default() += 1;
        }
        let load: Vec<(&Ask, usize)> =
            load.into_iter().map(|(shape, count)| (&self.demand.shapes[shape].ask, count)).collect();
        for (ask, count) in &load {
            node.requests = node.requests.plus(&ask.requests.times(*count));
        }
        if let Some(Quote { list, effective }) = quote {
            (node.list_price, node.effective_price) = (list, effective);
        }
        node.pods = pods.to_vec();
        node.pods.sort();
        let own = self.supply.pools.iter().find(|own| own.pool.name == node.pool);
        node.substitutes = own.map(|own| substitutes(own, &node, &load)).unwrap_or_default();
        node
    }
}

/// Returns how many nodes of a pool stand in each zone.
fn zones(snapshot: &Snapshot, pool: &PoolName) -> BTreeMap<Zone, usize> {
    let mut zones = BTreeMap::new();
    let own = snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(pool) && !node.is_deleting);
    for zone in own.filter_map(|node| node.labels.get(label::ZONE)) {
        *zones.entry(Zone::from(&**zone)).or_default() += 1;
    }
    zones
}

/// Why a node cannot be made of which no size can be had.
const NOTHING: &str = "no size that it may use can be had";

/// Takes the cheapest way to have a node of a pool that limits let in, in the zone that has the fewest of it, with what it
/// takes of limits. What costs nobody knows what is taken only where there is nothing else.
fn taken<'p, 's>(
    pool: &'p PoolSupply<'s>,
    zones: &BTreeMap<Zone, usize>,
    left: &Ledger,
) -> Result<(Way<'p, 's>, Charges), String> {
    let mut all: Vec<Way<'p, 's>> = ways(pool).collect();
    all.sort_by_cached_key(|(kind, usable)| {
        let zone = &usable.offering.zone;
        let price = usable.quote.effective.known();
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
fn ways<'p, 's>(pool: &'p PoolSupply<'s>) -> impl Iterator<Item = Way<'p, 's>> {
    let kinds = pool.kinds.iter().filter(|kind| !kind.needs_name);
    let each = kinds.flat_map(|kind| kind.offerings.iter().map(move |usable| (kind, usable)));
    each.filter(|(kind, usable)| pool.overheads[usable.overhead].requests.fit_in(&kind.kind.allocatable))
}

fn new_node(pool: &PoolSupply<'_>, (kind, usable): (&Kind<'_>, &Usable<'_>)) -> NewNode {
    let site = pool.site(kind, usable);
    let daemon_requests = pool.overheads[usable.overhead].requests.clone();
    NewNode {
        pool: pool.pool.name.clone(),
        size: kind.kind.name.clone(),
        zone: usable.offering.zone.clone(),
        capacity_type: usable.offering.capacity_type,
        list_price: usable.quote.list,
        effective_price: usable.quote.effective,
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

/// Returns a node to make as if it had joined.
fn joined(pool: &Pool, number: usize, (new, supply): (&NewNode, &Supply<'_>), at: Option<Timestamp>) -> Node {
    let name = NodeName::new(&*format!("new {} {number:05}", pool.name));
    let mut labels = labels_of(supply, new);
    labels.insert(LabelKey::new(label::HOSTNAME), Arc::from(name.as_str()));
    Node::joined(pool, name, labels, (&new.capacity, &new.allocatable), at)
}

/// Returns what else would hold these pods, in the same zone and bought the same way where there are any.
fn substitutes(pool: &PoolSupply<'_>, node: &NewNode, load: &[(&Ask, usize)]) -> Vec<Substitute> {
    let is_own = |kind: &Kind<'_>, usable: &Usable<'_>| {
        kind.kind.name == node.size
            && usable.offering.zone == node.zone
            && usable.offering.capacity_type == node.capacity_type
    };
    let is_near = |usable: &Usable<'_>| {
        node.pods.is_empty()
            || (usable.offering.zone == node.zone && usable.offering.capacity_type == node.capacity_type)
    };
    let holds = |kind: &Kind<'_>, usable: &Usable<'_>| {
        let mut site = pool.site(kind, usable);
        let chosen = node.labels.iter().map(|(key, value)| (key.as_str(), &**value));
        site.labels.add_all(&Requirements::of_labels(chosen));
        load.iter().all(|(ask, count)| existing::most(&site, ask) >= *count && site.put(ask, *count).is_ok())
    };
    let others = ways(pool).filter(|(kind, usable)| !is_own(kind, usable) && is_near(usable));
    let priced = others.filter(|(_, usable)| !matches!(usable.quote.effective, Price::Unknown));
    let substitute = |(kind, usable): (&Kind<'_>, &Usable<'_>)| Substitute {
        effective_price: usable.quote.effective,
        size: kind.kind.name.clone(),
        zone: usable.offering.zone.clone(),
        capacity_type: usable.offering.capacity_type,
    };
    let mut all: Vec<Substitute> =
        priced.filter(|(kind, usable)| holds(kind, usable)).map(substitute).collect();
    all.sort();
    all
}
