//! Pods that have to share a node, as one: a bundle asks for what all of them ask for together.
//!
//! Made where pod affinity by host binds pods that wait and none of those they mean runs; and, where it is asked for, where
//! nodes of those that run have no room for all. Which of both is better is chosen elsewhere. A bundle is placed like a pod,
//! under the name of its first pod; the others come along. Bundles are as large as a node can hold.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::model::{LabelKey, Operator, PodKey, Requirement, Requirements, Toleration, label};
use crate::solve::demand::{Ask, Barred, Demand, Shape};
use crate::solve::existing::{self, Standing};
use crate::solve::fit::company::{Company, HostRole, HostRule, Tally};
use crate::solve::fit::{affinity, anti_affinity, ports};
use crate::solve::memo::Memo;
use crate::solve::supply::Supply;

use super::group::GroupKind;
use super::{Role, Topology};

/// The pods that come along, by the pod that stands for them.
pub type Riders = BTreeMap<PodKey, Vec<PodKey>>;

/// What bundles are looked at with.
#[derive(Clone, Copy)]
pub struct World<'w> {
    /// The groups.
    pub topology: &'w Topology,
    /// What can be bought.
    pub(in crate::solve) supply: &'w Supply<'w>,
    /// What is known of it.
    pub(in crate::solve) memo: &'w Memo,
    /// What there is.
    pub nodes: &'w [Standing<'w>],
    /// Whether pods are put together that could stand beside others that run, where those have no room for all.
    pub leads: bool,
}

/// Puts pods together that have to share a node.
#[must_use]
pub fn bundled<'d>(demand: &'d Demand, world: World<'_>) -> (Cow<'d, Demand>, Riders) {
    let mut riders = Riders::new();
    let parties = parties(demand, world);
    if parties.is_empty() {
        return (Cow::Borrowed(demand), riders);
    }
    let mut demand = demand.clone();
    for party in parties {
        if party.is_closed {
            together(&mut demand, &mut riders, &party.bound, world);
        } else {
            behind_leaders(&mut demand, &mut riders, &party, world);
        }
    }
    demand.shapes.retain(|shape| !shape.pods.is_empty());
    demand.shapes.sort_by(|one, other| {
        let key = |shape: &Shape| (std::cmp::Reverse(shape.priority), shape.ask.clone(), shape.roles.clone());
        key(one).cmp(&key(other)).then_with(|| one.pods.cmp(&other.pods))
    });
    (Cow::Owned(demand), riders)
}

/// Shapes that groups tie together.
struct Party {
    /// Those that are bound, by place.
    bound: Vec<usize>,
    /// Those that are only counted.
    leaders: Vec<usize>,
    /// Whether some are bound and counted: then all have to share one node.
    is_closed: bool,
    /// Who has a place beside those that run, where some do.
    seated: Option<Seated>,
}

/// Pods that come to nodes where others run that they have to stand beside.
struct Seated {
    /// How many of each shape.
    pods: BTreeMap<usize, usize>,
    /// That a node is none of those.
    elsewhere: Requirements,
}

