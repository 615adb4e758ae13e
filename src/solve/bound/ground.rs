//! Builds the bound's problem from a snapshot and a fleet: pod classes, offerings and kept nodes.
//!
//! Zones, spread, weights and limits are ignored, as are rules within one node except those that never let two pods of
//! a class share a node. Ignoring a rule only lowers the bound.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    CapacityType, Node, NodeName, PodKey, PodPlace, PoolName, Requirements, ResourceName, Resources, Stance,
};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::daemons::Daemons;
use crate::solve::demand::{Ask, Demand, Shape};
use crate::solve::existing::{self, Standing};
use crate::solve::fit::company::{HostRole, HostRule};
use crate::solve::fit::{labels, taints};
use crate::solve::intern::{Bits, Interner};
use crate::solve::market::Market;
use crate::solve::price::{self, PriceBook, Uncommitted};
use crate::solve::replicas;
use crate::solve::solution::{Cost, Solution};
use crate::solve::steps;
use crate::solve::supply::reach::Reach;
use crate::solve::supply::{PoolSupply, Supply, Usable};
use crate::solve::topology::Topology;

use super::problem::{Bin, Class, Problem, Source};

/// Highest price that is distinguished, far above any VM's.
const PRICE_MAX: i64 = 1 << 40;

/// Node terms and tolerations.
type Terms<'a> = (&'a Vec<Requirements>, &'a Stance);

/// A bin, and the terms that it satisfies.
type Open = (Bin, Bits);

/// Returns the problem of a fleet, and whether an estimated price is part of it.
pub(super) fn problem(seen: &Snapshot, policy: &Policy, solution: &Solution) -> (Problem, bool) {
    let market = Market::of(seen, policy);
    let may_go = may_go(seen, policy, solution);
    let (snapshot, moving) = &emptied(seen, &may_go);
    let topology = Topology::of(snapshot);
    let demand = Demand::of(snapshot, &topology);
    let daemons = Daemons::of(snapshot, &topology);
    let book = PriceBook::new(&policy.fleet.prices);
    let supply = Supply::of(policy, &market, &book, &daemons);
    let nodes = existing::standing(snapshot, &daemons, &topology);
    let shapes = placed(&demand, solution, moving);
    let mut terms: Interner<Terms<'_>> = Interner::new();
    let numbers: Vec<usize> =
        shapes.iter().map(|(shape, _)| terms.number(&(&shape.ask.alternatives, &shape.ask.stance))).collect();
    let dimensions = dimensions(&shapes);
    let staying = staying(&nodes, (policy, &may_go), solution);
    let stays = nodes.iter().filter(|standing| staying.contains(&standing.node.name));
    let (quotes, left) = price::quote_nodes(stays.map(|standing| standing.node), &market, &book);
    let staying_cost = price::sum(quotes, &left, &book);
    let own = own_terms(seen, moving, shapes.iter().map(|(shape, _)| *shape).zip(&numbers));
    let shop = Shop { dimensions: &dimensions, terms: terms.values(), own: &own, book: &book, left: &left };
    let (mut bins, mut is_estimate) = shop.offered(&supply, &daemons);
    is_estimate |= staying_cost.is_estimate;
    let mut standing = Vec::new();
    for there in nodes.iter().filter(|standing| !standing.node.is_deleting) {
        let price = match staying.contains(&there.node.name) {
            true => 0,
            false => {
                let cost = shop.cost_of(there, &market);
                is_estimate |= cost.is_estimate;
                cost.effective.0
            }
        };
        standing.push((bins.len(), there));
        bins.push(shop.there(there, price));
    }
    let classes = classes((&shapes, &numbers), &dimensions, &bins, &standing);
    let uncommitted = left.0.iter().map(|left| i64::from(*left)).collect();
    let bins = bins.into_iter().map(|(bin, _)| bin).collect();
    let fixed = staying_cost.effective.0;
    (Problem { classes, bins, uncommitted, fixed }.without_the_rest(), is_estimate)
}

/// Returns the nodes that some fleet may do without although they carry pods. These include nodes that this fleet
/// creates only to replace others of a static pool.
fn may_go(snapshot: &Snapshot, policy: &Policy, solution: &Solution) -> BTreeSet<NodeName> {
    let mut may_go = steps::movable(snapshot, policy);
    may_go.extend(solution.target.removed_names());
    let removed = snapshot.nodes.iter().filter(|node| may_go.contains(&node.name));
    let replaced: BTreeSet<&PoolName> = removed.filter_map(|node| node.pool.as_ref()).collect();
    let is_replacement = |node: &&Node| {
        replicas::is_imagined(&node.name) && node.pool.as_ref().is_some_and(|pool| replaced.contains(pool))
    };
    may_go.extend(snapshot.nodes.iter().filter(is_replacement).map(|node| node.name.clone()));
    may_go
}

