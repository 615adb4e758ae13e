//! Folders of plans that people review, which lie in repositories beside manifests and hold none.
//!
//! Known by the files that they hold and no others: a folder that holds anything else is read as any folder is.

use std::collections::{BTreeMap, BTreeSet};

use super::parent;

/// The page that every such folder has.
const PAGE: &str = "PLAN.md";

/// The names of the plan itself; the second is that of older versions.
const PLANS: [&str; 2] = ["plan.jsonc", "plan.json"];

/// What may lie beside them.
const BESIDE: [&str; 3] = ["destroy.txt", "plan.jsonc.sig", "destroy.yaml"];

/// Returns the folders of reviewed plans among those of these files, sorted.
pub(super) fn of_plans<'p>(paths: &[&'p str]) -> BTreeSet<&'p str> {
    let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in paths {
        folders.entry(parent(path)).or_default().insert(path.rsplit('/').next().unwrap_or(path));
    }
    let plans = folders.into_iter().filter(|(_, files)| holds_a_plan(files));
    plans.map(|(folder, _)| folder).collect()
}

/// Returns whether a folder of these files is one of a reviewed plan.
#[must_use]
pub fn holds_a_plan(files: &BTreeSet<&str>) -> bool {
    let is_of_plan = |file: &&str| *file == PAGE || PLANS.contains(file) || BESIDE.contains(file);
    files.contains(PAGE) && PLANS.iter().any(|plan| files.contains(plan)) && files.iter().all(is_of_plan)
}
