//! Fixed pools (`replicas`): each ends up with its number of nodes, created the cheapest way, and other pools have no
//! new node without a pod.
//!
//! A node may be missing if limits allow none, and there may be one too many if the plan says why it is kept.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::daemons;
use super::finding::{Finding, Rule};
use super::labels::Labels;
use super::limits::{Usage, pool_has_room};
use super::made::Made;
use super::offering::{may_be_chosen, suits};
use super::price::{effective_price, show_rate};
use crate::model::{
    ChangeClass, DisruptionReason, InstanceType, MicroUsdPerHour, Node, NodeName, Offering, Pool, PoolName,
    Resources, SkuName,
};
use crate::plan::Delete;

/// Returns the fixed pools with too few or too many nodes, and their new nodes that could cost less.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut known = Known::new();
    for made in &case.made {
        let why = case.pool(made.pool).and_then(|pool| fault(case, (made, pool), &mut known));
        found.extend(why.map(|why| Finding::new(Rule::Replicas, made.title(), why)));
    }
    // A narrowed plan may omit nodes, and a destroy plan ignores the number.
    let spec = &case.plan.spec;
    if spec.targets.is_empty() && !spec.wishes.destroy {
        let usage = Usage::of(case);
        for pool in case.policy.pools.values().filter(|pool| !pool.is_deleting) {
            let faults = pool.replicas.map(|asked| count_faults(case, pool, asked, &usage));
            let object = |why| Finding::new(Rule::Replicas, format!("pool `{}`", pool.name), why);
            found.extend(faults.into_iter().flatten().map(object));
        }
    }
    found
}

/// Cache: lowest price of a node no larger than a size, by pool and size. Thousands of nodes may be alike.
type Known<'c> = BTreeMap<(&'c PoolName, &'c SkuName), Option<MicroUsdPerHour>>;

/// Returns the fault of a new node with respect to its pool's number of nodes.
fn fault<'c>(
    case: &'c Case<'_>,
    (made, pool): (&Made<'_>, &'c Pool),
    known: &mut Known<'c>,
) -> Option<String> {
    match (pool.replicas, made.opened_for) {
        (None, Some(_)) => None,
        (None, None) => Some("is made for no pod, and its pool asks for no number of nodes".to_owned()),
        (Some(_), Some(pod)) => {
            Some(format!("is opened for pod `{pod}`, and its pool has a fixed number of nodes"))
        }
        (Some(_), None) => {
            let (_, size, offering) = case.bought(made)?;
            let own = effective_price(case, size, offering).known();
            let least = known.entry((&pool.name, &size.name)).or_insert_with(|| least(case, pool, size));
            dearer(own, (*least)?)
        }
    }
}

/// Returns the lowest price of a node that is no larger than this size: it fits every limit that this one fits.
fn least(case: &Case<'_>, pool: &Pool, size: &InstanceType) -> Option<MicroUsdPerHour> {
    let smaller = ways(case, pool).filter(|(other, _)| other.capacity.fit_in(&size.capacity));
    smaller.filter_map(|(size, offering)| effective_price(case, size, offering).known()).min()
}

fn dearer(own: Option<MicroUsdPerHour>, least: MicroUsdPerHour) -> Option<String> {
    match own {
        Some(own) if own <= least => None,
        Some(own) => {
            let (own, least) = (show_rate(own), show_rate(least));
            Some(format!("costs {own}, and its pool could have one for {least}"))
        }
        None => Some(format!("has no known price, and its pool could have one for {}", show_rate(least))),
    }
}

/// Returns the sizes and offerings for a node without pods, which must fit at least its daemonsets.
fn ways<'c>(case: &'c Case<'_>, pool: &'c Pool) -> impl Iterator<Item = (&'c InstanceType, &'c Offering)> {
    let sizes = case.offered_to(pool).into_iter().flat_map(|offered| &offered.types);
    let chosen = sizes.filter(|size| may_be_chosen(pool, size, std::iter::empty()));
    let each = chosen.flat_map(|size| size.offerings.iter().map(move |offering| (size, offering)));
    each.filter(move |(size, offering)| {
        offering.is_available
            && suits(pool, size, offering).is_ok()
            && holds_daemons(case, pool, (size, offering))
    })
}

fn holds_daemons(case: &Case<'_>, pool: &Pool, (size, offering): (&InstanceType, &Offering)) -> bool {
    let labels = Labels::of_offering(pool, size, offering);
    let mut asked = Resources::none();
    daemons::on_new(case.snapshot, pool, &labels).iter().for_each(|daemon| asked.add(&daemon.spec.requests));
    asked.fit_in(&size.allocatable)
}

fn count_faults(case: &Case<'_>, pool: &Pool, asked: u64, usage: &Usage) -> Vec<String> {
    let own = |node: &&Node| node.pool.as_ref() == Some(&pool.name);
    let staying: Vec<&Node> =
        case.snapshot.nodes.iter().filter(own).filter(|node| case.stays(node)).collect();
    let made = case.made.iter().filter(|made| *made.pool == pool.name).count();
    let after = staying.len() + made;
    let asked = usize::try_from(asked).unwrap_or(usize::MAX);
    let mut faults = Vec::new();
    let is_beyond = |delete: &Delete| {
        delete.reason == DisruptionReason::Excess && delete.target.pool.as_ref() == Some(&pool.name)
    };
    // A live plan lists nodes that cannot be created.
    let withheld = case
        .plan
        .evidence
        .held
        .iter()
        .any(|held| held.class == ChangeClass::Create && held.pool.as_ref() == Some(&pool.name));
    let is_excused = withheld && case.plan.spec.execution.is_some();
    if after < asked && !is_excused {
        let could_be = ways(case, pool).any(|(size, offering)| {
            effective_price(case, size, offering).known().is_some()
                && pool_has_room(case, pool, usage, (size, offering))
        });
        if could_be || case.plan.spec.deletes().any(|(_, delete)| is_beyond(delete)) {
            faults.push(format!("asks for {asked} nodes, and comes to {after}"));
        }
    }
    // Nodes held by a budget will be removed later.
    let later = case.plan.evidence.held.iter().filter(|held| held.reason.is_some());
    let later = later.filter(|held| staying.iter().any(|node| node.name == held.node)).count();
    if made > 0 && after > asked + later {
        faults.push(format!("asks for {asked} nodes, and has {made} made beside {}", staying.len()));
    }
    let excused = excused(case);
    let kept = staying.iter().filter(|node| excused.contains(&node.name)).count();
    if after.saturating_sub(asked) > kept {
        faults.push(format!(
            "asks for {asked} nodes, and comes to {after}: of {kept} it is said why they stay"
        ));
    }
    faults
}

/// Returns the nodes for which the plan says why they are kept.
fn excused<'c>(case: &'c Case<'_>) -> BTreeSet<&'c NodeName> {
    let evidence = &case.plan.evidence;
    let held = evidence.held.iter().map(|held| &held.node);
    evidence.report.staying.iter().map(|(node, _)| node).chain(held).collect()
}
