//! Finds which of a pool's own requirements exclude every size, and the nearest values.
//!
//! Never decides what a pool may use.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalog::Offered;
use crate::model::{InstanceType, LabelKey, Pool, Requirement, Requirements, label};
use crate::solve::fit::{Miss, Rule};

use super::blame;
use super::conflict::{By, Conflict, clauses};

/// Explains why a pool that requires `base` can use nothing of the offer.
#[must_use]
pub(super) fn why(pool: &Pool, base: &Requirements, offered: &Offered) -> Miss {
    let because = match Conflict::of(clauses(By::Pool, base), offered) {
        Some(conflict) => blame::of_pool(&conflict, (pool, offered)),
        None => of_all(base, &offered.types),
    };
    Miss::new(Rule::PoolRequirements, because)
}

/// Returns the field that gives nodes a label that no size has by itself.
#[must_use]
pub fn giver(key: &LabelKey) -> Option<&'static str> {
    match key.as_str() {
        label::AKS_FIPS_ENABLED => Some("`spec.fipsMode: FIPS` of an AKSNodeClass gives it"),
        label::AKS_KATA | label::AKS_KATA_MSHV => {
            Some("`spec.workloadRuntime: KataVmIsolation` of an AKSNodeClass gives it")
        }
        label::OS_SKU => Some("`spec.imageFamily` of an AKSNodeClass decides it"),
        label::AKS_EBPF_DATAPLANE => Some(
            "`spec.cluster.networkDataplane: cilium` of a NodeFleet gives it, or the labels of a NodePool",
        ),
        _ => None,
    }
}

/// Returns the largest or smallest available number, if the requirement lies beyond it.
#[must_use]
pub fn beyond(wanted: &Requirement, values: &BTreeSet<Arc<str>>) -> Option<String> {
    let numbers = || values.iter().filter_map(|value| value.parse::<i64>().ok());
    let (largest, smallest) = (numbers().max()?, numbers().min()?);
    match wanted.bounds() {
        (Some(least), _) if largest < least => Some(format!("the largest value is {largest}")),
        (_, Some(most)) if smallest > most => Some(format!("the smallest value is {smallest}")),
        _ => None,
    }
}

/// Returns the numbers on either side of an unavailable one: similar digits are no typo. Returns `None` if some value
/// is not a number, or there are none.
#[must_use]
pub fn nearest_numbers(wanted: &Requirement, values: &BTreeSet<Arc<str>>) -> Option<String> {
    let number = |text: &Arc<str>| text.parse::<i64>().ok();
    let asked: Vec<i64> = wanted.listed()?.iter().map(number).collect::<Option<_>>()?;
    let known: BTreeSet<i64> = values.iter().map(number).collect::<Option<_>>()?;
    let asked = *asked.first()?;
    let sides = [known.range(..asked).next_back(), known.range(asked..).next()];
    let sides: Vec<String> = sides.into_iter().flatten().map(|number| format!("`{number}`")).collect();
    let are = match sides.len() {
        0 => return None,
        1 => "value is",
        _ => "values are",
    };
    Some(format!("the nearest {are} {}", sides.join(" and ")))
}

/// Returns the numbers on either side of an unavailable one, among sizes that meet the pool's other requirements.
#[must_use]
pub fn nearest_left(
    (key, wanted): (&LabelKey, &Requirement),
    base: &Requirements,
    types: &[InstanceType],
) -> Option<String> {
    nearest_numbers(wanted, &values_without(base, types, key))
}

/// Explains that no set of requirements is to blame: nothing is available, or labels with several values meet each
/// requirement but never all together.
fn of_all(base: &Requirements, types: &[InstanceType]) -> String {
    let all: Vec<String> = base
        .iter()
        .filter(|(key, _)| types.iter().any(|kind| values(kind, key).next().is_some()))
        .map(|(key, wanted)| format!("`{key}` {wanted}"))
        .collect();
    let is_sold = |kind: &InstanceType| kind.offerings.iter().any(|offering| offering.is_available);
    if all.is_empty() || !types.iter().any(is_sold) {
        return "no size can be had now in any zone".to_owned();
    }
    format!("no size that can be had now meets all that the pool itself asks for: {}", all.join(", "))
}

/// Returns the values of a label among the sizes that meet everything else.
fn values_without(base: &Requirements, types: &[InstanceType], key: &LabelKey) -> BTreeSet<Arc<str>> {
    let mut rest = Requirements::none();
    for (other, wanted) in base.iter().filter(|(other, _)| *other != key) {
        rest.add(other.clone(), wanted.clone());
    }
    types.iter().filter(|kind| can_be(kind, &rest)).flat_map(|kind| values(kind, key)).collect()
}

fn values<'k>(kind: &'k InstanceType, key: &LabelKey) -> impl Iterator<Item = Arc<str>> + 'k {
    let of_size = kind.requirements.get(key.as_str()).and_then(Requirement::listed);
    of_size.into_iter().flatten().cloned()
}

fn can_be(kind: &InstanceType, wanted: &Requirements) -> bool {
    wanted.intersects(&kind.requirements).is_ok()
        && kind
            .offerings
            .iter()
            .any(|offering| offering.is_available && wanted.intersects(&super::placement(offering)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::{Arc, Requirement, nearest_numbers};

    #[test]
    fn a_number_that_nothing_has_is_told_the_numbers_on_its_sides() {
        let near = |wanted: &str, values: &[&str]| {
            nearest_numbers(
                &Requirement::one(wanted),
                &values.iter().map(|value| Arc::from(*value)).collect(),
            )
        };
        let sold = ["2", "4", "6", "8", "72"];
        assert_eq!(near("7", &sold).as_deref(), Some("the nearest values are `6` and `8`"));
        assert_eq!(near("1", &sold).as_deref(), Some("the nearest value is `2`"));
        assert_eq!(near("D", &["E", "4"]), None);
        assert_eq!(near("7", &[]), None);
    }
}
