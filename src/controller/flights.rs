//! Plans that are in flight: one look at the world for all of them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::Notify;

use super::serve::Health;
use super::tell::{Ended, Teller, kept};
use crate::api::node_fleet::PlanInFlight;
use crate::apply::{Carrying, Keeper, Kept, Reader};
use crate::automatic::NotDone;
use crate::model::ClaimName;
use crate::plan::ChangeId;
use crate::rollout::{self, Seen, Silent};

/// Why what has not begun of a plan is dropped.
const REPLACED: &str = "a later plan took the place of what had not begun";

/// How long one look may take: below what the probe of the kubelet bears.
pub(super) const READ_MAX: Duration = Duration::from_secs(45);

/// Says that a look took too long.
pub(super) fn unanswered() -> String {
    format!("the API server and Azure did not answer all requests within {} s", READ_MAX.as_secs())
}

/// One plan.
struct Flight {
    carrying: Carrying,
    teller: Teller,
    /// A later plan took the place of what has not begun of it.
    is_superseded: bool,
    has_stepped: bool,
}

/// Plans that are in flight, the oldest first.
pub(super) struct Flights {
    flights: Vec<Flight>,
    seen: Option<Seen>,
    /// What could not be read at the last look: nothing is done until it can be.
    pub(super) unread: Vec<String>,
    /// Told when something has ended.
    pub(super) ended: Arc<Notify>,
    /// Told of progress.
    health: Arc<Health>,
    /// Looks after what no plan carries; none before it is known which cluster this is.
    pub(super) keeper: Option<Keeper>,
    /// What it waits for.
    kept: Vec<(Arc<str>, String)>,
}

impl Flights {
    pub(super) fn new(ended: Arc<Notify>, health: Arc<Health>) -> Self {
        Self {
            flights: Vec::new(),
            seen: None,
            unread: Vec::new(),
            ended,
            health,
            keeper: None,
            kept: Vec::new(),
        }
    }

    /// Adds a plan.
    pub(super) fn add(&mut self, mut carrying: Carrying, teller: Teller) {
        carrying.ended = Arc::clone(&self.ended);
        self.flights.push(Flight { carrying, teller, is_superseded: false, has_stepped: false });
    }

    /// Returns the ids of the plans.
    pub(super) fn plans(&self) -> BTreeSet<Arc<str>> {
        self.flights.iter().map(|flight| flight.carrying.plan.id().into()).collect()
    }

    pub(super) fn len(&self) -> usize {
        self.flights.len()
    }

    /// Returns whether changes begin just now, or are about to: a reading might miss them.
    pub(super) fn is_beginning(&self) -> bool {
        self.flights.iter().any(|flight| flight.carrying.is_beginning() || !flight.has_stepped)
    }

    /// Returns whether objects are being written, or about to be.
    pub(super) fn is_writing(&self) -> bool {
        self.flights.iter().any(|flight| flight.carrying.is_writing() || !flight.has_stepped)
    }

    /// Returns whether objects are being written, now that nothing new begins.
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

    /// Returns the NodeClaims whose nodes are being made.
    pub(super) fn making(&self) -> BTreeSet<ClaimName> {
        let claims = self.flights.iter().flat_map(|Flight { carrying, .. }| {
            let changes = &carrying.plan.spec().changes;
            carrying.unsettled().filter_map(|id| Some(changes.get(id)?.change.create()?.claim.clone()))
        });
        claims.collect()
    }

    /// Returns the VMs that came and did not join in time, as far as their NodeClaims are there.
    pub(super) fn silent(&self) -> BTreeSet<Silent> {
        let Some(seen) = &self.seen else { return BTreeSet::new() };
        self.flights.iter().flat_map(|flight| rollout::silent(&flight.carrying.plan, seen)).collect()
    }

    /// Returns what fails of changes that have begun, and is tried again.
    pub(super) fn troubles(&self, now: Timestamp) -> Vec<NotDone> {
        self.flights
            .iter()
            .flat_map(|Flight { carrying, teller, .. }| {
                carrying.unsettled().filter_map(move |change| {
                    let (tries, again) = carrying.memory.trouble(change)?;
                    let (tried, node) = teller.tried(change)?;
                    Some(NotDone { tried, node, what: tries.because.clone(), until: again.unwrap_or(now) })
                })
            })
            .collect()
    }

