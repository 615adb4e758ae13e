//! Labels: the node selector and one term of the required node affinity must hold.
//!
//! A node that exists is judged by the labels it has. A node that is not there yet may still get any value
//! of a well-known label, and of the labels that its pool leaves open.

use crate::model::{Conflict, LabelKey, Requirements, label};

use super::{Miss, Rule, Undefined};

/// Says whether one of the alternatives holds for a node of these labels, and which is the first.
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

/// Says whether one alternative holds.
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

/// Returns the miss that a conflict of labels is.
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
