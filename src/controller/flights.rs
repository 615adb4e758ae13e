//! Plans in progress, which share one read of the world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;

use super::beside::{Beside, beside};
use super::desk::ApprovedIn;
use super::serve::Health;
use super::tell::{Ended, Teller, kept};
use crate::api::node_fleet::PlanInFlight;
use crate::apply::{BrakeReader, Carrying, Keeper, Kept, Reader, Stop};
use crate::automatic::{self, Awaiting, NotDone, Paced, Since};
use crate::model::{ClaimName, DisruptionReason, NodeName};
use crate::plan::{Change, ChangeId};
use crate::review::{ApprovedPlan, Brakes};
use crate::rollout::{self, Action, Evicted, Next, Silent, Standing, Told, WaitsOn};
use crate::world::Seen;

/// Reason for dropping changes of a plan that have not started.
const REPLACED: &str = "superseded by a newer plan";

/// Reason for dropping changes that have not started while winding down.
const WOUND_DOWN: &str = "the NodeFleet's mode is `observe`";

/// How long a started change waits for the same condition before it is reported, by the cloud's clock.
const LONG: SignedDuration = SignedDuration::from_mins(1);

/// Timeout of one read: shorter than the kubelet's probe allows.
const READ_MAX: Duration = Duration::from_secs(45);

/// Result of one read, and what could not be read.
pub(super) struct Looked {
    pub(super) seen: Option<Seen>,
    pub(super) failures: Vec<String>,
}

/// Reads the world once.
pub(super) async fn look(reader: &Reader) -> Looked {
    match tokio::time::timeout(READ_MAX, reader.read()).await {
        Ok((seen, failures)) => Looked { seen: Some(seen), failures },
        Err(_) => {
            let words = "the API server and Azure did not answer all requests within";
            Looked { seen: None, failures: vec![format!("{words} {} s", READ_MAX.as_secs())] }
        }
    }
}

/// Approval of a plan by people.
#[derive(Clone, Debug)]
pub(super) struct Approval {
    /// The plan's folder, with its month.
    pub(super) name: String,
    /// Where it was approved.
    pub(super) place: ApprovedIn,
    /// Its stop signals.
    pub(super) stop: Stop,
}

/// One plan in progress.
pub(super) struct Flight {
    pub(super) carrying: Carrying,
    /// The approval by people; `None` if the plan is applied automatically.
    approval: Option<Approval>,
    teller: Teller,
    /// Whether a newer plan supersedes its changes that have not started.
    pub(super) is_superseded: bool,
    has_stepped: bool,
    /// Whether no changes are left.
    is_over: bool,
    /// Changes that are held back.
    paced: Vec<Paced>,
    /// Started changes that wait.
    begun: Vec<Paced>,
    /// Since when changes wait for their current condition.
    since: Since<ChangeId>,
    /// Actions of its last step that start changes.
    pub(super) begins: Vec<Action>,
}

/// What a round still wants of the plans in progress.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// Changes.
    pub(super) changes: BTreeSet<ChangeId>,
    /// Nodes that are due but kept for now, each with the reason for its removal: changes planned for them stay valid.
    pub(super) due: BTreeSet<(NodeName, DisruptionReason)>,
}

impl Wanted {
    fn has(&self, plan: &ApprovedPlan, id: &ChangeId) -> bool {
        let delete = || plan.spec().changes.get(id)?.change.delete();
        let is_due = || delete().is_some_and(|it| self.due.contains(&(it.target.node.clone(), it.reason)));
        self.changes.contains(id) || is_due()
    }
}

/// Plans in progress, oldest first.
pub(super) struct Flights {
    flights: Vec<Flight>,
    seen: Option<Seen>,
    /// Brakes on changes that have not started, at the last read.
    brakes: Option<Brakes>,
    /// What the last read could not read: nothing is done until it can be read.
    pub(super) unread: Vec<String>,
    /// Notified when an action has ended.
    pub(super) ended: Arc<Notify>,
    /// Notified of progress.
    health: Arc<Health>,
    /// Maintains what no running plan covers; `None` until the cluster is identified.
    pub(super) keeper: Option<Keeper>,
    /// What the keeper waits for.
    kept: Vec<(Arc<str>, String)>,
    /// Since when it waits.
    kept_since: Since<Arc<str>>,
    clock_speed: u32,
    /// Whether only started changes are ended: removals are rolled back, creates finished.
    is_winding_down: bool,
}

