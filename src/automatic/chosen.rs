//! Selects the changes of a round's plan to start: all but the unconfirmed, those in progress in another plan, and
//! those that never happen automatically.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;

use super::back_off::{BackOff, NeverJoined, Tried};
use super::fights::Fights;
use super::wants::Wants;
use crate::model::{ChangeClass, ClaimName, DisruptionReason};
use crate::plan::{Change, ChangeId, ClaimSpec, Delete, PlanSpec, Update};

/// The state on which the selection depends.
#[derive(Clone, Copy, Debug)]
pub struct Choosing<'a> {
    /// Removals that rounds planned, this one included.
    pub wants: &'a Wants,
    /// Recent failures.
    pub back_off: &'a BackOff,
    /// Recent in-place updates that others reset.
    pub fights: &'a Fights,
    /// Changes of plans in flight.
    pub in_flight: &'a BTreeSet<ChangeId>,
    /// NodeClaims whose nodes are being created.
    pub making: &'a BTreeSet<ClaimName>,
    /// NodeClaims whose nodes are still waiting for the pods that they were created for.
    pub awaiting: &'a BTreeSet<ClaimName>,
    /// The current time.
    pub at: Timestamp,
}

/// Returns the changes to leave out of a plan, with the reasons.
#[must_use]
pub fn left_out(spec: &PlanSpec, choosing: Choosing<'_>) -> BTreeMap<ChangeId, Arc<str>> {
    let mut left_out: BTreeMap<ChangeId, Arc<str>> = BTreeMap::new();
    for (id, planned) in &spec.changes {
        let because = match &planned.change {
            Change::Create(create) => {
                spec.claims.get(&create.spec).and_then(|claim| of_create(claim, choosing))
            }
            Change::Delete(delete) => of_delete(spec, id, delete, choosing),
            Change::Update(update) => of_update(id, update, choosing),
            Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => {
                Some("this version neither adopts nor forgets nodes".to_owned())
            }
        };
        left_out.extend(because.map(|because| (id.clone(), because.into())));
    }
    let needless = needless(spec, &left_out);
    left_out.extend(needless);
    left_out
}

fn of_create(claim: &ClaimSpec, Choosing { back_off, at, .. }: Choosing<'_>) -> Option<String> {
    let ClaimSpec { pool, primary, .. } = claim;
    if let Some(until) = back_off.until(&Tried::ToMake(pool.clone()), at) {
        return Some(format!("nodes of pool `{pool}` failed; next attempt at {until}"));
    }
    let is_alike = |silent: &NeverJoined| silent.made.pool == *pool && silent.made.size == primary.size;
    let silent = back_off.silent(at).find(is_alike)?;
    Some(format!("a node of size `{}` never joined; next attempt at {}", primary.size, silent.until))
}

/// Decides on an update. Tags and labels are merged, so a planned update is not evaluated again before it finishes.
fn of_update(id: &ChangeId, update: &Update, choosing: Choosing<'_>) -> Option<String> {
    let Choosing { back_off, fights, in_flight, at, .. } = choosing;
    if in_flight.contains(id) {
        return Some("an earlier plan changes it".to_owned());
    }
    if let Some(until) = fights.until(update, at) {
        return Some(format!(
            "the node was updated in place and set back by others; next attempt at {until}"
        ));
    }
    let until = back_off.until(&Tried::ToUpdate(update.target.node.clone()), at)?;
    Some(format!("updating the node in place failed; next attempt at {until}"))
}

fn of_delete(spec: &PlanSpec, id: &ChangeId, delete: &Delete, choosing: Choosing<'_>) -> Option<String> {
    let Choosing { wants, back_off, in_flight, making, awaiting, at, .. } = choosing;
    let reason = delete.reason;
    if in_flight.contains(id) {
        return Some("an earlier plan deletes it".to_owned());
    }
    if delete.target.claim.as_ref().is_some_and(|claim| making.contains(claim)) {
        return Some("an earlier plan is still creating it".to_owned());
    }
    let tried = Tried::ToRemove { node: delete.target.node.clone(), class: ChangeClass::of(reason) };
    if let Some(until) = back_off.until(&tried, at) {
        return Some(format!("deleting the node failed; next attempt at {until}"));
    }
    // Deletion by a user needs no confirmation.
    if reason == DisruptionReason::Deleted {
        return None;
    }
    if delete.target.claim.as_ref().is_some_and(|claim| awaiting.contains(claim)) {
        return Some("an earlier plan created it for the pods of a node that is not deleted yet".to_owned());
    }
    if ChangeClass::of(reason) == ChangeClass::DeletePool {
        return Some("nodes of a deleted pool are never deleted automatically".to_owned());
    }
    if matches!(reason, DisruptionReason::Unhealthy | DisruptionReason::Expired) {
        return None;
    }
    let node = spec.execution.as_ref().and_then(|execution| execution.nodes.get(id));
    let until = wants.waits_until(node.and_then(|node| node.node_uid.as_deref()), at)?;
    Some(format!("deleted at {until} or later, if still planned then"))
}

/// Returns the creates that only serve removals which do not start now. A create that no removal waits for is for
/// pending pods.
fn needless(spec: &PlanSpec, left_out: &BTreeMap<ChangeId, Arc<str>>) -> BTreeMap<ChangeId, Arc<str>> {
    let Some(execution) = &spec.execution else { return BTreeMap::new() };
    let mut serves: BTreeMap<&ChangeId, bool> = BTreeMap::new();
    for (delete, removal) in &execution.removals {
        for create in &removal.after {
            *serves.entry(create).or_default() |= !left_out.contains_key(delete);
        }
    }
    let needless = serves.into_iter().filter(|(_, serves)| !serves);
    needless
        .map(|(create, _)| {
            (create.clone(), "waiting: the nodes it replaces are not being deleted yet".into())
        })
        .collect()
}
