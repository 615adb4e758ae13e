//! Retention of the ledger: whole plans while people may still need them, names while a plan could be applied again.
//! Never drops anything that the next plan reads: the last plan, unfinished plans, active refusals.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::{CHUNKS, Ledger, PLANS, Recorded, chunk_names};
use crate::api::node_plan::{CHUNKS_MAX, PLAN_LABEL, Phase};

/// Maximum number of plans kept.
const PLANS_MAX: usize = 200;

/// Minimum retention of a plan that removed nodes with pods: longer than these are counted.
const LOST_HOURS: i64 = 1;

/// Retention of a plan.
const KEPT_HOURS: i64 = 7 * 24;

/// Retention of a plan that was withdrawn or expired before it started.
const ENDED_HOURS: i64 = 1;

/// Retention of a rejected plan: longer than the rejection is respected.
const REJECTED_HOURS: i64 = 48;

/// Retention of a chunk without its NodePlan, which is normally written within seconds after it.
const ORPHAN_HOURS: i64 = 24;

/// A chunk whose NodePlan was never written because the process stopped first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Orphan {
    /// Its path.
    pub path: String,
    /// Its UID: if the plan is written later after all, its chunk of the same name has another one.
    pub uid: String,
}

/// Returns the chunks to delete because their NodePlans were never written; NodePlans must be listed after the chunks.
/// Returns none if a NodePlan cannot be parsed, because the chunks may belong to it.
#[must_use]
pub fn orphans<'a>(
    ledger: &Ledger,
    chunks: impl IntoIterator<Item = &'a Value>,
    now: Timestamp,
) -> Vec<Orphan> {
    if !ledger.faults.is_empty() {
        return Vec::new();
    }
    let plans: BTreeSet<&str> =
        ledger.plans.iter().chain(&ledger.proposed).map(|plan| plan.name.as_str()).collect();
    let is_long = |created: Timestamp| now.duration_since(created) > SignedDuration::from_hours(ORPHAN_HOURS);
    let orphan = |chunk: &Value| {
        let metadata = &chunk["metadata"];
        let created = metadata["creationTimestamp"].as_str()?.parse().ok()?;
        let plan = metadata["labels"][PLAN_LABEL].as_str()?;
        let (name, uid) = (metadata["name"].as_str()?, metadata["uid"].as_str()?);
        let is_orphan = is_long(created) && !plans.contains(plan);
        is_orphan.then(|| Orphan { path: format!("{CHUNKS}/{name}"), uid: uid.to_owned() })
    };
    chunks.into_iter().filter_map(orphan).collect()
}

/// Returns the paths to delete, in this order: first the texts of the oldest plans if all texts together exceed 32 MiB,
/// then plans older than seven days or beyond the 200 newest.
#[must_use]
pub fn superfluous(ledger: &Ledger, now: Timestamp) -> Vec<String> {
    let last = ledger.last().map(|plan| plan.digest);
    let mut chunks = 0;
    let (mut texts, mut plans) = (Vec::new(), Vec::new());
    for (rank, plan) in ledger.plans.iter().rev().enumerate() {
        chunks += plan.chunks;
        let is_needed = Some(plan.digest) == last || plan.phase() == Phase::Applying;
        if is_needed {
            continue;
        }
        let is_counted = is_heeded(plan, now) || has_lost_nodes_of_late(plan, now);
        let is_kept = can_begin(plan, now) || is_merged(plan, now) || is_counted;
        let goes = (rank >= PLANS_MAX || is_old(plan, now)) && !is_kept;
        if goes || chunks > CHUNKS_MAX {
            texts.extend(chunk_names(&plan.name, plan.chunks).map(|name| format!("{CHUNKS}/{name}")));
        }
        if goes {
            plans.push(format!("{PLANS}/{}", plan.name));
        }
    }
    for plan in ledger.proposed.iter().filter(|plan| is_forgotten(plan, now)) {
        texts.extend(chunk_names(&plan.name, plan.chunks).map(|name| format!("{CHUNKS}/{name}")));
        plans.push(format!("{PLANS}/{}", plan.name));
    }
    // A text deleted before its plan leaves a plan that reports it; in the other order the text would stay forever.
    texts.extend(plans);
    texts
}

