//! `destroy.txt`: one line per node to delete; a reviewer who deletes a line keeps its node.

use std::collections::BTreeSet;

use super::fault::ProposalFault;
use crate::model::shown::plain;
use crate::plan::{ChangeId, Plan};

/// A line of `destroy.txt`, without its line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestroyLine {
    /// The change that removes the node.
    pub change: ChangeId,
    /// The line.
    pub text: String,
}

/// Maximum length of an unknown line in messages, in characters.
const TOLD_LETTERS_MAX: usize = 60;

/// Returns the removals whose lines are missing from the file; `None` is a missing file. The remaining lines must be
/// the plan's, in the plan's order: reviewers can only strike lines.
///
/// # Errors
/// The first line that is not the plan's.
pub fn struck(lines: &[DestroyLine], file: Option<&str>) -> Result<BTreeSet<ChangeId>, ProposalFault> {
    let mut struck: BTreeSet<ChangeId> = BTreeSet::new();
    let mut rest = lines.iter();
    let text = file.filter(|text| text.trim() != "[]").unwrap_or_default();
    for (place, found) in text.split('\n').enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let mut is_known = false;
        for line in rest.by_ref() {
            if line.text == found {
                is_known = true;
                break;
            }
            struck.insert(line.change.clone());
        }
        if !is_known {
            let text = plain(found).chars().take(TOLD_LETTERS_MAX).collect();
            return Err(ProposalFault::DestroysDiffer { line: place + 1, what: differs(lines, found), text });
        }
    }
    struck.extend(rest.map(|line| line.change.clone()));
    Ok(struck)
}

/// Describes how a line differs from those of the plan.
fn differs(lines: &[DestroyLine], found: &str) -> &'static str {
    let is_one = |text: &str| lines.iter().any(|line| line.text == text);
    let without_end = found.strip_suffix('\r').unwrap_or(found);
    let commented = found.trim_start().strip_prefix('#').map(str::trim);
    let node = |text: &str| text.split_whitespace().nth(1).map(str::to_owned);
    let names = |line: &DestroyLine| node(&line.text) == node(found);
    if is_one(found) {
        "is listed twice, or not in the plan's order"
    } else if without_end.len() < found.len() && is_one(without_end) {
        "ends with a carriage return (CRLF), which the plan's does not"
    } else if is_one(found.trim_end()) {
        "ends with spaces, which the plan's does not"
    } else if commented.is_some_and(is_one) {
        "is commented out; delete the line to keep the node"
    } else if is_one(found.trim()) {
        "is indented, which the plan's is not"
    } else if lines.iter().any(names) {
        "differs from the plan's line of its node"
    } else {
        "is not one of the plan's"
    }
}

/// Returns the creates that are no longer needed once these removals are struck: they only take pods that then stay
/// where they are. A create that pending pods need, or that no removal waits for, is always needed.
#[must_use]
pub fn idle_creates(plan: &Plan, struck: &BTreeSet<ChangeId>) -> BTreeSet<ChangeId> {
    let Some(execution) = &plan.spec.execution else { return BTreeSet::new() };
    let awaited_by = |is_struck: bool| -> BTreeSet<&ChangeId> {
        let removals = execution.removals.iter().filter(|(id, _)| struck.contains(*id) == is_struck);
        removals.flat_map(|(_, removal)| &removal.after).collect()
    };
    let (stay, needed) = (awaited_by(true), awaited_by(false));
    let waits = |id: &ChangeId| execution.nominations.get(id).is_some_and(|pods| !pods.is_empty());
    let is_idle = |id: &&ChangeId| stay.contains(*id) && !needed.contains(*id) && !waits(id);
    plan.spec.creates().map(|(id, _, _)| id).filter(is_idle).cloned().collect()
}
