//! The result of a plan, as the status of its NodePlan. Never decides it: outcomes come from the process that applied
//! the plan.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::write::count;
use crate::api::meta::Condition;
use crate::api::node_plan::{
    ChangeOutcome, LostNode, NodePlanStatus, OutcomeCounts, OutcomeKind, Phase, PlanApprover, PlanRefusal,
    RefusalPlace, SilentVm,
};
use crate::model::shown::is_obeyed;
use crate::model::{Approver, ClaimName, PoolName, Refusal, RefusedPlace, SkuName};

/// Maximum length of a message and of a code in characters: a status must stay below etcd's 1.5 MiB.
pub(super) const MESSAGE_LETTERS_MAX: usize = 512;
const CODE_LETTERS_MAX: usize = 128;

/// Maximum number of changes in a status with descriptions; larger plans contain them only in their text.
pub(super) const CHANGES_MAX: usize = 500;

/// Maximum number of refusals kept: those that end last.
const REFUSALS_MAX: usize = 1_000;

/// Maximum number of VMs kept that did not join: the latest.
const SILENT_MAX: usize = 1_000;

/// Maximum number of removed nodes with pods kept: the latest.
const LOST_MAX: usize = 1_000;

/// Maximum number of approvals kept, and maximum lengths of a name and a record in characters.
const APPROVERS_MAX: usize = 100;
const NAME_LETTERS_MAX: usize = 512;
const RECORD_LETTERS_MAX: usize = 1_024;

/// The progress of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Start time.
    pub started_at: Timestamp,
    /// Outcome of each change, by id.
    pub outcomes: BTreeMap<String, Outcome>,
    /// Descriptions of the changes for users, by id.
    pub changes: BTreeMap<String, String>,
    /// Changes whose outcome is recorded before their last step, which would hide it. The plan is not over until that
    /// step is done, so an interrupted process continues it.
    pub ahead: BTreeSet<String>,
    /// Why the plan was given up, if it was.
    pub given_up: Option<GivenUp>,
    /// People whose approvals counted; if empty, approvals already recorded are kept.
    pub approvers: Vec<Approver>,
    /// Azure's refusals.
    pub refusals: Vec<Refused>,
    /// VMs that started but did not join in time.
    pub never_joined: Vec<NeverJoined>,
    /// Nodes with pods that it removes or has removed.
    pub lost: Vec<Lost>,
}

/// Why no more changes of a plan are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// Its folder was removed from the branch.
    Withdrawn,
    /// It expired before it started.
    Expired,
}

/// A node with pods that a plan removes or has removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lost {
    /// Start of its removal.
    pub at: Timestamp,
    /// Its NodeClaim.
    pub claim: ClaimName,
    /// Its NodePool.
    pub pool: Option<PoolName>,
}

/// A VM that started but did not join in time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NeverJoined {
    /// Time when that was established.
    pub at: Timestamp,
    /// Its name.
    pub vm: Arc<str>,
    /// Its NodePool.
    pub pool: PoolName,
    /// Its size.
    pub size: SkuName,
    /// The id of its image.
    pub image: Arc<str>,
}

/// A refusal by Azure, with its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The refused offering, and until when the refusal is respected.
    pub refusal: Refusal,
    /// Azure's code, for users.
    pub code: Option<String>,
}

/// The outcome of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Done,
    /// Already the case without this plan.
    AlreadySo,
    /// Not done yet.
    Waiting {
        /// The awaited condition, for users; empty while it is being applied.
        why: String,
    },
    /// No longer needed.
    NoLongerNeeded {
        /// Reason, for users.
        why: String,
    },
    /// Struck in review.
    Struck {
        /// Reason, for users; empty if its own line was struck.
        why: String,
    },
    /// Withheld, or outdated because its assumptions no longer hold.
    NoLongerHolds {
        /// Reason, for users.
        why: String,
    },
    /// Failed.
    Failed {
        /// Azure's code, or one of nodeform's in CamelCase.
        code: String,
        /// Reason, for users.
        why: String,
    },
}