impl Flights {
    pub(super) fn new(ended: Arc<Notify>, health: Arc<Health>, clock_speed: u32) -> Self {
        Self {
            flights: Vec::new(),
            seen: None,
            brakes: None,
            unread: Vec::new(),
            ended,
            health,
            keeper: None,
            kept: Vec::new(),
            kept_since: Since::default(),
            clock_speed,
            is_winding_down: false,
        }
    }

    /// Ends only started changes from now on: rolls back removals while their VMs exist, and finishes everything else.
    pub(super) fn wind_down(&mut self) {
        self.is_winding_down = true;
        for Flight { is_superseded, approval, .. } in &mut self.flights {
            *is_superseded = true;
            approval.iter().for_each(|approval| approval.stop.ask());
        }
    }

    /// Ends winding down for plans that are added from now on.
    pub(super) const fn go_on(&mut self) {
        self.is_winding_down = false;
    }

    /// Returns whether any started change has not ended.
    pub(super) fn has_begun(&self) -> bool {
        let is_keeping = |keeper: &Keeper| !keeper.is_idle() || !self.kept.is_empty();
        !self.flights.is_empty() || self.keeper.as_ref().is_some_and(is_keeping)
    }

    /// Adds a plan.
    pub(super) fn add(&mut self, mut carrying: Carrying, teller: Teller, approval: Option<Approval>) {
        carrying.ended = Arc::clone(&self.ended);
        self.flights.push(Flight {
            carrying,
            approval,
            teller,
            is_superseded: self.is_winding_down,
            has_stepped: false,
            is_over: false,
            paced: Vec::new(),
            begun: Vec::new(),
            since: Since::default(),
            begins: Vec::new(),
        });
    }

    /// Returns the approvals with the ids of their plans.
    pub(super) fn approvals(&self) -> impl Iterator<Item = (&str, &Approval)> {
        self.flights.iter().filter_map(|it| Some((it.carrying.plan.id(), it.approval.as_ref()?)))
    }

    /// Returns the started changes of a plan, as of the last read; `None` without a complete one.
    pub(super) fn begun_of(&self, plan: &str) -> Option<BTreeSet<ChangeId>> {
        self.seen.as_ref().filter(|_| self.unread.is_empty()).map(|seen| rollout::begun(plan, seen))
    }

    /// Returns the ids of the plans.
    pub(super) fn plans(&self) -> BTreeSet<Arc<str>> {
        self.flights.iter().map(|flight| flight.carrying.plan.id().into()).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.flights.len()
    }

    /// Returns whether changes are starting, or about to: an observation might miss them.
    pub(super) fn is_beginning(&self) -> bool {
        self.flights.iter().any(|flight| flight.carrying.is_beginning() || !flight.has_stepped)
    }

    /// Returns whether objects are being written, or about to be.
    pub(super) fn is_writing(&self) -> bool {
        self.flights.iter().any(|flight| flight.carrying.is_writing() || !flight.has_stepped)
    }

    /// Returns whether objects are being written while no new changes start.
    pub(super) fn has_writes(&mut self) -> bool {
        for Flight { carrying, teller, .. } in &mut self.flights {
            carrying.take_in_ended(&mut |event| {
                teller.tell(&event);
            });
        }
        self.flights.iter().any(|flight| flight.carrying.is_writing())
    }

    /// Returns the changes that have not ended.
    pub(super) fn unsettled(&self) -> BTreeSet<ChangeId> {
        self.flights.iter().flat_map(|flight| flight.carrying.unsettled().cloned()).collect()
    }

    /// Returns the NodeClaims whose nodes are being created.
    pub(super) fn making(&self) -> BTreeSet<ClaimName> {
        let claims = self.flights.iter().flat_map(|Flight { carrying, .. }| {
            let changes = &carrying.plan.spec().changes;
            carrying.unsettled().filter_map(|id| Some(changes.get(id)?.change.create()?.claim.clone()))
        });
        claims.collect()
    }

    /// Returns the NodeClaims of replacement nodes whose removals have not ended.
    pub(super) fn awaiting(&self) -> BTreeSet<ClaimName> {
        let claims = self.flights.iter().flat_map(|Flight { carrying, .. }| {
            let unsettled: BTreeSet<&ChangeId> = carrying.unsettled().collect();
            let plan = &carrying.plan;
            let is_awaiting =
                |create: &ChangeId| plan.serves(create).iter().any(|removal| unsettled.contains(removal));
            let creates = plan.spec().creates().filter(|(id, _, _)| is_awaiting(id));
            creates.map(|(_, create, _)| create.claim.clone()).collect::<Vec<_>>()
        });
        claims.collect()
    }

