//! Surplus pods: how many pods of each kind fit together, if limits are too low for all and rules between pods bind
//! some.
//!
//! Pods are assigned to domains before limits are applied, so an unplaced pod can take the domain of a placed one: with
//! more replicas Pending, fewer would be placed. Here pods are added kind by kind, the highest priority first, as many
//! of each kind as fit beside those before; the fleet is planned without the rest. The result does not depend on how
//! many more are Pending, because the numbers that are tried have a fixed order. Tries and their pods are bounded, and
//! additional Pending pods do not use up that bound. Kinds that no limit and no rule can leave unplaced are not tried.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::model::{Namespace, Pod, PodKey, PodPlace, PodSpec, ResourceName};
use crate::snapshot::Snapshot;

use super::capped;
use super::demand::Ask;
use super::fit::limits::{self, Counter};
use super::fleet;
use super::ledger;
use super::shrink::trial::Scene;
use super::shrink::{composed, imagined, whole};
use super::solution::Solution;
use super::supply::{Kind, PoolSupply, Usable};

/// Maximum number of trial fleets, and of pending pods in all of them together. Counting a thousand pods of one kind
/// takes a dozen fleets.
const TRIES_MAX: usize = 64;
const PODS_MAX: usize = 30_000;

/// Maximum number of pending pods in all trial fleets for whole kinds. This effort grows with the number of pending
/// pods, so it is bounded apart from the effort spent on numbers.
const WHOLE_MAX: usize = 20_000;

/// Number of fleets that a fleet with a second search counts as.
const AGAIN: usize = 8;

/// Maximum number of pods of a fleet that is searched again.
const AGAIN_MAX: usize = 100;

/// Maximum number of existing nodes beside which pods are counted: each takes time in every try.
const NODES_MAX: usize = 300;

/// Factor by which the tried number grows while all pods fit.
const GROWTH: usize = 4;

/// Number of tries beyond the first number that does not fit, each larger than the one before by one of `BEYOND_PART`
/// parts: sometimes a fleet is found for more pods but not for fewer.
const BEYOND_MAX: usize = 4;
const BEYOND_PART: usize = 4;

/// Pending pods that the scheduler cannot tell apart, by name.
struct Alike<'s> {
    spec: &'s PodSpec,
    namespace: &'s Namespace,
    pods: Vec<&'s Pod>,
}

/// Returns the worlds to plan instead: without the pending pods that limits leave unplaced beside the others, and the
/// same without all pods of a lower priority than the first of these; empty if there is no reason to look, or it takes
/// too long. `looked_again` plans a world as closely as the whole one was planned, so pods placed only that way are not
/// counted short.
pub(super) fn without(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    solution: &Solution,
    looked_again: &dyn Fn(&Snapshot) -> Solution,
) -> Vec<Snapshot> {
    let is_asked = solution.report.left_over() > 0
        && ledger::has_limits(scene.market.limiting(scene.policy))
        && !scene.topology.is_empty()
        && snapshot.nodes.len() <= NODES_MAX
        && bind(scene, snapshot, solution);
    if !is_asked {
        return Vec::new();
    }
    let (free, kinds): (Vec<Alike<'_>>, Vec<Alike<'_>>) =
        kinds(snapshot).into_iter().partition(|kind| is_free(scene, kind));
    let counts = vec![0; kinds.len()];
    let others = snapshot.pods.iter().filter(|pod| !is_counted(pod)).collect();
    let (most, spent) = (Most::of(scene, snapshot), Spent::default());
    let world = World { snapshot, kinds: &kinds, others };
    let fullest = RefCell::new((0, counts.clone()));
    let mut search = Search {
        scene,
        world,
        kinds: &kinds,
        counts,
        fullest,
        left: 0,
        most,
        spent,
        looked_again,
        is_known_short: free.is_empty(),
        is_hard: false,
    };
    if snapshot.nodes.iter().any(|node| node.is_deleting) {
        search.left = fleet::left_over(scene, &search.world.with(&search.counts));
    }
    let mut first = 0;
    for alike in kinds.chunk_by(|one, other| one.spec.priority == other.spec.priority) {
        let places: Vec<usize> = (first..first + alike.len()).collect();
        first += alike.len();
        search.add_class(&places, first == kinds.len());
    }
    search.worlds(&free)
}

/// Returns whether pods of a kind are placed regardless of other pending pods: no limit counts the nodes created for
/// them, and no rule between pods applies to them.
fn is_free(scene: &Scene<'_>, kind: &Alike<'_>) -> bool {
    scene.topology.roles_of(kind.spec, kind.namespace).is_empty()
        && capped::is_unlimited(scene, &Ask::of(kind.spec))
}