impl Progress {
    /// Returns the phase of the plan.
    #[must_use]
    pub fn phase(&self) -> Phase {
        let has = |wanted: fn(&Outcome) -> bool| self.outcomes.values().any(wanted);
        if let Some(given_up) = self.given_up {
            return match given_up {
                GivenUp::Withdrawn => Phase::Withdrawn,
                GivenUp::Expired => Phase::Expired,
            };
        }
        if has(|outcome| matches!(outcome, Outcome::Waiting { .. })) || !self.ahead.is_empty() {
            return Phase::Applying;
        }
        let is_short =
            has(|outcome| matches!(outcome, Outcome::NoLongerHolds { .. } | Outcome::Failed { .. }));
        let is_done = has(|outcome| matches!(outcome, Outcome::Done | Outcome::AlreadySo));
        match (is_short, is_done) {
            (false, _) => Phase::Done,
            (true, true) => Phase::Partial,
            (true, false) => Phase::Failed,
        }
    }

    fn counts(&self) -> OutcomeCounts {
        let of = |wanted: OutcomeKind| {
            count(self.outcomes.values().filter(|outcome| outcome_of(outcome).outcome == wanted).count())
        };
        OutcomeCounts {
            done: of(OutcomeKind::Done),
            already_so: of(OutcomeKind::AlreadySo),
            waiting: of(OutcomeKind::Waiting),
            no_longer_needed: of(OutcomeKind::NoLongerNeeded),
            struck: of(OutcomeKind::Struck),
            no_longer_holds: of(OutcomeKind::NoLongerHolds),
            failed: of(OutcomeKind::Failed),
        }
    }
}

/// Returns the merge patch of a plan's status at a given time: `{"status": {…}}`. `before` is the current status.
#[must_use]
pub fn patch(progress: &Progress, before: Option<&NodePlanStatus>, at: Timestamp) -> Value {
    let phase = progress.phase();
    let finished = before.and_then(|status| status.finished_at.clone()).or_else(|| Some(at.to_string()));
    let is_told = progress.outcomes.len() <= CHANGES_MAX;
    let change = |id: &String| {
        let change = progress.changes.get(id).filter(|_| is_told)?;
        Some(short(change, MESSAGE_LETTERS_MAX))
    };
    let outcomes = progress.outcomes.iter();
    let outcomes = outcomes
        .map(|(id, outcome)| (id.clone(), ChangeOutcome { change: change(id), ..outcome_of(outcome) }));
    let known = before.and_then(|status| status.conditions.as_deref()).unwrap_or_default();
    let status = NodePlanStatus {
        // A plan's spec never changes.
        observed_generation: Some(1),
        phase: Some(phase),
        started_at: Some(progress.started_at.to_string()),
        finished_at: finished.filter(|_| phase != Phase::Applying),
        counts: Some(progress.counts()),
        outcomes: Some(outcomes.collect()),
        approvals: approvals(&progress.approvers),
        refusals: Some(refusals(&progress.refusals)),
        never_joined: Some(silent(&progress.never_joined)),
        lost: Some(lost(&progress.lost)),
        conditions: Some(conditions(progress, known, at)),
    };
    let mut patch = json!({ "status": status });
    if phase == Phase::Applying {
        patch["status"]["finishedAt"] = Value::Null;
    }
    patch
}

fn outcome_of(outcome: &Outcome) -> ChangeOutcome {
    let plain = |outcome| ChangeOutcome { outcome, code: None, message: None, change: None };
    let said = |outcome, why: &str| {
        let message = Some(short(why, MESSAGE_LETTERS_MAX)).filter(|message| !message.is_empty());
        ChangeOutcome { message, ..plain(outcome) }
    };
    match outcome {
        Outcome::Done => plain(OutcomeKind::Done),
        Outcome::AlreadySo => plain(OutcomeKind::AlreadySo),
        Outcome::Waiting { why } => said(OutcomeKind::Waiting, why),
        Outcome::NoLongerNeeded { why } => said(OutcomeKind::NoLongerNeeded, why),
        Outcome::Struck { why } => said(OutcomeKind::Struck, why),
        Outcome::NoLongerHolds { why } => said(OutcomeKind::NoLongerHolds, why),
        Outcome::Failed { code, why } => ChangeOutcome {
            outcome: OutcomeKind::Failed,
            code: Some(short(code, CODE_LETTERS_MAX)),
            message: Some(short(why, MESSAGE_LETTERS_MAX)),
            change: None,
        },
    }
}

