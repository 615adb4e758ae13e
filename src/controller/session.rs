//! A term of leadership: reads, steps plans in progress, starts rounds, and starts chosen changes.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::bulletin::{Bulletin, Standing};
use super::flights::{self, Flights, Looked};
use super::looks::{self, FoundFleet};
use super::marks;
use super::once::Once;
use super::reports::Reports;
use super::resume::{self, Left};
use super::round::{self, Asked, NoRound, Step};
use super::run::{Beside, Controller, Doing, stopped};
use super::tell::Ended;
use crate::apply::{BrakeReader, Hand, Keeper, Reader};
use crate::arm::ResourceId;
use crate::automatic::{
    self, Awaiting, BackOff, Evictions, Fights, InFlight, Lost, Next, PodEvents, Rest, Rounds, SpotOffering,
    Startups, Tried, Wants,
};
use crate::cluster::{WriteGate, Writer, lease};
use crate::ledger::NeverJoined;
use crate::model::Mode;
use crate::observe::Remembered;
use crate::offline::{Planner, World};
use crate::plan::Plan;
use crate::review;
use crate::rollout::{self, Evicted, Silent};
use reviews::Reviews;

mod begin;
mod reviews;
mod winding;

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";

/// Interval between reads of the world while plans are in progress, by the cloud's clock.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Minimum time between two such reads, by the cloud's clock.
const LOOK_GAP: Duration = Duration::from_secs(1);

/// Interval between reads of the world for what no running plan covers, by the cloud's clock.
const LOOK_AFTER: Duration = Duration::from_secs(30);

/// Interval between reads of the NodeFleet and the pods that do not run.
const LOOK: Duration = Duration::from_secs(1);

/// How long to only observe beside another holder of the Lease before trying to acquire it again.
const TRY_AGAIN: Duration = Duration::from_secs(30);

/// Interval between garbage collections of the ledger.
const TIDY: Duration = Duration::from_secs(600);

/// How long to wait for running writes at the end.
const ENDING: Duration = Duration::from_secs(1);

/// Log messages for lists that fail.
pub(super) const NODE_FLEETS: &str = "NodeFleets cannot be listed";
const PODS: &str = "pods cannot be listed";
const NODE_PLANS: &str = "NodePlans cannot be listed";

/// Reason why a session ended.
pub(super) enum Why {
    /// The controller is stopped.
    Stopped,
    /// The NodeFleet's mode has changed.
    OtherMode,
    /// The NodeFleet's mode is `observe`, and all started changes have ended.
    WoundDown,
    /// The Lease was lost.
    Lost(String),
}

