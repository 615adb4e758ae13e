//! While the Lease is held: look, step what is in flight, have rounds planned, begin what is chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::flights::{Flights, READ_MAX, Wanted, unanswered};
use super::looks::{self, FLEETS, FoundFleet};
use super::marks;
use super::reports::Reports;
use super::resume::{self, Left};
use super::round::{self, Asked, Creates, First, Planning, Seen, Step};
use super::run::{Beside, Controller, said, stopped};
use super::tell::{Ended, Teller};
use crate::api::node_fleet::FleetWaiting;
use crate::apply::{Actor, Book, BrakeReader, Carrying, Hand, Keeper, Means, Reader};
use crate::arm::ResourceId;
use crate::automatic::status::News;
use crate::automatic::{
    self, BackOff, Choosing, Evictions, InFlight, Lost, Next, PodEvents, Rest, Rounds, SpotOffering,
    Startups, Tried, Wants,
};
use crate::cluster::{WriteGate, Writer, lease};
use crate::launch::Materials;
use crate::ledger::NeverJoined;
use crate::manifests::Remark;
use crate::model::{DisruptionReason, Mode};
use crate::observe::Remembered;
use crate::offline::{Planner, World};
use crate::plan::{Change, ChangeId, Plan, PlanSpec};
use crate::policy::Policy;
use crate::review::{self, ApprovedPlan, Brakes, CheckedPlan, NotApproved, Terms};
use crate::rollout::{self, Evicted, Silent};
use crate::snapshot::Snapshot;

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";

/// How often the world is looked at while something is in flight, of the cloud's clock.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The least time between two such looks, of the cloud's clock.
const LOOK_GAP: Duration = Duration::from_secs(1);

/// How often the world is looked at for what no plan carries, of the cloud's clock.
const LOOK_AFTER: Duration = Duration::from_secs(30);

/// How often the NodeFleet and the pods that wait are looked at.
const LOOK: Duration = Duration::from_secs(1);

/// How long is only observed beside a holder of the Lease before it is tried for again.
const TRY_AGAIN: Duration = Duration::from_secs(30);

/// How often the ledger is tidied.
const TIDY: Duration = Duration::from_secs(600);

/// How long writes that are under way are waited for at the end.
const ENDING: Duration = Duration::from_secs(1);

/// Why a session ended.
pub(super) enum Why {
    /// The controller is to end.
    Stopped,
    /// The NodeFleet says another mode.
    OtherMode,
    /// The Lease was lost.
    Lost(String),
}