/// Returns whether limits leave no node of some size beside a fleet.
fn bind(scene: &Scene<'_>, snapshot: &Snapshot, solution: &Solution) -> bool {
    let left = whole::left(scene, snapshot.nodes.iter(), &solution.target.new);
    scene.supply.pools.iter().any(|pool| {
        let ways = pool.kinds.iter().flat_map(|kind| kind.offerings.iter().map(move |usable| (kind, usable)));
        let charges =
            |(kind, usable): (&Kind<'_>, &Usable<'_>)| ledger::charges(&left, pool.pool, usable.vm(kind));
        ways.map(charges).any(|charges| limits::exceeded(&left, &charges).next().is_some())
    })
}

/// Adds the pods that still fit beside a fleet for such a world, and reports why the others do not; `None` if the rules
/// refuse that.
pub(super) fn with_rest(scene: &Scene<'_>, snapshot: &Snapshot, solution: Solution) -> Option<Solution> {
    let between = imagined::after(scene, snapshot, &solution.target);
    let rest = fleet::without(scene, &between);
    let both = composed::composed(scene, &between, (solution, rest));
    whole::is_right(scene, snapshot, &both).then_some(both)
}

/// Returns whether two fleets leave different numbers of pods of some kind unplaced.
pub(super) fn places_others(snapshot: &Snapshot, one: &Solution, other: &Solution) -> bool {
    let pods: BTreeMap<&PodKey, &Pod> = snapshot.pods.iter().map(|pod| (&pod.key, pod)).collect();
    let left = |solution: &Solution| {
        let mut left: BTreeMap<(&Namespace, &PodSpec), usize> = BTreeMap::new();
        let unplaced = solution.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
        for pod in unplaced.filter_map(|key| pods.get(key)) {
            *left.entry((&pod.key.namespace, &*pod.spec)).or_default() += 1;
        }
        left
    };
    left(one) != left(other)
}

/// Lists pending pods by kind: the highest priority first, and within a priority pods with affinity last.
fn kinds<'s>(snapshot: &'s Snapshot) -> Vec<Alike<'s>> {
    let mut by_content: BTreeMap<(Reverse<i32>, bool, &Namespace, &PodSpec), Vec<&Pod>> = BTreeMap::new();
    for pod in snapshot.pods.iter().filter(|pod| is_counted(pod)) {
        let follows = !pod.spec.affinity.is_empty();
        let content = (Reverse(pod.spec.priority), follows, &pod.key.namespace, &*pod.spec);
        by_content.entry(content).or_default().push(pod);
    }
    let kind = |((.., namespace, spec), mut pods): ((_, _, &'s Namespace, &'s PodSpec), Vec<&'s Pod>)| {
        pods.sort_by_key(|pod| &pod.key);
        Alike { spec, namespace, pods }
    };
    by_content.into_iter().map(kind).collect()
}

/// Returns whether a pod is counted.
fn is_counted(pod: &Pod) -> bool {
    pod.place == PodPlace::Waiting && !pod.is_terminating
}

/// Worlds with given numbers of pending pods of each kind.
struct World<'s> {
    snapshot: &'s Snapshot,
    kinds: &'s [Alike<'s>],
    /// Pods that are in every one of them.
    others: Vec<&'s Pod>,
}

impl World<'_> {
    /// Returns the world with these numbers of pending pods of each kind.
    fn with(&self, counts: &[usize]) -> Snapshot {
        let waiting = self.kinds.iter().zip(counts).flat_map(|(kind, count)| &kind.pods[..*count]);
        let mut pods: Vec<Pod> = self.others.iter().chain(waiting).map(|pod| (*pod).clone()).collect();
        pods.sort_by(|one, other| one.key.cmp(&other.key));
        self.snapshot.with_pods(pods)
    }
}

/// Maximum resources that pending pods may use, however they are packed: what limits leave, and what existing nodes
/// have. A resource without a limit is unbounded.
struct Most(Vec<(ResourceName, i64)>);

