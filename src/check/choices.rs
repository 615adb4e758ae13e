//! Substitutes of a new node that break rules of other pods or limits: one substitute at a time, the other nodes as
//! planned.
//!
//! A node that a required spread counts must count in the same domain with every substitute, whether or not its own
//! pods are spread. Limits must hold with each substitute. Rules of the node's own pods are checked elsewhere. Variety
//! that the pool requires (`minValues`) is never reported: the user asked for it.

use std::collections::BTreeMap;

use super::case::Case;
use super::finding::{Finding, Rule};
use super::labels::Labels;
use super::limits::{Swap, Usage};
use super::price::effective_price;
use super::spread::{self, Counting};
use super::substitutes::buyable;
use super::variety;
use crate::model::{CapacityType, InstanceType, LabelKey, MicroUsdPerHour, Offering, Pod, Pool, label};
use crate::plan::ClaimSpecId;
use crate::snapshot::Snapshot;

/// A fault of a claim: the broken rule and the message.
type Fault = (Rule, String);

/// Returns the claims with substitutes that break others' rules. `asked` is the snapshot with only what pods really
/// require.
pub(super) fn findings(asked: &Snapshot, case: &Case<'_>) -> Vec<Finding> {
    let counting = spread::counting(asked);
    let usage = Usage::of(case);
    let has_limits = has_limits(case);
    let mut known: BTreeMap<(&ClaimSpecId, Option<MicroUsdPerHour>), Vec<Fault>> = BTreeMap::new();
    let mut found = Vec::new();
    for made in &case.made {
        let Some((pool, size, offering)) = case.bought(made) else { continue };
        let price = made.placement.effective_price.known();
        let faults = known.entry((&made.create.spec, price)).or_insert_with(|| {
            let all = buyable(case, made, pool);
            let moved = (!is_about_place(pool)).then(|| {
                let own = case.labels_of(made, (pool, size, offering));
                let others = all.iter().map(|(size, offering)| {
                    ((*size, *offering), case.labels_of(made, (pool, size, offering)))
                });
                moved(pool, &own, others, &counting)
            });
            let is_limited = has_limits && variety::asked(pool).next().is_none();
            let own = (size, offering.capacity_type);
            let beyond = is_limited.then(|| beyond(case, (pool, own, price), &usage, &all));
            let moved = moved.flatten().map(|what| (Rule::Offering, what));
            moved.into_iter().chain(beyond.flatten()).collect()
        });
        let of_node = |(rule, what): &Fault| Finding::new(*rule, made.title(), what.clone());
        found.extend(faults.iter().map(of_node));
    }
    found
}

/// Returns whether a pool requires variety (`minValues`) of zones or capacity types.
fn is_about_place(pool: &Pool) -> bool {
    variety::asked(pool).any(|(key, _)| [label::ZONE, label::CAPACITY_TYPE].contains(&key.as_str()))
}

fn has_limits(case: &Case<'_>) -> bool {
    let fleet = &case.policy.fleet.limits;
    let of_fleet =
        fleet.cpu_milli.is_some() || fleet.memory_bytes.is_some() || fleet.cost_per_month.is_some();
    let of_quota = case.snapshot.quota.is_some();
    of_fleet || of_quota || case.policy.pools.values().any(|pool| pool.limits.iter().next().is_some())
}

/// Returns the first substitute with which the node would count in another domain, or not at all.
fn moved<'c>(
    pool: &Pool,
    own: &Labels,
    others: impl Iterator<Item = ((&'c InstanceType, &'c Offering), Labels)>,
    counting: &BTreeMap<Counting<'_>, &Pod>,
) -> Option<String> {
    let read = |(key, filter): &Counting<'_>| filter.read_keys().chain([*key]).cloned().collect::<Vec<_>>();
    let mut keys: Vec<LabelKey> = counting.keys().flat_map(read).collect();
    keys.sort();
    keys.dedup();
    // Variety of sizes that the user requires may include sizes that the pods do not select.
    let asks_variety = variety::asked(pool).next().is_some();
    let mut others = others.filter(|(_, other)| keys.iter().any(|key| own.domain(key) != other.domain(key)));
    others.find_map(|((size, offering), other)| {
        let ((key, _), pod) = counting.iter().find(|((key, filter), pod)| {
            let [counts, would] =
                [own, &other].map(|labels| filter.lets_count(&pod.spec, labels, &pool.taints));
            !asks_variety && counts != would || counts && own.domain(key) != other.domain(key)
        })?;
        let title = title(size, offering);
        Some(format!(
            "{title}, and pod `{}` is spread over `{key}`, where the node counts as it is planned",
            pod.key
        ))
    })
}

/// Returns the first substitute that exceeds a limit.
fn beyond(
    case: &Case<'_>,
    (pool, planned, price): (&Pool, (&InstanceType, CapacityType), Option<MicroUsdPerHour>),
    usage: &Usage,
    all: &[(&InstanceType, &Offering)],
) -> Option<Fault> {
    all.iter().find_map(|(size, offering)| {
        let other = effective_price(case, size, offering).known();
        let dearer_by = other.zip(price).map_or_else(MicroUsdPerHour::default, |(other, own)| other - own);
        let other = (*size, offering.capacity_type);
        let (rule, why) = Swap { pool, planned, other, dearer_by }.beyond(case, usage)?;
        Some((rule, format!("{}: {why}", title(size, offering))))
    })
}

fn title(size: &InstanceType, offering: &Offering) -> String {
    format!("lists `{}` in zone `{}` as {}", size.name, offering.zone, offering.capacity_type)
}