    /// Drops what has not begun of plans that hold anything but what is wanted.
    pub(super) fn keep_only(&mut self, wanted: &BTreeSet<ChangeId>) {
        let Some(seen) = &self.seen else { return };
        for flight in &mut self.flights {
            let pending = flight.carrying.pending(seen);
            flight.is_superseded |= pending.iter().any(|change| !wanted.contains(change));
        }
    }

    /// Returns the changes that may yet begin under their plans.
    pub(super) fn pending(&self) -> BTreeSet<ChangeId> {
        let Some(seen) = &self.seen else { return BTreeSet::new() };
        let kept = self.flights.iter().filter(|flight| !flight.is_superseded);
        kept.flat_map(|flight| flight.carrying.pending(seen)).collect()
    }

    /// Says how many changes each has left.
    pub(super) fn listed(&self) -> Vec<PlanInFlight> {
        let listed = self.flights.iter().map(|flight| PlanInFlight {
            plan: flight.carrying.plan.id().to_owned(),
            changes: i32::try_from(flight.carrying.unsettled().count()).unwrap_or(i32::MAX),
        });
        listed.collect()
    }

    /// Looks once, and has what is next begun. Where `is_held`, nothing new begins.
    pub(super) async fn step(&mut self, reader: &Reader, is_held: bool) -> Vec<Ended> {
        let mut ended = Vec::new();
        for Flight { carrying, teller, .. } in &mut self.flights {
            carrying.take_in_ended(&mut |event| ended.extend(teller.tell(&event)));
        }
        if let Some(keeper) = &mut self.keeper {
            keeper.take_in_ended(&mut |event| kept(&event));
        }
        let (seen, failures) = match tokio::time::timeout(READ_MAX, reader.read()).await {
            Ok((seen, failures)) => (Some(seen), failures),
            Err(_) => (None, vec![unanswered()]),
        };
        self.health.progressed();
        if self.unread != failures {
            let news = failures.iter().filter(|because| !self.unread.contains(because));
            news.for_each(|because| tracing::warn!("nothing is done until this can be read: {because}"));
            self.unread = failures;
        }
        let Some(seen) = seen else { return ended };
        let mut flying = Vec::new();
        for mut flight in std::mem::take(&mut self.flights) {
            let Flight { carrying, teller, is_superseded, has_stepped } = &mut flight;
            carrying.stop(*is_superseded || is_held && *has_stepped);
            let next = carrying.step(&seen, &mut |event| ended.extend(teller.tell(&event))).await;
            self.health.progressed();
            *has_stepped |= !next.blind;
            let begun = rollout::begun(carrying.plan.id(), &seen);
            let has_ended =
                |change| next.standings.get(change).is_none_or(|standing| standing.outcome().is_some());
            let is_over = next.is_finished() || *is_superseded && !next.blind && begun.iter().all(has_ended);
            if is_over && carrying.is_idle() {
                let (carrying, teller) = (flight.carrying, flight.teller);
                carrying.end(REPLACED, &mut |event| ended.extend(teller.tell(&event))).await;
            } else {
                flying.push(flight);
            }
        }
        self.flights = flying;
        let carried = self.carried();
        if let Some(keeper) = &mut self.keeper {
            self.kept = keeper.step(&seen, &carried, is_held, &mut |event| kept(&event)).waits;
        }
        self.seen = Some(seen);
        ended
    }

    /// What the plans carry, so that nobody else looks after it.
    fn carried(&self) -> Kept {
        let mut claims = self.making();
        let changes = self.unsettled();
        for Flight { carrying, .. } in &self.flights {
            let deletes = carrying.plan.spec().deletes().filter(|(id, _)| changes.contains(*id));
            claims.extend(deletes.filter_map(|(_, delete)| delete.target.claim.clone()));
        }
        Kept { claims, changes }
    }

    /// Returns what is waited for that no plan carries: the object, and for what.
    pub(super) fn kept(&self) -> Vec<(Arc<str>, String)> {
        let failing = self.keeper.iter().flat_map(|keeper| keeper.memory().tries.iter());
        let failing = failing.map(|(key, tries)| (key.0.clone(), tries.because.to_string()));
        self.kept.iter().cloned().chain(failing).collect()
    }
}
