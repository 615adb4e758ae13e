//! `minValues`: the number of distinct values of a label that the sizes of a claim must offer.
//!
//! Never chooses sizes.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{LabelKey, Requirement, Requirements};
use crate::solve::intern::Bits;

use super::shelf::Shelf;

/// Returns the labels of which these sizes offer too few values, with the number that they offer.
pub(super) fn lacking(wanted: &Requirements, shelf: &Shelf<'_>, kinds: &Bits) -> Vec<(LabelKey, u32)> {
    let asked = wanted.iter().filter_map(|(key, requirement)| Some((key, requirement.min_values()?)));
    let lacking = asked.filter_map(|(key, least)| {
        let values: BTreeSet<&Arc<str>> = kinds
            .iter()
            .filter_map(|place| shelf.kinds[place].requirements.get(key.as_str())?.listed())
            .flatten()
            .collect();
        let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
        (count < least).then(|| (key.clone(), count))
    });
    lacking.collect()
}

/// Lowers `minValues` to the number of values that exist.
pub(super) fn lowered(wanted: &Requirements, lacking: &[(LabelKey, u32)]) -> Requirements {
    let mut lowered = wanted.clone();
    for (key, count) in lacking {
        if let Some(there) = wanted.get(key.as_str()).cloned() {
            lowered.set(key.clone(), Requirement::with_min_values(there, Some(*count)));
        }
    }
    lowered
}
