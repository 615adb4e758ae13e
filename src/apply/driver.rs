//! The loop: look, ask what is next, have it done, look again.
//!
//! What is done of a look is `carrying`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use jiff::Timestamp;

use super::actor::Actor;
use super::book::Book;
use super::carrying::Carrying;
use super::reader::Reader;
use crate::review::ApprovedPlan;
use crate::rollout::{Effect, Ended, Event, Next};

/// How often the world is looked at while something is in flight, of the cloud's clock.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The least time between two looks, so that ends that come close together are seen together.
const LOOK_GAP: Duration = Duration::from_millis(1000);

/// How far a rollout is to be stopped; shared with whoever hears Ctrl-C.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicU8>);

impl Stop {
    /// Asks once more: first nothing new begins, then nothing at all.
    pub fn ask(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    /// Returns whether nothing new is to begin.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 0
    }

    /// Returns whether all is to end at once.
    #[must_use]
    pub fn is_at_once(&self) -> bool {
        self.0.load(Ordering::SeqCst) > 1
    }
}

/// Carries a plan out.
pub struct Driver {
    /// The plan, and how far it is.
    pub carrying: Carrying,
    /// Looks.
    pub reader: Reader,
    /// Whether to stop.
    pub stop: Stop,
}

impl Driver {
    /// Makes a driver that has done nothing yet.
    #[must_use]
    pub fn new(
        plan: Arc<ApprovedPlan>,
        (reader, actor, book): (Reader, Actor, Book),
        clock_speed: u32,
    ) -> Self {
        Self { carrying: Carrying::new(plan, (actor, book), clock_speed), reader, stop: Stop::default() }
    }

    /// Carries the plan out to its end, and says what happens.
    pub async fn run(mut self, mut tell: impl FnMut(Event)) -> Ended {
        let next = loop {
            self.carrying.take_in_ended(&mut tell);
            self.carrying.stop(self.stop.is_asked());
            let (seen, failures) = self.reader.read(now()).await;
            failures.into_iter().for_each(|because| tell(Event::Blind { because }));
            let next = self.carrying.step(&seen, &mut tell).await;
            let has_ended = next.is_finished() || self.stop.is_asked() && !has_begun(&next);
            if has_ended && self.carrying.is_idle() || self.stop.is_at_once() {
                break next;
            }
            self.wait().await;
        };
        if let Err(because) = self.carrying.actor.clean().await {
            tell(Event::Blind { because });
        }
        Ended::of(&next, self.stop.is_asked() && !next.is_finished())
    }

    /// Waits until something has ended or it is time to look again.
    async fn wait(&self) {
        let speed = self.carrying.memory.clock_speed.max(1);
        let (again, gap) = (LOOK_AGAIN / speed, (LOOK_GAP / speed).max(Duration::from_millis(20)));
        tokio::select! {
            () = tokio::time::sleep(again) => {}
            () = self.carrying.ended.notified() => tokio::time::sleep(gap).await,
        }
    }
}

/// Whether a change is under way that is to be finished.
fn has_begun(next: &Next) -> bool {
    next.actions.iter().any(|action| !matches!(action.effect, Effect::CreateClaim(_)))
}

#[expect(clippy::disallowed_methods, reason = "the world is seen at a time")]
fn now() -> Timestamp {
    Timestamp::now()
}
