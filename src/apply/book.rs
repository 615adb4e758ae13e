//! The ledger of a rollout in the cluster: the NodePlan is written before the first effect, and records the outcome of
//! each change and of the plan.
//!
//! A plan that has ended is spent: it is never applied twice.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use crate::api::node_plan::{NodePlanStatus, OutcomeKind};
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind, Preconditions, Writer};
use crate::ledger::{
    self, CHUNKS, Changes, Entry, Fate, GivenUp, Ledger, LedgerFault, Lost, NeverJoined, PLANS, Progress,
    Proposed, Recorded, Refused, Written,
};
use crate::model::{ChangeClass, Digest, Refusal};
use crate::plan::{Change, ChangeId, Plan, PlanSpec, Summary, figures, file};
use crate::review::ApprovedPlan;
use crate::review::proposal::class;
use crate::rollout::{Loss, Outcome, Silent};

/// Reason in the ledger why a plan cannot be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotBegun {
    /// It waits for an approval.
    #[error("plan `{name}` needs an approval")]
    Unapproved {
        /// Its name.
        name: String,
    },
    /// It was already applied.
    #[error("plan `{name}` was already applied (result: {phase})")]
    Spent {
        /// Its name.
        name: String,
        /// How it ended.
        phase: String,
    },
    /// The CustomResourceDefinitions are not installed.
    #[error("the NodePlan CRD is not installed")]
    NoKind,
    /// The ledger holds an object that cannot be read.
    #[error("{0}")]
    Ledger(#[from] LedgerFault),
    /// The API server refuses.
    #[error("{0}")]
    Cluster(String, String),
}

impl NotBegun {
    /// Returns the next step for the user.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Unapproved { name } => format!("approve it: `nodeform approve {name}`"),
            Self::Spent { .. } => "plan again: `nodeform plan --live --out plan.json`".to_owned(),
            Self::NoKind => {
                "install the kinds: `nodeform crds | kubectl apply --server-side -f -`".to_owned()
            }
            Self::Ledger(fault) => fault.hint(),
            Self::Cluster(_, hint) => hint.clone(),
        }
    }
}

impl From<ClusterFailure> for NotBegun {
    fn from(failure: ClusterFailure) -> Self {
        if failure.kind == ClusterFailureKind::NotFound {
            return Self::NoKind;
        }
        Self::Cluster(failure.what, failure.hint)
    }
}

/// Who applies a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By<'a> {
    /// The controller.
    Controller,
    /// The controller, after an approval in the cluster.
    Approval,
    /// A person, by a command; with the plan folder that was merged, if it was reviewed in Git.
    Person(Option<&'a str>),
}

/// Entry of a plan in the ledger.
pub struct Book {
    writer: Writer,
    plan: Arc<ApprovedPlan>,
    entry: Entry,
    name: String,
    progress: Progress,
    status: Option<NodePlanStatus>,
    /// Nodes with pods that plans, including this one, had removed when the entry was opened.
    losses: BTreeSet<Loss>,
}

impl Book {
    /// Opens the entry of a plan, and writes it if it is new; `by` is who applies the plan.
    ///
    /// # Errors
    /// The plan is spent, or cannot be written.
    pub async fn open(
        writer: Writer,
        plan: &Arc<ApprovedPlan>,
        by: By<'_>,
        at: Timestamp,
    ) -> Result<Self, NotBegun> {
        let digest = plan.plan().digest();
        let ledger = recorded(writer.cluster()).await?;
        let known = ledger.of_digest(&digest);
        let status = known.and_then(|known| known.status.clone());
        if let Some(known) = known.filter(|known| known.is_spent()) {
            return Err(NotBegun::Spent { name: known.name.clone(), phase: format!("{:?}", known.phase()) });
        }
        if let Some(proposed) = ledger.proposed.iter().find(|plan| plan.digest == digest) {
            let name = proposed.name.clone();
            if proposed.is_spent() {
                return Err(NotBegun::Spent { name, phase: format!("{:?}", proposed.phase()) });
            }
            if by != By::Approval {
                return Err(NotBegun::Unapproved { name });
            }
        }
        let name = ledger::name(&digest);
        let started_at = status.as_ref().and_then(|status| status.started_at.as_deref()?.parse().ok());
        // Refusals from an earlier run still count.
        let refusals = known.map(Recorded::refusals).unwrap_or_default();
        let mut book = Self {
            progress: Progress {
                started_at: started_at.unwrap_or(at),
                outcomes: BTreeMap::new(),
                changes: changes(plan, status.as_ref()),
                ahead: BTreeSet::new(),
                given_up: None,
                approvers: plan.approvers().to_vec(),
                refusals: refusals.into_iter().map(|refusal| Refused { refusal, code: None }).collect(),
                never_joined: known.map(Recorded::never_joined).unwrap_or_default(),
                lost: known.map(Recorded::lost).unwrap_or_default(),
            },
            losses: ledger.plans.iter().flat_map(losses).collect(),
            writer,
            plan: Arc::clone(plan),
            entry: entry(plan.plan(), by, digest),
            name,
            status,
        };
        for change in plan.spec().changes.keys() {
            book.wait(change, "");
        }
        // The next read shows whether work on them is left.
        for (change, outcome) in book.recorded() {
            book.note_ahead(&change, &outcome);
        }
        if known.is_none() {
            book.write_plan().await?;
        }
        book.write(at).await?;
        Ok(book)
    }