impl Most {
    fn of(scene: &Scene<'_>, snapshot: &Snapshot) -> Self {
        let ledger = whole::left(scene, snapshot.nodes.iter(), &[]);
        let left = |counter: &Counter| {
            let mut counters = ledger.iter();
            counters.find(|(_, there, _)| *there == counter).map(|(_, _, left)| left.max(0))
        };
        let pools = &scene.supply.pools;
        let largest = |pool: &PoolSupply<'_>, name: &ResourceName| {
            pool.kinds.iter().map(|kind| kind.kind.allocatable.get(name)).max().unwrap_or(0)
        };
        let least = |amount: Option<i64>, of_nodes: Option<i64>| amount.into_iter().chain(of_nodes).min();
        let of_pool = |pool: &PoolSupply<'_>, name: &ResourceName| {
            let own = &pool.pool.name;
            let nodes = left(&Counter::PoolNodes(own.clone()));
            let nodes = nodes.map(|nodes| nodes.saturating_mul(largest(pool, name)));
            least(left(&Counter::PoolResource(own.clone(), name.clone())), nodes)
        };
        let of_resource = |name: ResourceName| {
            let of_pools: Option<Vec<i64>> = pools.iter().map(|pool| of_pool(pool, &name)).collect();
            let of_pools = of_pools.map(|amounts| amounts.into_iter().fold(0, i64::saturating_add));
            let size = pools.iter().map(|pool| largest(pool, &name)).max().unwrap_or(0);
            let nodes = left(&Counter::FleetNodes).map(|nodes| nodes.saturating_mul(size));
            let of_fleet = least(left(&Counter::FleetResource(name.clone())), nodes);
            let made = least(of_pools, of_fleet)?;
            let there = snapshot.nodes.iter().map(|node| node.allocatable.get(&name));
            let most = there.fold(made, i64::saturating_add);
            Some((name, most))
        };
        let names = [ResourceName::Cpu, ResourceName::Memory, ResourceName::Pods];
        Self(names.into_iter().filter_map(of_resource).collect())
    }

    /// Returns whether these numbers of pods of each kind need more.
    fn is_exceeded(&self, kinds: &[Alike<'_>], counts: &[usize]) -> bool {
        self.0.iter().any(|(name, most)| {
            let need = kinds.iter().zip(counts).map(|(kind, count)| {
                let count = i64::try_from(*count).unwrap_or(i64::MAX);
                kind.spec.requests.get(name).saturating_mul(count)
            });
            need.fold(0, i64::saturating_add) > *most
        })
    }
}

/// Effort spent so far.
#[derive(Default)]
struct Spent {
    tries: Cell<usize>,
    /// Pods in fleets that try a number.
    pods: Cell<usize>,
    /// Pods in fleets that try all pods of some kinds.
    whole: Cell<usize>,
}

/// Purpose of a trial fleet.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tried {
    /// Whether all pods of some kinds fit.
    Whole,
    /// Whether a number of pods of one kind fit.
    Number,
}

impl Spent {
    /// Returns whether a world with so many pending pods may be tried, and counts it if so.
    fn lets(&self, tried: Tried, pods: usize) -> bool {
        let (spent, most) = match tried {
            Tried::Whole => (&self.whole, WHOLE_MAX),
            Tried::Number => (&self.pods, PODS_MAX),
        };
        let lets = self.tries.get() < TRIES_MAX && spent.get().saturating_add(pods) <= most;
        if lets {
            self.tries.set(self.tries.get() + 1);
            spent.set(spent.get() + pods);
        }
        lets
    }
}

struct Search<'s> {
    scene: &'s Scene<'s>,
    world: World<'s>,
    kinds: &'s [Alike<'s>],
    /// Known numbers of pods of each kind that fit together.
    counts: Vec<usize>,
    /// Most pods that a trial fleet placed, even if it left some unplaced, and its numbers of each kind.
    fullest: RefCell<(usize, Vec<usize>)>,
    /// Number of pods of removed nodes that are unplaced even if none is pending.
    left: usize,
    most: Most,
    spent: Spent,
    looked_again: &'s dyn Fn(&Snapshot) -> Solution,
    /// Whether it is known that not all kinds fit together.
    is_known_short: bool,
    /// Whether the counted pods fit together only if a fleet is searched again.
    is_hard: bool,
}

impl<'s> Search<'s> {
    /// Adds as many pods of a priority as fit. Before lower priorities use the rest, a second search checks whether all
    /// fit.
    fn add_class(&mut self, places: &[usize], is_last: bool) {
        let all = self.with_all(places);
        let is_known_short = self.is_known_short && is_last && places.len() == self.kinds.len();
        if !is_known_short && self.holds(Tried::Whole, &all) {
            self.counts = all;
        } else if (!is_last || self.is_hard) && self.holds_on_looking_again(Tried::Whole, &all) {
            self.is_hard = true;
            self.counts = all;
        } else {
            self.add(places, true);
        }
    }

    /// Adds as many pods of these kinds as fit, the first kind first. With `is_known_short` not all of them fit.
    fn add(&mut self, places: &[usize], is_known_short: bool) {
        let all = self.with_all(places);
        if !is_known_short && self.holds(Tried::Whole, &all) {
            self.counts = all;
            return;
        }
        match places {
            [] => {}
            [place] => self.counts[*place] = self.most(*place),
            _ => {
                let (first, second) = places.split_at(places.len() / 2);
                self.add(first, false);
                let is_whole = |place: &usize| self.counts[*place] == self.kinds[*place].pods.len();
                // If all of the first half fit, not all of the second half do.
                let is_known_short = first.iter().all(is_whole);
                self.add(second, is_known_short);
            }
        }
    }

