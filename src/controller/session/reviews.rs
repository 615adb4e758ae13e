//! Review while the Lease is held: reads the repository every half minute, applies merged plans, and proposes what is
//! due.
//!
//! No change of a merged plan starts while its branch cannot be read, nor once its folder is gone. Must never decide
//! itself: `reviewing` does.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::super::desk::{self, ApprovedIn, Desk, Earlier, Identity, Withdrawn};
use super::super::flights::Approval;
use super::super::looks::FoundFleet;
use super::super::proposing::{Progress, Proposed};
use super::super::reviewing::{self, Asked, Begins, Done, Merging};
use super::super::role::Role;
use super::super::round::{NoRound, Step};
use super::super::told;
use super::Session;
use crate::api::node_fleet::{FleetReview, ReviewState};
use crate::api::node_plan::OutcomeKind;
use crate::apply::{Book, Stop};
use crate::gitops::{Folder, GitOpsFault, Refused};
use crate::offline::World;
use crate::plan::{Change, ChangeId, PlannedChange};
use crate::review::{LeftOut, Now, finish};

/// Time without an answer after which no reviewed plan starts.
const SLOW: Duration = Duration::from_secs(90);

/// Delay before a merged plan with waiting changes is retried, by the cloud's clock.
const REST: Duration = Duration::from_secs(60);

/// State of the review.
#[derive(Default)]
pub(super) struct Reviews {
    /// Whether the NodeFleet names a repository; `None` until it was read.
    is_named: Option<bool>,
    identity: Option<Identity>,
    reading: Option<JoinHandle<Result<Option<Desk>, GitOpsFault>>>,
    read: Option<Instant>,
    /// The last read state, until a step takes it; only one thread at a time may read a clone.
    desk: Mutex<Option<Desk>>,
    progress: Progress,
    /// When merged plans were last started.
    taken: BTreeMap<Arc<str>, Instant>,
    /// Why the repository cannot be read.
    unread: Option<String>,
    /// Obstacles to proposing.
    troubles: Vec<String>,
    /// Why pull requests are unknown.
    forge: Option<String>,
    /// State that looks pass to the next.
    earlier: Earlier,
    /// When the proposer's Lease was last read.
    watched: Option<Instant>,
    /// Why merged plans are not applied, by folder.
    refused: BTreeMap<String, String>,
    proposed: Vec<FleetReview>,
    merged: BTreeSet<String>,
    /// The nodes that approved plans change, each with what it waits for, if known.
    approved: BTreeMap<String, Option<String>>,
    /// The state in which those are listed.
    approved_as: Option<ReviewState>,
}

impl Reviews {
    /// Returns the plans with their states, for the NodeFleet's status.
    pub(super) fn listed(&self) -> Vec<FleetReview> {
        let state = |folder: &String| match self.refused.get(folder) {
            Some(because) => (ReviewState::Refused, Some(because.clone())),
            None => (self.approved_as.unwrap_or(ReviewState::Merged), None),
        };
        let names: BTreeSet<&String> = self.merged.iter().chain(self.refused.keys()).collect();
        let merged = names.into_iter().map(|folder| {
            let (state, because) = state(folder);
            FleetReview { folder: folder.clone(), state, branch: None, page: None, because }
        });
        self.proposed.iter().cloned().chain(merged).collect()
    }

    /// Returns the obstacles, one line each.
    pub(super) fn troubles(&self) -> impl Iterator<Item = String> {
        let unread = self.unread.as_ref().map(|because| {
            let place = self.place();
            format!("paused: no reviewed plan starts until {place} can be read: {because}")
        });
        // Earlier findings are stale while the repository cannot be read.
        let forge = self.forge.iter().chain(&self.troubles).filter(|_| self.unread.is_none()).cloned();
        unread.into_iter().chain(forge).chain(self.earlier.proposer.troubles())
    }

    /// Returns the nodes that approved plans change, each with what it waits for, if known.
    pub(super) fn approved(&self) -> BTreeMap<String, Option<String>> {
        self.approved.clone()
    }

    fn set_desk(&mut self, desk: Option<Desk>) {
        *self.desk.get_mut().unwrap_or_else(PoisonError::into_inner) = desk;
    }

