//! Order in which a plan is applied, and what a revert does and does not undo, in words.

use std::collections::BTreeSet;

use crate::plan::{Change, ChangeId, Plan, Step, Wave};
use crate::render::escape::code_whole;
use crate::render::words::{count, verb};

/// Maximum number of nodes of a step that are listed; all are listed further up.
const NAMED_MAX: usize = 5;

/// Returns an item for each wave.
pub(super) fn waves(plan: &Plan) -> Vec<String> {
    let waves = plan.spec.waves.iter().enumerate();
    waves.map(|(place, wave)| of_wave(plan, place, wave)).collect()
}

fn of_wave(plan: &Plan, place: usize, wave: &Wave) -> String {
    let ids = |step: Step| wave.steps.get(&step).map_or(&[][..], Vec::as_slice);
    let (drained, deleted) = (ids(Step::Drain), ids(Step::Delete));
    let mut parts = Vec::new();
    let mut said = |ids: &[ChangeId], one: &str, many: &str| {
        if !ids.is_empty() {
            parts.push(format!(
                "{} {}{}",
                count(ids.len(), "node"),
                verb(ids.len(), one, many),
                names(plan, ids)
            ));
        }
    };
    said(ids(Step::Adopt), "gets a NodeClaim", "get a NodeClaim");
    said(ids(Step::Update), "is updated", "are updated");
    said(ids(Step::Create), "is created", "are created");
    if drained == deleted {
        said(drained, "is drained and deleted", "are drained and deleted");
    } else {
        said(drained, "is drained", "are drained");
        said(deleted, "is deleted", "are deleted");
    }
    said(ids(Step::Forget), "is no longer managed", "are no longer managed");
    let created = ids(Step::Create).len();
    let ready = match created {
        1 => "; when it is Ready, ",
        2 => "; when both are Ready, ",
        _ => "; when all are Ready, ",
    };
    // Drains wait for the nodes that are created first.
    let waiting = usize::from(created > 0 && !drained.is_empty());
    let last = parts.split_off(parts.len().saturating_sub(waiting));
    let text = match (parts.is_empty(), last.is_empty()) {
        (false, false) => format!("{}{ready}{}", parts.join(", then "), last.join(", then ")),
        _ => parts.into_iter().chain(last).collect::<Vec<_>>().join(", then "),
    };
    format!("{} {text}.", if place == 0 { "First," } else { "Then," })
}

fn names(plan: &Plan, ids: &[ChangeId]) -> String {
    if ids.len() > NAMED_MAX {
        return String::new();
    }
    let name = |id: &ChangeId| match plan.spec.changes.get(id).map(|planned| &planned.change) {
        Some(Change::Create(create)) => code_whole(&create.vm),
        Some(change) => {
            change.target().map_or_else(|| code_whole(&id.0), |target| code_whole(target.node.as_str()))
        }
        None => code_whole(&id.0),
    };
    format!(" ({})", ids.iter().map(name).collect::<Vec<_>>().join(", "))
}

/// Describes how a plan is applied, regardless of its waves.
pub(super) fn pace(plan: &Plan) -> Option<String> {
    let drains = plan.spec.waves.iter().any(|wave| wave.steps.contains_key(&Step::Drain));
    drains.then(|| {
        let kills = plan.spec.execution.iter().flat_map(|execution| execution.removals.values());
        let until = if kills.into_iter().any(|removal| removal.grace.is_some()) {
            ", for at most the drain time in its line; then pods that are left are deleted whatever their budgets"
        } else {
            ""
        };
        format!("Pods are evicted, so PodDisruptionBudgets hold; a node whose pods cannot be evicted waits{until}.")
    })
}

/// Describes what a revert does, and what it does not undo.
pub(super) fn revert(plan: &Plan) -> Vec<String> {
    let does = |is: fn(&Change) -> bool| plan.spec.changes.values().any(|planned| is(&planned.change));
    let kinds: BTreeSet<&str> = [
        (
            does(|change| change.delete().is_some()),
            "deleted nodes stay deleted, and their pods where they went",
        ),
        (
            does(|change| change.create().is_some()),
            "created nodes keep running and costing until another plan deletes them",
        ),
        (
            does(|change| matches!(change, Change::Update(_) | Change::Adopt(_) | Change::Forget(_))),
            "updated nodes stay updated",
        ),
    ]
    .into_iter()
    .filter_map(|(is_there, what)| is_there.then_some(what))
    .collect();
    if kinds.is_empty() {
        return Vec::new();
    }
    let kinds: Vec<&str> = kinds.into_iter().rev().collect();
    vec![
        "Before it is applied: a revert of the merge withdraws the plan, and nothing happens.".to_owned(),
        "While it is applied: nothing new is started; what was started is finished.".to_owned(),
        format!("Afterwards: a revert undoes nothing: {}. Propose a new plan instead.", kinds.join("; ")),
    ]
}
