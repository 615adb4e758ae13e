//! Filters the substitutes of new nodes by rules of pods elsewhere that count the node, and by limits.
//!
//! Whether a substitute holds the node's own pods was checked when it was found. Here each one is checked alone, with
//! the other nodes as planned: it must count in the same domain as its node for every required spread of the cluster,
//! and keep pools and fleet within their limits. Substitutes needed for `minValues` are kept, because the user
//! requested that choice. Never adds a substitute.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use crate::catalog::Offered;
use crate::model::{
    CapacityType, InstanceType, LabelKey, Offering, Pod, PodSpec, Pool, PoolName, Requirement, Requirements,
    SkuName, Strength, Zone, label,
};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::fit::limits::{self, Charges, Ledger};
use super::fit::taints;
use super::ledger::{self, Limiting, Vm};
use super::market::{Market, Offers};
use super::price::{self, PriceBook, Uncommitted};
use super::solution::{NewNode, Solution, Substitute};
use super::topology::group::{self, Group, GroupKind, Spread};

/// Keeps only those substitutes of new nodes with which the rest of the fleet still meets its rules.
pub(super) fn keep(snapshot: &Snapshot, policy: &Policy, solution: &mut Solution) {
    let new = &mut solution.target.new;
    if new.iter().all(|node| node.substitutes.is_empty()) {
        return;
    }
    let rules = rules(snapshot);
    let limiting = Limiting { policy, quota: snapshot.quota.as_ref() };
    if rules.is_empty() && !ledger::has_limits(limiting) {
        return;
    }
    let offers = &Offers::of(snapshot, policy);
    let ledger = left(snapshot, limiting);
    let keys = keys(&rules);
    let asked = asked(policy, &keys);
    let mut table = Table { policy, rules: &rules, keys, asked, kinds: kinds(offers, policy), ledger };
    for node in &*new {
        let charges = table.charges(node);
        table.ledger.take(&charges, 1);
    }
    // Equal nodes are next to each other and keep the same substitutes.
    let is_first = |number: usize| number == 0 || !is_alike(&new[number - 1], &new[number]);
    let firsts: Vec<usize> = (0..new.len()).filter(|number| is_first(*number)).collect();
    let kept: Vec<Vec<Substitute>> = firsts.par_iter().map(|first| table.kept(&new[*first])).collect();
    let ends = firsts.iter().copied().skip(1).chain([new.len()]);
    for ((first, end), kept) in firsts.iter().zip(ends).zip(kept) {
        new[*first..end].iter_mut().for_each(|node| node.substitutes.clone_from(&kept));
    }
}

/// Returns what is left of all limits beside the existing nodes.
fn left(snapshot: &Snapshot, limiting: Limiting<'_>) -> Ledger {
    let policy = limiting.policy;
    let nodes = &snapshot.nodes;
    // Only the cost limit needs their cost.
    let cost = policy.fleet.limits.cost_per_month.map(|_| {
        price::cost(nodes, &Market::of(snapshot, policy), &PriceBook::new(&policy.fleet.prices)).effective
    });
    ledger::opened(limiting, nodes, &Uncommitted(Vec::new()), cost.unwrap_or_default())
}

/// Nodes that a required spread counts, and the label by which it counts them.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rule {
    key: LabelKey,
    spread: Spread,
}

/// Returns the required spreads of all pods that are not terminating, without duplicates that count the same nodes.
fn rules(snapshot: &Snapshot) -> Vec<Rule> {
    let mut seen: BTreeSet<usize> = BTreeSet::new();
    let mut rules = BTreeSet::new();
    let is_meant = |pod: &&Pod| !pod.is_terminating && !pod.is_daemon && !pod.key.is_placeholder();
    for pod in snapshot.pods.iter().filter(is_meant) {
        // Pods of a workload share their spec.
        if pod.spec.spread.is_empty() || !seen.insert((&raw const *pod.spec).addr()) {
            continue;
        }
        rules.extend(rules_of(&pod.spec, pod));
    }
    rules.into_iter().collect()
}