fn refusals(refused: &[Refused]) -> Vec<PlanRefusal> {
    let mut refused: Vec<&Refused> = refused.iter().collect();
    refused.sort_by_key(|refused| Reverse(refused.refusal.until));
    refused.truncate(REFUSALS_MAX);
    let mut wire: Vec<PlanRefusal> = refused.into_iter().map(wire_refusal).collect();
    wire.sort();
    wire.dedup();
    wire
}

/// Returns `None` if there are none, so that the patch keeps recorded approvals.
fn approvals(approvers: &[Approver]) -> Option<Vec<PlanApprover>> {
    let wire = approvers.iter().take(APPROVERS_MAX).map(|Approver { by, record }| PlanApprover {
        by: short(by, NAME_LETTERS_MAX),
        record: short(record, RECORD_LETTERS_MAX),
    });
    (!approvers.is_empty()).then(|| wire.collect())
}

fn silent(never_joined: &[NeverJoined]) -> Vec<SilentVm> {
    let mut sorted: Vec<&NeverJoined> = never_joined.iter().collect();
    sorted.sort();
    let last = sorted.into_iter().rev().take(SILENT_MAX).rev();
    let wire = last.map(|NeverJoined { at, vm, pool, size, image }| SilentVm {
        at: at.to_string(),
        vm: vm.to_string(),
        pool: pool.to_string(),
        size: size.to_string(),
        image: image.to_string(),
    });
    wire.collect()
}

fn lost(lost: &[Lost]) -> Vec<LostNode> {
    let mut sorted: Vec<&Lost> = lost.iter().collect();
    sorted.sort();
    let last = sorted.into_iter().rev().take(LOST_MAX).rev();
    let wire = last.map(|Lost { at, claim, pool }| LostNode {
        at: at.to_string(),
        node_claim: claim.to_string(),
        pool: pool.as_ref().map(ToString::to_string),
    });
    wire.collect()
}

fn wire_refusal(Refused { refusal, code }: &Refused) -> PlanRefusal {
    let Refusal { size, place, capacity_type, because, said, until } = refusal;
    let (place, zone) = match place {
        RefusedPlace::Everywhere => (RefusalPlace::Everywhere, None),
        RefusedPlace::EveryZone => (RefusalPlace::EveryZone, None),
        RefusedPlace::Zone(zone) => (RefusalPlace::Zone, Some(zone.to_string())),
    };
    PlanRefusal {
        size: size.as_ref().map(ToString::to_string),
        place,
        zone,
        capacity_type: capacity_type.map(|bought| bought.as_str().to_owned()),
        reason: because.to_string(),
        code: code.as_deref().map(|code| short(code, CODE_LETTERS_MAX)),
        message: said.as_deref().map(|said| short(said, MESSAGE_LETTERS_MAX)),
        until: until.to_string(),
    }
}

/// Returns the conditions, in kstatus conventions; an unchanged status keeps its transition time.
fn conditions(progress: &Progress, before: &[Condition], at: Timestamp) -> Vec<Condition> {
    let phase = progress.phase();
    let OutcomeCounts { done, already_so, waiting, no_longer_needed, struck, no_longer_holds, failed } =
        progress.counts();
    // Outdated changes need no attention: the next plan is based on the current state.
    let is_overtaken = failed == 0;
    let (ready, reconciling, stalled) = match phase {
        Phase::Proposed | Phase::Applying => ("False", "True", "False"),
        Phase::Done | Phase::Withdrawn | Phase::Expired | Phase::Rejected => ("True", "False", "False"),
        Phase::Partial | Phase::Failed if is_overtaken => ("True", "False", "False"),
        Phase::Partial | Phase::Failed => ("False", "False", "True"),
    };
    let reason = format!("{phase:?}");
    let message = format!(
        "{} done, {waiting} waiting, {no_longer_needed} no longer needed, {struck} struck in review, \
         {no_longer_holds} no longer hold, {failed} failed",
        done.saturating_add(already_so)
    );
    let condition = |(type_, status): (&str, &str)| {
        let known = before.iter().find(|known| known.type_ == type_ && known.status == status);
        Condition {
            type_: type_.to_owned(),
            status: status.to_owned(),
            reason: reason.clone(),
            message: message.clone(),
            last_transition_time: known
                .map_or_else(|| whole_second(at).to_string(), |known| known.last_transition_time.clone()),
            observed_generation: Some(1),
        }
    };
    [("Ready", ready), ("Reconciling", reconciling), ("Stalled", stalled)].map(condition).into()
}

