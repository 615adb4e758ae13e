//! The loop: read the world, determine the next actions, perform them, read again.
//!
//! `carrying` acts on each read.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use tokio::time::Instant;

use super::actor::Actor;
use super::book::Book;
use super::brakes::BrakeReader;
use super::carrying::Carrying;
use super::reader::Reader;
use super::stop::Stop;
use crate::review::ApprovedPlan;
use crate::rollout::{Ended, Event, Next, Standing, WaitsOn};
use crate::world::Seen;

/// Interval between reads of the world while actions are running, by the cloud's clock.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Interval between reads of the brakes.
const LOOK_AT_BRAKES: Duration = Duration::from_secs(1);

/// Minimum time between two reads, so that actions that end close together are seen together.
const LOOK_GAP: Duration = Duration::from_millis(1000);

/// Default time without progress after which a rollout ends: as long as Karpenter waits for a node to join, and longer
/// than the usual grace period of a pod.
pub const PATIENCE: Duration = Duration::from_secs(900);

/// Applies a plan.
pub struct Driver {
    /// The plan and its progress.
    pub carrying: Carrying,
    /// Reads the world.
    pub reader: Reader,
    /// Reads the brakes, which hold back changes that have not started.
    pub brakes: BrakeReader,
    /// Stop signals.
    pub stop: Stop,
    /// Whether the rollout ends when all that is left waits for a freeze or a budget.
    pub ends_waiting: bool,
    /// Time without progress after which the rollout ends, by the cloud's clock.
    pub patience: Duration,
}

impl Driver {
    /// Returns a driver that has not started.
    #[must_use]
    pub fn new(
        plan: Arc<ApprovedPlan>,
        (reader, actor, book): (Reader, Actor, Book),
        clock_speed: u32,
    ) -> Self {
        let carrying = Carrying::new(plan, (actor, book), clock_speed);
        let brakes = BrakeReader::new(reader.cluster.clone());
        Self { carrying, reader, brakes, stop: Stop::default(), ends_waiting: false, patience: PATIENCE }
    }

    /// Applies the plan to its end, and reports progress.
    pub async fn run(mut self, mut tell: impl FnMut(Event)) -> Ended {
        let mut went_on = Instant::now();
        let mut stalled = None;
        let (next, seen) = loop {
            let mut tell = |event: Event| {
                if goes_on(&event) {
                    went_on = Instant::now();
                }
                tell(event);
            };
            self.carrying.take_in_ended(&mut tell);
            self.carrying.stop(self.stop.is_held());
            self.carrying.take_back(self.stop.is_withdrawn());
            let (seen, failures) = self.reader.read().await;
            failures.into_iter().for_each(|because| tell(Event::Blind { because }));
            self.carrying.brake(self.brakes.read().await);
            let next = self.carrying.step(&seen, &mut tell).await;
            if self.has_ended(&next, &seen) && self.carrying.is_idle() || self.stop.is_at_once() {
                break (next, seen);
            }
            if self.carrying.is_idle()
                && went_on.elapsed() >= self.patience / self.speed()
                && waits_on_world(&next)
            {
                stalled = SignedDuration::try_from(self.patience).ok();
                break (next, seen);
            }
            self.wait().await;
        };
        if let Err(because) = self.carrying.actor.clean().await {
            tell(Event::Blind { because });
        }
        let ended = self.carrying.conclude((&next, &seen), &self.stop, &mut tell).await;
        Ended { stalled_for: stalled, ..ended }
    }

    /// Returns whether there is nothing left to do or to wait for.
    fn has_ended(&self, next: &Next, seen: &Seen) -> bool {
        match self.ends_waiting {
            true => self.carrying.has_ended((next, seen), &self.stop),
            false => next.is_finished() || self.stop.is_asked() && self.carrying.has_stopped(next, seen),
        }
    }

    fn speed(&self) -> u32 {
        self.carrying.memory.clock_speed.max(1)
    }

    /// Waits until an action has ended, the brakes have changed, or it is time to read again.
    async fn wait(&self) {
        let speed = self.speed();
        let (again, gap) = (LOOK_AGAIN / speed, (LOOK_GAP / speed).max(Duration::from_millis(20)));
        tokio::select! {
            () = tokio::time::sleep(again) => {}
            () = self.carrying.ended.notified() => tokio::time::sleep(gap).await,
            () = self.other_brakes() => {}
        }
    }

    /// Waits until the brakes have changed.
    async fn other_brakes(&self) {
        loop {
            tokio::time::sleep(LOOK_AT_BRAKES).await;
            if self.carrying.memory.brakes.as_ref() != Some(&self.brakes.read().await) {
                return;
            }
        }
    }
}

/// Returns whether an event is progress: an action succeeded or a change ended.
const fn goes_on(event: &Event) -> bool {
    match event {
        Event::Did(_) | Event::Settled { .. } => true,
        Event::Began(_)
        | Event::TriesAgain { .. }
        | Event::Failed { .. }
        | Event::Panicked { .. }
        | Event::Waits { .. }
        | Event::Blind { .. } => false,
    }
}

/// Returns whether anything is left that neither a freeze nor a budget holds back: these take their own time.
fn waits_on_world(next: &Next) -> bool {
    next.blind
        || next.standings.values().any(|standing| match standing {
            Standing::Acts(_) => true,
            Standing::Waits(wait) => wait.on == WaitsOn::World,
            Standing::Settled(_) => false,
        })
}
