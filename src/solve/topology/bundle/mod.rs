//! Bundles: pods that must share a node, treated as one pod with their combined requirements.
//!
//! Created if host affinity constrains pending pods and none of their required pods is running; and, on request, if the
//! nodes of running ones lack capacity for all. The better of both is chosen elsewhere. A bundle is placed like a pod,
//! under the name of its first pod, and the others follow. Bundles are as large as a node can hold: pods that all
//! require each other (here), or one leader with its followers (`led`). Their combined requirements are computed in
//! `one`.

mod led;
mod one;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{LabelKey, Operator, PodKey, Requirement, Requirements, label};
use crate::solve::demand::{Barred, Demand, Shape};
use crate::solve::existing::{self, Standing};
use crate::solve::fit::affinity;
use crate::solve::fit::company::HostRule;
use crate::solve::memo::Memo;
use crate::solve::supply::Supply;

use super::Topology;
use one::{Counts, fits};

/// The followers in each bundle, by the pod that represents it.
pub type Riders = BTreeMap<PodKey, Vec<PodKey>>;

/// Inputs for creating bundles.
#[derive(Clone, Copy)]
pub struct World<'w> {
    /// The groups.
    pub topology: &'w Topology,
    /// What can be bought.
    pub(in crate::solve) supply: &'w Supply<'w>,
    /// Cached results about it.
    pub(in crate::solve) memo: &'w Memo,
    /// The existing nodes.
    pub nodes: &'w [Standing<'w>],
    /// Whether to bundle pods that could be beside running ones, if those nodes lack capacity for all.
    pub leads: bool,
}

/// Bundles pods that must share a node.
#[must_use]
pub fn bundled<'d>(demand: &'d Demand, world: World<'_>) -> (Cow<'d, Demand>, Riders) {
    let mut riders = Riders::new();
    let parties = parties(demand, world);
    if parties.is_empty() {
        return (Cow::Borrowed(demand), riders);
    }
    let mut demand = demand.clone();
    for party in parties {
        // Self-matching pods do not start on their own if other pods that they require are pending too.
        if party.is_closed && party.leaders.is_empty() {
            together(&mut demand, &mut riders, &party.bound, world);
        } else {
            led::behind_leaders(&mut demand, &mut riders, &party, world);
        }
    }
    demand.shapes.retain(|shape| !shape.pods.is_empty());
    demand.shapes.sort_by(|one, other| {
        let key = |shape: &Shape| (std::cmp::Reverse(shape.priority), shape.ask.clone(), shape.roles.clone());
        key(one).cmp(&key(other)).then_with(|| one.pods.cmp(&other.pods))
    });
    (Cow::Owned(demand), riders)
}

/// A co-location group: shapes that host affinity ties together.
struct Party {
    /// The constrained shapes, by index.
    bound: Vec<usize>,
    /// The shapes that are only counted.
    leaders: Vec<usize>,
    /// Whether some are both constrained and counted: without leaders all must share one node.
    is_closed: bool,
    /// The pods that fit beside running ones, if required pods are running.
    seated: Option<Seated>,
}

/// Pods that fit on nodes with running pods that they must be beside.
struct Seated {
    /// Number of pods by shape.
    pods: BTreeMap<usize, usize>,
    /// The requirement that excludes those nodes.
    elsewhere: Requirements,
}

/// Returns the co-location groups whose pods do not all fit beside running ones, and whose required pods do not come
/// with every node.
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
        // Self-matching pods go where one of them runs, and nowhere else.
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

/// Returns whether all pods of these shapes fit on existing nodes if pending pods are placed there in order.
fn is_seated(demand: &Demand, bound: &BTreeSet<usize>, world: World<'_>) -> bool {
    let left = existing::fill(demand, &mut world.nodes.to_vec());
    bound.iter().all(|place| left[*place] == 0)
}

/// Returns the constrained pods that fit beside running ones if no leaders are placed, which might lead others
/// elsewhere.
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

/// Bundles the pods of a co-location group for one node: as many as a node holds.
fn together(demand: &mut Demand, riders: &mut Riders, bound: &[usize], world: World<'_>) {
    let pods = taken(demand, bound);
    let most = most(pods.len(), |count| fits(demand, &counted(&pods[..count]), world).is_some());
    let (placed, left) = pods.split_at(most);
    add(demand, riders, placed, world);
    let because =
        (most > 0).then(|| format!("they have to share a node, and no node holds more than {most} of them"));
    bar(demand, left, because);
}

/// Returns the largest number up to `most` for which this holds; it must hold for all smaller numbers then.
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

/// Removes all pods of these shapes from the demand and returns them.
fn taken(demand: &mut Demand, shapes: &[usize]) -> Vec<(usize, PodKey)> {
    let mut pods = Vec::new();
    for shape in shapes {
        pods.extend(std::mem::take(&mut demand.shapes[*shape].pods).into_iter().map(|pod| (*shape, pod)));
    }
    pods
}

/// Counts pods by shape.
fn counted(pods: &[(usize, PodKey)]) -> Counts {
    let mut counts = Counts::new();
    pods.iter().for_each(|(shape, _)| *counts.entry(*shape).or_default() += 1);
    counts
}

/// Adds a bundle to the demand.
fn add(demand: &mut Demand, riders: &mut Riders, pods: &[(usize, PodKey)], world: World<'_>) {
    let Some(((_, first), others)) = pods.split_first() else { return };
    let Some(mut bundle) = fits(demand, &counted(pods), world) else {
        // A single pod: the ordinary rules explain why it fits nowhere.
        demand.shapes[pods[0].0].pods.extend(pods.iter().map(|(_, pod)| pod.clone()));
        return;
    };
    bundle.pods.push(first.clone());
    riders.insert(first.clone(), others.iter().map(|(_, pod)| pod.clone()).collect());
    demand.shapes.push(bundle);
}

/// Bars pods, for `because` or because no pod that they require is left.
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

/// Adds the followers of the pods that represent bundles.
pub fn with_riders(pods: &mut Vec<PodKey>, riders: &Riders) {
    let more: Vec<PodKey> = pods.iter().filter_map(|pod| riders.get(pod)).flatten().cloned().collect();
    if !more.is_empty() {
        pods.extend(more);
        pods.sort();
    }
}