/// Truncates to whole seconds: condition times have no fractions.
pub(super) fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

/// Truncates untrusted text and replaces terminal control characters.
pub(super) fn short(text: &str, letters_max: usize) -> String {
    text.chars().take(letters_max).map(|letter| if is_obeyed(letter) { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RefusedBecause;

    fn progress(outcomes: &[Outcome]) -> Progress {
        let named =
            outcomes.iter().enumerate().map(|(at, outcome)| (format!("change-{at}"), outcome.clone()));
        Progress {
            started_at: "2026-01-01T00:00:00Z".parse().unwrap(),
            outcomes: named.collect(),
            changes: BTreeMap::from([("change-0".to_owned(), "empty; Standard_D4s_v5".to_owned())]),
            ahead: BTreeSet::new(),
            given_up: None,
            approvers: Vec::new(),
            refusals: Vec::new(),
            never_joined: Vec::new(),
            lost: Vec::new(),
        }
    }

    fn failed() -> Outcome {
        Outcome::Failed { code: "ZonalAllocationFailed".to_owned(), why: "no\nroom".to_owned() }
    }

    #[test]
    fn the_phase_follows_from_the_outcomes() {
        let needless = || Outcome::NoLongerNeeded { why: "its pods are gone".to_owned() };
        let struck = || Outcome::Struck { why: String::new() };
        let withheld = Outcome::NoLongerHolds { why: "the node is not empty any more".to_owned() };
        let cases: [(&[Outcome], Phase); 9] = [
            (&[], Phase::Done),
            (&[Outcome::Done, Outcome::AlreadySo, needless()], Phase::Done),
            (&[Outcome::Done, Outcome::Waiting { why: String::new() }, failed()], Phase::Applying),
            (&[Outcome::Done, failed()], Phase::Partial),
            (&[Outcome::AlreadySo, withheld.clone()], Phase::Partial),
            (&[failed(), needless()], Phase::Failed),
            (&[Outcome::Done, struck()], Phase::Done),
            (&[struck(), failed()], Phase::Failed),
            (&[withheld], Phase::Failed),
        ];
        for (outcomes, phase) in cases {
            assert_eq!(progress(outcomes).phase(), phase, "{outcomes:?}");
        }
        for (why, phase) in [(GivenUp::Withdrawn, Phase::Withdrawn), (GivenUp::Expired, Phase::Expired)] {
            let given_up =
                Progress { given_up: Some(why), ..progress(&[Outcome::Waiting { why: String::new() }]) };
            assert_eq!(given_up.phase(), phase);
        }
    }

    #[test]
    fn a_plan_is_stalled_where_a_change_failed_and_not_where_the_cluster_has_overtaken_it() {
        let overtaken = || Outcome::NoLongerHolds { why: "another Node of that name".to_owned() };
        let stalled = |outcomes: &[Outcome]| {
            let progress = progress(outcomes);
            let found = conditions(&progress, &[], progress.started_at);
            found.into_iter().map(|condition| condition.status).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(stalled(&[Outcome::Done, overtaken()]), "True False False");
        assert_eq!(stalled(&[overtaken()]), "True False False");
        assert_eq!(stalled(&[overtaken(), failed()]), "False False True");
    }

    #[test]
    fn a_plan_is_not_over_while_something_is_left_to_be_done_of_a_change_whose_outcome_is_written() {
        let ahead = BTreeSet::from(["change-1".to_owned()]);
        let progress = Progress { ahead, ..progress(&[Outcome::Done, failed()]) };
        assert_eq!(progress.phase(), Phase::Applying);
        let patch = patch(&progress, None, progress.started_at);
        assert_eq!(patch["status"]["outcomes"]["change-1"]["outcome"], "failed");
        assert_eq!(patch["status"]["finishedAt"], Value::Null);
    }

    #[test]
    fn a_status_is_a_patch_and_its_conditions_keep_their_times() {
        let first = patch(
            &progress(&[Outcome::Done, Outcome::Waiting { why: String::new() }]),
            None,
            "2026-01-01T00:00:10.5Z".parse().unwrap(),
        );
        assert_eq!(first["status"]["phase"], "Applying");
        assert_eq!(first["status"]["finishedAt"], Value::Null);
        assert_eq!(first["status"]["counts"]["waiting"], 1);
        assert_eq!(
            first["status"]["outcomes"]["change-0"],
            json!({"outcome": "done", "change": "empty; Standard_D4s_v5"})
        );
        let stored: NodePlanStatus = serde_json::from_value(first["status"].clone()).unwrap();
        let later = "2026-01-01T00:05:00Z".parse().unwrap();
        let second = patch(&progress(&[Outcome::Done, failed()]), Some(&stored), later);
        assert_eq!(second["status"]["phase"], "Partial");
        assert_eq!(second["status"]["finishedAt"], "2026-01-01T00:05:00Z");
        assert_eq!(
            second["status"]["outcomes"]["change-1"],
            json!({"outcome": "failed", "code": "ZonalAllocationFailed", "message": "no room"})
        );
        let times: Vec<(&str, &str, &str)> = second["status"]["conditions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|condition| {
                let text = |field: &str| condition[field].as_str().unwrap();
                (text("type"), text("status"), text("lastTransitionTime"))
            })
            .collect();
        assert_eq!(
            times,
            [
                ("Ready", "False", "2026-01-01T00:00:10Z"),
                ("Reconciling", "False", "2026-01-01T00:05:00Z"),
                ("Stalled", "True", "2026-01-01T00:05:00Z"),
            ]
        );
    }

    #[test]
    fn approvals_are_written_where_there_are_some_and_else_those_that_are_known_stay() {
        let at = "2026-01-01T00:00:00Z".parse().unwrap();
        assert_eq!(patch(&progress(&[]), None, at)["status"].get("approvals"), None);
        let approver = Approver { by: "amy\u{1b}".to_owned(), record: "pull request 7".to_owned() };
        let patch = patch(&Progress { approvers: vec![approver], ..progress(&[]) }, None, at);
        assert_eq!(patch["status"]["approvals"], json!([{"by": "amy ", "record": "pull request 7"}]));
    }

    #[test]
    fn what_was_refused_is_read_back_as_it_was() {
        let refusal = |until: &str| Refusal {
            size: Some(SkuName::new("Standard_D4s_v5")),
            place: RefusedPlace::EveryZone,
            capacity_type: None,
            because: RefusedBecause::SubscriptionQuotaReached,
            said: Some("limit 10, 8 in use".into()),
            until: until.parse().unwrap(),
        };
        let refused = Refused {
            refusal: refusal("2026-01-01T01:00:00Z"),
            code: Some("OperationNotAllowed".to_owned()),
        };
        let silent = |at: &str| NeverJoined {
            at: at.parse().unwrap(),
            vm: "aks-web-abc".into(),
            pool: PoolName::new("web"),
            size: SkuName::new("Standard_D4s_v5"),
            image: "/CommunityGalleries/x/images/y/versions/1".into(),
        };
        let never_joined = vec![silent("2026-01-01T00:50:00Z"), silent("2026-01-01T00:20:00Z")];
        let refusals = vec![refused.clone(), refused];
        let lost = |at: &str, pool: Option<&str>| Lost {
            at: at.parse().unwrap(),
            claim: "web-abc".into(),
            pool: pool.map(PoolName::new),
        };
        let known = vec![lost("2026-01-01T00:40:00Z", None), lost("2026-01-01T00:30:00Z", Some("web"))];
        let progress = Progress { refusals, never_joined, lost: known, ..progress(&[]) };
        let patch = patch(&progress, None, "2026-01-01T00:00:00Z".parse().unwrap());
        let status: NodePlanStatus = serde_json::from_value(patch["status"].clone()).unwrap();
        let recorded = crate::ledger::Recorded {
            name: String::new(),
            digest: crate::model::Digest::of_bytes(b""),
            parent: None,
            cluster: None,
            summary: crate::ledger::PlanSummary::default(),
            expires_at: None,
            folder: None,
            needs_approval: false,
            is_automatic: false,
            created: None,
            chunks: 1,
            status: Some(status),
        };
        assert_eq!(recorded.refusals(), [refusal("2026-01-01T01:00:00Z")]);
        assert_eq!(
            recorded.lost(),
            [lost("2026-01-01T00:30:00Z", Some("web")), lost("2026-01-01T00:40:00Z", None)]
        );
        assert_eq!(recorded.never_joined(), [silent("2026-01-01T00:20:00Z"), silent("2026-01-01T00:50:00Z")]);
    }
}