/// What is known while the Lease is held.
pub(super) struct Session<'a> {
    controller: &'a Controller,
    mode: Mode,
    /// Who else holds the Lease: it is observed then, whatever the NodeFleet says.
    beside: Option<Beside>,
    began: Instant,
    gate: WriteGate,
    writer: Writer,
    /// The NodeFleet's status.
    status: Reports,
    /// When pods came to nodes or left them.
    pod_times: Reports,
    clock_speed: u32,
    /// Azure, as plans are made of it.
    remembered: Remembered,
    reader: Option<Reader>,
    /// What keeps changes that have not begun.
    brakes: BrakeReader,
    flights: Flights,
    rounds: Rounds,
    wants: Wants,
    back_off: BackOff,
    evictions: Evictions,
    lost: Lost,
    planner: Arc<Planner>,
    pod_events: PodEvents,
    startups: Startups,
    news: News,
    planning: Option<JoinHandle<Result<Step, Vec<String>>>>,
    /// What the last round leaves where it had nothing to do.
    rest: Option<Arc<Rest>>,
    woken: Arc<Notify>,
    looked: Option<Instant>,
    stepped: Option<Instant>,
    tidied: Option<Instant>,
    /// What was said last of why nothing begins.
    said: Vec<String>,
    /// NodePools and AKSNodeClasses that are left out, since they are faulty.
    faulty: Vec<String>,
    is_resumed: bool,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        controller: &'a Controller,
        (mode, beside): (Mode, Option<Beside>),
        gate: WriteGate,
    ) -> Self {
        let clock_speed = controller.azure.cloud().clock_speed.max(1);
        let woken: Arc<Notify> = Arc::default();
        let writer = controller.cluster.writing(&gate);
        Self {
            status: Reports::begin(writer.clone(), "the NodeFleet's status"),
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
            flights: Flights::new(Arc::clone(&woken), Arc::clone(&controller.health)),
            rounds: Rounds::new(clock_speed),
            wants: Wants::new(clock_speed),
            back_off: BackOff::new(clock_speed),
            evictions: Evictions::new(clock_speed),
            lost: Lost::new(clock_speed),
            planner: Arc::default(),
            pod_events: PodEvents::default(),
            startups: Startups::default(),
            news: News { mode, ..News::default() },
            planning: None,
            rest: None,
            woken,
            looked: None,
            stepped: None,
            tidied: None,
            said: Vec::new(),
            faulty: Vec::new(),
            is_resumed: false,
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
            self.step(is_woken).await;
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

    /// Looks at the NodeFleet and at the pods that wait, and says how it is.
    async fn look(&mut self) -> Option<Why> {
        if self.may_lead().await {
            return Some(Why::OtherMode);
        }
        let said_mode = if self.beside.is_some() { Mode::Auto } else { self.mode };
        match looks::standing(&self.controller.cluster).await {
            Ok(found) if found.standing.mode != said_mode => return Some(Why::OtherMode),
            Ok(found) => {
                self.controller.health.progressed();
                self.publish(&found);
            }
            Err(failure) => said("NodeFleets cannot be listed", &failure),
        }
        self.controller.health.progressed();
        match looks::waiting(&self.controller.cluster).await {
            Ok(waiting) => {
                self.startups.saw(&waiting);
                self.rounds.saw(waiting.into_iter().map(|pod| pod.uid).collect(), self.now());
            }
            Err(failure) => said("pods cannot be listed", &failure),
        }
        None
    }

    /// Whether it is time to try for the Lease that somebody else held: it is free or another's, or its holder may have died.
    async fn may_lead(&self) -> bool {
        let Some(Beside { namespace, holder }) = &self.beside else { return false };
        if self.began.elapsed() >= TRY_AGAIN {
            return true;
        }
        let found = lease::holder(&self.controller.cluster, (namespace, lease::NAME)).await;
        found.is_ok_and(|found| found.as_ref() != Some(holder))
    }

    /// Writes the NodeFleet's status, where it says something new.
    fn publish(&mut self, found: &FoundFleet) {
        self.news.in_flight = self.flights.listed();
        self.news.take_silent(self.back_off.silent(self.now()));
        let troubles = self.flights.troubles(self.now());
        self.news.take_failed(self.back_off.not_done(self.now()).chain(troubles));
        self.news.take_kept(self.flights.kept());
        self.news.take_paced(self.flights.paced());
        let Some(fleet) = &found.standing.fleet else { return };
        let mut news = self.news.clone();
        let beside = self.beside.as_ref().map(|Beside { namespace, holder }| {
            format!(
                "`{holder}` holds Lease `{namespace}/{}` and is none of this Deployment's Pods: nothing is done beside it, \
                 and it goes on once the Lease is free",
                lease::NAME
            )
        });
        news.stops.extend(self.faulty.iter().cloned().chain(found.standing.because.clone()));
        let unread = self.flights.unread.iter().filter(|_| self.flights.len() > 0);
        news.stops.extend(unread.map(|because| format!("nothing is done until this can be read: {because}")));
        news.stops.extend(self.flights.stop());
        news.stops.splice(0..0, beside);
        let Some(patch) = news.patch(fleet, &found.object, self.now()) else { return };
        self.status.patch_status(format!("{FLEETS}/{}", fleet.name), patch);
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

    /// What a round reads and plans with, as it is now.
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

    /// Has a step of a round planned beside all else.
    fn plan(&mut self, step: impl Future<Output = Result<Step, Vec<String>>> + Send + 'static) {
        let woken = Arc::clone(&self.woken);
        self.planning = Some(tokio::spawn(async move {
            let step = step.await;
            woken.notify_one();
            step
        }));
    }

    /// Takes a step of a round in that has been planned.
    async fn take_in_planned(&mut self) {
        let Some(planning) = self.planning.take_if(|planning| planning.is_finished()) else { return };
        match planning.await {
            Ok(Ok(Step::Seen(seen))) => {
                self.news.stops.clear();
                seen.warnings.iter().for_each(|warning| tracing::debug!("{warning}"));
                self.of_seen(*seen).await;
            }
            Ok(Ok(Step::Rest(planning))) => self.of_rest(*planning).await,
            Ok(Err(because)) => {
                if self.news.stops != because {
                    because.iter().for_each(|because| tracing::warn!("no plan: {because}"));
                }
                self.news.stops = because;
            }
            Err(error) => {
                let because = format!("the round ended with a bug of nodeform: {error}");
                self.controller.metrics.panicked();
                tracing::error!(
                    hint = "report it with the lines before; the next round plans again",
                    "{because}"
                );
                self.news.stops = vec![because];
            }
        }
        if self.planning.is_none() {
            self.rounds.ended(self.now());
        }
    }

    /// Begins what is needed at once; where nothing is, has all else planned.
    async fn of_seen(&mut self, mut seen: Seen) {
        let (at, world) = (seen.at, &seen.world);
        self.news.take_tried(&world.evidence.tries.tried);
        self.news.take_learned(&world.evidence.nodes);
        self.note_faulty(world);
        self.controller.metrics.started(&self.startups.note(&world.snapshot.pods, at));
        let Some(mut first) = seen.first.take() else { return self.write_down(world, at).await };
        self.rest = None;
        for hold in self.news.take_deletions(&first.waits) {
            tracing::info!(node = hold.node, "deleted by hand, and waits: {}", hold.because);
        }
        let mut deleted = BTreeSet::new();
        if let Some(creates) = &first.creates {
            if self.reader.is_none() {
                self.reader = reader(self.controller, world);
            }
            if !self.is_resumed {
                self.resume(world).await;
                if !self.is_resumed {
                    return;
                }
                self.look_after(creates.plan.plan());
            }
            self.write_down(world, at).await;
            deleted = self.begin_deleted(world, first.deleted.take()).await;
            let new = self.chosen(&creates.plan.plan().spec, &self.flights.unsettled());
            if !new.wanted.is_empty() {
                return self.begin_creates(seen, first, (deleted, new.left_out)).await;
            }
        }
        let rest = round::rest(self.asked(), seen, (first, deleted));
        self.plan(rest);
    }

    /// Begins new nodes for pods that wait.
    async fn begin_creates(
        &mut self,
        seen: Seen,
        first: First,
        (deleted, left_out): (BTreeSet<ChangeId>, BTreeMap<ChangeId, Arc<str>>),
    ) {
        let Some(Creates { plan, policy }) = first.creates else { return };
        self.controller.metrics.planned(seen.took);
        self.controller.metrics.cost(plan.plan());
        self.tell_waiting(plan.plan(), seen.at);
        self.news.take(plan.plan(), plan.plan(), seen.at);
        self.flights.keep_only(&Wanted { changes: deleted, ..Wanted::default() });
        self.begin(&seen.world, &policy, (plan, left_out)).await;
    }

    /// Says which pods stay Pending by a plan that had all of them before it.
    fn tell_waiting(&mut self, with_waiting: &Plan, at: Timestamp) {
        let mut waiting = looks::without_node(with_waiting);
        waiting.extend(looks::awaited(with_waiting, at, self.clock_speed));
        for FleetWaiting { pods, example, because } in self.news.take_waiting(waiting) {
            tracing::warn!(pods, example, "pods stay Pending: {because}");
        }
    }

    /// Begins what is wanted of a round that needed nothing at once.
    async fn of_rest(&mut self, planning: Planning) {
        self.controller.metrics.planned(planning.took);
        self.news.take(planning.rest.plan(), planning.with_waiting(), planning.at);
        self.tell_waiting(planning.with_waiting(), planning.at);
        let Planning { at, world, creates, deleted, rest, took: _, at_rest } = planning;
        self.controller.metrics.cost(rest.plan());
        self.rest = at_rest.map(Arc::new);
        if creates.is_none() {
            return;
        }
        let uids = rest.plan().spec.execution.iter().flat_map(|execution| execution.nodes.values());
        self.wants.note(uids.filter_map(|node| node.node_uid.clone()).collect(), at);
        let spec = &rest.plan().spec;
        let is_create = |id: &ChangeId| spec.changes.get(id).is_some_and(|it| it.change.create().is_some());
        let mut under_way = self.flights.unsettled();
        self.flights.keep_only(&wanted(rest.plan(), &deleted));
        under_way.extend(self.flights.pending());
        for (id, because) in review::not_allowed(rest.plan(), &world.snapshot) {
            let Some(Change::Update(update)) = spec.changes.get(&id).map(|it| &it.change) else { continue };
            let node = &update.target.node;
            self.back_off.failed(
                &Tried::ToUpdate(node.clone()),
                (&node.to_string().into(), &because),
                self.now(),
            );
        }
        let new = self.chosen(spec, &under_way);
        // Creates alone are for nodes none of which goes yet, or for pods that wait.
        if !new.wanted.iter().all(is_create) {
            let mut left_out = new.left_out;
            leave_out_waiting(spec, &mut left_out);
            self.begin(&world, &world.policy, (rest, left_out)).await;
        }
    }

    fn note_faulty(&mut self, world: &World) {
        let faulty = world.faulty.iter().map(|Remark { object, what, .. }| format!("{object}: {what}"));
        let faulty: Vec<String> = faulty.collect();
        let is_new = |text: &&String| !self.faulty.contains(text);
        faulty.iter().filter(is_new).for_each(|text| tracing::warn!("{text}"));
        self.faulty = faulty;
    }

    /// Has the nodes drained and removed that somebody deletes; returns those changes.
    async fn begin_deleted(&mut self, world: &World, plan: Option<CheckedPlan>) -> BTreeSet<ChangeId> {
        let Some(plan) = plan else { return BTreeSet::new() };
        let spec = &plan.plan().spec;
        let deleted = spec.deletes().map(|(id, _)| id.clone()).collect();
        let new = self.chosen(spec, &self.flights.unsettled());
        if !new.wanted.is_empty() {
            self.begin(world, &world.policy, (plan, new.left_out)).await;
        }
        deleted
    }

    fn chosen(&self, spec: &PlanSpec, in_flight: &BTreeSet<ChangeId>) -> Chosen {
        let Self { wants, back_off, .. } = self;
        let (making, awaiting) = (&self.flights.making(), &self.flights.awaiting());
        let choosing = Choosing { wants, back_off, in_flight, making, awaiting, at: self.now() };
        let left_out = automatic::left_out(spec, choosing);
        let wanted = spec.changes.keys().filter(|id| !left_out.contains_key(*id)).cloned().collect();
        Chosen { wanted, left_out }
    }

    /// Has a plan carried out, but for what is left out. It was made by `policy`, which may ask for less than users do.
    async fn begin(
        &mut self,
        world: &World,
        policy: &Policy,
        (checked, left_out): (CheckedPlan, BTreeMap<ChangeId, Arc<str>>),
    ) {
        let snapshot = &world.snapshot;
        let now = review::Now { snapshot, policy, begun: &BTreeSet::new() };
        let approved = review::approve(checked, now, Terms::default());
        match approved {
            Ok(approved) => {
                let approved = approved.under(Brakes::of(&world.policy)).withholding(left_out);
                self.carry((snapshot, policy), approved).await;
            }
            Err(faults) => self.not_approved(&faults),
        }
    }

    fn not_approved(&mut self, faults: &[NotApproved]) {
        let stops: Vec<String> = faults.iter().map(ToString::to_string).collect();
        if self.said != stops {
            faults.iter().for_each(|fault| tracing::info!(hint = fault.hint(), "{fault}"));
        }
        self.said = stops.clone();
        self.news.stops = stops;
    }

    async fn carry(&mut self, (snapshot, policy): (&Snapshot, &Policy), approved: ApprovedPlan) {
        let plan = Arc::new(approved);
        let book = match Book::open(self.writer.clone(), &plan, None, self.now()).await {
            Ok(book) => book,
            Err(fault) => {
                tracing::warn!(plan = plan.id(), hint = fault.hint(), "{fault}");
                self.news.stops = vec![fault.to_string()];
                return;
            }
        };
        let means = Means {
            writer: self.writer.clone(),
            gate: self.gate.clone(),
            azure: self.controller.azure.clone(),
            materials: Materials::of((snapshot, policy), plan.spec()),
        };
        let (adds, removes) = (plan.spec().creates().count(), plan.spec().deletes().count());
        let changes =
            plan.spec().changes.values().filter(|it| matches!(it.change, Change::Update(_))).count();
        tracing::info!(
            plan = plan.id(),
            adds,
            changes,
            removes,
            held = plan.left_out().len(),
            "carrying out"
        );
        let actor = Actor::new(Arc::clone(&plan), means);
        let metrics = Arc::clone(&self.controller.metrics);
        let carrying = Carrying::new(Arc::clone(&plan), (actor, book), self.clock_speed);
        self.flights.add(carrying, Teller { plan, metrics });
    }

    /// Goes on with what an earlier process has begun.
    async fn resume(&mut self, world: &World) {
        let Some(reader) = &self.reader else { return };
        let Left { plans, never_joined } = match resume::left(&self.controller.cluster).await {
            Ok(left) => left,
            Err(failure) => return said("NodePlans cannot be listed", &failure),
        };
        let Ok((seen, failures)) = tokio::time::timeout(READ_MAX, reader.read()).await else {
            return tracing::warn!("{}", unanswered());
        };
        self.controller.health.progressed();
        if !failures.is_empty() {
            return failures.iter().for_each(|because| tracing::warn!("{because}"));
        }
        for NeverJoined { at, vm, pool, size, image } in never_joined {
            self.back_off.never_joined(&automatic::Made { pool, size, image }, &vm, at);
        }
        let World { snapshot, policy, .. } = world;
        for plan in plans {
            let mut begun = rollout::begun(&plan.id(), &seen);
            let half = plan.spec.execution.iter().flat_map(|it| rollout::half_begun(it, &begun));
            begun.extend(half.collect::<Vec<_>>());
            tracing::info!(plan = plan.id(), begun = begun.len(), "going on with what has begun");
            match review::resume(plan, review::Now { snapshot, policy, begun: &begun }) {
                Ok(approved) => self.carry((snapshot, policy), approved).await,
                Err(faults) => self.not_approved(&faults),
            }
        }
        self.is_resumed = true;
    }

    /// Writes onto objects what the round has found out of them, and takes off what is over.
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

    /// From now on what no plan carries is looked after.
    fn look_after(&mut self, plan: &Plan) {
        let Some(execution) = &plan.spec.execution else { return };
        let cluster = Arc::new(execution.cluster.clone());
        let through = (self.writer.clone(), self.gate.clone());
        let hand = Hand::new(through, &self.controller.azure, Arc::clone(&cluster));
        self.flights.keeper = Some(Keeper::new(hand, cluster, self.clock_speed, Arc::clone(&self.woken)));
    }

    /// Steps what is in flight, where something has ended or it is time.
    async fn step(&mut self, is_woken: bool) {
        let looks_after = self.is_resumed && self.mode == Mode::Auto;
        let Some(reader) = self.reader.as_ref().filter(|_| self.flights.len() > 0 || looks_after) else {
            return;
        };
        let again = if self.flights.len() > 0 { LOOK_AGAIN } else { LOOK_AFTER } / self.clock_speed;
        let is_due = self.stepped.is_none_or(|stepped| stepped.elapsed() >= again);
        // Who could not read is in no hurry to fail again.
        let hurries = (is_woken || self.flights.is_writing()) && self.flights.unread.is_empty();
        if !is_due && !hurries && !self.flights.has_other_brakes(&self.brakes).await {
            return;
        }
        let ended = self.flights.step((reader, &self.brakes), self.planning.is_some()).await;
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
        for Ended { tried, node, failed } in ended {
            match failed {
                None => self.back_off.succeeded(&tried),
                Some(what) => self.back_off.failed(&tried, (&node, &what), self.now()),
            }
        }
    }

    /// Waits; returns whether something has ended.
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

    /// Ends in order: nothing new begins, and what is being written is written.
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

/// What of a plan may begin, and what not.
struct Chosen {
    wanted: BTreeSet<ChangeId>,
    left_out: BTreeMap<ChangeId, Arc<str>>,
}

/// Returns what a plan wants of those that are in flight: its changes but the new nodes, which have other names in each plan;
/// and the nodes that have drifted or are too old and whose turn has not come, or whose pods' new nodes are yet to come.
fn wanted(plan: &Plan, deleted: &BTreeSet<ChangeId>) -> Wanted {
    let changes = plan.spec.changes.iter().filter(|(_, planned)| planned.change.create().is_none());
    let staying = plan.evidence.report.staying.iter().map(|(node, _)| node);
    let waiting = staying.chain(plan.evidence.held.iter().map(|held| &held.node));
    let reasons = [DisruptionReason::Drifted, DisruptionReason::Expired];
    Wanted {
        changes: changes.map(|(id, _)| id).chain(deleted).cloned().collect(),
        due: waiting.flat_map(|node| reasons.map(|reason| (node.clone(), reason))).collect(),
    }
}

/// Leaves out the creates that no removal waits for: pods that wait have theirs by the other plan.
fn leave_out_waiting(spec: &PlanSpec, left_out: &mut BTreeMap<ChangeId, Arc<str>>) {
    let removals = spec.execution.iter().flat_map(|execution| execution.removals.values());
    let needed: BTreeSet<&ChangeId> = removals.flat_map(|removal| &removal.after).collect();
    for (id, _, _) in spec.creates().filter(|(id, _, _)| !needed.contains(id)) {
        left_out.entry(id.clone()).or_insert_with(|| "no node that goes needs it".into());
    }
}

/// Returns what reads the nodes' resource group.
fn reader(controller: &Controller, world: &World) -> Option<Reader> {
    let facts = world.snapshot.azure.as_ref()?;
    let id: ResourceId = facts.cluster.id.parse().ok()?;
    let group = ResourceId::of_group(id.subscription(), &facts.cluster.node_resource_group).ok()?;
    Some(Reader { cluster: controller.cluster.clone(), azure: controller.azure.clone(), group })
}