/// Returns the parties of which nobody runs that could be joined by all, and nobody comes with a node.
fn parties(demand: &Demand, world: World<'_>) -> Vec<Party> {
    let mut members: BTreeMap<usize, (BTreeSet<usize>, BTreeSet<usize>)> = BTreeMap::new();
    for (place, shape) in demand.shapes.iter().enumerate() {
        for role in shape.ask.company.iter().filter(|role| role.rule == HostRule::Beside) {
            let group = members.entry(role.group).or_default();
            if role.is_bound { &mut group.0 } else { &mut group.1 }.insert(place);
            if role.is_bound && role.counted > 0 {
                group.1.insert(place);
            }
        }
    }
    let hosts = |group: usize| -> Vec<&Standing<'_>> {
        let there = |standing: &&Standing<'_>| standing.site.company.there(group).counted > 0;
        world.nodes.iter().filter(|standing| !standing.node.is_deleting).filter(there).collect()
    };
    let comes_with_nodes = |group: usize| {
        let mut overheads = world.supply.pools.iter().flat_map(|pool| &pool.overheads);
        overheads.any(|overhead| overhead.company.there(group).counted > 0)
    };
    let mut taken: BTreeSet<usize> = BTreeSet::new();
    let mut parties = Vec::new();
    for (group, (bound, counted)) in members {
        let is_new = bound.iter().all(|place| !taken.contains(place));
        if bound.is_empty() || comes_with_nodes(group) || !is_new {
            continue;
        }
        let is_closed = bound.iter().any(|place| counted.contains(place));
        let leaders: Vec<usize> = counted.difference(&bound).copied().collect();
        let hosts = hosts(group);
        // Those that mean themselves go where one of them runs, and nowhere else.
        let is_led = world.leads && !is_closed && !leaders.is_empty();
        if !hosts.is_empty() && (!is_led || is_seated(demand, &bound, world)) {
            continue;
        }
        let seated = (!hosts.is_empty()).then(|| seated(demand, (&bound, &leaders), &hosts, world));
        taken.extend(&bound);
        parties.push(Party { bound: bound.into_iter().collect(), leaders, is_closed, seated });
    }
    parties
}

/// Returns whether all pods of these shapes have a place on nodes that are there when what waits goes to those as it comes.
fn is_seated(demand: &Demand, bound: &BTreeSet<usize>, world: World<'_>) -> bool {
    let left = existing::fill(demand, &mut world.nodes.to_vec());
    bound.iter().all(|place| left[*place] == 0)
}

