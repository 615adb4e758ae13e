//! Finds folders of plans under review, which are in repositories beside manifests but hold none.
//!
//! Recognised by containing only known files: a folder with any other file is read like any folder.

use std::collections::{BTreeMap, BTreeSet};

use super::parent;

/// The page in every such folder.
const PAGE: &str = "PLAN.md";

/// File names of the plan itself; the second is from older versions.
const PLANS: [&str; 2] = ["plan.jsonc", "plan.json"];

/// Other files that may be beside them.
const BESIDE: [&str; 3] = ["destroy.txt", "plan.jsonc.sig", "destroy.yaml"];

/// Returns the folders of plans under review among these files, sorted.
pub(super) fn of_plans<'p>(paths: &[&'p str]) -> BTreeSet<&'p str> {
    let mut folders: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for path in paths {
        folders.entry(parent(path)).or_default().insert(path.rsplit('/').next().unwrap_or(path));
    }
    let plans = folders.into_iter().filter(|(_, files)| holds_a_plan(files));
    plans.map(|(folder, _)| folder).collect()
}

/// Returns whether a folder with these files is that of a plan under review.
#[must_use]
pub fn holds_a_plan(files: &BTreeSet<&str>) -> bool {
    let is_of_plan = |file: &&str| *file == PAGE || PLANS.contains(file) || BESIDE.contains(file);
    files.contains(PAGE) && PLANS.iter().any(|plan| files.contains(plan)) && files.iter().all(is_of_plan)
}
