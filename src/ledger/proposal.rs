//! The NodePlan status of a plan that waits for approval: its changes, and how it ended if it never started.
//!
//! Never sets a start time: that would make it a plan with effects.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::Rejection;
use super::status::{CHANGES_MAX, MESSAGE_LETTERS_MAX, short, whole_second};
use super::write::count;
use crate::api::meta::Condition;
use crate::api::node_plan::{ChangeOutcome, NodePlanStatus, OutcomeCounts, OutcomeKind, Phase};

/// A plan that needs approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposed<'a> {
    /// Its name.
    pub name: &'a str,
    /// Descriptions of its changes for users, by id.
    pub changes: BTreeMap<String, String>,
}

/// The state of a plan that has not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate<'a> {
    /// Waiting for approval.
    Waits(Proposed<'a>),
    /// Rejected by a person.
    Rejected(&'a Rejection),
    /// Withdrawn, with the reason.
    Withdrawn(&'a str),
    /// Not approved in time.
    Expired,
}

/// Returns the merge patch of such a plan's status at a given time.
#[must_use]
pub fn proposal_patch(fate: &Fate<'_>, at: Timestamp) -> Value {
    let (phase, message) = match fate {
        Fate::Waits(Proposed { name, .. }) => (
            Phase::Proposed,
            format!(
                "waiting for approval: review it with `nodeform show nodeplan/{name}`, then `nodeform approve {name}`"
            ),
        ),
        Fate::Rejected(Rejection { by, reason, .. }) => {
            let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            (Phase::Rejected, format!("rejected by {by}{reason}"))
        }
        Fate::Withdrawn(because) => (Phase::Withdrawn, (*because).to_owned()),
        Fate::Expired => (Phase::Expired, "expired without approval".to_owned()),
    };
    let is_open = phase == Phase::Proposed;
    let condition = |(type_, is_so): (&str, bool)| Condition {
        type_: type_.to_owned(),
        status: if is_so { "True" } else { "False" }.to_owned(),
        reason: format!("{phase:?}"),
        message: short(&message, MESSAGE_LETTERS_MAX),
        last_transition_time: whole_second(at).to_string(),
        observed_generation: Some(1),
    };
    let mut status = NodePlanStatus {
        // A plan's spec never changes.
        observed_generation: Some(1),
        phase: Some(phase),
        finished_at: (!is_open).then(|| at.to_string()),
        conditions: Some(
            [("Ready", !is_open), ("Reconciling", is_open), ("Stalled", false)].map(condition).into(),
        ),
        ..NodePlanStatus::default()
    };
    if let Fate::Waits(Proposed { changes, .. }) = fate {
        let is_told = changes.len() <= CHANGES_MAX;
        let waits = |change: &String| ChangeOutcome {
            outcome: OutcomeKind::Waiting,
            code: None,
            message: None,
            change: is_told.then(|| short(change, MESSAGE_LETTERS_MAX)),
        };
        status.counts = Some(OutcomeCounts { waiting: count(changes.len()), ..OutcomeCounts::default() });
        status.outcomes = Some(changes.iter().map(|(id, change)| (id.clone(), waits(change))).collect());
    }
    json!({ "status": status })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: &str = "2026-01-01T09:00:00.5Z";

    fn patched(fate: &Fate<'_>) -> NodePlanStatus {
        let patch = proposal_patch(fate, AT.parse().expect("a time"));
        serde_json::from_value(patch["status"].clone()).expect("it is a status")
    }

    #[test]
    fn a_plan_that_waits_says_what_it_would_change_and_how_to_approve_it_and_has_not_begun() {
        let changes = BTreeMap::from([("a".to_owned(), "remove node-1: empty".to_owned())]);
        let status = patched(&Fate::Waits(Proposed { name: "abcdefghij", changes }));
        assert_eq!(
            (status.phase, &status.started_at, &status.finished_at),
            (Some(Phase::Proposed), &None, &None)
        );
        let change = status.outcomes.expect("changes").remove("a").expect("the change");
        assert_eq!(
            (change.outcome, change.change.as_deref()),
            (OutcomeKind::Waiting, Some("remove node-1: empty"))
        );
        let ready = &status.conditions.expect("conditions")[0];
        assert_eq!((ready.status.as_str(), ready.reason.as_str()), ("False", "Proposed"));
        assert!(ready.message.contains("nodeform approve abcdefghij"), "{}", ready.message);
    }

    #[test]
    fn one_that_ended_says_who_rejected_it_or_why_it_went() {
        let rejection = Rejection { at: None, by: "bob".to_owned(), reason: Some("not today".to_owned()) };
        let ends = [
            (Fate::Rejected(&rejection), Phase::Rejected, "rejected by bob: not today"),
            (Fate::Withdrawn("no changes left"), Phase::Withdrawn, "no changes left"),
            (Fate::Expired, Phase::Expired, "expired without approval"),
        ];
        for (fate, phase, message) in ends {
            let status = patched(&fate);
            assert_eq!((status.phase, status.finished_at.as_deref()), (Some(phase), Some(AT)));
            let ready = &status.conditions.expect("conditions")[0];
            assert_eq!((ready.status.as_str(), ready.message.as_str()), ("True", message));
        }
    }
}