/// Returns who of the bound has a place beside those that run when nobody comes who may lead others elsewhere.
fn seated(
    demand: &Demand,
    (bound, leaders): (&BTreeSet<usize>, &[usize]),
    hosts: &[&Standing<'_>],
    world: World<'_>,
) -> Seated {
    let mut others = demand.clone();
    leaders.iter().for_each(|place| others.shapes[*place].pods.clear());
    let left = existing::fill(&others, &mut world.nodes.to_vec());
    let key = LabelKey::new(label::HOSTNAME);
    let names = hosts.iter().filter_map(|host| host.node.labels.get(&key));
    let mut elsewhere = Requirements::default();
    elsewhere.add(key.clone(), Requirement::new(Operator::NotIn, names));
    let pods = bound.iter().map(|place| (*place, demand.shapes[*place].pods.len() - left[*place]));
    Seated { pods: pods.collect(), elsewhere }
}

/// Puts all pods of a party on one node: as many as one holds.
fn together(demand: &mut Demand, riders: &mut Riders, bound: &[usize], world: World<'_>) {
    let pods = taken(demand, bound);
    let most = most(pods.len(), |count| fits(demand, &pods[..count], world).is_some());
    let (placed, left) = pods.split_at(most);
    add(demand, riders, placed, world);
    let because =
        (most > 0).then(|| format!("they have to share a node, and no node holds more than {most} of them"));
    bar(demand, left, because);
}

/// Puts pods beside others that wait: one of those and as many as fit in each bundle. Where pods have a place beside those
/// that run, they are left to go there, and the others go elsewhere.
fn behind_leaders(demand: &mut Demand, riders: &mut Riders, party: &Party, world: World<'_>) {
    let mut leaders: VecDeque<(usize, PodKey)> = taken(demand, &party.leaders).into();
    let because = (!leaders.is_empty())
        .then(|| "it fits on no node with one of those that it has to stand beside".to_owned());
    let mut all = taken(demand, &party.bound);
    if let Some(Seated { pods, elsewhere }) = &party.seated {
        let mut pods = pods.clone();
        all.retain(|(shape, pod)| {
            let Some(room) = pods.get_mut(shape).filter(|room| **room > 0) else { return true };
            *room -= 1;
            demand.shapes[*shape].pods.push(pod.clone());
            false
        });
        leaders = sent(demand, leaders, elsewhere).into();
    }
    let mut left = &all[..];
    // How many followers of one shape a leader of another takes: found out once.
    let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    while let Some((follower, _)) = left.first() {
        let Some(leader) = leaders.pop_front() else { break };
        let alike = left.iter().take_while(|(shape, _)| shape == follower).count();
        let pair = (leader.0, *follower);
        let most = match known.get(&pair).filter(|most| **most < alike) {
            Some(most) => *most,
            None => most_beside(demand, &leader, left, world),
        };
        if most < alike {
            known.insert(pair, most);
        }
        let mut pods = vec![leader];
        pods.extend_from_slice(&left[..most]);
        left = &left[most..];
        add(demand, riders, &pods, world);
    }
    for (shape, pod) in leaders {
        demand.shapes[shape].pods.push(pod);
    }
    if party.seated.is_none() {
        return bar(demand, left, because);
    }
    // The ordinary rules say why they fit nowhere beside those that run.
    for (shape, pod) in left {
        demand.shapes[*shape].pods.push(pod.clone());
    }
}

/// Returns how many of these pods fit on one node with their leader.
fn most_beside(
    demand: &Demand,
    leader: &(usize, PodKey),
    left: &[(usize, PodKey)],
    world: World<'_>,
) -> usize {
    let holds = |count: usize| {
        let mut pods = vec![leader.clone()];
        pods.extend_from_slice(&left[..count]);
        fits(demand, &pods, world).is_some()
    };
    most(left.len(), holds)
}

/// Makes pods ask for other nodes than those: each is of a new shape then.
fn sent(
    demand: &mut Demand,
    pods: impl IntoIterator<Item = (usize, PodKey)>,
    elsewhere: &Requirements,
) -> Vec<(usize, PodKey)> {
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut sent = |(place, pod): (usize, PodKey)| {
        let place = *places.entry(place).or_insert_with(|| {
            let mut shape = Shape { pods: Vec::new(), ..demand.shapes[place].clone() };
            shape.ask.alternatives.iter_mut().for_each(|way| way.add_all(elsewhere));
            demand.shapes.push(shape);
            demand.shapes.len() - 1
        });
        (place, pod)
    };
    pods.into_iter().map(&mut sent).collect()
}

/// Returns the largest number up to `most` for which this holds; what holds for a number holds for smaller ones.
fn most(most: usize, holds: impl Fn(usize) -> bool) -> usize {
    if holds(most) {
        return most;
    }
    let (mut most, mut least) = (most, 0);
    while most - least > 1 {
        let middle = usize::midpoint(most, least);
        if holds(middle) { least = middle } else { most = middle }
    }
    least
}

/// Takes all pods of these shapes out of the demand.
fn taken(demand: &mut Demand, shapes: &[usize]) -> Vec<(usize, PodKey)> {
    let mut pods = Vec::new();
    for shape in shapes {
        pods.extend(std::mem::take(&mut demand.shapes[*shape].pods).into_iter().map(|pod| (*shape, pod)));
    }
    pods
}

/// Adds a bundle to the demand.
fn add(demand: &mut Demand, riders: &mut Riders, pods: &[(usize, PodKey)], world: World<'_>) {
    let Some(((_, first), others)) = pods.split_first() else { return };
    let Some(mut bundle) = fits(demand, pods, world) else {
        // One pod alone: the ordinary rules say why it fits nowhere.
        demand.shapes[pods[0].0].pods.extend(pods.iter().map(|(_, pod)| pod.clone()));
        return;
    };
    bundle.pods.push(first.clone());
    riders.insert(first.clone(), others.iter().map(|(_, pod)| pod.clone()).collect());
    demand.shapes.push(bundle);
}

/// Bars pods, for this or for want of anybody to stand beside.
fn bar(demand: &mut Demand, left: &[(usize, PodKey)], because: Option<String>) {
    if left.is_empty() {
        return;
    }
    let mut miss = affinity::miss(label::HOSTNAME, 0);
    if let Some(because) = because {
        miss.because = because;
    }
    let mut by_priority: BTreeMap<i32, Vec<PodKey>> = BTreeMap::new();
    for (shape, pod) in left {
        by_priority.entry(demand.shapes[*shape].priority).or_default().push(pod.clone());
    }
    for (priority, mut pods) in by_priority {
        pods.sort();
        demand.barred.push(Barred { priority, pods, miss: miss.clone() });
    }
}

/// Returns what these pods come to as one, where they may share a node and some node holds them.
fn fits(demand: &Demand, pods: &[(usize, PodKey)], world: World<'_>) -> Option<Shape> {
    let World { topology, supply, memo, nodes, .. } = world;
    let shape = as_one(demand, pods, topology)?;
    let ask = &shape.ask;
    let stands =
        |standing: &Standing<'_>| !standing.node.is_deleting && existing::why(standing, &shape).is_ok();
    let is_held = || memo.is_held(ask, || is_held_by_new(supply, ask));
    (nodes.iter().any(stands) || is_held()).then_some(shape)
}

/// Returns whether a new node of some size holds this.
fn is_held_by_new(supply: &Supply<'_>, ask: &Ask) -> bool {
    supply.pools.iter().any(|pool| {
        let mut large = pool.kinds.iter().filter(|kind| ask.requests.fit_in(&kind.kind.allocatable));
        large.any(|kind| kind.offerings.iter().any(|usable| pool.takes((kind, usable), ask)))
    })
}

/// Returns what pods come to as one, without a name.
fn as_one(demand: &Demand, pods: &[(usize, PodKey)], topology: &Topology) -> Option<Shape> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for (shape, _) in pods {
        *counts.entry(*shape).or_default() += 1;
    }
    let mut bundle: Option<Shape> = None;
    // On one node they are in one domain of every label.
    let (mut company, mut domains) = (Company::default(), BTreeMap::<usize, Tally>::new());
    for (place, count) in counts {
        let shape = &demand.shapes[place];
        let others: Vec<HostRole> =
            shape.ask.company.iter().filter(|role| role.rule != HostRule::Beside).copied().collect();
        if company.most(&others) < count || (count > 1 && !shape.ask.host_ports.is_empty()) {
            return None;
        }
        company.put(&others, count);
        for role in shape.roles.iter().filter(|role| keeps_apart(topology, **role)) {
            let there = domains.entry(role.group).or_default();
            if anti_affinity::more(role.is_bound, role.counted > 0, *there) < count {
                return None;
            }
            there.add(role.is_bound, role.counted, count);
        }
        let several = times(shape, count);
        bundle = Some(match bundle {
            None => several,
            Some(bundle) => joined(bundle, &several)?,
        });
    }
    let mut bundle = bundle.filter(|_| has_order(demand, pods, topology))?;
    for role in &mut bundle.ask.company {
        // Those that it has to stand beside come along.
        role.is_bound &= role.rule != HostRule::Beside;
    }
    Some(bundle)
}

