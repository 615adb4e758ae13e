//! `destroy.yaml`: the nodes that go, a line each; a line that a reviewer deletes keeps its node.

use std::collections::BTreeSet;

use super::fault::ProposalFault;
use crate::model::{NodeName, PodKey, PodPlace};
use crate::plan::{ChangeId, Plan};

/// A line of `destroy.yaml`, without its line feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DestroyLine {
    /// The change that removes the node.
    pub change: ChangeId,
    /// The line.
    pub text: String,
}

/// How much of a strange line is told.
const TOLD_LETTERS_MAX: usize = 60;

/// Returns the removals whose lines are missing of the file; `None` is a file that is not there. What is left has to be
/// lines of the plan in the plan's order: whoever strikes adds nothing.
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
            let text = found.chars().map(|letter| if letter.is_control() { '\u{fffd}' } else { letter });
            let text = text.take(TOLD_LETTERS_MAX).collect();
            return Err(ProposalFault::DestroysDiffer { line: place + 1, what: differs(lines, found), text });
        }
    }
    struck.extend(rest.map(|line| line.change.clone()));
    Ok(struck)
}

/// Says in what a line differs from those of the plan.
fn differs(lines: &[DestroyLine], found: &str) -> &'static str {
    let is_one = |text: &str| lines.iter().any(|line| line.text == text);
    let without_end = found.strip_suffix('\r').unwrap_or(found);
    let commented = found.trim_start().strip_prefix('#').map(str::trim);
    let node = |text: &str| text.split_whitespace().nth(1).map(str::to_owned);
    let names = |line: &DestroyLine| node(&line.text) == node(found);
    if is_one(found) {
        "stands twice, or not in the plan's order"
    } else if without_end.len() < found.len() && is_one(without_end) {
        "ends with a carriage return (CRLF), which the plan's does not"
    } else if is_one(found.trim_end()) {
        "ends with spaces, which the plan's does not"
    } else if commented.is_some_and(is_one) {
        "is commented out, which strikes nothing"
    } else if is_one(found.trim()) {
        "is indented, which the plan's is not"
    } else if lines.iter().any(names) {
        "says something else of its node than the plan"
    } else {
        "is not one of the plan's"
    }
}

/// Returns the creates that nothing needs once these removals are struck: every pod that would go there stays where it
/// is, and no other removal waits for them.
#[must_use]
pub fn idle_creates(plan: &Plan, struck: &BTreeSet<ChangeId>) -> BTreeSet<ChangeId> {
    let Some(execution) = &plan.spec.execution else { return BTreeSet::new() };
    let deletes = plan.spec.deletes().filter(|(id, _)| struck.contains(*id));
    let stays: BTreeSet<&NodeName> = deletes.map(|(_, delete)| &delete.target.node).collect();
    let groups = plan.evidence.world.pods.iter();
    let on_them =
        groups.filter(|group| matches!(&group.place, PodPlace::Bound(node) if stays.contains(node)));
    let on_them: BTreeSet<PodKey> = on_them
        .flat_map(|group| {
            let key = |name: &std::sync::Arc<str>| PodKey {
                namespace: group.namespace.clone(),
                name: name.clone(),
            };
            group.names.iter().map(key)
        })
        .collect();
    let others = execution.removals.iter().filter(|(id, _)| !struck.contains(*id));
    let needed: BTreeSet<&ChangeId> = others.flat_map(|(_, removal)| &removal.after).collect();
    let is_idle = |id: &&ChangeId| {
        let pods = plan.evidence.placements.get(*id).map_or(&[][..], |placement| &placement.pods);
        !pods.is_empty() && !needed.contains(*id) && pods.iter().all(|pod| on_them.contains(pod))
    };
    plan.spec.creates().map(|(id, _, _)| id).filter(is_idle).cloned().collect()
}