fn rules_of<'p>(spec: &'p PodSpec, pod: &'p Pod) -> impl Iterator<Item = Rule> + 'p {
    let required = || spec.spread.iter().filter(|constraint| constraint.strength == Strength::Required);
    let keys: BTreeSet<LabelKey> = required().map(|constraint| constraint.topology_key.clone()).collect();
    required().filter_map(move |constraint| {
        let Group { key, kind, .. } = group::spread(constraint, (spec, &pod.key.namespace), &keys);
        let GroupKind::Spread(spread) = kind else { return None };
        // The allowed skew does not affect which nodes count.
        Some(Rule { key, spread: Spread { max_skew: 0, min_domains: None, ..spread } })
    })
}

/// Returns the labels that these rules read, without the hostname, which does not depend on the node's size or zone.
fn keys(rules: &[Rule]) -> BTreeSet<LabelKey> {
    let of_rule = |Rule { key, spread }: &Rule| {
        let asked = spread.alternatives.iter().flatten().flat_map(Requirements::iter).map(|(key, _)| key);
        asked.chain(&spread.keys).chain([key]).cloned().collect::<Vec<_>>()
    };
    rules.iter().flat_map(of_rule).filter(|key| key.as_str() != label::HOSTNAME).collect()
}

/// Returns the requirements on these labels that nodes of each pool meet before a size is chosen.
fn asked<'a>(policy: &'a Policy, keys: &BTreeSet<LabelKey>) -> BTreeMap<&'a PoolName, Requirements> {
    let of_pool = |pool: &'a Pool| {
        let all = pool.node_requirements();
        let mut read = Requirements::none();
        for key in keys {
            all.get(key.as_str()).into_iter().for_each(|asked| read.set(key.clone(), asked.clone()));
        }
        (&pool.name, read)
    };
    policy.pools.values().map(of_pool).collect()
}

/// Instance types that a pool is offered, by name.
type Sizes<'a> = BTreeMap<&'a SkuName, &'a InstanceType>;

/// Instance types that each pool is offered: pools of a class share them, unless an overlay matches one of the pools.
type Kinds<'a> = BTreeMap<&'a PoolName, Arc<Sizes<'a>>>;

fn kinds<'a>(offers: &'a Offers, policy: &'a Policy) -> Kinds<'a> {
    let mut known: Vec<(&Offered, Arc<Sizes<'a>>)> = Vec::new();
    let mut kinds = Kinds::new();
    for pool in policy.pools.values() {
        let Some(offered) = offers.to(pool) else { continue };
        let before = known.iter().find(|(before, _)| std::ptr::eq(*before, offered));
        let sizes = before.map(|(_, sizes)| Arc::clone(sizes)).unwrap_or_else(|| {
            let sizes = Arc::new(offered.types.iter().map(|kind| (&kind.name, kind)).collect());
            known.push((offered, Arc::clone(&sizes)));
            sizes
        });
        kinds.insert(&pool.name, sizes);
    }
    kinds
}

/// Lookup tables for checking substitutes.
struct Table<'a> {
    policy: &'a Policy,
    rules: &'a [Rule],
    /// Labels that the rules read, without the hostname.
    keys: BTreeSet<LabelKey>,
    /// Requirements on those labels that nodes of each pool meet before a size is chosen.
    asked: BTreeMap<&'a PoolName, Requirements>,
    kinds: Kinds<'a>,
    /// Remaining limits beside all nodes, including the new ones.
    ledger: Ledger,
}

/// Size, zone and capacity type of a node.
#[derive(Clone, Copy)]
struct Way<'a> {
    size: &'a SkuName,
    zone: &'a Zone,
    capacity_type: CapacityType,
}