/// Returns what so many pods of a shape come to as one, without a name. They may all stand by the same alternative.
fn times(shape: &Shape, count: usize) -> Shape {
    let mut several = Shape { pods: Vec::new(), ..shape.clone() };
    let factor = i64::try_from(count).unwrap_or(i64::MAX);
    for (name, amount) in shape.ask.requests.iter() {
        several.ask.requests.set(name.clone(), amount.saturating_mul(factor));
    }
    several.ask.volumes = shape.ask.volumes.times(count);
    several.ask.company.iter_mut().for_each(|role| role.counted *= count);
    several.roles.iter_mut().for_each(|role| role.counted *= count);
    several
}

/// Returns a bundle with more pods; `None` where no node could be what all ask for.
fn joined(mut bundle: Shape, shape: &Shape) -> Option<Shape> {
    let (ask, more) = (&mut bundle.ask, &shape.ask);
    if ports::why(&more.host_ports, &ask.host_ports).is_err() {
        return None;
    }
    ask.requests.add(&more.requests);
    ask.host_ports.extend(more.host_ports.iter().cloned());
    ask.volumes.add(&more.volumes);
    ask.alternatives = pairs(&ask.alternatives, &more.alternatives);
    let (own, others) = (&ask.stance.tolerations, &more.stance.tolerations);
    let both = own.iter().flat_map(|one| others.iter().map(|other| one.meet(other)));
    let both: BTreeSet<Toleration> = both.flatten().collect();
    ask.stance.tolerations = both.into_iter().collect();
    ask.stance.refuses_soft |= more.stance.refuses_soft;
    ask.company = summed_hosts(ask, &more.company);
    bundle.roles = summed(&bundle.roles, &shape.roles);
    bundle.priority = bundle.priority.max(shape.priority);
    (!bundle.ask.alternatives.is_empty()).then_some(bundle)
}