    /// Returns the VMs that were created and did not join in time, while their NodeClaims exist.
    pub(super) fn silent(&self) -> BTreeSet<Silent> {
        let Some(seen) = &self.seen else { return BTreeSet::new() };
        self.flights.iter().flat_map(|flight| rollout::silent(&flight.carrying.plan, seen)).collect()
    }

    /// Returns the spot VMs that Azure evicted, while their NodeClaims exist.
    pub(super) fn evicted(&self) -> BTreeSet<Evicted> {
        let known = self.seen.as_ref().zip(self.keeper.as_ref());
        known.map_or_else(BTreeSet::new, |(seen, keeper)| rollout::evicted(seen, keeper.memory()))
    }

    /// Returns failed actions of started changes that are retried.
    pub(super) fn troubles(&self, now: Timestamp) -> Vec<NotDone> {
        self.flights
            .iter()
            .flat_map(|Flight { carrying, teller, .. }| {
                carrying.unsettled().filter_map(move |change| {
                    let (tries, again) = carrying.memory.trouble(change)?;
                    let (tried, node) = teller.tried(change)?;
                    let (what, times, since) = (tries.because.clone(), tries.times, tries.since);
                    Some(NotDone { tried, node, what, times, since, until: again.unwrap_or(now) })
                })
            })
            .collect()
    }

    /// Supersedes plans that have expired, or whose changes that have not started are not all wanted. New nodes are
    /// wanted if their removal is; a removal whose new nodes are already being created is finished.
    pub(super) fn keep_only(&mut self, wanted: &Wanted) {
        let Some(seen) = &self.seen else { return };
        let by_themselves = self.flights.iter_mut().filter(|flight| flight.approval.is_none());
        for Flight { carrying, is_superseded, .. } in by_themselves {
            let plan = Arc::clone(&carrying.plan);
            let serves = |id: &ChangeId| plan.serves(id).iter().any(|removal| wanted.has(&plan, removal));
            let is_kept = |id: &ChangeId| wanted.has(&plan, id) || serves(id);
            let is_expired = plan.spec().expires_at.is_some_and(|at| at <= seen.at);
            let half = rollout::half_begun(plan.execution(), &rollout::begun(plan.id(), seen));
            let is_set = |id: &ChangeId| {
                let change = plan.spec().changes.get(id).map(|planned| &planned.change);
                matches!(change, Some(Change::Update(update)) if rollout::is_set(update, seen))
            };
            // A label that is already set is recorded as done, even if no longer wanted.
            let is_left = |id: &ChangeId| !half.contains(id) && !is_set(id);
            let mut pending = carrying.pending(seen).into_iter().filter(is_left);
            *is_superseded |= pending.any(|id| is_expired || !is_kept(&id));
        }
    }

    /// Returns the changes that are held back.
    pub(super) fn paced(&self) -> impl Iterator<Item = &Paced> {
        self.flights.iter().flat_map(|flight| &flight.paced)
    }

    /// Returns the started changes that have waited for a while.
    pub(super) fn begun(&self, now: Timestamp) -> impl Iterator<Item = &Paced> {
        let long = LONG / i32::try_from(self.clock_speed.max(1)).unwrap_or(i32::MAX);
        let is_long =
            move |paced: &&Paced| paced.since.is_some_and(|since| now.duration_since(since) >= long);
        self.flights.iter().flat_map(|flight| &flight.begun).filter(is_long)
    }

    /// Returns what nodes that are being created wait for, by node name.
    pub(super) fn coming(&self) -> BTreeMap<Arc<str>, String> {
        let waits = self.flights.iter().flat_map(|flight| flight.begun.iter().chain(&flight.paced));
        let of_create = |paced: &Paced| Some((paced.change.create()?.vm.clone(), paced.because.clone()));
        let kept = self.kept.iter().map(|(object, what)| (format!("aks-{object}").into(), what.clone()));
        kept.chain(waits.filter_map(of_create)).collect()
    }

    /// Returns why no new changes start, if there are any.
    pub(super) fn stop(&self) -> Option<String> {
        let stop = self.brakes.as_ref()?.stop();
        stop.filter(|_| self.flights.iter().any(|flight| !flight.paced.is_empty()))
            .map(|because| format!("changes not started wait for {because}"))
    }