impl<'a> Way<'a> {
    /// Returns the value of a label that names the size, zone or capacity type.
    fn label(self, key: &str) -> Option<&'a str> {
        match key {
            label::INSTANCE_TYPE => Some(self.size.as_str()),
            label::ZONE => Some(self.zone.as_str()),
            label::CAPACITY_TYPE => Some(self.capacity_type.as_str()),
            _ => None,
        }
    }
}

/// Where a node counts: for each rule the label's value, or `None` if the rule does not count the node.
type Counted = Vec<Option<Option<Requirement>>>;

impl Table<'_> {
    fn kept(&self, node: &NewNode) -> Vec<Substitute> {
        let Some(pool) = self.policy.pools.get(&node.pool) else { return node.substitutes.clone() };
        let own = Way { size: &node.size, zone: &node.zone, capacity_type: node.capacity_type };
        let counted = self.counted(pool, &self.labels(pool, node, own));
        let charges = self.charges(node);
        let mut left = self.ledger.clone();
        left.give_back(&charges);
        let fits = |other: &&Substitute| {
            let Substitute { size, zone, capacity_type, .. } = other;
            let way = Way { size, zone, capacity_type: *capacity_type };
            let counts_alike = || {
                self.are_read_alike(pool, own, way)
                    || self.is_counted_alike(pool, &self.labels(pool, node, way), &counted)
            };
            node.variety.among.contains(other)
                || counts_alike() && self.has_room(&left, (pool, other), &charges)
        };
        node.substitutes.iter().filter(fits).cloned().collect()
    }

    fn charges(&self, node: &NewNode) -> Charges {
        let pool = self.policy.pools.get(&node.pool);
        let known = pool.and_then(|pool| Some((pool, *self.kinds.get(&pool.name)?.get(&node.size)?)));
        known.map_or_else(Charges::new, |(pool, kind)| ledger::charges(&self.ledger, pool, node.vm(kind)))
    }

    /// Returns whether a substitute stays within all limits, or uses no more of any limit than its node does.
    fn has_room(&self, left: &Ledger, (pool, other): (&Pool, &Substitute), own: &Charges) -> bool {
        if !left.has_limits() {
            return true;
        }
        let Some(kind) = self.kinds.get(&pool.name).and_then(|kinds| kinds.get(&other.size)) else {
            return false;
        };
        let Substitute { capacity_type, effective_price, .. } = other;
        let vm = Vm { kind, capacity_type: *capacity_type, price: effective_price.known() };
        let charges = ledger::charges(left, pool, vm);
        let is_no_more =
            |(place, amount): &(usize, i64)| own.iter().any(|(other, own)| other == place && amount <= own);
        limits::why(left, &charges).is_ok() || charges.iter().all(is_no_more)
    }

    fn counted(&self, pool: &Pool, labels: &Requirements) -> Counted {
        self.rules.iter().map(|rule| counted_by(rule, pool, labels)).collect()
    }

    /// Returns whether the rules count a node with these labels as they must.
    fn is_counted_alike(&self, pool: &Pool, labels: &Requirements, must: &Counted) -> bool {
        // Few of many rules count the node, and those usually differ first.
        let of_rules = || self.rules.iter().zip(must);
        let counting = of_rules().filter(|(_, must)| must.is_some());
        let passing = of_rules().filter(|(_, must)| must.is_none());
        counting.chain(passing).all(|(rule, must)| counted_by(rule, pool, labels) == *must)
    }

    /// Returns the labels that rules read from a node of this size, zone and capacity type.
    fn labels(&self, pool: &Pool, node: &NewNode, way: Way<'_>) -> Requirements {
        let facts = LazyCell::new(|| self.facts(pool, way));
        let mut labels = Requirements::none();
        for key in &self.keys {
            let asked = || {
                let asked = self.asked.get(&pool.name).into_iter().chain(facts.iter().copied().flatten());
                let asked = asked.filter_map(|asked| asked.get(key.as_str())).cloned();
                let chosen = node.labels.get(key).map(|value| Requirement::one(value));
                asked.chain(chosen).reduce(|one, other| one.intersection(&other))
            };
            let there = given(pool, way, key).map(Requirement::one).or_else(asked);
            if let Some(there) = there.and_then(in_the_end) {
                labels.set(key.clone(), there);
            }
        }
        labels
    }

    /// Returns whether rules read the same labels from a pool's node with either size, zone and capacity type.
    fn are_read_alike(&self, pool: &Pool, one: Way<'_>, other: Way<'_>) -> bool {
        let facts = LazyCell::new(|| [one, other].map(|way| self.facts(pool, way)));
        self.keys.iter().all(|key| match [one, other].map(|way| given(pool, way, key)) {
            [Some(one), Some(other)] => one == other,
            _ => {
                let [of_one, of_other] =
                    facts.map(|facts| facts.map(|facts| facts.and_then(|facts| facts.get(key.as_str()))));
                of_one == of_other
            }
        })
    }

    /// Returns the requirements of a size, and those of its offering in a zone with a capacity type.
    fn facts(&self, pool: &Pool, way: Way<'_>) -> [Option<&Requirements>; 2] {
        let kind = self.kinds.get(&pool.name).and_then(|kinds| kinds.get(way.size));
        let is_it = |other: &&Offering| other.zone == *way.zone && other.capacity_type == way.capacity_type;
        let offering = kind.and_then(|kind| kind.offerings.iter().find(is_it));
        [kind.map(|kind| &kind.requirements), offering.map(|offering| &offering.requirements)]
    }
}

