//! Refreshes a snapshot: records the current state of the world, and compares it with the recorded one.
//!
//! Its creator's settings for region, names, sizes and quotas are kept unless set again. Never plans anything.

use crate::manifests::{self, Names, Source};
use crate::snapshot::difference::SnapshotDifference;
use crate::snapshot::file::{self, SnapshotFile, Stock};

use super::recorded::{self, Seen};
use super::{Problem, Request, problems};

/// A refreshed snapshot.
#[derive(Debug)]
pub struct Refreshed {
    /// The current snapshot.
    pub snapshot: SnapshotFile,
    /// How it differs from the recorded one.
    pub difference: SnapshotDifference,
}

/// Creates the snapshot of an input and compares it with a recorded one.
///
/// # Errors
/// All faults of the recorded snapshot or the input; or names that cannot be compared.
pub fn refreshed(source: &Source, request: Request) -> Result<Refreshed, Vec<Problem>> {
    let before = file::read(source).map_err(|faults| problems(&faults))?;
    let names = before.names.max(request.names);
    if names == Names::Omit {
        return Err(vec![Problem {
            what: format!("`{}`: numbers instead of names cannot be matched later", source.name),
            hint: Some("hide names by `--names hash`, which is always the same".to_owned()),
        }]);
    }
    if names != before.names {
        return Err(vec![Problem {
            what: format!("`{}` shows the names that `--names hash` hides", source.name),
            hint: Some("make it anew: `nodeform snapshot --names hash`".to_owned()),
        }]);
    }
    let keeps_stock = request.catalogs.is_empty();
    let location = request.location.clone().or_else(|| before.location.clone());
    let usages = request.usages.clone().or_else(|| before.usages.clone());
    let mut snapshot = recorded::snapshot(Request { names, location, usages, ..request })?;
    if keeps_stock && matches!(before.stock, Stock::Given(_)) {
        snapshot.stock = before.stock.clone();
    }
    let difference = recorded::difference(&seen(before)?, &seen(snapshot.clone())?);
    Ok(Refreshed { snapshot, difference })
}

fn seen(file: SnapshotFile) -> Result<Seen, Vec<Problem>> {
    recorded::of_file(file).map_err(|faults: Vec<manifests::Fault>| problems(&faults))
}