    /// Returns whether the brakes have changed since the last read.
    pub(super) async fn has_other_brakes(&self, brakes: &BrakeReader) -> bool {
        self.brakes.as_ref() != Some(&brakes.read().await)
    }

    /// Returns the changes that may still start under their plans.
    pub(super) fn pending(&self) -> BTreeSet<ChangeId> {
        let Some(seen) = &self.seen else { return BTreeSet::new() };
        let kept = self.flights.iter().filter(|flight| !flight.is_superseded);
        kept.flat_map(|flight| flight.carrying.pending(seen)).collect()
    }

    /// Lists the plans with the number of their remaining changes.
    pub(super) fn listed(&self) -> Vec<PlanInFlight> {
        let listed = self.flights.iter().map(|Flight { carrying, .. }| {
            let plan = (carrying.plan.id(), carrying.plan.spec());
            automatic::in_flight(plan, &carrying.unsettled().cloned().collect())
        });
        listed.collect()
    }

    /// Takes in actions that have ended. Those that end later are taken in before the next read.
    pub(super) fn take_in_ended(&mut self) -> Vec<Ended> {
        let mut ended = Vec::new();
        for Flight { carrying, teller, .. } in &mut self.flights {
            carrying.take_in_ended(&mut |event| ended.extend(teller.tell(&event)));
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.take_in_ended(&mut |event| kept(&event));
        }
        ended
    }

    /// Starts the next actions, based on a read that began after ended actions were taken in. If `is_held`, no new
    /// changes start.
    pub(super) async fn step(
        &mut self,
        Looked { seen, failures }: Looked,
        brakes: &BrakeReader,
        is_held: bool,
    ) -> Vec<Ended> {
        let mut ended = Vec::new();
        self.health.progressed();
        if self.unread != failures {
            let news = failures.iter().filter(|because| !self.unread.contains(because));
            news.for_each(|because| tracing::warn!("paused: cannot read {because}"));
            self.unread = failures;
        }
        let Some(seen) = seen else { return ended };
        let brakes = brakes.read().await;
        if let Some(because) = brakes.stop().filter(|_| self.brakes.as_ref() != Some(&brakes)) {
            tracing::info!("no new changes start: waiting for {because}");
        }
        self.brakes = Some(brakes.clone());
        self.health.progressed();
        for at in 0..self.flights.len() {
            let Beside { seen: laid, coming } = beside(&self.flights, at, &seen);
            let flight = &mut self.flights[at];
            flight.carrying.memory.coming_elsewhere = coming;
            flight.carrying.brake(match flight.approval {
                Some(_) => brakes.clone().reviewed(),
                None => brakes.clone(),
            });
            let is_withdrawn = flight.approval.as_ref().is_some_and(|it| it.stop.is_withdrawn());
            flight.carrying.take_back(self.is_winding_down || is_withdrawn);
            let is_over = flight.step((&seen, &laid), is_held, &mut ended).await;
            flight.is_over = is_over;
            self.health.progressed();
        }
        let (over, flying): (Vec<Flight>, Vec<Flight>) =
            std::mem::take(&mut self.flights).into_iter().partition(|flight| flight.is_over);
        self.flights = flying;
        let because = if self.is_winding_down { WOUND_DOWN } else { REPLACED };
        for Flight { mut carrying, teller, approval, .. } in over {
            let mut tell = |event: rollout::Event| ended.extend(teller.tell(&event));
            match approval {
                Some(_) => carrying.clean(&mut tell).await,
                None => drop(carrying.end(because, &mut tell).await),
            }
        }
        let carried = self.carried();
        if let Some(keeper) = &mut self.keeper {
            self.kept = keeper.step(&seen, &carried, is_held, &mut |event| kept(&event)).waits;
        }
        self.kept_since.note(self.waited_for(), seen.at);
        self.seen = Some(seen);
        ended
    }

    /// Returns the claims and changes that the plans cover, which the keeper skips.
    fn carried(&self) -> Kept {
        let mut claims = self.making();
        let changes = self.unsettled();
        for Flight { carrying, .. } in &self.flights {
            let deletes = carrying.plan.spec().deletes().filter(|(id, _)| changes.contains(*id));
            claims.extend(deletes.filter_map(|(_, delete)| delete.target.claim.clone()));
        }
        Kept { claims, changes }
    }

