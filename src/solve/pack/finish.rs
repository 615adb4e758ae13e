//! Converts numbers back to names: assigns pods to nodes, and gives nodes their zones, labels and substitutes.
//!
//! The exact rules check every pod on its node once more; a pod that they refuse is not placed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::model::{LabelKey, PodKey, PoolName, Requirement, Resources, Zone};
use crate::solve::demand::{Ask, Demand};
use crate::solve::existing;
use crate::solve::fit::limits::{Charges, Ledger};
use crate::solve::fit::{Site, labels};
use crate::solve::memo::Memo;
use crate::solve::price::{PriceBook, Quote};
use crate::solve::solution::{NewNode, Substitute, Variety};
use crate::solve::supply::{Kind, PoolSupply, Supply, Usable};

use super::Effort;
use super::packing::{Opened, Packing};
use super::problem::{Column, Problem};
use super::substitutes;

/// Named nodes, and the pods that are unplaced.
pub(in crate::solve) struct Finished {
    pub(in crate::solve) nodes: Vec<NewNode>,
    /// The shapes of each node's pods.
    pub(in crate::solve) shapes: Vec<Shapes>,
    /// Unplaced pods, with the index of their shape.
    pub(in crate::solve) unplaced: Vec<(usize, PodKey)>,
    /// Limits that the nodes leave.
    pub(in crate::solve) ledger: Ledger,
    /// Charges of each node against limits, by the pod that it was opened for.
    pub(in crate::solve) took: BTreeMap<PodKey, Charges>,
}

/// Indices of the shapes of a node's pods.
#[derive(Clone, Debug, Default)]
pub(in crate::solve) struct Shapes {
    /// Shape of the pod that the node was opened for.
    pub(in crate::solve) opened_for: usize,
    /// Shapes of its pods, in the same order.
    pub(in crate::solve) pods: Vec<usize>,
}

impl Finished {
    /// Removes the nodes without pods. `before` lists the pods that nodes were opened for until now.
    pub(in crate::solve) fn without_empty(&mut self, before: &[Option<PodKey>]) {
        for (node, before) in self.nodes.iter().zip(before) {
            match (before.as_ref().and_then(|before| self.took.remove(before)), node.pods.is_empty()) {
                (Some(charges), true) => self.ledger.give_back(&charges),
                (Some(charges), false) => {
                    self.took.extend(node.opened_for.clone().map(|pod| (pod, charges)));
                }
                (None, _) => {}
            }
        }
        self.nodes.retain(|node| !node.pods.is_empty());
        self.shapes.retain(|shapes| !shapes.pods.is_empty());
    }
}

/// Number of nodes of each pool in each zone.
pub(in crate::solve) type ZoneCounts = BTreeMap<(PoolName, Zone), usize>;

/// Inputs of finishing.
pub(in crate::solve) struct Desk<'d> {
    pub(in crate::solve) problem: &'d Problem,
    pub(in crate::solve) supply: &'d Supply<'d>,
    /// Cached results about the supply.
    pub(in crate::solve) memo: &'d Memo,
    pub(in crate::solve) demand: &'d Demand,
    pub(in crate::solve) book: &'d PriceBook<'d>,
    /// Purpose of the packing: drafts and comparisons need no substitutes.
    pub(in crate::solve) effort: Effort<'d>,
}

