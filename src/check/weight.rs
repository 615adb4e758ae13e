//! Pool weight: a node of a pool is created for a pod that no heavier pool could take.
//!
//! Usage only grows while a plan is made. So a heavier pool that could still take the pod beside all new nodes could
//! have taken it all along. The pod must fit there by the term of its node affinity that holds on its node: by another
//! term the lighter pool may be right. A pod that is tied to others, or to a volume, is only checked against offerings
//! in the same domains as its node's: in others it may not be allowed.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::case::Case;
use super::daemons;
use super::finding::{Finding, Rule};
use super::labels::{Domain, Labels};
use super::limits::{Usage, pool_has_room};
use super::made::Made;
use super::offering::{may_be_chosen, suits};
use super::party;
use super::taints::keeps_off;
use super::tied;
use super::variety::{self, Way};
use crate::model::{
    InstanceType, LabelKey, MinValuesPolicy, Offering, Pod, PodSpec, Pool, PoolName, Requirements, label,
};

/// Returns the new nodes for whose first pod a heavier pool had capacity.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let usage = Usage::of(case);
    let mut pools: Vec<&Pool> = case.policy.pools.values().collect();
    pools.sort_by_key(|pool| (Reverse(pool.weight), &pool.name));
    let mut memory = Memory::new();
    let mut found = Vec::new();
    for made in &case.made {
        // Pods do not choose a pool with a fixed number of nodes.
        let Some(opened_for) = made.opened_for else { continue };
        let Some(pod) = case.pods.get(opened_for).copied() else {
            let message = format!("is opened for pod `{opened_for}`, which does not exist");
            found.push(Finding::new(Rule::PoolWeight, made.title(), message));
            continue;
        };
        if !made.pods.contains(opened_for) {
            let message = format!("is opened for pod `{}`, which is not placed there", pod.key);
            found.push(Finding::new(Rule::PoolWeight, made.title(), message));
        }
        let Some(own) = case.pool(made.pool) else { continue };
        let mut heavier = pools.iter().take_while(|pool| pool.weight > own.weight).peekable();
        let ties = case.ties.of(pod);
        let Some(tie) = heavier.peek().and_then(|_| Tie::of(case, made, ties)) else { continue };
        let party = party::of(case, made, pod);
        let together = party::as_one(pod, &party);
        let has_room = |heavier: &Pool, pod: &Pod, spec: &Pod| {
            let terms = terms_in_use(case, made, &spec.spec);
            terms.into_iter().any(|term| has_place(case, heavier, &usage, (pod, term, &tie)))
        };
        let taker = heavier.copied().find(|heavier| {
            takes(case, &mut memory, (made, pod, &tie), (heavier, &usage))
                && (party.len() == 1
                    || (has_room(heavier, &together, pod)
                        && party.iter().all(|other| has_room(heavier, other, other))))
        });
        if let Some(heavier) = taker {
            let message = format!(
                "is opened for pod `{}`, which pool `{}` with weight {} could have taken",
                pod.key, heavier.name, heavier.weight,
            );
            found.push(Finding::new(Rule::PoolWeight, made.title(), message));
        }
    }
    found
}

/// The domains that the node of a tied pod must be in: values by label, `None` for an absent label. Empty for a pod
/// that is not tied.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Tie(BTreeMap<LabelKey, Option<Arc<str>>>);

impl Tie {
    /// Returns the domains of the new node; `None` if one is undetermined.
    fn of(case: &Case<'_>, made: &Made<'_>, tie: Option<&tied::Tie>) -> Option<Self> {
        let Some(tied::Tie { fixed, apart }) = tie else { return Some(Self::default()) };
        let labels = case.labels_of(made, case.bought(made)?);
        let always = [label::ZONE, label::CAPACITY_TYPE].map(LabelKey::new);
        // Every new node is its own host.
        let keys = fixed.iter().chain(apart).chain(&always).filter(|key| key.as_str() != label::HOSTNAME);
        let value = |key: &LabelKey| match labels.domain(key) {
            Domain::Value(value) => Some((key.clone(), Some(Arc::from(value)))),
            Domain::Absent => Some((key.clone(), None)),
            Domain::Own | Domain::Open => None,
        };
        keys.map(value).collect::<Option<_>>().map(Self)
    }

    fn holds(&self, labels: &Labels) -> bool {
        self.0.iter().all(|(key, value)| match (labels.domain(key), value) {
            (Domain::Value(there), Some(value)) => *there == **value,
            (Domain::Absent, None) => true,
            (Domain::Value(_) | Domain::Own | Domain::Open | Domain::Absent, _) => false,
        })
    }
}

/// Requirements on a place: the pod, a term of its node affinity, and its domains.
type Asked<'p> = (&'p Pod, Option<&'p Requirements>, &'p Tie);

