//! How long the ledger keeps what: whole plans as long as people ask for them, names as long as a plan could be applied
//! again. Must never let go what the next plan reads: the last plan, unfinished ones, refusals that count.

use jiff::{SignedDuration, Timestamp};

use super::{CHUNKS, Ledger, PLANS, Recorded, chunk_names};
use crate::api::node_plan::{CHUNKS_MAX, Phase};

/// How many plans are kept at most.
const PLANS_MAX: usize = 200;

/// How long a plan is kept at least that removed nodes with pods: longer than these are counted.
const LOST_HOURS: i64 = 1;

/// How long a plan is kept.
const KEPT_HOURS: i64 = 7 * 24;

/// Returns the paths of what is to be deleted, in this order: the oldest plans lose their text first, where all texts
/// together are above 32 MiB, then plans go that are older than seven days or beyond the 200 newest.
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
    // Rejections are remembered, and what ended is told of, for as long as other plans are.
    for plan in
        ledger.proposed.iter().filter(|plan| is_old(plan, now) && (plan.is_spent() || !can_begin(plan, now)))
    {
        texts.extend(chunk_names(&plan.name, plan.chunks).map(|name| format!("{CHUNKS}/{name}")));
        plans.push(format!("{PLANS}/{}", plan.name));
    }
    // A text that goes before its plan leaves a plan that says so; the other way round it would stay for ever.
    texts.extend(plans);
    texts
}

fn is_old(plan: &Recorded, now: Timestamp) -> bool {
    let kept = SignedDuration::from_hours(KEPT_HOURS);
    plan.created.is_some_and(|created| now.duration_since(created) > kept)
}

/// Its digest says that it is spent.
fn can_begin(plan: &Recorded, now: Timestamp) -> bool {
    plan.expires_at.is_some_and(|expires| expires > now)
}

/// Its folder may still lie on the branch, or come back to it.
fn is_merged(plan: &Recorded, now: Timestamp) -> bool {
    let kept = SignedDuration::from_hours(KEPT_HOURS);
    plan.folder.is_some() && plan.expires_at.is_some_and(|expires| now.duration_since(expires) <= kept)
}

fn is_heeded(plan: &Recorded, now: Timestamp) -> bool {
    plan.refusals().iter().any(|refusal| refusal.until > now)
}

/// The breaker counts them.
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
}