/// Names all nodes and pods. A node gets the zone with the fewest nodes of its pool, the first by name if equal.
pub(in crate::solve) fn finish(desk: &Desk<'_>, mut packing: Packing, zones: &mut ZoneCounts) -> Finished {
    let problem = desk.problem;
    packing.nodes.sort_by_cached_key(|node| {
        let column = &problem.columns[node.column];
        let kind = desk.supply.pools[column.pool].kinds[column.kind].kind;
        (column.pool, kind.name.clone(), node.column, node.load.clone())
    });
    let mut next = vec![0; problem.classes.len()];
    let ledger = packing.ledger.clone();
    let mut finished = Finished {
        nodes: Vec::new(),
        shapes: Vec::new(),
        unplaced: Vec::new(),
        ledger,
        took: BTreeMap::new(),
    };
    let mut made: Vec<(usize, Made)> = Vec::new();
    for (place, opened) in packing.nodes.iter().enumerate() {
        let drawn = draw(problem, opened, &mut next);
        let (node, refused) = named(desk, opened, drawn, zones);
        finished.unplaced.extend(refused);
        let charges = &problem.columns[opened.column].charges;
        match node {
            None => finished.ledger.give_back(charges),
            Some((node, shapes)) => {
                finished.took.extend(node.opened_for.clone().map(|pod| (pod, charges.clone())));
                made.push((place, (node, shapes)));
            }
        }
    }
    for (class, next) in problem.classes.iter().zip(next) {
        finished.unplaced.extend(class.pods.iter().skip(next).map(|(_, pod, shape)| (*shape, pod.clone())));
    }
    if matches!(desk.effort, Effort::Plan) {
        substitute(desk, &packing.nodes, &mut made);
    }
    let mut made: Vec<Made> = made.into_iter().map(|(_, made)| made).collect();
    sort(desk.supply, &mut made, |(node, _)| node);
    (finished.nodes, finished.shapes) = made.into_iter().unzip();
    finished
}

/// Finds the substitutes of these nodes, each given with the index of its opened node. Identical nodes are processed
/// once.
fn substitute(desk: &Desk<'_>, opened: &[Opened], made: &mut [(usize, Made)]) {
    let rooms = &*desk.memo.rooms(&desk.problem.dimensions, || substitutes::Rooms::of(desk));
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (number, (place, (node, _))) in made.iter().enumerate() {
        let Opened { column, load, .. } = &opened[*place];
        alike.entry((*column, load, node.labels.clone())).or_default().push(number);
    }
    let of_alike = |numbers: &Vec<usize>| {
        let (place, (first, _)) = &made[numbers[0]];
        let opened = &opened[*place];
        let sorted = substitutes::sorted(desk, rooms, opened, &first.labels);
        let mut known = BTreeMap::new();
        let mut of = |number: usize| {
            let node = &made[number].1.0;
            let own = (node.size.clone(), node.zone.clone(), node.capacity_type);
            let find = || substitutes::of((desk, rooms), opened, &sorted, &own, &node.variety.among);
            (number, known.entry(own.clone()).or_insert_with(find).clone())
        };
        numbers.iter().map(|number| of(*number)).collect::<Vec<_>>()
    };
    let alike: Vec<Vec<usize>> = alike.into_values().collect();
    let found: Vec<(usize, Vec<Substitute>)> = alike.par_iter().flat_map_iter(of_alike).collect();
    for (number, substitutes) in found {
        made[number].1.0.substitutes = substitutes;
    }
}

/// Sorts nodes so that equal ones are adjacent.
pub(in crate::solve) fn sort<T>(supply: &Supply<'_>, made: &mut [T], node: impl Fn(&T) -> &NewNode) {
    let order: BTreeMap<&PoolName, usize> =
        supply.pools.iter().enumerate().map(|(place, pool)| (&pool.pool.name, place)).collect();
    made.sort_by(|a, b| {
        let (a, b) = (node(a), node(b));
        let key =
            |node: &NewNode| (order[&node.pool], node.size.clone(), node.zone.clone(), node.capacity_type);
        key(a).cmp(&key(b)).then_with(|| a.pods.cmp(&b.pods))
    });
}

/// A pod that is drawn for a node: its class, its shape and its name.
type Drawn = (usize, usize, PodKey);

/// Draws the next pods of each class that the node carries.
fn draw(problem: &Problem, opened: &Opened, next: &mut [usize]) -> Vec<Drawn> {
    let mut drawn = Vec::new();
    for (class, count) in &opened.load {
        let pods = problem.classes[*class].pods.iter().skip(next[*class]).take(*count);
        drawn.extend(pods.map(|(_, pod, shape)| (*class, *shape, pod.clone())));
        next[*class] += count;
    }
    drawn
}

/// A node with the shapes of its pods.
type Made = (NewNode, Shapes);

