//! Reports the imagined nodes of static pools as new nodes, with their pods, cost and substitutes.
//!
//! Never places a pod, and never adds or drops a node.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    CapacityType, Node, NodeName, Pod, PodKey, PodPlace, PoolName, Price, Requirements, SkuName, Zone,
};
use crate::solve::caution::{self, Weighed};
use crate::solve::daemons::Daemons;
use crate::solve::demand::{Ask, Demand, Shape};
use crate::solve::existing;
use crate::solve::fit::{Site, labels};
use crate::solve::pack::substitutes;
use crate::solve::price::{self, PriceBook, Quote};
use crate::solve::solution::{Kept, NewNode, Solution, Substitute};
use crate::solve::supply::{Kind, PoolSupply, Supply, Usable};
use crate::solve::topology::Topology;

use super::filled::Filled;
use super::ways::ways;

impl Filled<'_> {
    /// Turns the imagined nodes of this world's fleet into new nodes.
    pub(super) fn named(&self, solution: Solution) -> Solution {
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
        let mut found = BTreeMap::new();
        for kept in &target.kept {
            let Some(node) = self.made.get(&kept.node) else { continue };
            let quote = quotes.get(&kept.node).copied().flatten();
            new.push(desk.carrying(&kept.pods, node.clone(), quote, &mut found));
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
        report.warnings.dedup();
        Solution { target, report }
    }
}

/// Inputs for describing the new nodes.
struct Desk<'d> {
    supply: Supply<'d>,
    /// The requests of the pods on these nodes.
    demand: Demand,
    shapes: BTreeMap<PodKey, usize>,
    /// The node terms that pods prefer.
    preferred: BTreeMap<PodKey, Vec<Requirements>>,
}

/// Everything that determines a node's substitutes: pool, size, zone, capacity type, weighed price, number of pods by
/// shape, and the preferred node terms of these pods.
type Alike<'d> =
    (PoolName, SkuName, (Zone, CapacityType), Weighed, BTreeMap<usize, usize>, BTreeSet<&'d Requirements>);

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
        let terms =
            |pod: &Pod| pod.spec.node_affinity.preferred.iter().map(|wish| wish.term.clone()).collect();
        let preferred = world.pods.iter().map(|pod| (pod.key.clone(), terms(pod))).collect();
        Self { supply: Supply::of_fixed(policy, market, book, &daemons), demand, shapes, preferred }
    }

    /// Returns a node with its pods, price and substitutes.
    fn carrying<'s>(
        &'s self,
        pods: &[PodKey],
        mut node: NewNode,
        quote: Option<Quote>,
        found: &mut BTreeMap<Alike<'s>, Vec<Substitute>>,
    ) -> NewNode {
        let mut load: BTreeMap<usize, usize> = BTreeMap::new();
        for shape in pods.iter().filter_map(|pod| self.shapes.get(pod)) {
            *load.entry(*shape).or_default() += 1;
        }
        let asks: Vec<(&Ask, usize)> =
            load.iter().map(|(shape, count)| (&self.demand.shapes[*shape].ask, *count)).collect();
        for (ask, count) in &asks {
            node.requests = node.requests.plus(&ask.requests.times(*count));
        }
        if let Some(Quote { list, effective }) = quote {
            (node.list_price, node.effective_price) = (list, effective);
        }
        node.pods = pods.to_vec();
        node.pods.sort();
        let own = self.supply.pools.iter().find(|own| own.pool.name == node.pool);
        let preferred: BTreeSet<&Requirements> =
            node.pods.iter().filter_map(|pod| self.preferred.get(pod)).flatten().collect();
        let bought = (node.zone.clone(), node.capacity_type);
        let alike = (node.pool.clone(), node.size.clone(), bought, node.weighed(), load, preferred.clone());
        let search = || own.map(|own| others(own, &node, (&asks, &preferred))).unwrap_or_default();
        node.substitutes = found.entry(alike).or_insert_with(search).clone();
        node
    }
}

/// Returns the substitutes that hold these pods and meet all preferred terms that the node meets. If there are pods,
/// substitutes have the node's zone and capacity type.
fn others(
    pool: &PoolSupply<'_>,
    node: &NewNode,
    (load, preferred): (&[(&Ask, usize)], &BTreeSet<&Requirements>),
) -> Vec<Substitute> {
    let is_own = |kind: &Kind<'_>, usable: &Usable<'_>| {
        kind.kind.name == node.size
            && usable.offering.zone == node.zone
            && usable.offering.capacity_type == node.capacity_type
    };
    let is_near = |usable: &Usable<'_>| {
        node.pods.is_empty()
            || (usable.offering.zone == node.zone && usable.offering.capacity_type == node.capacity_type)
    };
    let is_met =
        |site: &Site<'_>, term: &Requirements| labels::holds(term, &site.labels, &site.undefined).is_ok();
    let own = ways(pool)
        .find(|(kind, usable)| is_own(kind, usable))
        .map(|(kind, usable)| pool.site_with(kind, usable, &node.labels));
    let met = preferred.iter().filter(|term| own.as_ref().is_none_or(|own| is_met(own, term)));
    let met: Vec<&Requirements> = met.copied().collect();
    let holds = |kind: &Kind<'_>, usable: &Usable<'_>| {
        let mut site = pool.site_with(kind, usable, &node.labels);
        if !met.iter().all(|term| is_met(&site, term)) {
            return false;
        }
        load.iter().all(|(ask, count)| existing::most(&site, ask) >= *count && site.put(ask, *count).is_ok())
    };
    let is_avoided = |usable: &Usable<'_>| caution::is_avoided_for(usable.weighed(), node.weighed());
    let others =
        ways(pool).filter(|(kind, usable)| !is_own(kind, usable) && is_near(usable) && !is_avoided(usable));
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
    all.truncate(substitutes::MAX);
    all
}