/// Returns the snapshot in which the pods of these nodes are pending, and those pods: the nodes that they run on now do
/// not limit what another fleet costs.
fn emptied(snapshot: &Snapshot, nodes: &BTreeSet<NodeName>) -> (Snapshot, BTreeSet<PodKey>) {
    let (mut emptied, mut moving) = (snapshot.clone(), BTreeSet::new());
    for pod in emptied.pods.iter_mut().filter(|pod| !pod.is_daemon && !pod.is_terminating) {
        if matches!(&pod.place, PodPlace::Bound(node) if nodes.contains(node)) {
            pod.place = PodPlace::Waiting;
            moving.insert(pod.key.clone());
        }
    }
    (emptied, moving)
}

/// Returns the shapes of the pods that the fleet places or may move, with the number of such pods.
fn placed<'d>(demand: &'d Demand, solution: &Solution, moving: &BTreeSet<PodKey>) -> Vec<(&'d Shape, i64)> {
    let kept = solution.target.kept.iter().flat_map(|kept| &kept.pods);
    let new = solution.target.new.iter().flat_map(|node| &node.pods);
    let pods: BTreeSet<&PodKey> = kept.chain(new).chain(moving).collect();
    let count = |shape: &Shape| shape.pods.iter().filter(|pod| pods.contains(pod)).count();
    let counted = demand.shapes.iter().map(|shape| (shape, i64::try_from(count(shape)).unwrap_or(i64::MAX)));
    counted.filter(|(_, count)| *count > 0).collect()
}

/// Returns the nodes that every fleet keeps: those that carry pods, and those that are kept for another reason.
fn staying<'n>(
    nodes: &'n [Standing<'_>],
    (policy, may_go): (&Policy, &BTreeSet<NodeName>),
    solution: &'n Solution,
) -> BTreeSet<&'n NodeName> {
    let gone: BTreeSet<&NodeName> = solution.target.removed.iter().map(|removal| &removal.node).collect();
    let said = solution.report.staying.iter().map(|(node, _)| node);
    // Another fleet may remove nodes that this one keeps.
    let said: BTreeSet<&NodeName> = said.filter(|node| !may_go.contains(*node)).collect();
    let is_fixed = |pool: &PoolName| policy.pools.get(pool).is_some_and(|pool| pool.replicas.is_some());
    let stays = |standing: &&Standing<'_>| {
        let Node { name, pool, .. } = standing.node;
        let is_kept = pool.as_ref().is_some_and(is_fixed) && !may_go.contains(name);
        let has_reason = !standing.is_empty() || pool.is_none() || is_kept || said.contains(name);
        has_reason && !standing.node.is_deleting && !gone.contains(name)
    };
    nodes.iter().filter(stays).map(|standing| &standing.node.name).collect()
}

/// Returns the terms of the pods that run on each removable node: they may stay there, whatever new pods require.
fn own_terms<'s>(
    seen: &'s Snapshot,
    moving: &BTreeSet<PodKey>,
    shapes: impl Iterator<Item = (&'s Shape, &'s usize)>,
) -> BTreeMap<&'s NodeName, BTreeSet<usize>> {
    let numbers: BTreeMap<&PodKey, usize> =
        shapes.flat_map(|(shape, number)| shape.pods.iter().map(|pod| (pod, *number))).collect();
    let mut own: BTreeMap<&NodeName, BTreeSet<usize>> = BTreeMap::new();
    for pod in seen.pods.iter().filter(|pod| moving.contains(&pod.key)) {
        if let (PodPlace::Bound(node), Some(number)) = (&pod.place, numbers.get(&pod.key)) {
            own.entry(node).or_default().insert(*number);
        }
    }
    own
}

fn dimensions(shapes: &[(&Shape, i64)]) -> Vec<ResourceName> {
    let asked = shapes.iter().flat_map(|(shape, _)| shape.ask.requests.iter());
    let names: BTreeSet<&ResourceName> =
        asked.filter(|(_, amount)| *amount > 0).map(|(name, _)| name).collect();
    names.into_iter().cloned().collect()
}

fn vector(resources: &Resources, dimensions: &[ResourceName]) -> Vec<i64> {
    dimensions.iter().map(|name| resources.get(name)).collect()
}