    /// Records that a plan expired before any of its changes started, so it is reported only once.
    ///
    /// # Errors
    /// The plan is spent, or cannot be written.
    pub async fn expire(
        writer: Writer,
        plan: &Arc<ApprovedPlan>,
        by: By<'_>,
        at: Timestamp,
    ) -> Result<(), NotBegun> {
        let mut book = Self::open(writer, plan, by, at).await?;
        let because = "the plan expired before it began";
        for change in plan.spec().changes.keys() {
            book.note(change, &Outcome::NoLongerHolds { because: because.into() });
        }
        book.give_up(GivenUp::Expired);
        Ok(book.write(at).await?)
    }

    /// Writes the plan itself, with its text.
    async fn write_plan(&self) -> Result<(), NotBegun> {
        record(&self.writer, &self.entry).await
    }

    /// Returns the outcomes of changes that an earlier run finished and that are not retried. Successful creates are
    /// left out, because the cluster shows whether their nodes still exist; deleted or updated nodes do not show which
    /// plan did it.
    #[must_use]
    pub fn recorded(&self) -> BTreeMap<ChangeId, Outcome> {
        let Some(status) = &self.status else { return BTreeMap::new() };
        let is_done = |id: &&ChangeId| {
            let known = status.outcomes.as_ref().and_then(|known| known.get(&*id.0));
            known.is_some_and(|known| known.outcome == OutcomeKind::Done)
        };
        let changes = self.plan.spec().changes.iter();
        let others = changes.filter(|(_, planned)| planned.change.create().is_none()).map(|(id, _)| id);
        let done = others.filter(is_done).map(|id| (id.clone(), Outcome::Done));
        ended(status).into_iter().chain(done).collect()
    }

    /// Records the outcome of a change that needs no further work.
    pub fn note(&mut self, change: &ChangeId, outcome: &Outcome) {
        self.progress.ahead.remove(&*change.0);
        self.progress.outcomes.insert(change.to_string(), written(outcome));
    }

    /// Records what a change waits for; empty while it is being applied.
    pub fn wait(&mut self, change: &ChangeId, why: &str) {
        self.progress.outcomes.insert(change.to_string(), ledger::Outcome::Waiting { why: why.to_owned() });
    }

    /// Records the outcome of a change before its last step, which removes the evidence.
    pub fn note_ahead(&mut self, change: &ChangeId, outcome: &Outcome) {
        self.note(change, outcome);
        self.progress.ahead.insert(change.to_string());
    }

    /// Records that the plan was given up: no further change of it starts.
    pub const fn give_up(&mut self, why: GivenUp) {
        self.progress.given_up = Some(why);
    }

    /// Records what Azure refused to sell.
    pub fn note_refusals(&mut self, refusals: &[Refusal]) {
        for refusal in refusals {
            let known = &mut self.progress.refusals;
            if !known.iter().any(|known| known.refusal == *refusal) {
                known.push(Refused { refusal: refusal.clone(), code: None });
            }
        }
    }

    /// Returns the nodes with pods that plans had removed when the entry was opened.
    #[must_use]
    pub fn losses(&self) -> BTreeSet<Loss> {
        self.losses.clone()
    }

    /// Records the nodes with pods that this plan removes.
    pub fn note_losses(&mut self, losses: &BTreeSet<Loss>) {
        let own = losses.iter().filter(|loss| *loss.plan == *self.plan.id());
        let known = &mut self.progress.lost;
        for Loss { at, claim, pool, plan: _ } in own {
            let lost = Lost { at: *at, claim: claim.clone(), pool: pool.clone() };
            if !known.contains(&lost) {
                known.push(lost);
            }
        }
    }