    /// Returns what the keeper waits for: the object, and the condition.
    fn waited_for(&self) -> Vec<(Arc<str>, String)> {
        let failing = self.keeper.iter().flat_map(|keeper| keeper.memory().tries.iter());
        let failing = failing.filter(|(_, tries)| tries.is_refused);
        let failing = failing.map(|(key, tries)| (key.0.clone(), tries.because.to_string()));
        self.kept.iter().cloned().chain(failing).collect()
    }

    /// Returns what the keeper waits for, and since when.
    pub(super) fn kept(&self) -> Vec<Awaiting> {
        let since = |object: &Arc<str>| self.kept_since.of(object);
        let waits = self.waited_for().into_iter();
        waits.filter_map(|(object, what)| Some(Awaiting { since: since(&object)?, object, what })).collect()
    }

    /// Returns what the last read could not read, if anything waits for it.
    pub(super) fn blind(&self) -> impl Iterator<Item = &String> {
        let is_needed = !self.flights.is_empty() || self.keeper.is_some();
        self.unread.iter().filter(move |_| is_needed)
    }
}

impl Flight {
    /// Starts the next actions; returns whether the plan is over. `laid` is what was read plus the started actions of
    /// other plans.
    async fn step(&mut self, (seen, laid): (&Seen, &Seen), is_held: bool, ended: &mut Vec<Ended>) -> bool {
        let Self { carrying, teller, is_superseded, has_stepped, approval, .. } = self;
        let stop = approval.as_ref().map(|approval| &approval.stop);
        let is_stopping = stop.map_or(*is_superseded, Stop::is_held);
        carrying.stop(is_stopping || is_held && *has_stepped);
        let mut begun = rollout::begun(carrying.plan.id(), seen);
        let half = rollout::half_begun(carrying.plan.execution(), &begun);
        let is_finishing = *is_superseded && !carrying.memory.is_taking_back;
        let finishing = if is_finishing { half } else { BTreeSet::new() };
        begun.extend(finishing.iter().cloned());
        carrying.finish(finishing);
        let next = carrying.step(laid, &mut |event| ended.extend(teller.tell(&event))).await;
        *has_stepped |= !next.blind;
        (self.paced, self.begun) = waits(carrying, &next, (&mut self.since, seen.at));
        self.begins = next.begins();
        let has_ended =
            |change| next.standings.get(change).is_none_or(|standing| standing.outcome().is_some());
        let Some(stop) = stop else {
            let is_over = next.is_finished() || *is_superseded && !next.blind && begun.iter().all(has_ended);
            return is_over && carrying.is_idle();
        };
        let is_over = carrying.has_ended((&next, seen), stop) && carrying.is_idle();
        if is_over {
            let mut tell = |event: rollout::Event| ended.extend(teller.tell(&event));
            let left = carrying.conclude((&next, seen), stop, &mut tell).await;
            for (change, because) in left.open {
                tracing::info!(plan = self.carrying.plan.id(), %change, "not applied yet, waiting for {because}");
            }
        }
        is_over
    }
}

/// Returns a plan's changes that wait for brakes, budgets, drains or the breaker, and its started changes that wait.
fn waits(
    carrying: &Carrying,
    next: &Next,
    (since, at): (&mut Since<ChangeId>, Timestamp),
) -> (Vec<Paced>, Vec<Paced>) {
    let told = next.standings.iter().filter_map(|(id, standing)| {
        let told = rollout::told(standing, &carrying.memory)?;
        let is_held = matches!(standing, Standing::Waits(wait) if wait.on.is_held_back());
        let is_behind = matches!(standing, Standing::Waits(wait) if wait.on == WaitsOn::Change);
        (!is_behind).then_some((id, is_held, told))
    });
    let told: Vec<(&ChangeId, bool, Told)> = told.collect();
    since.note(told.iter().map(|(id, _, told)| ((*id).clone(), told.what.clone())), at);
    let changes = &carrying.plan.spec().changes;
    let (mut paced, mut begun) = (Vec::new(), Vec::new());
    for (id, is_held, Told { what, since: known, until }) in told {
        let Some(planned) = changes.get(id) else { continue };
        let since = known.or_else(|| since.of(id));
        let waits = Paced { change: planned.change.clone(), because: what, since, until };
        if is_held { &mut paced } else { &mut begun }.push(waits);
    }
    (paced, begun)
}