    /// Returns the numbers with all pods of these kinds.
    fn with_all(&self, places: &[usize]) -> Vec<usize> {
        let mut counts = self.counts.clone();
        places.iter().for_each(|place| counts[*place] = self.kinds[*place].pods.len());
        counts
    }

    /// Returns how many pods of a kind, of which not all fit, fit beside the counted ones. The same numbers are tried
    /// however many are pending, so more pending pods never place fewer.
    fn most(&self, place: usize) -> usize {
        let most = self.kinds[place].pods.len().saturating_sub(1);
        let holds = |count: usize| {
            let mut counts = self.counts.clone();
            counts[place] = count;
            count <= most
                && (self.holds(Tried::Number, &counts)
                    || self.is_hard && self.holds_on_looking_again(Tried::Number, &counts))
        };
        let (mut sure, mut next) = (0, GROWTH);
        while holds(next) {
            (sure, next) = (next, next.saturating_mul(GROWTH));
        }
        let mut beyond = next;
        for _ in 0..BEYOND_MAX {
            beyond = beyond.saturating_add(beyond.div_ceil(BEYOND_PART));
            if holds(beyond) {
                (sure, next) = (beyond, beyond.saturating_add(beyond.div_ceil(BEYOND_PART)));
            }
        }
        while next - sure > 1 {
            let between = sure.midpoint(next);
            if holds(between) {
                sure = between;
            } else {
                next = between;
            }
        }
        sure
    }

    /// Returns whether these numbers of pods of each kind all fit together.
    fn holds(&self, tried: Tried, counts: &[usize]) -> bool {
        !self.most.is_exceeded(self.kinds, counts)
            && self.spent.lets(tried, counts.iter().sum())
            && self.leaves_none(counts, fleet::left_over(self.scene, &self.world.with(counts)))
    }

    /// Like [`Self::holds`], but searches each fleet again, which takes several times as long.
    fn holds_on_looking_again(&self, tried: Tried, counts: &[usize]) -> bool {
        counts.iter().sum::<usize>() <= AGAIN_MAX
            && !self.most.is_exceeded(self.kinds, counts)
            && self.spent.lets(tried, AGAIN * counts.iter().sum::<usize>())
            && self.leaves_none(counts, (self.looked_again)(&self.world.with(counts)).report.left_over())
    }

    /// Returns the worlds to plan: with the counted pods, and with those that fit anyway.
    fn worlds(self, free: &'s [Alike<'s>]) -> Vec<Snapshot> {
        let Self { mut world, counts, kinds, fullest, is_hard, .. } = self;
        let is_whole = kinds.iter().zip(&counts).all(|(kind, count)| kind.pods.len() == *count);
        let (placed, fullest) = fullest.take();
        // Beside many other pods that fit anyway a fleet may not be found, so those are added afterwards.
        let without_free = (!free.is_empty()).then(|| world.with(&counts));
        world.others.extend(free.iter().flat_map(|kind| &kind.pods));
        let mut all = Vec::new();
        all.extend((!is_whole || is_hard).then(|| world.with(&counts)));
        // Pods of a lower priority, however many, do not affect those of a higher one, which are planned before them.
        let alone = without_classes_after_the_first_that_is_short(kinds, &counts);
        all.extend((alone != counts).then(|| world.with(&alone)));
        all.extend((placed > counts.iter().sum()).then(|| world.with(&fullest)));
        all.extend(without_free);
        all
    }

    /// Returns whether a fleet with these numbers leaves none of them unplaced, given how many it leaves; records the
    /// fullest fleet.
    fn leaves_none(&self, counts: &[usize], left: usize) -> bool {
        let left = left.saturating_sub(self.left);
        let placed = counts.iter().sum::<usize>().saturating_sub(left);
        let mut fullest = self.fullest.borrow_mut();
        if placed > fullest.0 {
            *fullest = (placed, counts.to_vec());
        }
        left == 0
    }
}

/// Returns the numbers without pods of a lower priority than the first kind of which not all fit.
fn without_classes_after_the_first_that_is_short(kinds: &[Alike<'_>], counts: &[usize]) -> Vec<usize> {
    let both = || kinds.iter().zip(counts);
    let short = both().find(|(kind, count)| kind.pods.len() > **count);
    let is_before =
        |kind: &Alike<'_>| short.is_none_or(|(short, _)| kind.spec.priority >= short.spec.priority);
    both().map(|(kind, count)| if is_before(kind) { *count } else { 0 }).collect()
}
