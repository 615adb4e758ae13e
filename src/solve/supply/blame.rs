//! Describes a conflict as a message: the sizes concerned, what none of them has, and the available values.
//!
//! Never finds conflicts: [`super::conflict`] does.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalog::{NO_ZONE, Offered};
use crate::model::{LabelKey, Pool, Requirement, Requirements, label};
use crate::solve::fit::labels::rule_of;
use crate::solve::fit::{Miss, Rule};

use super::PoolSupply;
use super::conflict::{By, Clause, Conflict, Row, clauses};
use super::emptied::{beyond, giver};

/// Maximum number of listed values; of more, those nearest to the requirement are listed.
const VALUES_NAMED_MAX: usize = 8;

/// Describes which of a pool's own requirements exclude every size.
pub(super) fn of_pool(conflict: &Conflict<'_>, (pool, offered): (&Pool, &Offered)) -> String {
    Told::of(conflict).sentence((pool, offered))
}

/// Describes which requirements of a pod and a pool together exclude every size of the pool; `None` if no requirements
/// conflict.
#[must_use]
pub(in crate::solve) fn pod_at_pool(pool: &PoolSupply<'_>, wanted: &Requirements) -> Option<Miss> {
    let mut asked = clauses(By::Pod, wanted);
    asked.extend(clauses(By::Pool, &pool.base));
    let conflict = Conflict::of(asked, pool.offered)?;
    let told = Told::of(&conflict);
    let keys = conflict.clauses.iter().rev().filter_map(Clause::key);
    let rule = keys.map(rule_of).max_by_key(Rule::depth).unwrap_or(Rule::NodeAffinity);
    let because = told.sentence((pool.pool, pool.offered));
    Some(Miss::new(rule, format!("{because}{}", told.shares())))
}

/// The parts of a sentence about a conflict.
struct Told<'c, 'a> {
    conflict: &'c Conflict<'a>,
    /// The requirements on the sizes that the sentence is about, label by label.
    subject: Vec<(LabelKey, Requirement)>,
    /// The requirement that none of these meets; `None` if the class cannot use any.
    missing: Option<(LabelKey, Requirement)>,
}

impl<'c, 'a> Told<'c, 'a> {
    fn of(conflict: &'c Conflict<'a>) -> Self {
        let mut subject = merged(conflict.clauses.iter().filter_map(Clause::label));
        let is_class = conflict.clauses.contains(&Clause::Class);
        let missing = if is_class { None } else { subject.pop() };
        Self { conflict, subject, missing }
    }

    fn sentence(&self, (pool, offered): (&Pool, &Offered)) -> String {
        let sizes = sizes(&self.subject);
        let Some((key, wanted)) = &self.missing else {
            let because = self.rows(None).find_map(|row| {
                let refused = offered.refused.iter().find(|refused| refused.size == row.kind.name)?;
                Some(format!(": `{}`: {}", refused.size, refused.because))
            });
            return format!("AKSNodeClass `{}` can use {sizes}{}", pool.class, because.unwrap_or_default());
        };
        if key.as_str() == label::ULTRA_SSD && self.subject.is_empty() {
            return format!("no size is known here to have {}", phrase(key, wanted));
        }
        let has = match key.as_str() {
            label::ZONE | label::CAPACITY_TYPE => format!("{sizes} is offered {}", place(key, wanted)),
            label::ARCH => format!("{sizes} is {}", values_or(wanted).unwrap_or_else(|| phrase(key, wanted))),
            label::INSTANCE_TYPE | label::SKU_NAME => format!("{sizes} is named {}", phrase(key, wanted)),
            _ => format!("{sizes} has {}", phrase(key, wanted)),
        };
        let values: BTreeSet<Arc<str>> = self.rows(Some(key)).flat_map(|row| row.values(key)).collect();
        let instead = instead((key, wanted), &values);
        let giver =
            giver(key).map(str::to_owned).filter(|_| instead.is_none() || key.as_str() == label::OS_SKU);
        let more: Vec<String> = instead.into_iter().chain(giver).collect();
        if more.is_empty() { has } else { format!("{has}; {}", more.join("; ")) }
    }

    /// Describes which part the pod requires and which the pool, if both are involved.
    fn shares(&self) -> String {
        let asked = |whose: By| -> Vec<String> {
            let own = self.conflict.clauses.iter().filter(|clause| clause.by() == Some(whose));
            merged(own.filter_map(Clause::label)).iter().map(|(key, wanted)| asked_for(key, wanted)).collect()
        };
        let (pod, pool) = (asked(By::Pod), asked(By::Pool));
        if pod.is_empty() || pool.is_empty() {
            return String::new();
        }
        format!("; the pod asks for {}, the pool for {}", pod.join(" and "), pool.join(" and "))
    }

    /// Returns the rows that meet everything but the requirements on a label, or but the class.
    fn rows(&self, key: Option<&LabelKey>) -> impl Iterator<Item = &Row<'a>> {
        let clauses = self.conflict.clauses.iter().enumerate();
        let left_out: Vec<usize> =
            clauses.filter(|(_, clause)| clause.key() == key).map(|(place, _)| place).collect();
        self.conflict.without(left_out)
    }
}