/// Returns whether the pods can be bound one after the other: each that has to stand beside others comes after one of
/// them, or is the first of those that mean themselves.
fn has_order(demand: &Demand, pods: &[(usize, PodKey)], topology: &Topology) -> bool {
    let shapes: BTreeSet<usize> = pods.iter().map(|(shape, _)| *shape).collect();
    let near = |shape: usize| {
        let of_hosts = demand.shapes[shape].ask.company.iter();
        let of_hosts = of_hosts.filter(|role| role.rule == HostRule::Beside);
        let others = demand.shapes[shape].roles.iter();
        let others = others.filter(|role| topology.groups[role.group].kind == GroupKind::Affinity);
        let hosts = of_hosts.map(|role| (role.group, role.is_bound, role.counted > 0));
        hosts.chain(others.map(|role| (role.group, role.is_bound, role.counted > 0))).collect::<Vec<_>>()
    };
    let mut waiting: BTreeMap<usize, Vec<_>> = shapes.iter().map(|shape| (*shape, near(*shape))).collect();
    let mut there: BTreeSet<usize> = BTreeSet::new();
    while let Some(shape) = waiting.iter().find_map(|(shape, near)| {
        let comes = |(group, bound, counts): &(usize, bool, bool)| !bound || *counts || there.contains(group);
        near.iter().all(comes).then_some(*shape)
    }) {
        let near = waiting.remove(&shape).unwrap_or_default();
        there.extend(near.into_iter().filter(|(_, _, counts)| *counts).map(|(group, _, _)| group));
    }
    waiting.is_empty()
}

fn keeps_apart(topology: &Topology, role: Role) -> bool {
    matches!(topology.groups[role.group].kind, GroupKind::AntiAffinity)
}

fn pairs(one: &[Requirements], other: &[Requirements]) -> Vec<Requirements> {
    let mut pairs: BTreeSet<Requirements> = BTreeSet::new();
    for first in one {
        for second in other.iter().filter(|second| second.intersects(first).is_ok()) {
            let mut both = first.clone();
            both.add_all(second);
            pairs.insert(both);
        }
    }
    pairs.into_iter().collect()
}

fn summed(one: &[Role], other: &[Role]) -> Vec<Role> {
    let mut sums: BTreeMap<usize, Role> = one.iter().map(|role| (role.group, *role)).collect();
    for role in other {
        let sum = sums.entry(role.group).or_insert(Role { group: role.group, is_bound: false, counted: 0 });
        sum.is_bound |= role.is_bound;
        sum.counted += role.counted;
    }
    sums.into_values().collect()
}

fn summed_hosts(ask: &Ask, other: &[HostRole]) -> Vec<HostRole> {
    let mut sums: BTreeMap<usize, HostRole> = ask.company.iter().map(|role| (role.group, *role)).collect();
    for role in other {
        let sum = sums.entry(role.group).or_insert(HostRole { is_bound: false, counted: 0, ..*role });
        sum.is_bound |= role.is_bound;
        sum.is_free &= role.is_free && !sum.is_bound;
        sum.counted += role.counted;
    }
    sums.into_values().collect()
}

/// Names the pods that come along after each that stands for them.
pub fn with_riders(pods: &mut Vec<PodKey>, riders: &Riders) {
    let more: Vec<PodKey> = pods.iter().filter_map(|pod| riders.get(pod)).flatten().cloned().collect();
    if !more.is_empty() {
        pods.extend(more);
        pods.sort();
    }
}