/// Builds a node from its column and pods; returns the pods that the exact rules refuse.
fn named(
    desk: &Desk<'_>,
    opened: &Opened,
    mut drawn: Vec<Drawn>,
    zones: &mut ZoneCounts,
) -> (Option<Made>, Vec<(usize, PodKey)>) {
    let column = &desk.problem.columns[opened.column];
    let pool = &desk.supply.pools[column.pool];
    let kind = &pool.kinds[column.kind];
    let place = emptiest(pool, kind, &column.usables, zones);
    let usable = &kind.offerings[place];
    let empty = pool.site(kind, usable);
    let mut site = empty.clone();
    // Pods with the fewest alternatives come first: the others choose labels that agree with them.
    let alternatives = |shape: usize| desk.demand.shapes[shape].ask.alternatives.len();
    drawn.sort_by(|(_, one, pod), (_, other, beside)| {
        (alternatives(*one), one, pod).cmp(&(alternatives(*other), other, beside))
    });
    let (placed, refused) = seated(desk.demand, drawn, &mut site);
    let refused: Vec<(usize, PodKey)> = refused.into_iter().map(|(_, shape, pod)| (shape, pod)).collect();
    let first = placed.iter().filter(|(class, _, _)| *class == opened.opened_for);
    let Some((_, opened_shape, opened_for)) = first.min_by(|(_, one, pod), (_, other, beside)| {
        let order = |shape: usize| Reverse(desk.demand.shapes[shape].priority);
        (order(*one), pod).cmp(&(order(*other), beside))
    }) else {
        return (None, refused.into_iter().chain(placed.into_iter().map(|(_, s, pod)| (s, pod))).collect());
    };
    *zones.entry((pool.pool.name.clone(), usable.offering.zone.clone())).or_default() += 1;
    let quote = quote(desk.book, kind, usable, column.commitment);
    let daemon_requests = pool.overheads[usable.overhead].requests.clone();
    let mut requests: Resources = daemon_requests.clone();
    placed.iter().for_each(|(_, shape, _)| requests.add(&desk.demand.shapes[*shape].ask.requests));
    let mut seated: Vec<(PodKey, usize)> =
        placed.iter().map(|(_, shape, pod)| (pod.clone(), *shape)).collect();
    seated.sort_unstable();
    let (pods, of_pods) = seated.into_iter().unzip();
    let shapes = Shapes { opened_for: *opened_shape, pods: of_pods };
    let node = NewNode {
        pool: pool.pool.name.clone(),
        size: kind.kind.name.clone(),
        zone: usable.offering.zone.clone(),
        capacity_type: usable.offering.capacity_type,
        list_price: quote.list,
        effective_price: quote.effective,
        premium: usable.premium,
        requests,
        daemon_requests,
        allocatable: kind.kind.allocatable.clone(),
        capacity: kind.kind.capacity.clone(),
        labels: chosen_labels(pool, (&empty, &site), &asked_keys(desk, &placed)),
        opened_for: Some(opened_for.clone()),
        pods,
        substitutes: Vec::new(),
        variety: variety_of(pool, column, place),
        is_estimate: kind.kind.is_estimate,
    };
    (Some((node, shapes)), refused)
}

/// Places pods on a node, in this order; returns those that are placed, and those that the exact rules refuse.
fn seated(demand: &Demand, drawn: Vec<Drawn>, site: &mut Site<'_>) -> (Vec<Drawn>, Vec<Drawn>) {
    let (mut placed, mut refused) = (Vec::new(), Vec::new());
    for alike in drawn.chunk_by(|(_, one, _), (_, other, _)| one == other) {
        let ask = &demand.shapes[alike[0].1].ask;
        // Each of several identical pods leaves less for the next one.
        let mut fit = existing::most(site, ask).min(alike.len());
        if fit > 0 && site.put(ask, fit).is_err() {
            fit = 0;
        }
        placed.extend_from_slice(&alike[..fit]);
        refused.extend_from_slice(&alike[fit..]);
    }
    (placed, refused)
}