    /// Records VMs that were created and did not join; returns whether one is new.
    pub fn note_silent(&mut self, silent: impl IntoIterator<Item = Silent>, at: Timestamp) -> bool {
        let known = &mut self.progress.never_joined;
        let before = known.len();
        for Silent { claim: _, vm, pool, size, image } in silent {
            if !known.iter().any(|known| known.vm == vm) {
                known.push(NeverJoined { at, vm, pool, size, image });
            }
        }
        known.len() > before
    }

    /// Writes the recorded progress. Recreates a NodePlan that was deleted meanwhile: started changes are finished, and
    /// no node is released before its change is recorded as done.
    ///
    /// # Errors
    /// The API server refuses, or does not answer.
    pub async fn write(&mut self, at: Timestamp) -> Result<(), ClusterFailure> {
        let patch = ledger::patch(&self.progress, self.status.as_ref(), at);
        let path = format!("{PLANS}/{}", self.name);
        let stored = match self.writer.patch_status(&path, &patch).await {
            Err(failure) if failure.kind == ClusterFailureKind::NotFound => {
                self.write_plan().await.map_err(|_| failure)?;
                self.writer.patch_status(&path, &patch).await?
            }
            other => other?,
        };
        self.status = serde_json::from_value(stored["status"].clone()).ok();
        Ok(())
    }
}

