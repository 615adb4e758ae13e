//! What has become of a plan, as the status of its NodePlan.
//! Must never decide it: outcomes come from whoever carried the plan out.

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

/// How many letters a message has at most, and a code: a status has to stay below etcd's 1.5 MiB.
pub(super) const MESSAGE_LETTERS_MAX: usize = 512;
const CODE_LETTERS_MAX: usize = 128;

/// Of how many changes it is told what they are: more are in the plan itself.
pub(super) const CHANGES_MAX: usize = 500;

/// How many refusals are kept: those that end last.
const REFUSALS_MAX: usize = 1_000;

/// How many VMs that did not join are kept: the last ones.
const SILENT_MAX: usize = 1_000;

/// How many nodes with pods that went are kept: the last ones.
const LOST_MAX: usize = 1_000;

/// How many approvals are kept, and how many letters a name and a record have at most.
const APPROVERS_MAX: usize = 100;
const NAME_LETTERS_MAX: usize = 512;
const RECORD_LETTERS_MAX: usize = 1_024;

/// How far a plan is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Progress {
    /// When it began.
    pub started_at: Timestamp,
    /// What has become of each change, by its id.
    pub outcomes: BTreeMap<String, Outcome>,
    /// What each change is, for people, by its id.
    pub changes: BTreeMap<String, String>,
    /// The changes whose outcome is written ahead of the last that is to be done of them, which would hide it: whoever stops
    /// there goes on with the plan, which is not over.
    pub ahead: BTreeSet<String>,
    /// Whether and why it was given up.
    pub given_up: Option<GivenUp>,
    /// Whose approvals counted; those that are written down already stay where this says none.
    pub approvers: Vec<Approver>,
    /// What Azure refused.
    pub refusals: Vec<Refused>,
    /// VMs that came and did not join in time.
    pub never_joined: Vec<NeverJoined>,
    /// Nodes with pods that it removes, or has removed.
    pub lost: Vec<Lost>,
}

/// Why nothing more of a plan begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GivenUp {
    /// Its folder was taken off the branch.
    Withdrawn,
    /// Its time was over before it began.
    Expired,
}

/// A node with pods that a plan removes, or has removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lost {
    /// When its removal began.
    pub at: Timestamp,
    /// Its NodeClaim.
    pub claim: ClaimName,
    /// Its NodePool.
    pub pool: Option<PoolName>,
}

/// A VM that came and did not join in time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NeverJoined {
    /// When that was clear.
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

/// What Azure refused, with its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What, and until when it is heeded.
    pub refusal: Refusal,
    /// Azure's code, for people.
    pub code: Option<String>,
}

/// What has become of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Done.
    Done,
    /// So already, without us.
    AlreadySo,
    /// Not done yet.
    Waiting {
        /// For what, for people; empty while it is being applied.
        why: String,
    },
    /// No longer needed.
    NoLongerNeeded {
        /// Why, for people.
        why: String,
    },
    /// A reviewer struck it.
    Struck {
        /// Why, for people; empty where its own line was struck.
        why: String,
    },
    /// Withheld, or what it was planned on no longer holds.
    NoLongerHolds {
        /// Why, for people.
        why: String,
    },
    /// Failed.
    Failed {
        /// Azure's code, or a reason of ours in CamelCase.
        code: String,
        /// Why, for people.
        why: String,
    },
}

impl Progress {
    /// Returns how far the plan is.
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

/// Returns the merge patch of a plan's status at a time: `{"status": {…}}`. `before` is the status that it has.
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

/// Nothing where there are none: a patch leaves those alone that are written down.
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

/// The conditions that kstatus reads; the time of one that stays as it was stays too.
fn conditions(progress: &Progress, before: &[Condition], at: Timestamp) -> Vec<Condition> {
    let phase = progress.phase();
    let OutcomeCounts { done, already_so, waiting, no_longer_needed, struck, no_longer_holds, failed } =
        progress.counts();
    // Nobody has to look at what the cluster has overtaken: the next plan is made of what is there now.
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

/// Times of conditions have no fractions of a second.
pub(super) fn whole_second(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

/// A text of others, cut and without what a terminal would obey.
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