/// Returns whether the plan never started and is no longer of interest: open plans are reviewed, and rejected ones are
/// not proposed again for a day. Such a plan is stored as a whole file, and may be replaced every ten minutes.
fn is_forgotten(plan: &Recorded, now: Timestamp) -> bool {
    let hours = match plan.phase() {
        Phase::Rejected => REJECTED_HOURS,
        Phase::Proposed | Phase::Applying => return !can_begin(plan, now) && is_old(plan, now),
        Phase::Done | Phase::Partial | Phase::Failed | Phase::Withdrawn | Phase::Expired => ENDED_HOURS,
    };
    let ended = plan.status.as_ref().and_then(|status| status.finished_at.as_deref()?.parse().ok());
    ended
        .or(plan.created)
        .is_some_and(|ended: Timestamp| now.duration_since(ended) > SignedDuration::from_hours(hours))
}

fn is_old(plan: &Recorded, now: Timestamp) -> bool {
    let kept = SignedDuration::from_hours(KEPT_HOURS);
    plan.created.is_some_and(|created| now.duration_since(created) > kept)
}

/// Returns whether the plan has not expired: until then, its digest records that it is spent.
fn can_begin(plan: &Recorded, now: Timestamp) -> bool {
    plan.expires_at.is_some_and(|expires| expires > now)
}

/// Returns whether its folder may still be on the branch, or be restored there.
fn is_merged(plan: &Recorded, now: Timestamp) -> bool {
    let kept = SignedDuration::from_hours(KEPT_HOURS);
    plan.folder.is_some() && plan.expires_at.is_some_and(|expires| now.duration_since(expires) <= kept)
}

fn is_heeded(plan: &Recorded, now: Timestamp) -> bool {
    plan.refusals().iter().any(|refusal| refusal.until > now)
}

