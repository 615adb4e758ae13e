//! Review in the cluster: NodePlans that wait for approval, and people's decisions about them.
//!
//! Must never let a rejected plan start, or one about which a decision cannot be read.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::{Board, Desk, Earlier, Gone, Identity, Placed, Stands, Wanted, Withdrawn};
use crate::api::node_fleet::{FleetReview, ReviewState};
use crate::api::node_plan::Phase;
use crate::apply::{file, recorded, settle};
use crate::automatic::{Open, People};
use crate::cluster::{Cluster, ClusterFailureKind, Writer};
use crate::gitops::{Folder, Folders, GitOpsFault};
use crate::ledger::{APPROVALS, Decisions, Fate, Recorded, Rejection, decisions};
use crate::model::{Approver, ChangeClass};
use crate::offline::beside::Other;
use crate::plan::{ChangeId, Plan};
use crate::render::proposal::derived;
use crate::review::proposal::{FolderName, Proposal, kept, work};

/// A plan that waits for approval.
struct Waiting {
    name: FolderName,
    /// Why decisions about it are invalid.
    faults: String,
    plan: Arc<Plan>,
}

/// Proposals in the cluster.
struct ClusterBoard {
    at: Timestamp,
    waiting: Vec<Waiting>,
    /// Approved plans that are not settled.
    approved: Vec<Other>,
    /// When people rejected plans, by their changes.
    rejected: BTreeMap<String, Timestamp>,
    /// Writes that are still to be made.
    wanted: RefCell<Vec<Wanted>>,
}

/// Reads NodePlans that need approval, and people's decisions about them.
///
/// # Errors
/// The API server refuses, or does not know the kinds.
pub(super) async fn read(
    (writer, earlier): (&Writer, Earlier),
    Identity { uid, .. }: &Identity,
) -> Result<Desk, GitOpsFault> {
    let cluster = writer.cluster();
    let at = cluster.clock().now();
    // Read before the decisions: a plan whose decisions are not seen yet waits.
    let ledger = recorded(cluster).await;
    let ledger = ledger.map_err(|fault| GitOpsFault::of(fault.to_string()).hint(fault.hint()))?;
    let is_its = |plan: &&Recorded| plan.cluster.as_ref().is_none_or(|cluster| cluster == uid);
    let decided = decided(cluster).await?;
    let mut reading =
        Reading { writer, at, decided: &decided, earlier: earlier.plans, read: Read::default() };
    for recorded in ledger.proposed.iter().filter(is_its) {
        match recorded.phase() {
            Phase::Proposed => reading.proposed(recorded).await?,
            Phase::Rejected => reading.rejected(recorded).await,
            Phase::Withdrawn | Phase::Expired => reading.ended(recorded).await?,
            Phase::Applying | Phase::Done | Phase::Partial | Phase::Failed => {}
        }
    }
    for recorded in ledger.plans.iter().filter(|plan| plan.needs_approval).filter(is_its) {
        match recorded.phase() {
            Phase::Applying => reading.under_way(recorded).await?,
            Phase::Withdrawn => reading.stopped(recorded).await,
            Phase::Proposed
            | Phase::Done
            | Phase::Partial
            | Phase::Failed
            | Phase::Expired
            | Phase::Rejected => {}
        }
    }
    let Reading { read, .. } = reading;
    let approved = read.folders.waiting.iter().map(|folder| Other {
        name: folder.name.to_string(),
        is_merged: true,
        plan: folder.proposal.plan.clone(),
    });
    let board = ClusterBoard {
        at,
        approved: approved.collect(),
        waiting: read.waiting,
        rejected: read.rejected,
        wanted: RefCell::default(),
    };
    Ok(Desk {
        place: None,
        there: read.folders.waiting.iter().map(|folder| folder.name.to_string()).collect(),
        proposed: board.waiting.iter().map(listed).collect(),
        forge_fault: None,
        earlier: Earlier { plans: read.plans, ..Earlier::default() },
        board: Box::new(board),
        folders: read.folders,
        withdrawn: read.withdrawn,
        ledger,
    })
}

/// Lists people's decisions.
async fn decided(cluster: &Cluster) -> Result<Vec<Value>, GitOpsFault> {
    match cluster.list(APPROVALS, "").await {
        Ok(listed) => Ok(listed.items()),
        Err(failure) if failure.kind == ClusterFailureKind::NotFound => {
            let fault = GitOpsFault::of("the NodePlanApproval CRD is not installed");
            Err(fault.hint("install the kinds: `nodeform crds | kubectl apply --server-side -f -`"))
        }
        Err(failure) => Err(GitOpsFault::default().and(&failure.what, Some(&failure.hint))),
    }
}

/// Result of the read.
#[derive(Default)]
struct Read {
    folders: Folders,
    waiting: Vec<Waiting>,
    withdrawn: Vec<Withdrawn>,
    rejected: BTreeMap<String, Timestamp>,
    /// The plans, by the names of their NodePlans.
    plans: BTreeMap<String, Arc<Plan>>,
}