fn quote(book: &PriceBook<'_>, kind: &Kind<'_>, usable: &Usable<'_>, commitment: Option<usize>) -> Quote {
    match commitment {
        Some(number) => book.committed(kind.kind, usable.offering, book.commitments()[number]),
        None => usable.quote,
    }
}

/// Returns the `minValues` requirements of a node of this column, and its alternatives for this offering.
fn variety_of(pool: &PoolSupply<'_>, column: &Column, usable: usize) -> Variety {
    let Some(choice) = &column.choice else { return Variety::default() };
    let substitute = |(kind, usable): &(usize, usize)| {
        let Kind { kind, offerings, needs_name: _, slots: _, is_slots_estimate: _ } = &pool.kinds[*kind];
        let Usable { offering, quote, .. } = &offerings[*usable];
        Substitute {
            effective_price: quote.effective,
            size: kind.name.clone(),
            zone: offering.zone.clone(),
            capacity_type: offering.capacity_type,
        }
    };
    let asked = pool.variety.iter().zip(&choice.asked).filter(|(_, least)| **least > 0);
    Variety {
        asked: asked.map(|((key, _), least)| (key.clone(), *least)).collect(),
        among: choice.among.get(&usable).into_iter().flatten().map(substitute).collect(),
    }
}

/// Returns the index of the offering in the zone with the fewest nodes of the pool.
fn emptiest(pool: &PoolSupply<'_>, kind: &Kind<'_>, usables: &[usize], zones: &ZoneCounts) -> usize {
    let count = |zone: &Zone| zones.get(&(pool.pool.name.clone(), zone.clone())).copied().unwrap_or(0);
    let emptiest = usables.iter().min_by_key(|place| {
        let zone = &kind.offerings[**place].offering.zone;
        (zone.as_str() == "0", count(zone), zone.clone())
    });
    *emptiest.expect("a column has at least one offering")
}

/// Returns whether pods narrow the values of a label that the node has anyway.
fn narrowed(before: &Site<'_>, key: &LabelKey, after: &Requirement) -> bool {
    before.labels.get(key.as_str()) != Some(after)
}

/// Returns the labels that some pod requires to exist. If all pods only exclude values, no value is invented.
fn asked_keys<'d>(desk: &'d Desk<'_>, placed: &[Drawn]) -> BTreeSet<&'d LabelKey> {
    let shapes: BTreeSet<usize> = placed.iter().map(|(_, shape, _)| *shape).collect();
    keys_wanted(shapes.into_iter().map(|shape| &desk.demand.shapes[shape].ask))
}

/// Returns the labels that one of these pods requires to exist, not only to differ from some values.
pub(in crate::solve) fn keys_wanted<'a>(asks: impl Iterator<Item = &'a Ask>) -> BTreeSet<&'a LabelKey> {
    let alternatives = asks.flat_map(|ask| &ask.alternatives);
    let wanted = alternatives.flat_map(|alternative| alternative.iter());
    wanted.filter(|(_, requirement)| !requirement.accepts_absence()).map(|(key, _)| key).collect()
}

/// Chooses a value for every open label that pods require or for which the pool lists values.
pub(in crate::solve) fn chosen_labels(
    pool: &PoolSupply<'_>,
    (before, after): (&Site<'_>, &Site<'_>),
    asked: &BTreeSet<&LabelKey>,
) -> BTreeMap<LabelKey, Arc<str>> {
    let mut chosen = BTreeMap::new();
    for (key, requirement) in after.labels.iter() {
        let was_open =
            before.labels.get(key.as_str()).is_none_or(|there| there.single().is_none() && !there.is_none());
        let is_listed = pool.base.get(key.as_str()).is_some_and(|own| own.listed().is_some())
            && !pool.undefined().allows(key);
        let must_exist =
            before.labels.get(key.as_str()).is_some_and(|there| !there.accepts_absence() && !there.is_none());
        if was_open
            && (asked.contains(key) || is_listed || (must_exist && narrowed(before, key, requirement)))
            && let Some(value) = labels::some_value(requirement)
        {
            chosen.insert(key.clone(), value);
        }
    }
    chosen
}
