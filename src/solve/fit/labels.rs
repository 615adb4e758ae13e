//! Labels: the node selector and one term of the required node affinity must hold.
//!
//! An existing node is checked by its labels. A new node may still get any value of a well-known label, and of the
//! labels that its pool leaves open.

use std::sync::Arc;

use crate::model::{Conflict, LabelKey, Requirement, Requirements, label};

use super::{Miss, Rule, Undefined};

/// Checks whether one of the alternatives holds for a node with these labels, and returns the first that does.
///
/// # Errors
/// The conflict of the alternative that fails; with several, of the last by content.
pub fn why(
    alternatives: &[Requirements],
    labels: &Requirements,
    undefined: &Undefined<'_>,
) -> Result<usize, Miss> {
    let mut miss = never();
    for (place, wanted) in alternatives.iter().enumerate() {
        match holds(wanted, labels, undefined) {
            Ok(()) => return Ok(place),
            Err(conflict) => miss = to_miss(&conflict),
        }
    }
    Err(miss)
}

/// Returns whether one of the alternatives holds: like [`why`], without a message, for checks of many nodes.
#[must_use]
pub fn are_met(alternatives: &[Requirements], labels: &Requirements, undefined: &Undefined<'_>) -> bool {
    let is_met = |(key, wanted): (&LabelKey, &Requirement)| match labels.get(key.as_str()) {
        Some(found) => wanted.accepts_absence() && found.accepts_absence() || wanted.intersects(found),
        None => wanted.accepts_absence() || undefined.allows(key),
    };
    alternatives.iter().any(|wanted| wanted.iter().all(is_met))
}

/// Checks whether one alternative holds.
///
/// # Errors
/// The first label, by name, on which it does not.
pub fn holds(
    wanted: &Requirements,
    labels: &Requirements,
    undefined: &Undefined<'_>,
) -> Result<(), Box<Conflict>> {
    wanted.satisfied_by(labels, |key| undefined.allows(key))
}

/// Returns what a label may still become given a pod's requirement. If the label might be absent but the pod, or an
/// earlier requirement, needs it to exist, a value is chosen immediately: excluded values alone (`NotIn`) would no
/// longer say that it must exist.
#[must_use]
pub fn narrowed(there: Option<&Requirement>, wanted: &Requirement) -> Requirement {
    let Some(there) = there else { return wanted.clone() };
    let both = there.intersection(wanted);
    let may_be_absent = there.accepts_absence() && wanted.accepts_absence();
    if may_be_absent || !both.accepts_absence() || both.is_none() {
        return both;
    }
    some_value(&both).map_or(both, |value| Requirement::one(&value))
}

/// Returns the first value by name that a requirement accepts, or an invented one if any will do.
#[must_use]
pub fn some_value(requirement: &Requirement) -> Option<Arc<str>> {
    if let Some(values) = requirement.listed() {
        return values.first().cloned();
    }
    let bound = match requirement.bounds() {
        (Some(bound), _) | (None, Some(bound)) => bound,
        (None, None) => 0,
    };
    let refused = requirement.refused().map_or(0, |values| values.len());
    let tries = i64::try_from(refused).unwrap_or(i64::MAX).saturating_add(1);
    let numbers = (0..tries).flat_map(|step| [bound.saturating_add(step), bound.saturating_sub(step)]);
    numbers.map(|number| Arc::from(number.to_string())).find(|text: &Arc<str>| requirement.accepts(text))
}

/// Converts a conflict of labels to a miss.
#[must_use]
pub fn to_miss(conflict: &Conflict) -> Miss {
    Miss::new(rule_of(&conflict.key), conflict.to_string())
}

/// Returns the rule that a label belongs to.
#[must_use]
pub fn rule_of(key: &LabelKey) -> Rule {
    match key.as_str() {
        label::ZONE => Rule::Zone,
        label::CAPACITY_TYPE => Rule::CapacityType,
        _ => Rule::NodeAffinity,
    }
}

fn never() -> Miss {
    let because = "the node selector and the terms of the node affinity contradict each other".to_owned();
    Miss::new(Rule::NodeAffinity, because)
}