/// Cached results: whether a pool could take pods of this spec by this term, in these domains.
type Memory<'a> = BTreeMap<(&'a PodSpec, Option<&'a Requirements>, Tie, &'a PoolName), bool>;

fn takes<'a>(
    case: &Case<'a>,
    memory: &mut Memory<'a>,
    (made, pod, tie): (&Made<'a>, &'a Pod, &Tie),
    (pool, usage): (&'a Pool, &Usage),
) -> bool {
    let terms = terms_in_use(case, made, &pod.spec);
    !terms.is_empty()
        && terms.into_iter().all(|term| {
            *memory
                .entry((&*pod.spec, term, tie.clone(), &pool.name))
                .or_insert_with(|| has_place(case, pool, usage, (pod, term, tie)))
        })
}

/// Returns the terms of a pod's node affinity that hold on its node; a single `None` if it has no terms.
fn terms_in_use<'p>(case: &Case<'_>, made: &Made<'_>, spec: &'p PodSpec) -> Vec<Option<&'p Requirements>> {
    let Some(terms) = &spec.node_affinity.required else { return vec![None] };
    let Some(bought) = case.bought(made) else { return Vec::new() };
    let labels = case.labels_of(made, bought);
    terms.iter().filter(|term| labels.meet(term).is_ok()).map(Some).collect()
}

fn has_place(case: &Case<'_>, pool: &Pool, usage: &Usage, asked: Asked<'_>) -> bool {
    let (pod, _, _) = asked;
    if pool.is_deleting || pool.replicas.is_some() || may_be_full_of_others(case, pool) {
        return false;
    }
    if pool.taints.iter().any(|taint| keeps_off(taint, &pod.spec)) {
        return false;
    }
    let Some(offered) = case.offered_to(pool) else { return false };
    let may_hold = |size: &&InstanceType| {
        pod.spec.requests.fit_in(&size.allocatable) && may_be_chosen(pool, size, std::iter::once(pod))
    };
    let ways = offered.types.iter().filter(may_hold).flat_map(|size| {
        let holding = size.offerings.iter().filter(|offering| holds(case, pool, (size, offering), asked));
        holding.map(move |offering| (size, offering))
    });
    ways.clone().any(|way| pool_has_room(case, pool, usage, way)) && has_variety(case, pool, ways)
}

/// Returns whether these options satisfy the pool's `minValues`. Options that other rules exclude are not subtracted,
/// even if the pool could then not take the pod.
fn has_variety<'c>(case: &Case<'_>, pool: &Pool, ways: impl Iterator<Item = Way<'c>>) -> bool {
    let is_strict = case.policy.fleet.min_values_policy == MinValuesPolicy::Strict;
    let mut asked = variety::asked(pool).filter(|_| is_strict).peekable();
    if asked.peek().is_none() {
        return true;
    }
    let ways: Vec<Way<'_>> = ways.collect();
    asked.all(|(key, least)| variety::distinct(key, &ways) >= least)
}

/// Returns whether changes that a narrowed plan omits may have used up the limits: the plan does not list their usage.
fn may_be_full_of_others(case: &Case<'_>, pool: &Pool) -> bool {
    let fleet = &case.policy.fleet.limits;
    let is_limited = pool.nodes_max.is_some() || pool.limits.iter().next().is_some();
    !case.plan.spec.targets.is_empty() && (is_limited || *fleet != crate::model::FleetLimits::default())
}

/// Returns whether a new node of this offering would fit the pod beside its daemonsets. Offerings without a known price
/// are excluded: they are a last resort, after lighter pools.
fn holds(
    case: &Case<'_>,
    pool: &Pool,
    (size, offering): (&InstanceType, &Offering),
    (pod, term, tie): Asked<'_>,
) -> bool {
    if !offering.is_available || offering.price.known().is_none() || suits(pool, size, offering).is_err() {
        return false;
    }
    let labels = Labels::of_offering(pool, size, offering);
    if !tie.holds(&labels) {
        return false;
    }
    let given = |key: &LabelKey| case.snapshot.catalog.is_well_known(key);
    let mut wanted = pod.spec.node_selector.clone();
    if let Some(term) = term {
        wanted.add_all(term);
    }
    if !labels.may_meet(&wanted, given) {
        return false;
    }
    let mut asked = pod.spec.requests.clone();
    for daemon in daemons::on_new(case.snapshot, pool, &labels) {
        let takes_port = |port: &crate::model::HostPort| {
            daemon.spec.host_ports.iter().any(|theirs| theirs.conflicts_with(port))
        };
        if pod.spec.host_ports.iter().any(takes_port) {
            return false;
        }
        asked.add(&daemon.spec.requests);
    }
    pod.spec
        .requests
        .iter()
        .all(|(name, amount)| amount <= 0 || asked.get(name) <= size.allocatable.get(name))
}
