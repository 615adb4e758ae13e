//! Pool weight: a node of a pool is made for a pod that no heavier pool could take.
//!
//! Usage only grows while a plan is made, so a heavier pool that could still take the pod beside everything
//! that the plan makes could have taken it all along. The pod must fit there by a term of its node affinity
//! by which it sits where it is: by another term the lighter pool may be right.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::case::Case;
use super::daemons;
use super::finding::{Finding, Rule};
use super::labels::Labels;
use super::limits::{Usage, pool_has_room};
use super::made::Made;
use super::offering::{may_be_chosen, suits};
use super::taints::repels;
use crate::model::{InstanceType, LabelKey, Offering, Pod, PodSpec, Pool, PoolName, Requirements};

/// Returns the new nodes for whose first pod a heavier pool had room.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let usage = Usage::of(case);
    let mut pools: Vec<&Pool> = case.policy.pools.values().collect();
    pools.sort_by_key(|pool| (Reverse(pool.weight), &pool.name));
    let mut memory = Memory::new();
    let mut found = Vec::new();
    for made in &case.made {
        let Some(pod) = case.pods.get(made.opened_for).copied() else {
            let message = format!("is opened for pod `{}`, which does not exist", made.opened_for);
            found.push(Finding::new(Rule::PoolWeight, made.title(), message));
            continue;
        };
        if !made.pods.contains(made.opened_for) {
            let message = format!("is opened for pod `{}`, which is not placed there", pod.key);
            found.push(Finding::new(Rule::PoolWeight, made.title(), message));
        }
        let Some(own) = case.pool(made.pool) else { continue };
        let heavier = pools.iter().take_while(|pool| pool.weight > own.weight);
        let taker = heavier.copied().find(|heavier| takes(case, &mut memory, (made, pod), (heavier, &usage)));
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

/// What was found out already: whether a pool could take pods of this content by this term.
type Memory<'a> = BTreeMap<(&'a PodSpec, Option<&'a Requirements>, &'a PoolName), bool>;

fn takes<'a>(
    case: &Case<'a>,
    memory: &mut Memory<'a>,
    (made, pod): (&Made<'a>, &'a Pod),
    (pool, usage): (&'a Pool, &Usage),
) -> bool {
    let terms = terms_in_use(case, made, &pod.spec);
    !terms.is_empty()
        && terms.into_iter().all(|term| {
            *memory
                .entry((&*pod.spec, term, &pool.name))
                .or_insert_with(|| has_place(case, pool, usage, (pod, term)))
        })
}

/// Returns the terms by which a pod may sit on its node; one `None` where it has no terms.
fn terms_in_use<'p>(case: &Case<'_>, made: &Made<'_>, spec: &'p PodSpec) -> Vec<Option<&'p Requirements>> {
    let Some(terms) = &spec.node_affinity.required else { return vec![None] };
    let Some(bought) = case.bought(made) else { return Vec::new() };
    let labels = case.labels_of(made, bought);
    terms.iter().filter(|term| labels.meet(term).is_ok()).map(Some).collect()
}

fn has_place(case: &Case<'_>, pool: &Pool, usage: &Usage, asked: (&Pod, Option<&Requirements>)) -> bool {
    let (pod, _) = asked;
    if pool.is_deleting || pool.replicas.is_some() || may_be_full_of_others(case, pool) {
        return false;
    }
    if pool.taints.iter().any(|taint| repels(taint, &pod.spec.tolerations)) {
        return false;
    }
    let Some(offered) = case.offered.get(&pool.class) else { return false };
    offered.types.iter().any(|size| {
        pod.spec.requests.fit_in(&size.allocatable)
            && may_be_chosen(pool, size, std::iter::once(pod))
            && pool_has_room(case, pool, usage, size)
            && size.offerings.iter().any(|offering| holds(case, pool, (size, offering), asked))
    })
}

/// Returns whether what a narrowed plan leaves out may have used up the limits: what other changes take of
/// them does not stand in it.
fn may_be_full_of_others(case: &Case<'_>, pool: &Pool) -> bool {
    let fleet = &case.policy.fleet.limits;
    let is_limited = pool.nodes_max.is_some() || pool.limits.iter().next().is_some();
    !case.plan.spec.targets.is_empty() && (is_limited || *fleet != crate::model::FleetLimits::default())
}

/// Returns whether a new node of this offering would hold the pod beside its daemonsets. Offerings without
/// a known price are left out: they are a last resort, after lighter pools.
fn holds(
    case: &Case<'_>,
    pool: &Pool,
    (size, offering): (&InstanceType, &Offering),
    (pod, term): (&Pod, Option<&Requirements>),
) -> bool {
    if !offering.is_available || offering.price.known().is_none() || suits(pool, size, offering).is_err() {
        return false;
    }
    let labels = Labels::of_offering(pool, size, offering);
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