/// Inputs for building bins.
struct Shop<'a> {
    dimensions: &'a [ResourceName],
    terms: &'a [Terms<'a>],
    /// Terms of the pods that run on each removable node.
    own: &'a BTreeMap<&'a NodeName, BTreeSet<usize>>,
    book: &'a PriceBook<'a>,
    /// Commitments that kept nodes leave unused.
    left: &'a Uncommitted,
}

impl Shop<'_> {
    /// Returns the offerings with a known price, without dominated ones, and whether some of them have an estimated
    /// price.
    fn offered(&self, supply: &Supply<'_>, daemons: &Daemons<'_>) -> (Vec<Open>, bool) {
        let (mut listed, mut estimated, mut committed) = (Vec::new(), Vec::new(), Vec::new());
        for pool in &supply.pools {
            let reaches = self.reaches(pool);
            let daemons = self.sure(pool, daemons);
            for (number, kind) in pool.kinds.iter().enumerate() {
                for usable in &kind.offerings {
                    let room = self.room(
                        &vector(&kind.kind.allocatable, self.dimensions),
                        (number, usable),
                        &daemons,
                    );
                    let Some(price) = usable.quote.effective.known() else { continue };
                    let bits = meeting(&reaches, (number, usable));
                    let bin =
                        |price: i64, source| Bin { room: room.clone(), price: price.min(PRICE_MAX), source };
                    if usable.offering.capacity_type == CapacityType::OnDemand {
                        for place in self.commitments(kind.kind.name.as_str()) {
                            let beside = self.book.beside_vm(kind.kind).known().map_or(0, |price| price.0);
                            committed.push((bin(beside, Source::Committed(place)), bits.clone()));
                        }
                    }
                    let list =
                        if usable.quote.effective.is_estimate() { &mut estimated } else { &mut listed };
                    list.push((bin(price.0, Source::Offered), bits));
                }
            }
        }
        // Listed prices come first, so that an estimate is reported only if it matters.
        let (listed, estimated) = (undominated(listed, Vec::new()), estimated);
        let before = listed.len();
        let mut offered = undominated(estimated, listed);
        let is_estimate = offered.len() > before;
        offered.extend(undominated(committed, Vec::new()));
        (offered, is_estimate)
    }

    /// Returns the indices of the commitments to a size that have VMs left.
    fn commitments(&self, size: &str) -> Vec<usize> {
        let all = self.book.commitments().iter().zip(&self.left.0).enumerate();
        all.filter(|(_, (paid, left))| **left > 0 && paid.size.as_str() == size)
            .map(|(place, _)| place)
            .collect()
    }

    /// Returns the offerings of a pool that satisfy each of the terms.
    fn reaches(&self, pool: &PoolSupply<'_>) -> Vec<Vec<Reach>> {
        let reached = |(alternatives, stance): &Terms<'_>| {
            if taints::why(&pool.pool.taints, stance).is_err() {
                return Vec::new();
            }
            let reach = |alternative: &Requirements| {
                let mut reach = pool.reach(alternative)?;
                pool.unnamed(alternative).iter().for_each(|place| reach.kinds.remove(place));
                Some(reach)
            };
            alternatives.iter().filter_map(reach).collect()
        };
        self.terms.iter().map(reached).collect()
    }

    /// Returns the requests of the DaemonSets that certainly run: those that require no label that is still open.
    fn sure(&self, pool: &PoolSupply<'_>, daemons: &Daemons<'_>) -> Vec<(Vec<i64>, Vec<Reach>)> {
        let reaches = |ask: &Ask| {
            let sure = ask.alternatives.iter().filter(|alternative| pool.open_part(alternative).is_empty());
            sure.filter_map(|alternative| pool.reach(alternative)).collect::<Vec<_>>()
        };
        let standing = daemons.standing(&pool.pool.taints).into_iter();
        standing.map(|ask| (vector(&ask.requests, self.dimensions), reaches(ask))).collect()
    }

    fn room(
        &self,
        allocatable: &[i64],
        (kind, usable): (usize, &Usable<'_>),
        daemons: &[(Vec<i64>, Vec<Reach>)],
    ) -> Vec<i64> {
        let mut room = allocatable.to_vec();
        for (requests, _) in daemons.iter().filter(|(_, reaches)| is_met(reaches, (kind, usable))) {
            room.iter_mut().zip(requests).for_each(|(room, request)| *room = room.saturating_sub(*request));
        }
        room
    }

    /// Returns an existing node as a bin.
    fn there(&self, standing: &Standing<'_>, price: i64) -> Open {
        let site = &standing.site;
        let mut bits = Bits::none(self.terms.len());
        for (number, (alternatives, stance)) in self.terms.iter().enumerate() {
            let is_own = self.own.get(&standing.node.name).is_some_and(|own| own.contains(&number));
            let may_come = || {
                taints::why(&site.taints, stance).is_ok()
                    && labels::why(alternatives, &site.labels, &site.undefined).is_ok()
            };
            if is_own || may_come() {
                bits.insert(number);
            }
        }
        let room = vector(&site.room, self.dimensions);
        (Bin { room, price: price.min(PRICE_MAX), source: Source::There(1) }, bits)
    }

    /// Returns the cost of a removable node; zero if a commitment may pay for it.
    fn cost_of(&self, standing: &Standing<'_>, market: &Market) -> Cost {
        let size = price::bought_as(standing.node).map(|(size, _)| size);
        if size.is_some_and(|size| self.book.commitments().iter().any(|paid| paid.size == size)) {
            return Cost::default();
        }
        let mut cost = price::cost([standing.node], market, self.book);
        cost.effective.0 -= self.idle();
        cost
    }

    /// Returns the cost of all commitments if no node uses them.
    fn idle(&self) -> i64 {
        price::sum([], &Uncommitted::all(self.book), self.book).effective.0
    }
}