/// Returns where a rule counts a node of a pool with these labels.
fn counted_by(
    Rule { key, spread }: &Rule,
    pool: &Pool,
    labels: &Requirements,
) -> Option<Option<Requirement>> {
    let has = |key: &LabelKey| key.as_str() == label::HOSTNAME || labels.get(key.as_str()).is_some();
    let counts = spread.keys.iter().all(has)
        && spread
            .alternatives
            .as_ref()
            .is_none_or(|alternatives| alternatives.iter().any(|wanted| are_sure(wanted, labels)))
        && spread.tolerations.as_ref().is_none_or(|stance| taints::are_stood(&pool.taints, stance));
    counts.then(|| labels.get(key.as_str()).cloned())
}

/// Returns the value of a label that the pool sets, regardless of other requirements, or else that the size, zone or
/// capacity type sets.
fn given<'a>(pool: &'a Pool, way: Way<'a>, key: &LabelKey) -> Option<&'a str> {
    pool.labels.get(key).map(|value| &**value).or_else(|| way.label(key.as_str()))
}

/// Returns the final requirement of a label without a chosen value: an unbounded one becomes a value that no rule
/// names, or no label if the label may be absent.
fn in_the_end(there: Requirement) -> Option<Requirement> {
    let is_endless = there.listed().is_none() && there.bounds() == (None, None);
    match (is_endless, there.accepts_absence()) {
        (false, _) => Some(there),
        (true, true) => None,
        // No label can have this value.
        (true, false) => Some(Requirement::one("?")),
    }
}

/// Returns whether a node meets these requirements whichever of its open values its labels get.
fn are_sure(wanted: &Requirements, labels: &Requirements) -> bool {
    wanted.iter().all(|(key, wanted)| match labels.get(key.as_str()) {
        Some(found) if !found.accepts_absence() => match found.listed() {
            Some(values) => values.iter().all(|value| wanted.accepts(value)),
            None => found.intersection(wanted) == *found,
        },
        Some(_) | None => wanted.accepts_absence(),
    })
}

/// Returns whether two nodes keep the same substitutes.
fn is_alike(one: &NewNode, other: &NewNode) -> bool {
    let way = |node: &NewNode| {
        let NewNode { pool, size, zone, capacity_type, .. } = node;
        (pool.clone(), size.clone(), zone.clone(), *capacity_type)
    };
    way(one) == way(other)
        && one.effective_price == other.effective_price
        && one.labels == other.labels
        && one.substitutes == other.substitutes
        && one.variety == other.variety
}
