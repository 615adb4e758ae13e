//! Holds: nothing that the fleet freezes or holds is applied, nor anything that is listed as held.
//!
//! A freeze holds voluntary changes: removal of empty, drifted, underutilized and destroyed nodes, and adoptions.
//! Expired and unhealthy nodes, and other changes of a class on hold, are held only by that class.

use std::collections::{BTreeMap, BTreeSet};

use croner::parser::{CronParser, Seconds};
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{ChangeClass, DisruptionReason, Freeze, NodeName, PoolName};
use crate::plan::Change;

/// Returns the changes that must wait.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut changed = BTreeSet::new();
    for planned in case.plan.spec.changes.values() {
        let Some(target) = planned.change.target() else { continue };
        // A node whose removal is held may still be updated in place.
        changed.insert((&target.node, matches!(planned.change, Change::Update(_))));
        let what = match &planned.change {
            Change::Delete(delete) => of_reason(delete.reason),
            Change::Update(_) => (ChangeClass::Update, None),
            Change::Adopt(_) => (ChangeClass::Adopt, None),
            Change::Forget(_) => (ChangeClass::Forget, None),
            Change::Create(_) | Change::NoOp(_) => continue,
        };
        let pool = case.nodes.get(&target.node).and_then(|node| node.pool.as_ref());
        found.extend(pool.and_then(|pool| why(case, pool, what)).map(|why| object(&target.node, why)));
    }
    let held = case.plan.evidence.held.iter();
    let carried_out = held.filter(|held| changed.contains(&(&held.node, held.class == ChangeClass::Update)));
    found.extend(carried_out.map(|held| object(&held.node, "is changed, but is listed as held".to_owned())));
    found
}

fn object(node: &NodeName, why: String) -> Finding {
    Finding::new(Rule::Hold, format!("node `{node}`"), why)
}

const fn of_reason(reason: DisruptionReason) -> (ChangeClass, Option<DisruptionReason>) {
    let class = match reason {
        DisruptionReason::Empty => ChangeClass::RemoveEmpty,
        DisruptionReason::Underutilized | DisruptionReason::Excess => ChangeClass::MovePods,
        DisruptionReason::Unhealthy | DisruptionReason::Expired | DisruptionReason::Drifted => {
            ChangeClass::Replace
        }
        DisruptionReason::Destroyed | DisruptionReason::Deleted => ChangeClass::DeletePool,
    };
    (class, Some(reason))
}

fn why(
    case: &Case<'_>,
    pool: &PoolName,
    (class, reason): (ChangeClass, Option<DisruptionReason>),
) -> Option<String> {
    // A user who deletes a node has decided.
    if reason == Some(DisruptionReason::Deleted) {
        return None;
    }
    let holds = &case.policy.fleet.holds;
    let has = |classes: &BTreeMap<PoolName, BTreeSet<ChangeClass>>| {
        classes.get(pool).is_some_and(|classes| classes.contains(&class))
    };
    // The pool's setting takes precedence over the fleet's.
    if has(&holds.pools) || holds.classes.contains(&class) && !has(&holds.lifted) {
        return Some(format!("is changed, but changes of class `{class}` are on hold"));
    }
    let is_chosen = !matches!(reason, Some(DisruptionReason::Expired | DisruptionReason::Unhealthy));
    let concerns = |freeze: &&Freeze| {
        let is_of_pool = freeze.pools.as_ref().is_none_or(|pools| pools.contains(pool));
        let is_for_it = match (&freeze.reasons, reason) {
            (None, _) => is_chosen,
            (Some(reasons), Some(reason)) => reasons.contains(&reason),
            (Some(_), None) => false,
        };
        is_of_pool && is_for_it && is_open(freeze, case.snapshot.at)
    };
    let freeze = holds.freezes.iter().find(concerns)?;
    Some(format!("is changed, but freeze `{}` is open", freeze.name))
}

/// Returns whether a freeze is open: for its duration from each occurrence of its schedule, and if that is unknown.
fn is_open(freeze: &Freeze, at: Option<Timestamp>) -> bool {
    let Some(window) = &freeze.window else { return true };
    let zone = match window.time_zone.as_deref() {
        None => Ok(TimeZone::UTC),
        Some(name) => TimeZoneDatabase::bundled().get(name),
    };
    let cron = CronParser::builder().seconds(Seconds::Disallowed).build().parse(&window.schedule);
    let (Ok(zone), Ok(cron), Some(at)) = (zone, cron, at) else { return true };
    // The freeze is open if the last occurrence up to now is less than its duration ago.
    let last = cron.find_previous_occurrence(&at.to_zoned(zone), true);
    last.is_ok_and(|hit| at.duration_since(hit.timestamp()) < window.duration)
}