/// Classifies NodePlans.
struct Reading<'a> {
    writer: &'a Writer,
    at: Timestamp,
    decided: &'a [Value],
    /// Plans that were read earlier.
    earlier: BTreeMap<String, Arc<Plan>>,
    read: Read,
}

impl Reading<'_> {
    /// Takes in a plan that has not started.
    async fn proposed(&mut self, recorded: &Recorded) -> Result<(), GitOpsFault> {
        let decisions = decisions(recorded, self.decided);
        if let Some(rejection) = &decisions.rejected {
            self.settle(recorded, &Fate::Rejected(rejection)).await?;
            self.rejected(recorded).await;
            return Ok(());
        }
        if decisions.is_approved() {
            // A plan that can no longer be inspected must not start from the cache.
            self.earlier.remove(&recorded.name);
        }
        let plan = match self.plan(recorded).await {
            Ok(plan) => plan,
            Err(because) => {
                // A plan that cannot be inspected must not be approved.
                let because = format!("its NodePlanChunks cannot be read: {because}");
                return self.settle(recorded, &Fate::Withdrawn(&because)).await;
            }
        };
        let Some(name) = FolderName::of(&plan) else {
            return self.settle(recorded, &Fate::Withdrawn("it changes nothing")).await;
        };
        let mut faults = decisions.faults.clone();
        if decisions.is_approved() {
            match self.approved(name.clone(), &plan, decisions) {
                Ok(()) => return Ok(()),
                Err(fault) => faults.push(fault.told()),
            }
        }
        if !may_begin(&plan, self.at) {
            self.settle(recorded, &Fate::Expired).await?;
        } else {
            self.read.waiting.push(Waiting { name, faults: faults.join("; "), plan });
        }
        Ok(())
    }

    /// Takes in a plan that ended before any of its changes started: it may have been rejected at the same moment.
    async fn ended(&mut self, recorded: &Recorded) -> Result<(), GitOpsFault> {
        let Some(rejection) = decisions(recorded, self.decided).rejected else { return Ok(()) };
        self.settle(recorded, &Fate::Rejected(&rejection)).await?;
        self.rejected(recorded).await;
        Ok(())
    }

    /// Takes in a plan that was withdrawn: it may have been rejected before.
    async fn stopped(&mut self, recorded: &Recorded) {
        if decisions(recorded, self.decided).rejected.is_some() {
            self.rejected(recorded).await;
        }
    }

    /// Takes in a plan in progress: it continues while it is approved.
    async fn under_way(&mut self, recorded: &Recorded) -> Result<(), GitOpsFault> {
        let plan = self.plan(recorded).await.map_err(|because| {
            let name = &recorded.name;
            GitOpsFault::of(format!("NodePlan `{name}` is in progress and cannot be read back: {because}"))
                .hint(format!("delete NodePlan `{name}`: its started changes are then rolled back"))
        })?;
        let Some(name) = FolderName::of(&plan) else { return Ok(()) };
        let decisions = decisions(recorded, self.decided);
        let because = match &decisions {
            decisions if decisions.is_approved() => {
                return self.approved(name, &plan, decisions.clone());
            }
            Decisions { rejected: Some(Rejection { by, .. }), .. } => format!("{by} rejected it"),
            // An unreadable decision holds back all reviewed plans, and withdraws none.
            Decisions { faults, .. } if !faults.is_empty() => {
                let fault = GitOpsFault { faults: faults.clone(), ..GitOpsFault::default() };
                return Err(fault.hint("delete it, and decide again: `kubectl get nodeplanapprovals`"));
            }
            Decisions { .. } => "its approval was deleted".to_owned(),
        };
        let because = format!("the plan was withdrawn: {because}");
        let plan = Plan::clone(&plan);
        self.read.withdrawn.push(Withdrawn { name: name.to_string(), plan, because });
        Ok(())
    }

    /// Takes in an approved plan.
    fn approved(
        &mut self,
        name: FolderName,
        plan: &Arc<Plan>,
        decisions: Decisions,
    ) -> Result<(), GitOpsFault> {
        let keep: Vec<String> = decisions.keep.into_iter().collect();
        let struck = kept(plan, &derived(plan).destroys, &BTreeSet::<ChangeId>::new(), &keep);
        let struck = struck.map_err(|fault| {
            GitOpsFault::stale(fault.to_string())
                .hint("delete the NodePlanApproval that blocks it, and approve the plan again")
        })?;
        let proposal = Proposal { plan: Plan::clone(plan), struck, signature: None };
        let approver = |(by, name): (String, String)| {
            let record = format!("NodePlanApproval {name}");
            Approver { by, record }
        };
        let approved_by = decisions.approved_by.into_iter().map(approver).collect();
        self.read.folders.waiting.push(Folder { name, proposal, approved_by });
        Ok(())
    }

    /// Records the rejection of a plan's changes.
    async fn rejected(&mut self, recorded: &Recorded) {
        let finished =
            recorded.status.as_ref().and_then(|status| status.finished_at.as_deref()?.parse().ok());
        let at: Timestamp = finished.unwrap_or(self.at);
        match self.plan(recorded).await {
            Ok(plan) => {
                self.read.rejected.insert(work(&plan), at);
            }
            Err(because) => {
                tracing::debug!("the changes of NodePlan `{}` are unknown: {because}", recorded.name);
            }
        }
    }

    /// Reads the plan of a NodePlan, as people see it.
    async fn plan(&mut self, recorded: &Recorded) -> Result<Arc<Plan>, String> {
        let plan = match self.earlier.remove(&recorded.name) {
            Some(plan) => plan,
            None => Arc::new(file(self.writer.cluster(), recorded).await.map_err(|fault| fault.to_string())?),
        };
        self.read.plans.insert(recorded.name.clone(), Arc::clone(&plan));
        Ok(plan)
    }

    async fn settle(&self, recorded: &Recorded, fate: &Fate<'_>) -> Result<(), GitOpsFault> {
        let settled = settle(self.writer, &recorded.name, fate, self.at).await;
        settled.map_err(|fault| GitOpsFault::of(fault.to_string()).hint(fault.hint()))
    }
}

