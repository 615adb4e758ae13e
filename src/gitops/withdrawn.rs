//! Plans that were seen on the branch, wait, and are no longer there: what has begun is finished, and they are spent.

use std::collections::BTreeSet;

use super::place::Place;
use crate::git::remote::PlanEntry;
use crate::ledger::{Ledger, Recorded};

/// The plans under way whose folder is no longer on this branch, by their folders. Those of another place are not known of.
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