/// Merges the requirements on each label, in the order in which the labels first appear.
fn merged<'c>(labels: impl Iterator<Item = (&'c LabelKey, &'c Requirement)>) -> Vec<(LabelKey, Requirement)> {
    let mut merged: Vec<(LabelKey, Requirement)> = Vec::new();
    for (key, wanted) in labels {
        match merged.iter_mut().find(|(known, _)| known == key) {
            Some((_, there)) => *there = there.intersection(wanted),
            None => merged.push((key.clone(), wanted.clone())),
        }
    }
    merged
}

/// Describes the sizes that a sentence is about: `no spot F size with 8 vCPU in zone …`.
fn sizes(subject: &[(LabelKey, Requirement)]) -> String {
    let (mut before, mut after, mut zone) = (Vec::new(), Vec::new(), None);
    for (key, wanted) in subject {
        match (key.as_str(), values_or(wanted)) {
            (label::CAPACITY_TYPE, Some(values)) => before.insert(0, values),
            (label::ARCH | label::SKU_FAMILY | label::SKU_SERIES, Some(values)) => before.push(values),
            (label::ZONE, Some(_)) => zone = Some(place(key, wanted)),
            (label::INSTANCE_TYPE | label::SKU_NAME, Some(_)) => {
                after.insert(0, format!("named {}", phrase(key, wanted)));
            }
            (_, _) => after.push(format!("with {}", phrase(key, wanted))),
        }
    }
    before.insert(0, "no".to_owned());
    before.push("size".to_owned());
    if !after.is_empty() {
        before.push(after.join(" and "));
    }
    before.extend(zone);
    before.join(" ")
}

/// Describes where or how something is offered.
fn place(key: &LabelKey, wanted: &Requirement) -> String {
    match (key.as_str(), values_or(wanted)) {
        (label::CAPACITY_TYPE, Some(values)) => format!("as {values}"),
        (label::ZONE, Some(_)) if wanted.accepts(NO_ZONE) && wanted.single().is_some() => {
            "without a zone".to_owned()
        }
        (label::ZONE, Some(_)) => format!("in zone {}", ticked(wanted)),
        (_, _) => format!("with {}", phrase(key, wanted)),
    }
}

/// Describes a single requirement on its own.
fn asked_for(key: &LabelKey, wanted: &Requirement) -> String {
    match (key.as_str(), values_or(wanted)) {
        (label::ARCH | label::CAPACITY_TYPE, Some(values)) => values,
        (label::SKU_FAMILY, Some(values)) => format!("family {values}"),
        (label::SKU_SERIES, Some(values)) => format!("series {values}"),
        (label::ZONE, Some(_)) => format!("zone {}", ticked(wanted)),
        (_, _) => phrase(key, wanted),
    }
}

/// Describes the required value of a label: `8 vCPU`, `` `sku-version` 5 ``, `more than 4 and fewer than 8 vCPU`.
fn phrase(key: &LabelKey, wanted: &Requirement) -> String {
    let name = format!("`{}`", key.as_str().strip_prefix("karpenter.azure.com/").unwrap_or(key.as_str()));
    if matches!(key.as_str(), label::INSTANCE_TYPE | label::SKU_NAME)
        && wanted.listed().is_some_and(|listed| !listed.is_empty())
    {
        return ticked(wanted);
    }
    if let Some(values) = values_or(wanted) {
        return unit(key).map_or_else(|| format!("{name} {values}"), |unit| format!("{values} {unit}"));
    }
    if wanted.is_none() {
        return format!("no {name}, or meets all that is asked of it");
    }
    let other = wanted.refused().filter(|refused| !refused.is_empty());
    let other = other.map(|refused| format!(" other than {}", listed(refused.iter().map(|value| &**value))));
    let bounds = match (unit(key), wanted.bounds()) {
        (_, (None, None)) => None,
        (Some(unit), bounds) => Some(format!("{} {unit}", range(bounds, ("more than", "fewer than")))),
        (None, bounds) => Some(format!("{name} {}", range(bounds, ("above", "below")))),
    };
    format!("{}{}", bounds.unwrap_or_else(|| format!("a {name}")), other.unwrap_or_default())
}

fn range((least, most): (Option<i64>, Option<i64>), (above, below): (&str, &str)) -> String {
    let least = least.map(|least| format!("{above} {}", least.saturating_sub(1)));
    let most = most.map(|most| format!("{below} {}", most.saturating_add(1)));
    least.into_iter().chain(most).collect::<Vec<_>>().join(" and ")
}

/// Returns the unit of a numeric label, if the unit makes the label's name unnecessary.
fn unit(key: &LabelKey) -> Option<&'static str> {
    match key.as_str() {
        label::SKU_CPU | label::AKS_SKU_CPU => Some("vCPU"),
        label::SKU_MEMORY | label::AKS_SKU_MEMORY => Some("MiB of memory"),
        label::SKU_GPU_COUNT => Some("GPUs"),
        _ => None,
    }
}

