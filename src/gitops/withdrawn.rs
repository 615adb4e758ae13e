//! Plans in progress that were removed from the branch: started changes are finished, and the plans are spent.

use std::collections::BTreeSet;

use super::place::Place;
use crate::git::remote::PlanEntry;
use crate::ledger::{Ledger, Recorded};

/// Returns the plans in progress whose folder is no longer on this branch, with their folders. Plans of other places
/// are ignored.
#[must_use]
pub fn withdrawn<'l>(
    ledger: &'l Ledger,
    place: &Place,
    entries: &[PlanEntry],
) -> Vec<(&'l str, &'l Recorded)> {
    let there: BTreeSet<String> =
        entries.iter().map(|entry| format!("{}/{}", entry.month, entry.name)).collect();
    let start = place.folder(&"");
    let merged =
        ledger.unfinished().filter_map(|plan| Some((plan.folder.as_deref()?.strip_prefix(&start)?, plan)));
    merged.filter(|(folder, _)| !there.contains(*folder)).collect()
}