/// State while the Lease is held.
pub(super) struct Session<'a> {
    controller: &'a Controller,
    mode: Mode,
    /// The other holder of the Lease: while there is one, this process only observes, whatever the NodeFleet sets.
    beside: Option<Beside>,
    began: Instant,
    gate: WriteGate,
    writer: Writer,
    /// Reports the state of the fleet.
    bulletin: Bulletin,
    once: Once,
    /// Reports the times of pod events on nodes.
    pod_times: Reports,
    clock_speed: u32,
    /// Azure, cached, for planning.
    remembered: Remembered,
    reader: Option<Arc<Reader>>,
    /// Reads the brakes on changes that have not started.
    brakes: BrakeReader,
    flights: Flights,
    rounds: Rounds,
    wants: Wants,
    back_off: BackOff,
    evictions: Evictions,
    fights: Fights,
    lost: Lost,
    planner: Arc<Planner>,
    pod_events: PodEvents,
    startups: Startups,
    planning: Option<JoinHandle<Result<Step, NoRound>>>,
    /// State of the last round, if it had no changes.
    rest: Option<Arc<Rest>>,
    woken: Arc<Notify>,
    looked: Option<Instant>,
    stepped: Option<Instant>,
    tidied: Option<Instant>,
    /// Last reported reasons why a plan was not approved.
    said: Vec<String>,
    is_resumed: bool,
    /// Started changes that stay as they are.
    left: Vec<Awaiting>,
    /// Plans under review.
    reviews: Reviews,
    /// When winding down started: only started changes are ended, because the mode became `observe`.
    winding: Option<Instant>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        controller: &'a Controller,
        Doing { mode, beside, winds_down }: Doing,
        gate: WriteGate,
    ) -> Self {
        let clock_speed = controller.azure.cloud().clock_speed.max(1);
        let woken: Arc<Notify> = Arc::default();
        let writer = controller.cluster.writing(&gate);
        let mut flights = Flights::new(Arc::clone(&woken), Arc::clone(&controller.health), clock_speed);
        if winds_down {
            flights.wind_down();
        }
        Self {
            bulletin: Bulletin::new(mode, writer.clone(), (Arc::clone(&controller.metrics), clock_speed)),
            once: Once::default(),
            pod_times: Reports::begin(writer.clone(), "lastPodEventTime of a NodeClaim"),
            writer,
            controller,
            mode,
            beside,
            began: Instant::now(),
            gate,
            clock_speed,
            remembered: Remembered::new(controller.azure.clone()),
            reader: None,
            brakes: BrakeReader::automatic(controller.cluster.clone()),
            flights,
            rounds: Rounds::new(clock_speed),
            wants: Wants::new(clock_speed),
            back_off: BackOff::new(clock_speed),
            evictions: Evictions::new(clock_speed),
            fights: Fights::new(clock_speed),
            lost: Lost::new(clock_speed),
            planner: Arc::default(),
            pod_events: PodEvents::default(),
            startups: Startups::default(),
            planning: None,
            rest: None,
            woken,
            looked: None,
            stepped: None,
            tidied: None,
            said: Vec::new(),
            is_resumed: false,
            left: Vec::new(),
            reviews: Reviews::default(),
            winding: winds_down.then(Instant::now),
        }
    }

    /// Runs until it is stopped or the mode changes.
    pub(super) async fn run(mut self) -> Why {
        let mut is_woken = false;
        loop {
            self.controller.health.progressed();
            if self.controller.stop.is_asked() {
                return self.end().await;
            }
            if self.looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
                self.looked = Some(Instant::now());
                if let Some(why) = self.look().await {
                    return why;
                }
            }
            self.controller.health.progressed();
            self.take_in_planned().await;
            self.controller.health.progressed();
            self.keep_up_with_repository().await;
            self.controller.health.progressed();
            self.step(is_woken).await;
            if self.is_wound_down() {
                return Why::WoundDown;
            }
            let until = match self.rounds.next(self.now(), self.in_flight()) {
                Next::Round => {
                    self.begin_round();
                    LOOK
                }
                Next::Wait(until) => Duration::try_from(until.duration_since(self.now())).unwrap_or_default(),
            };
            is_woken = self.wait(until).await;
        }
    }

    /// Reads the NodeFleet and the pods that do not run, and reports the state.
    async fn look(&mut self) -> Option<Why> {
        if self.may_lead().await {
            return Some(Why::OtherMode);
        }
        let is_said = |mode: Mode| if self.beside.is_some() { mode.acts() } else { mode == self.mode };
        let found = looks::standing(&self.controller.cluster).await;
        self.controller.health.progressed();
        match looks::waiting(&self.controller.cluster).await {
            Ok(waiting) => {
                self.once.works(PODS);
                self.startups.saw(&waiting);
                let unplaced = waiting.iter().filter(|pod| pod.is_unschedulable);
                self.rounds.saw(unplaced.map(|pod| pod.uid.clone()).collect(), self.now());
                self.bulletin.saw(Some(waiting));
            }
            Err(failure) => {
                self.once.failed(PODS, &failure);
                self.bulletin.saw(None);
            }
        }
        match found {
            Ok(found) if !is_said(found.standing.mode) && !self.turns_to(found.standing.mode) => {
                let has_ended = self.leads() && self.is_resumed;
                return Some(if has_ended { Why::WoundDown } else { Why::OtherMode });
            }
            Ok(found) => {
                self.once.works(NODE_FLEETS);
                self.controller.health.progressed();
                self.note_repository(&found);
                self.publish(&found);
            }
            Err(failure) => self.once.failed(NODE_FLEETS, &failure),
        }
        None
    }

    /// Returns whether to try to acquire the Lease from another holder: it was released, its holder changed, or may
    /// have died.
    async fn may_lead(&self) -> bool {
        let Some(Beside { namespace, holder, .. }) = &self.beside else { return false };
        if self.began.elapsed() >= TRY_AGAIN {
            return true;
        }
        let found = lease::holder(&self.controller.cluster, (namespace, lease::NAME)).await;
        found.is_ok_and(|found| found.as_ref() != Some(holder))
    }

    /// Reports the state of the fleet.
    fn publish(&mut self, found: &FoundFleet) {
        let standing = Standing {
            found,
            beside: self.beside.as_ref(),
            flights: &self.flights,
            left: &self.left,
            back_off: &self.back_off,
            fights: &self.fights,
            reviews: if self.leads() { self.reviews.listed() } else { Vec::new() },
            review_troubles: self.reviews.troubles().collect(),
            approved: self.reviews.approved(),
            troubles: self.controller.azure.troubles(),
            at: self.now(),
        };
        self.bulletin.publish(&standing);
    }

    fn now(&self) -> Timestamp {
        self.controller.cluster.clock().now()
    }

    fn in_flight(&self) -> InFlight {
        InFlight {
            plans: self.flights.len(),
            is_beginning: self.flights.is_beginning(),
            is_planning: self.planning.is_some(),
        }
    }

    /// Returns the inputs of a round, as of now.
    fn asked(&self) -> Asked {
        let Controller { cluster, named, catalogs, .. } = self.controller;
        Asked {
            cluster: cluster.clone(),
            azure: self.remembered.clone(),
            named: named.clone(),
            catalogs: catalogs.clone(),
            mode: self.mode,
            back_off: self.back_off.clone(),
            resting: self.evictions.resting(self.now()),
            planner: Arc::clone(&self.planner),
            in_flight: self.flights.plans(),
            rest: self.rest.clone().filter(|_| self.flights.len() == 0),
            clock_speed: self.clock_speed,
            metrics: Arc::clone(&self.controller.metrics),
        }
    }

    fn begin_round(&mut self) {
        self.rounds.began(self.now());
        let first = round::first(self.asked());
        self.plan(first);
    }

    /// Runs a step of a round as a concurrent task.
    fn plan(&mut self, step: impl Future<Output = Result<Step, NoRound>> + Send + 'static) {
        let woken = Arc::clone(&self.woken);
        self.planning = Some(tokio::spawn(async move {
            let step = step.await;
            woken.notify_one();
            step
        }));
    }

    /// Takes in a finished step of a round.
    async fn take_in_planned(&mut self) {
        let Some(planning) = self.planning.take_if(|planning| planning.is_finished()) else { return };
        match planning.await {
            Ok(Ok(Step::Seen(seen))) => {
                self.bulletin.seen(&seen);
                self.of_seen(*seen).await;
            }
            Ok(Ok(Step::Rest(planning))) => self.of_rest(*planning).await,
            Ok(Ok(Step::Reviewed(done))) => self.of_reviewed(*done).await,
            Ok(Err(none)) => self.bulletin.no_round(none),
            Err(error) => self.bulletin.round_panicked(&error),
        }
        if self.planning.is_none() {
            self.rounds.ended(self.now());
        }
    }

    /// Resumes the plans of earlier processes.
    async fn resume(&mut self, world: &World) {
        let Some(reader) = self.reader.clone() else { return };
        let is_taken_up = match self.winding {
            Some(_) => resume::is_own,
            None => resume::is_ours_to_finish,
        };
        let Left { plans, never_joined } = match resume::left(&self.controller.cluster, is_taken_up).await {
            Ok(left) => left,
            Err(failure) => return self.once.failed(NODE_PLANS, &failure),
        };
        self.once.works(NODE_PLANS);
        let Some(Looked { seen, failures }) = self.read(&reader).await else { return };
        self.controller.health.progressed();
        failures.iter().for_each(|because| tracing::warn!("{because}"));
        let Some(seen) = seen.filter(|_| failures.is_empty()) else { return };
        for NeverJoined { at, vm, pool, size, image } in never_joined {
            self.back_off.never_joined(&automatic::Made { pool, size, image }, &vm, at);
        }
        let World { snapshot, policy, .. } = world;
        let carried = self.flights.plans();
        for plan in plans.into_iter().filter(|plan| !carried.contains(&*plan.id())) {
            let mut begun = rollout::begun(&plan.id(), &seen);
            let half = plan.spec.execution.iter().flat_map(|it| rollout::half_begun(it, &begun));
            if self.winding.is_none() {
                begun.extend(half.collect::<Vec<_>>());
            }
            tracing::info!(plan = plan.id(), begun = begun.len(), "resuming plan");
            match review::resume(plan, review::Now { snapshot, policy, begun: &begun }) {
                Ok(approved) => self.carry((snapshot, policy), approved).await,
                Err(faults) => self.not_approved(&faults),
            }
        }
        self.is_resumed = true;
    }

    /// Writes the findings of a round onto objects, and removes outdated marks and plans.
    async fn write_down(&mut self, world: &World, at: Timestamp) {
        resume::lift(&self.writer, &world.abandoned).await;
        if self.tidied.is_none_or(|tidied| tidied.elapsed() >= TIDY) {
            self.tidied = Some(Instant::now());
            resume::tidy(&self.writer).await;
        }
        for mark in self.lost.note(&world.snapshot, at) {
            marks::mark_lost(&self.writer, &mark).await;
        }
        let time = at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        for claim in self.pod_events.note(&world.snapshot, at) {
            let patch = serde_json::json!({"status": {"lastPodEventTime": time}});
            self.pod_times.patch_status(format!("{CLAIMS}/{claim}"), patch);
        }
    }

    /// Starts to maintain what no running plan covers.
    fn look_after(&mut self, plan: &Plan) {
        let Some(execution) = plan.spec.execution.as_ref().filter(|_| self.flights.keeper.is_none()) else {
            return;
        };
        let cluster = Arc::new(execution.cluster.clone());
        let through = (self.writer.clone(), self.gate.clone());
        let hand = Hand::new(through, &self.controller.azure, Arc::clone(&cluster));
        self.flights.keeper = Some(Keeper::new(hand, cluster, self.clock_speed, Arc::clone(&self.woken)));
    }

    /// Steps the plans in progress, if an action has ended or a step is due.
    async fn step(&mut self, is_woken: bool) {
        let looks_after = self.is_resumed && self.leads();
        let Some(reader) = self.reader.as_ref().filter(|_| self.flights.len() > 0 || looks_after) else {
            return;
        };
        let again = if self.flights.len() > 0 { LOOK_AGAIN } else { LOOK_AFTER } / self.clock_speed;
        let is_due = self.stepped.is_none_or(|stepped| stepped.elapsed() >= again);
        // After a failed read, the next one waits until it is due.
        let hurries = (is_woken || self.flights.is_writing()) && self.flights.unread.is_empty();
        if !is_due && !hurries && !self.flights.has_other_brakes(&self.brakes).await {
            return;
        }
        let reader = Arc::clone(reader);
        let mut ended = self.flights.take_in_ended();
        if let Some(looked) = self.read(&reader).await {
            ended.extend(self.flights.step(looked, &self.brakes, self.planning.is_some()).await);
        }
        self.stepped = Some(Instant::now());
        self.remembered.wrote();
        for Silent { claim, vm, pool, size, image } in self.flights.silent() {
            let like = automatic::Made { pool, size, image };
            if let Some(silent) = self.back_off.never_joined(&like, &vm, self.now()) {
                tracing::warn!(%claim, "{}", silent.because());
            }
        }
        for Evicted { claim, size, zone } in self.flights.evicted() {
            let offering = SpotOffering { size: size.clone(), zone: zone.clone() };
            if self.evictions.note(&claim, offering, self.now()) {
                tracing::warn!(%size, %zone, "Azure took a spot VM away");
            }
        }
        for Ended { tried, node, failed, keys } in ended {
            match failed {
                None => {
                    self.back_off.succeeded(&tried);
                    if let Tried::ToUpdate(node) = &tried {
                        self.fights.changed(node, &keys, self.now());
                    }
                }
                Some(what) => self.back_off.failed(&tried, (&node, &what), self.now()),
            }
        }
    }

    /// Reads the world for the plans in progress. Reports the state meanwhile, because Azure may throttle for long;
    /// `None` if the session must end.
    async fn read(&mut self, reader: &Reader) -> Option<Looked> {
        let says = async {
            loop {
                tokio::time::sleep(LOOK).await;
                if self.look().await.is_some() {
                    break;
                }
            }
        };
        let looked = tokio::select! {
            looked = flights::look(reader) => Some(looked),
            () = says => None,
        };
        // The main loop checks again whether the session must end.
        self.looked = self.looked.filter(|_| looked.is_some());
        looked
    }

    /// Waits; returns whether an action has ended.
    async fn wait(&self, until: Duration) -> bool {
        let again = LOOK_AGAIN / self.clock_speed;
        let until = if self.flights.len() > 0 { until.min(again) } else { until }.min(LOOK);
        tokio::select! {
            () = tokio::time::sleep(until.max(Duration::from_millis(5))) => false,
            () = self.woken.notified() => {
                tokio::time::sleep((LOOK_GAP / self.clock_speed).max(Duration::from_millis(20))).await;
                true
            }
            () = stopped(self.controller) => false,
        }
    }

    /// Ends the session in order: no new changes start, and running writes finish.
    async fn end(mut self) -> Why {
        if let Some(planning) = self.planning.take() {
            planning.abort();
        }
        let started = Instant::now();
        while self.flights.has_writes() && started.elapsed() < ENDING {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Why::Stopped
    }
}

/// Returns a reader for the nodes' resource group.
fn reader(controller: &Controller, world: &World) -> Option<Arc<Reader>> {
    let facts = world.snapshot.azure.as_ref()?;
    let id: ResourceId = facts.cluster.id.parse().ok()?;
    let group = ResourceId::of_group(id.subscription(), &facts.cluster.node_resource_group).ok()?;
    Some(Arc::new(Reader { cluster: controller.cluster.clone(), azure: controller.azure.clone(), group }))
}