/// Writes a plan with its text. Existing objects are identical and kept. Chunks without their NodePlan, left by an
/// interrupted run, are written again, because old ones are garbage-collected.
async fn record(writer: &Writer, entry: &Entry) -> Result<(), NotBegun> {
    let plan = format!("{PLANS}/{}", ledger::name(&entry.digest));
    let is_there = writer.cluster().get_optional(&plan).await?.is_some();
    for Written { at, object } in ledger::objects(entry)? {
        match writer.create(at, &object).await {
            Ok(_) => {}
            Err(failure) if failure.kind == ClusterFailureKind::Conflict => {
                if at == CHUNKS && !is_there {
                    rewrite(writer, at, &object).await?;
                }
            }
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(())
}

/// Replaces an older object of the same name.
async fn rewrite(writer: &Writer, at: &str, object: &Value) -> Result<(), NotBegun> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    writer.delete(&format!("{at}/{name}"), &Preconditions::default(), None).await?;
    match writer.create(at, object).await {
        Err(failure) if failure.kind != ClusterFailureKind::Conflict => Err(failure.into()),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Writes a plan that waits for approval: no change of it starts before.
///
/// # Errors
/// The API server refuses, or does not answer.
pub async fn propose(writer: &Writer, plan: &Plan, at: Timestamp) -> Result<(), NotBegun> {
    let digest = plan.digest();
    record(writer, &entry(plan, By::Approval, digest)).await?;
    let name = ledger::name(&digest);
    let changes = figures::described(plan).into_iter().map(|(id, line)| (id.to_string(), line)).collect();
    settle(writer, &name, &Fate::Waits(Proposed { name: &name, changes }), at).await
}

/// Writes the state of a plan of which no change has started.
///
/// # Errors
/// The API server refuses, or does not answer.
pub async fn settle(writer: &Writer, name: &str, fate: &Fate<'_>, at: Timestamp) -> Result<(), NotBegun> {
    writer.patch_status(&format!("{PLANS}/{name}"), &ledger::proposal_patch(fate, at)).await?;
    Ok(())
}

/// Returns the description of each change. Descriptions from an earlier run take precedence: more was known when it
/// planned.
fn changes(plan: &ApprovedPlan, status: Option<&NodePlanStatus>) -> BTreeMap<String, String> {
    let now = figures::described(plan.plan()).into_iter().map(|(id, line)| (id.to_string(), line));
    let known = status.iter().flat_map(|status| status.outcomes.iter().flatten());
    let known = known.filter_map(|(id, known)| Some((id.clone(), known.change.clone()?)));
    now.chain(known).collect()
}

/// Returns the changes of a plan that ended in an earlier run and are not retried.
#[must_use]
pub fn ended(status: &NodePlanStatus) -> BTreeMap<ChangeId, Outcome> {
    let known = status.outcomes.iter().flatten();
    let ended = known.filter_map(|(change, known)| {
        let because = || known.message.clone().unwrap_or_default().into();
        let code = || known.code.clone().unwrap_or_else(|| "Failed".to_owned()).into();
        let outcome = match known.outcome {
            OutcomeKind::Failed => Outcome::Failed { code: code(), because: because() },
            OutcomeKind::NoLongerHolds => Outcome::NoLongerHolds { because: because() },
            OutcomeKind::Struck => Outcome::Struck { because: known.message.as_deref().map(Into::into) },
            OutcomeKind::NoLongerNeeded => Outcome::NoLongerNeeded { because: because() },
            // The next read shows whether this is still true.
            OutcomeKind::Done | OutcomeKind::AlreadySo | OutcomeKind::Waiting => return None,
        };
        Some((ChangeId(change.as_str().into()), outcome))
    });
    ended.collect()
}

/// Returns the nodes with pods that a plan of the ledger removed.
fn losses(recorded: &Recorded) -> impl Iterator<Item = Loss> {
    let plan: Arc<str> = recorded.name.as_str().into();
    let lost = recorded.lost().into_iter();
    lost.map(move |Lost { at, claim, pool }| Loss { at, claim, pool, plan: plan.clone() })
}

/// Reads the text of a plan of the ledger.
///
/// # Errors
/// The API server refuses, or the text is incomplete.
pub async fn text(cluster: &Cluster, plan: &Recorded) -> Result<String, NotBegun> {
    let chunks = cluster.list(CHUNKS, &ledger::chunks_of(&plan.name)).await?.items();
    Ok(ledger::text(plan, &chunks)?)
}

/// Reads the complete text of a proposed plan, as people review it.
///
/// # Errors
/// The API server refuses, the text is incomplete, or its digest differs.
pub async fn file(cluster: &Cluster, plan: &Recorded) -> Result<Plan, NotBegun> {
    let chunks = cluster.list(CHUNKS, &ledger::chunks_of(&plan.name)).await?.items();
    let text = ledger::file(plan, &chunks)?;
    let other = |why: String| LedgerFault::Unreadable { name: plan.name.clone(), why };
    let read = file::read(&text).map_err(|fault| other(fault.to_string()))?;
    match read.digest() == plan.digest {
        true => Ok(read),
        false => Err(LedgerFault::OtherText { name: plan.name.clone() }.into()),
    }
}

/// Reads the plans of the ledger.
///
/// # Errors
/// The API server refuses, or does not know the kind.
pub async fn recorded(cluster: &Cluster) -> Result<Ledger, NotBegun> {
    Ok(ledger::read(&cluster.list(PLANS, "").await?.items()))
}

fn entry(plan: &Plan, by: By<'_>, digest: Digest) -> Entry {
    let spec: &PlanSpec = &plan.spec;
    let text = match by {
        // People review the complete plan.
        By::Approval => file::write(plan),
        By::Controller | By::Person(_) => serde_json::to_string(spec).unwrap_or_default(),
    };
    let mut changes = Changes::default();
    for planned in spec.changes.values() {
        let class = match &planned.change {
            Change::Create(_) => {
                changes.add += 1;
                "create"
            }
            Change::Delete(delete) => {
                changes.destroy += 1;
                ChangeClass::of(delete.reason).as_str()
            }
            Change::Update(_) => {
                changes.change += 1;
                "update"
            }
            Change::Adopt(_) => "adopt",
            Change::Forget(_) => "forget",
            Change::NoOp(_) => continue,
        };
        *changes.by_class.entry(class.to_owned()).or_default() += 1;
    }
    Entry {
        digest,
        parent: spec.parent,
        cluster: spec.execution.as_ref().map(|execution| execution.cluster.uid.to_string()),
        class: class(plan).map(|class| class.to_string()),
        // A plan that was read back has no prices.
        monthly_delta: Some(Summary::of(plan).monthly_delta).filter(|_| plan.evidence.seen_at.is_some()),
        expires_at: spec.expires_at,
        folder: match by {
            By::Person(folder) => folder.map(str::to_owned),
            By::Controller | By::Approval => None,
        },
        needs_approval: by == By::Approval,
        is_automatic: by == By::Controller,
        changes,
        text,
    }
}

fn written(outcome: &Outcome) -> ledger::Outcome {
    match outcome {
        Outcome::Done => ledger::Outcome::Done,
        Outcome::AlreadySo => ledger::Outcome::AlreadySo,
        Outcome::NoLongerNeeded { because } => ledger::Outcome::NoLongerNeeded { why: because.to_string() },
        Outcome::Struck { because } => {
            ledger::Outcome::Struck { why: because.as_deref().unwrap_or_default().to_owned() }
        }
        Outcome::NoLongerHolds { because } | Outcome::Withheld { because } => {
            ledger::Outcome::NoLongerHolds { why: because.to_string() }
        }
        Outcome::Failed { code, because } => {
            ledger::Outcome::Failed { code: code.to_string(), why: because.to_string() }
        }
    }
}