fn values_or(wanted: &Requirement) -> Option<String> {
    let values = wanted.listed().filter(|values| !values.is_empty())?;
    Some(listed(values.iter().map(|value| &**value)))
}

fn ticked(wanted: &Requirement) -> String {
    let values: Vec<String> =
        wanted.listed().into_iter().flatten().map(|value| format!("`{value}`")).collect();
    listed(values.iter().map(String::as_str))
}

/// Lists values, or the first ones if there are many.
fn listed<'v>(values: impl Iterator<Item = &'v str>) -> String {
    let mut values: Vec<&str> = values.collect();
    values.sort_by_key(|value| (value.parse::<i64>().ok(), *value));
    let more = values.len().saturating_sub(VALUES_NAMED_MAX);
    let named = values.iter().take(VALUES_NAMED_MAX).copied().collect::<Vec<_>>().join(", ");
    match (more, named.rsplit_once(", ")) {
        (0, Some((others, last))) => format!("{others} or {last}"),
        (0, None) => named,
        (more, _) => format!("{named} or {more} more"),
    }
}

/// Lists the available values, numbers by size: all if they are few, else those nearest to the requirement.
#[must_use]
pub(in crate::solve) fn instead(
    (key, wanted): (&LabelKey, &Requirement),
    values: &BTreeSet<Arc<str>>,
) -> Option<String> {
    let is_refused = |value: &str| wanted.refused().is_some_and(|refused| refused.contains(value));
    let mut left: Vec<&str> =
        values.iter().map(|value| &**value).filter(|value| !is_refused(value)).collect();
    left.sort_by_key(|value| (value.parse::<i64>().ok(), *value));
    // For a range only the values on either side matter.
    let is_gap = matches!(wanted.bounds(), (Some(_), Some(_)));
    if left.is_empty() {
        return None;
    }
    if left.len() <= VALUES_NAMED_MAX && !is_gap {
        let all: Vec<String> = left.iter().map(|value| shown(key, value)).collect();
        let is_place = matches!(key.as_str(), label::ZONE | label::CAPACITY_TYPE);
        return match all.as_slice() {
            all if is_place => Some(format!("available: {}", all.join(", "))),
            [only] => Some(format!("there is only {only}")),
            all => Some(format!("there are {}", all.join(", "))),
        };
    }
    if let Some(bound) = beyond(wanted, values) {
        return Some(bound);
    }
    let near: Vec<String> = beside(wanted, &left).iter().map(|value| shown(key, value)).collect();
    if near.is_empty() {
        let some: Vec<String> = left.iter().take(VALUES_NAMED_MAX).map(|value| shown(key, value)).collect();
        return Some(format!("there are {}, …", some.join(", ")));
    }
    Some(match near.as_slice() {
        [only] => format!("the nearest is {only}"),
        [one, other] => format!("there are {one} and {other}"),
        near => format!("there are {}", near.join(", ")),
    })
}

/// Returns the values nearest to the requirement: the numbers on both sides, or the most similar text.
fn beside<'v>(wanted: &Requirement, sorted: &[&'v str]) -> Vec<&'v str> {
    let numbers: Option<Vec<i64>> = sorted.iter().map(|value| value.parse().ok()).collect();
    let asked = || wanted.listed().into_iter().flatten();
    let points: Option<Vec<i64>> = match wanted.bounds() {
        (None, None) => asked().map(|value| value.parse().ok()).collect(),
        (least, most) => Some(least.into_iter().chain(most).collect()),
    };
    if let (Some(numbers), Some(points)) = (numbers, points) {
        let sides = points.iter().flat_map(|point| {
            let below = numbers.iter().rposition(|number| number < point);
            let above = numbers.iter().position(|number| number > point);
            below.into_iter().chain(above)
        });
        return sides.collect::<BTreeSet<usize>>().into_iter().map(|place| sorted[place]).collect();
    }
    let distance = |text: &str, value: &str| {
        strsim::osa_distance(&text.to_ascii_lowercase(), &value.to_ascii_lowercase())
    };
    let pairs = asked().flat_map(|text| sorted.iter().map(move |value| (text, *value)));
    let measured = pairs.map(|(text, value)| (distance(text, value), text, value));
    // A value that shares no letter with it is not near.
    let near = measured.filter(|(distance, text, _)| *distance < text.chars().count());
    near.min_by_key(|(distance, _, value)| (*distance, *value))
        .map(|(_, _, value)| value)
        .into_iter()
        .collect()
}

/// Formats a value for a sentence.
fn shown(key: &LabelKey, value: &str) -> String {
    match key.as_str() {
        label::ZONE if value == NO_ZONE => "no zone".to_owned(),
        _ if value.parse::<i64>().is_ok() => value.to_owned(),
        label::ARCH | label::CAPACITY_TYPE => value.to_owned(),
        _ => format!("`{value}`"),
    }
}
