//! The second plan: right before it is carried out, what is left of a merged plan is planned again, and done as far as both
//! say it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::exit::Failure;
use super::super::ui::Ui;
use super::super::world;
use crate::offline::World;
use crate::offline::again::{Brakes, Waiting, again};
use crate::plan::{ChangeId, Plan};
use crate::render::words::count;
use crate::review::covers::{Covered, Fate, covers};
use crate::review::{ApprovedPlan, LeftOut};

/// How many changes are told one by one that would be needed and nobody approved.
const TOLD_MAX: usize = 5;

/// Narrows an approved plan to what a second plan of the same world covers. `closed` are the changes that have begun or
/// ended.
///
/// # Errors
/// The second plan is refused by the judge: a bug of nodeform.
pub(in crate::cli) fn planned_again(
    world: &World,
    approved: ApprovedPlan,
    closed: &BTreeSet<ChangeId>,
    ui: Ui,
) -> Result<ApprovedPlan, Failure> {
    let left = left(&approved, closed);
    if left.spec.changes.is_empty() {
        return Ok(approved);
    }
    // What has begun has made pods wait whose room is not to be given away, and what was planned for such pods is for them.
    let is_for_waiting =
        left.spec.execution.as_ref().is_some_and(|execution| !execution.nominations.is_empty());
    let waiting = if is_for_waiting || !closed.is_empty() { Waiting::Seen } else { Waiting::Unseen };
    let planned = |brakes| again(world, &left, waiting, brakes).map_err(world::refused);
    let mut covered = covers(&left, &planned(Brakes::On)?);
    let waits = match covered.approved.values().all(is_settled) {
        true => BTreeMap::new(),
        false => waits(&mut covered, &covers(&left, &planned(Brakes::Off)?)),
    };
    if let Some(because) = covered.drop_if_too_many_are_lost(approved.plan()) {
        ui.aside(&format!("{because}: the others are not begun; propose them anew.\n"));
    }
    tell_strange(&covered, ui);
    Ok(approved.narrowed(&covered).leaving_out(waits))
}

/// The plan without what has begun, has ended or is left out.
fn left(approved: &ApprovedPlan, closed: &BTreeSet<ChangeId>) -> Plan {
    let mut plan = approved.plan().clone();
    plan.spec.changes.retain(|id, _| !closed.contains(id) && !approved.left_out().contains_key(id));
    plan
}

const fn is_settled(fate: &Fate) -> bool {
    matches!(fate, Fate::Kept(_) | Fate::Gone)
}

/// Takes out of what is covered what would be done without freezes, budgets and PodDisruptionBudgets: it waits for those.
fn waits(covered: &mut Covered, without_brakes: &Covered) -> BTreeMap<ChangeId, LeftOut> {
    let mut waits = BTreeMap::new();
    for (id, fate) in &covered.approved {
        let because: Arc<str> = match fate {
            Fate::NoLongerHolds(because) => because.clone(),
            Fate::NoLongerNeeded(_) => "the nodes whose pods it takes wait".into(),
            Fate::Kept(_) | Fate::Gone => continue,
        };
        if without_brakes.approved.get(id).is_some_and(|fate| fate.kept().is_some()) {
            waits.insert(id.clone(), LeftOut::Waits(because));
        }
    }
    covered.approved.retain(|id, _| !waits.contains_key(id));
    waits
}

fn tell_strange(covered: &Covered, ui: Ui) {
    let strange = covered.strange.values();
    for because in strange.take(TOLD_MAX) {
        ui.aside(&format!("Left to the next proposal: {because}.\n"));
    }
    if let Some(more) = covered.strange.len().checked_sub(TOLD_MAX).filter(|more| *more > 0) {
        ui.aside(&format!("Left to the next proposal: {} more.\n", count(more, "change")));
    }
}