fn listed(Waiting { name, faults, .. }: &Waiting) -> FleetReview {
    let id = &name.id;
    let next = format!("review it with `nodeform show nodeplan/{id}`, then `nodeform approve {id}`");
    FleetReview {
        folder: name.to_string(),
        state: ReviewState::Proposed,
        branch: None,
        page: None,
        because: Some(if faults.is_empty() { next } else { faults.clone() }),
    }
}

fn may_begin(plan: &Plan, now: Timestamp) -> bool {
    plan.spec.expires_at.is_some_and(|at| at > now)
}

impl Board for ClusterBoard {
    fn at(&self) -> Timestamp {
        self.at
    }

    fn others(&self, own: Option<ChangeClass>) -> Vec<Other> {
        let waiting = self.waiting.iter().filter(|waiting| Some(waiting.name.class) != own);
        let waiting = waiting.filter(|waiting| may_begin(&waiting.plan, self.at));
        let waiting = waiting.map(|Waiting { name, plan, .. }| Other {
            name: name.to_string(),
            is_merged: false,
            plan: Plan::clone(plan),
        });
        self.approved.iter().cloned().chain(waiting).collect()
    }

    fn open(&self, class: ChangeClass) -> Vec<Stands<'_>> {
        let open = self.waiting.iter().filter(|waiting| waiting.name.class == class);
        open.map(|Waiting { faults: _, name, plan }| Stands {
            name: &name.id,
            open: Open { plan: Some(plan), people: People::Nothing },
            may_go: true,
        })
        .collect()
    }

    fn rejected_at(&self, plan: &Plan) -> Option<Timestamp> {
        self.rejected.get(&work(plan)).copied()
    }

    fn may_propose(&self) -> bool {
        true
    }

    fn propose(&self, plan: &Plan, _: Option<&Path>) -> Result<Placed, GitOpsFault> {
        let Some(FolderName { class, id, .. }) = FolderName::of(plan) else {
            return Ok(Placed::Nothing { because: "nothing changes".to_owned(), replaces: Vec::new() });
        };
        self.wanted.borrow_mut().push(Wanted::Proposed(Arc::new(plan.clone())));
        let of_class = self.waiting.iter().filter(|waiting| waiting.name.class == class);
        let replaces =
            of_class.map(|waiting| (waiting.name.id.clone(), format!("replaced by NodePlan `{id}`")));
        let told = format!("review it with `nodeform show nodeplan/{id}`, then `nodeform approve {id}`");
        Ok(Placed::Proposed { told, replaces: replaces.collect() })
    }

    fn end(&self, name: &str, why: &str) -> Result<Gone, GitOpsFault> {
        let waiting = self.waiting.iter().find(|waiting| waiting.name.id == name);
        let is_over = waiting.is_some_and(|waiting| !may_begin(&waiting.plan, self.at));
        let settled = name.to_owned();
        self.wanted.borrow_mut().push(match is_over {
            true => Wanted::Expired { name: settled },
            false => Wanted::Withdrawn { name: settled, because: why.to_owned() },
        });
        Ok(Gone { what: format!("NodePlan `{name}`"), why: why.to_owned(), fault: None })
    }

    fn say_differences(&self, _: &str, _: &BTreeSet<Arc<str>>) -> Result<(), GitOpsFault> {
        Ok(())
    }

    fn is_only_ours(&self) -> bool {
        true
    }

    fn wanted(&mut self) -> Vec<Wanted> {
        std::mem::take(self.wanted.get_mut())
    }
}