    fn take_desk(&mut self) -> Option<Desk> {
        self.desk.get_mut().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Returns where plans are reviewed, in words.
    const fn place(&self) -> &'static str {
        match self.is_named {
            Some(false) => "NodePlans and NodePlanApprovals",
            Some(true) | None => "the repository",
        }
    }

    /// Records why the repository cannot be read, and logs it if it is new.
    fn note_unread(&mut self, unread: Option<String>) {
        let place = self.place();
        match (&self.unread, &unread) {
            (before, Some(because)) if before.as_ref() != Some(because) => {
                tracing::warn!("paused: no reviewed plan starts until {place} can be read: {because}");
            }
            (Some(_), None) => tracing::info!("{place} can be read again"),
            (Some(_) | None, _) => {}
        }
        self.unread = unread;
    }

    fn note_forge(&mut self, fault: Option<String>) {
        match (&self.forge, &fault) {
            (before, Some(because)) if before.as_ref() != Some(because) => {
                tracing::warn!("{because}");
            }
            (Some(_), None) => tracing::info!("the forge answers again"),
            (Some(_) | None, _) => {}
        }
        self.forge = fault;
    }

    fn note_refused(&mut self, refused: Vec<Refused>) {
        for Refused { name, fault } in refused {
            let because = fault.told();
            if self.refused.get(&name) != Some(&because) {
                tracing::warn!(folder = name, "not applied: {because}");
            }
            self.refused.insert(name, because);
        }
    }
}

