//! `minValues`: a node is created only as a choice among this many distinct values of a label.
//!
//! Never decides what is among that choice.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{CapacityType, InstanceType, LabelKey, Offering, Pool, label};

use super::{Miss, Rule};

/// A label, and the required number of distinct values.
pub type Asked = (LabelKey, u32);

/// Returns the `minValues` of a pool, by label.
#[must_use]
pub fn asked(pool: &Pool) -> Vec<Asked> {
    let requirements = pool.requirements.iter();
    requirements.filter_map(|(key, wanted)| Some((key.clone(), wanted.min_values()?))).collect()
}

/// Returns the values that a node of this offering may have of a label.
#[must_use]
pub fn values(key: &LabelKey, kind: &InstanceType, offering: &Offering) -> Vec<Arc<str>> {
    match key.as_str() {
        label::INSTANCE_TYPE => vec![Arc::from(kind.name.as_str())],
        label::ZONE => vec![Arc::from(offering.zone.as_str())],
        label::CAPACITY_TYPE => vec![Arc::from(CapacityType::as_str(offering.capacity_type))],
        key => {
            let there = offering.requirements.get(key).or_else(|| kind.requirements.get(key));
            there.and_then(|there| there.listed()).into_iter().flatten().cloned().collect()
        }
    }
}

/// Returns how many distinct values of each label these offerings have together.
#[must_use]
pub fn counts<'a>(
    asked: &[Asked],
    offerings: impl Iterator<Item = (&'a InstanceType, &'a Offering)> + Clone,
) -> Vec<u32> {
    let count = |(key, _): &Asked| {
        let values: BTreeSet<Arc<str>> =
            offerings.clone().flat_map(|(kind, offering)| values(key, kind, offering)).collect();
        u32::try_from(values.len()).unwrap_or(u32::MAX)
    };
    asked.iter().map(count).collect()
}

/// Checks whether the offerings that hold a pod have enough values.
///
/// # Errors
/// The first label with too few values.
pub fn why(asked: &[Asked], counts: &[u32]) -> Result<(), Miss> {
    match asked.iter().zip(counts).find(|((_, least), count)| *count < least) {
        None => Ok(()),
        Some(((key, least), count)) => {
            let because = format!(
                "`minValues` of `{key}` asks for {least} different values, and the sizes that hold it have {count}"
            );
            let short_by = i64::from(least - count) * 1_000_000 / i64::from((*least).max(1));
            Err(Miss { rule: Rule::MinValues, because, short_by })
        }
    }
}
