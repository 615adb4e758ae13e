//! Offerings: the size is available in that zone and capacity type, the pool allows it, and it is not cheap for a
//! reason that cannot be planned with.

use super::case::Case;
use super::finding::{Finding, Rule};
use super::labels::Labels;
use super::made::Made;
use crate::model::{InstanceType, Offering, Pod, PodSpec, Pool, Requirements, label};

/// Families whose speed or network cannot be planned with: burstable (B) and high performance (H).
const ASKED_FOR_BY_NAME: [&str; 2] = ["B", "H"];

/// Labels that can request a family.
const NAMING_KEYS: [&str; 4] = [label::SKU_FAMILY, label::SKU_SERIES, label::SKU_NAME, label::INSTANCE_TYPE];

/// Returns the new nodes that are not available, or that their pool does not allow.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for made in &case.made {
        let mut object = |message: String| found.push(Finding::new(Rule::Offering, made.title(), message));
        match offered(case, made) {
            Err(why) => object(why),
            Ok((pool, size, offering)) => {
                for why in faults(case, made, (pool, size, offering)) {
                    object(why);
                }
            }
        }
    }
    found
}

type Bought<'a> = (&'a Pool, &'a InstanceType, &'a Offering);

fn offered<'c>(case: &'c Case<'_>, made: &Made<'_>) -> Result<Bought<'c>, String> {
    let Made { pool: pool_name, size, zone, capacity_type, .. } = made;
    let Some(pool) = case.pool(pool_name) else { return Err(format!("there is no pool `{pool_name}`")) };
    if !case.policy.classes.contains_key(&pool.class) {
        return Err(format!("pool `{pool_name}` names class `{}`, which does not exist", pool.class));
    }
    case.bought(made).ok_or_else(|| {
        format!("size `{size}` is not offered to pool `{pool_name}` in zone `{zone}` as {capacity_type}")
    })
}

fn faults(case: &Case<'_>, made: &Made<'_>, (pool, size, offering): Bought<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    if pool.is_deleting {
        faults.push(format!("pool `{}` is being deleted", pool.name));
    }
    if let Some(hold) = case.policy.fleet.holds.on_create(&pool.name) {
        faults.push(format!("no node of pool `{}` may be made: {}", pool.name, hold.because));
    }
    if !offering.is_available {
        faults.push(format!("size `{}` cannot be had in zone `{}` now", size.name, offering.zone));
    }
    if let Err(why) = suits(pool, size, offering) {
        faults.push(format!("size `{}` is not what pool `{}` asks for: {why}", size.name, pool.name));
    }
    let pods = made.pods.iter().filter_map(|key| case.pods.get(key).copied());
    if !may_be_chosen(pool, size, pods) {
        faults.push(format!("size `{}` is of a family that nothing asks for by name", size.name));
    }
    let mut labels = Labels::of_offering(pool, size, offering);
    for (key, value) in &made.choices() {
        faults.extend(labels.choose(key, value, case.snapshot.catalog.is_well_known(key)).err());
    }
    faults
}

/// Returns whether a pool allows this offering: for every label that both have, some value fits both.
pub(super) fn suits(pool: &Pool, size: &InstanceType, offering: &Offering) -> Result<(), String> {
    let wanted = pool.node_requirements();
    let chosen = [
        (label::ZONE, offering.zone.as_str()),
        (label::CAPACITY_TYPE, offering.capacity_type.as_str()),
        (label::INSTANCE_TYPE, size.name.as_str()),
    ];
    let mut there = size.requirements.clone();
    there.add_all(&offering.requirements);
    there.add_all(&Requirements::of_labels(chosen));
    wanted.intersects(&there).map_err(|conflict| conflict.to_string())
}

/// Returns whether a size's family may be chosen: always, except for families that pool or pod must request by name.
pub(super) fn may_be_chosen<'a>(
    pool: &Pool,
    size: &InstanceType,
    mut pods: impl Iterator<Item = &'a Pod>,
) -> bool {
    let family = size.requirements.get(label::SKU_FAMILY).and_then(|family| family.single());
    let must_be_named = family.is_some_and(|family| ASKED_FOR_BY_NAME.contains(&&**family));
    !must_be_named || names(&pool.requirements, size) || pods.any(|pod| pod_names(&pod.spec, size))
}

fn pod_names(spec: &PodSpec, size: &InstanceType) -> bool {
    let terms = spec.node_affinity.required.iter().flatten();
    std::iter::once(&spec.node_selector).chain(terms).any(|requirements| names(requirements, size))
}

/// Returns whether requirements list a value that names this size, its family or its series.
fn names(requirements: &Requirements, size: &InstanceType) -> bool {
    NAMING_KEYS.iter().any(|key| {
        let listed = requirements.get(key).filter(|requirement| requirement.listed().is_some());
        match (listed, size.requirements.get(key)) {
            (Some(wanted), Some(there)) => wanted.intersects(there),
            (Some(wanted), None) => *key == label::INSTANCE_TYPE && wanted.accepts(size.name.as_str()),
            (None, _) => false,
        }
    })
}