/// Returns the nodes that approved plans change, each with what it waits for according to the ledger.
fn approved(desk: &Desk) -> BTreeMap<String, Option<String>> {
    let of = |folder: &Folder| {
        let recorded = desk.ledger.of_id(&folder.name.id);
        let outcomes = recorded.and_then(|recorded| recorded.status.as_ref()?.outcomes.clone());
        let outcomes = outcomes.unwrap_or_default();
        let waits = |id: &ChangeId| {
            let known = outcomes.get(&*id.0).filter(|known| known.outcome == OutcomeKind::Waiting)?;
            known.message.clone()
        };
        let changes = folder.proposal.plan.spec.changes.iter();
        let changes = changes.filter(|(id, _)| !folder.proposal.struck.contains(*id));
        let node = |(id, planned): (&ChangeId, &PlannedChange)| {
            let node = match &planned.change {
                Change::Delete(delete) => delete.target.node.to_string(),
                Change::Update(update) => update.target.node.to_string(),
                Change::Create(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => return None,
            };
            Some((node, waits(id)))
        };
        changes.filter_map(node).collect::<Vec<_>>()
    };
    desk.folders.waiting.iter().flat_map(of).collect()
}

impl Session<'_> {
    /// Records the cluster's identity.
    pub(super) fn note_identity(&mut self, world: &World) {
        self.reviews.identity = Identity::of(world);
    }

    /// Records whether the NodeFleet names a repository. On a change, the state of the other place is dropped.
    pub(super) fn note_repository(&mut self, found: &FoundFleet) {
        let is_named = |fleet: &serde_json::Value| fleet["spec"]["git"]["repository"].is_string();
        let is_named = Some(found.objects.iter().any(is_named));
        if self.reviews.is_named != is_named {
            self.flights.approvals().for_each(|(_, approval)| approval.stop.hold(true));
            let Reviews { identity, read, .. } = std::mem::take(&mut self.reviews);
            self.reviews = Reviews { is_named, identity, read, ..Reviews::default() };
        }
    }

    /// Starts to read the repository if it is due, and takes in the result.
    pub(super) async fn keep_up_with_repository(&mut self) {
        if let Some(reading) = self.reviews.reading.take_if(|reading| reading.is_finished()) {
            match reading.await {
                Ok(Ok(Some(desk))) => self.take_in_repository(desk),
                // The NodeFleet names no repository any more: the next read uses the cluster.
                Ok(Ok(None)) => {}
                Ok(Err(fault)) => self.cannot_read(fault.told()),
                Err(error) => {
                    self.controller.metrics.panicked();
                    self.cannot_read(format!("nodeform has a bug: {error}"));
                }
            }
        }
        let every = Identity::reads_every(self.reviews.identity.as_ref()) / self.clock_speed;
        let is_due = self.reviews.read.is_none_or(|read| read.elapsed() >= every);
        let acts = self.mode.acts() && self.winding.is_none() && self.is_resumed;
        if acts {
            self.watch_proposer(every, is_due && self.reviews.reading.is_none()).await;
        }
        let known = self.reviews.identity.clone().zip(self.reviews.is_named);
        let Some((identity, is_named)) = known.filter(|_| is_due && acts) else { return };
        if self.reviews.reading.is_some() {
            if self.reviews.read.is_some_and(|read| read.elapsed() >= SLOW) {
                let seconds = SLOW.as_secs();
                self.cannot_read(format!("it has not answered for more than {seconds} seconds"));
            }
            return;
        }
        self.reviews.read = Some(Instant::now());
        let (repository, writer) = (self.controller.repository.clone(), self.writer.clone());
        let earlier = self.reviews.earlier.clone();
        let woken = Arc::clone(&self.woken);
        self.reviews.reading = Some(match is_named {
            true => tokio::task::spawn_blocking(move || {
                let reading = Desk::of_repository(&repository, (&writer, earlier), &identity);
                let read = tokio::runtime::Handle::current().block_on(reading);
                woken.notify_one();
                read
            }),
            false => tokio::spawn(async move {
                let read = Desk::of_cluster((&writer, earlier), &identity).await;
                woken.notify_one();
                read.map(Some)
            }),
        });
    }

    /// Reads the Lease of a proposer in another process: before each look at the repository, which counts no approval
    /// by its account, and also while the repository cannot be read.
    async fn watch_proposer(&mut self, every: Duration, begins_look: bool) {
        let Reviews { is_named, watched, earlier, .. } = &mut self.reviews;
        let is_apart = *is_named == Some(true) && self.controller.repository.role == Role::Controller;
        if is_apart && (begins_look || watched.is_none_or(|watched| watched.elapsed() >= every)) {
            *watched = Some(Instant::now());
            earlier.proposer.look(&self.controller.cluster).await;
        }
    }

    fn cannot_read(&mut self, because: String) {
        self.reviews.set_desk(None);
        self.reviews.note_unread(Some(because));
        self.flights.approvals().for_each(|(_, approval)| approval.stop.hold(true));
    }

    /// Takes in the repository: plans in progress that are no longer on the branch start no new changes.
    fn take_in_repository(&mut self, mut desk: Desk) {
        self.reviews.note_unread(None);
        for (_, Approval { name, place, stop }) in self.flights.approvals() {
            if desk.place_of(name) != *place {
                stop.ask();
                continue;
            }
            let is_there = desk.there.contains(name);
            if !is_there && !stop.is_withdrawn() {
                let known = desk.withdrawn.iter().find(|withdrawn| withdrawn.name == *name);
                let because = known.map_or(desk.gone(), |withdrawn| &withdrawn.because);
                tracing::warn!(
                    name,
                    "{because}; no new changes start, and removals are rolled back while their VMs exist"
                );
                stop.withdraw(because);
            }
            stop.hold(!is_there);
        }
        let reviews = &mut self.reviews;
        reviews.merged = desk.folders.waiting.iter().map(|folder| folder.name.to_string()).collect();
        let found: BTreeSet<&String> =
            reviews.merged.iter().chain(desk.folders.refused.iter().map(|refused| &refused.name)).collect();
        reviews.refused.retain(|name, _| found.contains(name));
        reviews.note_refused(std::mem::take(&mut desk.folders.refused));
        // The proposer's Lease may have been read meanwhile.
        let proposer = std::mem::take(&mut reviews.earlier.proposer);
        reviews.earlier = Earlier { proposer, ..std::mem::take(&mut desk.earlier) };
        reviews.note_forge(desk.forge_fault.take());
        reviews.proposed = std::mem::take(&mut desk.proposed);
        reviews.approved_as = Some(desk.approved_state());
        reviews.approved = approved(&desk);
        self.reviews.set_desk(Some(desk));
    }

    /// Starts a review step for merged plans and proposals, with a world in which no other change starts now.
    pub(super) async fn review(&mut self, world: World) {
        let acts = self.mode.acts() && self.winding.is_none() && self.is_resumed;
        let Some(mut desk) = self.reviews.take_desk().filter(|_| acts && self.planning.is_none()) else {
            return;
        };
        for withdrawn in std::mem::take(&mut desk.withdrawn) {
            let place = desk.place_of(&withdrawn.name);
            self.withdraw(&world, withdrawn, place).await;
        }
        if !reviewing::is_needed(&world, &desk) {
            return;
        }
        let plans = desk.folders.waiting.iter().map(|folder| Arc::<str>::from(folder.proposal.plan.id()));
        let Some(begun) = plans.map(|id| Some((id.clone(), self.flights.begun_of(&id)?))).collect() else {
            return;
        };
        let rest = REST / self.clock_speed;
        self.reviews.taken.retain(|_, taken| taken.elapsed() < rest);
        let taken = self.reviews.taken.keys().cloned();
        let asked = Asked {
            world,
            desk,
            begun,
            passed_over: self.flights.plans().into_iter().chain(taken).collect(),
            progress: self.reviews.progress.clone(),
            planner: Arc::clone(&self.planner),
            repository: self.controller.repository.clone(),
            clock_speed: self.clock_speed,
        };
        let metrics = Arc::clone(&self.controller.metrics);
        let (writer, at) = (self.writer.clone(), self.now());
        self.plan(async move {
            let done = tokio::task::spawn_blocking(move || reviewing::step(asked)).await;
            let mut done = done.map_err(|error| {
                metrics.panicked();
                NoRound::from(vec![format!("reviewing failed with a bug in nodeform: {error}")])
            })?;
            let wanted = done.desk.board.wanted();
            if let Some(trouble) = desk::write(&writer, wanted, at).await {
                done.proposed = Proposed { troubles: vec![trouble], ..Proposed::default() };
            }
            Ok(Step::Reviewed(Box::new(done)))
        });
    }

    /// Ends a plan in progress that is no longer approved.
    async fn withdraw(&mut self, world: &World, withdrawn: Withdrawn, place: ApprovedIn) {
        let Withdrawn { name, plan, because } = withdrawn;
        let id = plan.id();
        let is_carried = self.flights.approvals().any(|(carried, _)| *carried == id);
        let Some(begun) = self.flights.begun_of(&id).filter(|_| !is_carried) else { return };
        let World { snapshot, policy, .. } = world;
        let left = LeftOut::NoLongerHolds(because.as_str().into());
        match finish(plan, Now { snapshot, policy, begun: &begun }, &left) {
            Ok(approved) => {
                tracing::warn!(name, "{because}");
                let stop = Stop::default();
                stop.withdraw(&because);
                let approval = Approval { name, place, stop };
                self.carry_merged((snapshot, policy), approved, approval).await;
            }
            Err(faults) => self.not_approved(&faults),
        }
    }

    /// Takes in the result of a review step.
    pub(super) async fn of_reviewed(&mut self, done: Done) {
        let Done { world, desk, merged, proposed, progress } = done;
        let Merging { begins, expired, refused } = merged;
        let Proposed { placed, gone, troubles } = proposed;
        self.reviews.progress = progress;
        self.reviews.note_refused(refused);
        for trouble in troubles.iter().filter(|trouble| !self.reviews.troubles.contains(trouble)) {
            tracing::warn!("{trouble}");
        }
        self.reviews.troubles = troubles;
        if placed.is_some() || !gone.is_empty() {
            self.reviews.read = None;
        }
        told::proposed(placed, &gone);
        for Begins { name, plan, .. } in expired {
            let (plan, place) = (Arc::new(plan), desk.place_of_folder(&name));
            if let Err(fault) = Book::expire(self.writer.clone(), &plan, place.by(), self.now()).await {
                tracing::warn!(%name, hint = fault.hint(), "could not record that it expired: {fault}");
            }
        }
        let Some(Begins { name, plan, said }) = begins else { return };
        self.reviews.taken.insert(plan.id().into(), Instant::now());
        said.iter().for_each(|line| tracing::info!(%name, "{line}"));
        self.reviews.refused.remove(&name.to_string());
        let place = desk.place_of_folder(&name);
        let approval = Approval { name: name.to_string(), place, stop: Stop::default() };
        let World { snapshot, policy, .. } = &world;
        self.carry_merged((snapshot, policy), plan, approval).await;
    }
}