/// Returns whether it recently removed nodes with pods, which the circuit breaker counts.
fn has_lost_nodes_of_late(plan: &Recorded, now: Timestamp) -> bool {
    let counted = SignedDuration::from_hours(LOST_HOURS);
    plan.lost().iter().any(|lost| now.duration_since(lost.at) <= counted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::node_plan::NodePlanStatus;
    use crate::ledger::PlanSummary;
    use crate::model::Digest;

    const NOW: &str = "2026-02-01T00:00:00Z";

    fn recorded(number: usize, created: &str, chunks: usize) -> Recorded {
        Recorded {
            name: format!("plan{number}"),
            digest: Digest::of_bytes(&number.to_be_bytes()),
            parent: number.checked_sub(1).map(|before| Digest::of_bytes(&before.to_be_bytes())),
            cluster: None,
            summary: PlanSummary::default(),
            expires_at: Some(created.parse().unwrap()),
            folder: None,
            needs_approval: false,
            is_automatic: false,
            created: Some(created.parse().unwrap()),
            chunks,
            status: Some(NodePlanStatus { phase: Some(Phase::Done), ..NodePlanStatus::default() }),
        }
    }

    fn gone(plans: Vec<Recorded>) -> Vec<String> {
        let paths = superfluous(&Ledger { plans, ..Ledger::default() }, NOW.parse().unwrap());
        let name = |path: String| path.rsplit('/').next().map(str::to_owned);
        let is_chunk = |path: &String| path.starts_with(&format!("{CHUNKS}/"));
        assert!(paths.iter().all(|path| is_chunk(path) == path.contains('-')), "{paths:?}");
        paths.into_iter().filter_map(name).collect()
    }

    #[test]
    fn plans_of_a_week_stay_and_older_ones_go_with_their_texts() {
        let old = "2026-01-24T00:00:00Z";
        assert_eq!(
            gone(vec![recorded(0, old, 2), recorded(1, "2026-01-26T00:00:00Z", 1), recorded(2, NOW, 1)]),
            ["plan0-1", "plan0-2", "plan0"]
        );
    }

    #[test]
    fn the_last_and_unfinished_ones_and_those_that_could_begin_stay() {
        let old = "2026-01-01T00:00:00Z";
        let mut unfinished = recorded(0, old, 1);
        unfinished.status = None;
        let mut valid = recorded(1, old, 1);
        valid.expires_at = Some("2026-02-02T00:00:00Z".parse().unwrap());
        assert_eq!(gone(vec![unfinished, valid, recorded(2, old, 1)]), Vec::<String>::new());
    }

    #[test]
    fn beyond_32_mib_the_oldest_lose_their_text_and_keep_their_name() {
        assert_eq!(
            gone(vec![recorded(0, NOW, 2), recorded(1, NOW, 100), recorded(2, NOW, 28)]),
            ["plan0-1", "plan0-2"]
        );
    }

    #[test]
    fn two_hundred_plans_are_kept() {
        let plans = (0..202).map(|number| recorded(number, NOW, 1)).collect();
        let gone = gone(plans);
        assert_eq!(&gone[gone.len() - 2..], ["plan1", "plan0"]);
    }

    #[test]
    fn chunks_without_a_plan_go_after_a_day_and_none_while_a_plan_cannot_be_read() {
        let now: Timestamp = NOW.parse().unwrap();
        let chunk = |plan: &str, number: usize, created: &str| {
            serde_json::json!({"metadata": {
                "name": format!("{plan}-{number}"), "uid": format!("uid-{plan}-{number}"),
                "creationTimestamp": created, "labels": {PLAN_LABEL: plan},
            }})
        };
        let old = "2026-01-30T23:59:59Z";
        let mut unlabelled = chunk("strange", 1, old);
        unlabelled["metadata"]["labels"] = serde_json::json!({});
        let chunks = [
            chunk("plan0", 1, old),
            chunk("plan1", 1, old),
            chunk("gone", 1, old),
            chunk("gone", 2, "2026-01-31T00:00:01Z"),
            unlabelled,
        ];
        let (plans, proposed) = (vec![recorded(0, old, 1)], vec![recorded(1, old, 1)]);
        let mut ledger = Ledger { plans, proposed, ..Ledger::default() };
        let gone = Orphan { path: format!("{CHUNKS}/gone-1"), uid: "uid-gone-1".to_owned() };
        assert_eq!(orphans(&ledger, &chunks, now), [gone]);
        ledger
            .faults
            .push(crate::ledger::LedgerFault::Unreadable { name: "gone".to_owned(), why: String::new() });
        assert_eq!(orphans(&ledger, &chunks, now), []);
    }

    #[test]
    fn proposals_that_ended_go_soon_rejected_ones_after_they_count_and_open_ones_stay() {
        let now: Timestamp = NOW.parse().unwrap();
        let proposed = |number: usize, phase: Phase, ended_hours: i64| {
            let mut plan = recorded(number, "2026-01-31T00:00:00Z", 1);
            let ended = now - SignedDuration::from_hours(ended_hours);
            plan.needs_approval = true;
            plan.status = Some(NodePlanStatus {
                phase: Some(phase),
                finished_at: (phase != Phase::Proposed).then(|| ended.to_string()),
                ..NodePlanStatus::default()
            });
            plan
        };
        let proposed = vec![
            proposed(0, Phase::Withdrawn, 2),
            proposed(1, Phase::Expired, 0),
            proposed(2, Phase::Rejected, 47),
            proposed(3, Phase::Rejected, 49),
            proposed(4, Phase::Proposed, 0),
        ];
        let gone = superfluous(&Ledger { proposed, ..Ledger::default() }, now).join(" ");
        let is_gone = |number: usize| gone.contains(&format!("{PLANS}/plan{number}"));
        assert_eq!([0, 1, 2, 3, 4].map(is_gone), [true, false, false, true, false], "{gone}");
    }
}