fn is_met(reaches: &[Reach], (kind, usable): (usize, &Usable<'_>)) -> bool {
    reaches.iter().any(|reach| reach.kinds.has(kind) && reach.placements.has(usable.placement))
}

fn meeting(reaches: &[Vec<Reach>], offering: (usize, &Usable<'_>)) -> Bits {
    let mut bits = Bits::none(reaches.len());
    let met = reaches.iter().enumerate().filter(|(_, reaches)| is_met(reaches, offering));
    met.for_each(|(number, _)| bits.insert(number));
    bits
}

/// Adds bins to others, without those that another bin dominates or equals.
fn undominated(mut bins: Vec<Open>, mut kept: Vec<Open>) -> Vec<Open> {
    bins.retain(|(_, bits)| !bits.is_empty());
    bins.sort_by(|(one, _), (other, _)| {
        (one.source, one.price).cmp(&(other.source, other.price)).then_with(|| other.room.cmp(&one.room))
    });
    for (bin, bits) in bins {
        let beats = |(better, theirs): &Open| {
            better.source == bin.source
                && better.price <= bin.price
                && better.room.iter().zip(&bin.room).all(|(theirs, ours)| theirs >= ours)
                && theirs.holds(&bits)
        };
        if !kept.iter().any(beats) {
            kept.push((bin, bits));
        }
    }
    kept
}

/// Groups pods that need the same and fit into the same bins.
fn classes(
    (shapes, numbers): (&[(&Shape, i64)], &[usize]),
    dimensions: &[ResourceName],
    bins: &[Open],
    standing: &[(usize, &Standing<'_>)],
) -> Vec<Class> {
    let mut by_terms: BTreeMap<usize, Bits> = BTreeMap::new();
    let mut counts: BTreeMap<(Vec<i64>, i64, Bits), i64> = BTreeMap::new();
    for ((shape, count), number) in shapes.iter().zip(numbers) {
        let open = by_terms.entry(*number).or_insert_with(|| {
            let mut open = Bits::none(bins.len());
            let meeting = bins.iter().enumerate().filter(|(_, (_, bits))| bits.has(*number));
            meeting.for_each(|(place, _)| open.insert(place));
            open
        });
        let mut open = open.clone();
        let apart: Vec<HostRole> =
            shape.ask.company.iter().filter(|role| role.rule == HostRule::Apart).copied().collect();
        let ports = &shape.ask.host_ports;
        for (place, there) in standing {
            let taken =
                ports.iter().any(|port| there.site.ports.iter().any(|other| port.conflicts_with(other)));
            if taken || (!apart.is_empty() && there.site.company.most(&apart) == 0) {
                open.remove(*place);
            }
        }
        let is_alone = !ports.is_empty() || apart.iter().any(|role| role.is_bound && role.counted > 0);
        let most = if is_alone { 1 } else { i64::MAX };
        *counts.entry((vector(&shape.ask.requests, dimensions), most, open)).or_default() += count;
    }
    counts.into_iter().map(|((need, most, bins), count)| Class { need, count, most, bins }).collect()
}
