//! The loop: look, ask what is next, have it done, look again.
//!
//! What ended while the world was being read is taken in only afterwards, so that no list older than a write is acted on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::task::JoinSet;

use super::actor::Actor;
use super::book::Book;
use super::performed::Performed;
use super::reader::Reader;
use crate::plan::ChangeId;
use crate::review::ApprovedPlan;
use crate::rollout::{self, Action, ActionKey, Effect, Ended, Event, Memory, Next, Outcome, Standing};

/// How often the world is looked at while something is in flight, of the cloud's clock.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The least time between two looks, so that ends that come close together are seen together.
const LOOK_GAP: Duration = Duration::from_millis(1000);

/// How often an action is tried before it is given up; evictions, which PodDisruptionBudgets hold, are tried on.
const TRIES_MAX: u32 = 8;

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
    /// The plan.
    pub plan: Arc<ApprovedPlan>,
    /// Looks.
    pub reader: Reader,
    /// Acts.
    pub actor: Arc<Actor>,
    /// Where it is written down what becomes of changes.
    pub book: Book,
    /// What is known beside the world.
    pub memory: Memory,
    /// Whether to stop.
    pub stop: Stop,
    tries: BTreeMap<ActionKey, u32>,
    told: BTreeMap<ChangeId, Standing>,
}

impl Driver {
    /// Makes a driver that has done nothing yet.
    #[must_use]
    pub fn new(
        plan: Arc<ApprovedPlan>,
        (reader, actor, book): (Reader, Actor, Book),
        clock_speed: u32,
    ) -> Self {
        let memory = Memory { clock_speed, recorded: book.recorded(), ..Memory::default() };
        Self {
            plan,
            reader,
            actor: Arc::new(actor),
            book,
            memory,
            stop: Stop::default(),
            tries: BTreeMap::new(),
            told: BTreeMap::new(),
        }
    }

    /// Carries the plan out to its end, and says what happens.
    pub async fn run(mut self, mut tell: impl FnMut(Event)) -> Ended {
        let mut running: JoinSet<(Action, Performed)> = JoinSet::new();
        let next = loop {
            self.memory.is_stopping = self.stop.is_asked();
            let (seen, failures) = self.reader.read(now()).await;
            failures.into_iter().for_each(|because| tell(Event::Blind { because }));
            let next = rollout::next(&self.plan, &seen, &self.memory);
            if self.tell_standings(&next, &mut tell) {
                self.write_down(&mut tell).await;
            }
            if next.is_finished() && running.is_empty() || self.stop.is_at_once() {
                break next;
            }
            let actions: Vec<Action> =
                next.actions.iter().filter(|action| self.may_begin(action, &next)).cloned().collect();
            for action in actions {
                if let Effect::Record(outcome) = &action.effect {
                    self.record(&action, outcome, &mut tell).await;
                    continue;
                }
                tell(Event::Began(action.clone()));
                self.memory.in_flight.insert(action.key());
                let actor = Arc::clone(&self.actor);
                running.spawn(async move {
                    let performed = actor.perform(&action).await;
                    (action, performed)
                });
            }
            if running.is_empty() && self.stop.is_asked() && !has_begun(&next) {
                break next;
            }
            self.wait(&mut running, &mut tell).await;
        };
        if let Err(because) = self.actor.clean().await {
            tell(Event::Blind { because });
        }
        Ended::of(&next, self.stop.is_asked() && !next.is_finished())
    }

    /// Whether an action may begin: after Ctrl-C only what belongs to a change that has begun.
    fn may_begin(&self, action: &Action, next: &Next) -> bool {
        !self.stop.is_asked()
            || !matches!(action.effect, Effect::CreateClaim(_)) && next.standings.contains_key(&action.change)
    }

    /// Waits until something has ended or it is time to look again, and takes in all that has ended by then.
    async fn wait(&mut self, running: &mut JoinSet<(Action, Performed)>, tell: &mut impl FnMut(Event)) {
        let speed = self.memory.clock_speed.max(1);
        let (again, gap) = (LOOK_AGAIN / speed, (LOOK_GAP / speed).max(Duration::from_millis(20)));
        let first = match running.is_empty() {
            true => {
                tokio::time::sleep(again.min(Duration::from_secs(5))).await;
                None
            }
            false => tokio::time::timeout(again, running.join_next()).await.ok().flatten(),
        };
        if first.is_some() {
            tokio::time::sleep(gap).await;
        }
        let mut ended: Vec<_> = first.into_iter().collect();
        while let Some(more) = running.try_join_next() {
            ended.push(more);
        }
        for (action, performed) in ended.into_iter().flatten() {
            self.take_in(action, performed, tell);
        }
    }

    fn take_in(&mut self, action: Action, performed: Performed, tell: &mut impl FnMut(Event)) {
        let key = action.key();
        self.memory.in_flight.remove(&key);
        match performed {
            Performed::Done => {
                self.tries.remove(&key);
                match &action.effect {
                    Effect::CreateToken => self.memory.has_token = true,
                    Effect::PutExtension(_) => {
                        self.memory.done.insert(key);
                    }
                    Effect::CreateClaim(_)
                    | Effect::PutInterface(_)
                    | Effect::CreateVm(_)
                    | Effect::DeleteVm(_)
                    | Effect::DeleteInterface(_)
                    | Effect::Patch(_)
                    | Effect::Evict(_)
                    | Effect::DeletePod(_)
                    | Effect::DeleteObject(_)
                    | Effect::Record(_) => {}
                }
                tell(Event::Did(action));
            }
            Performed::Again { after, because } => {
                let tries = self.tries.entry(key.clone()).or_default();
                *tries += 1;
                if *tries >= TRIES_MAX && !matches!(action.effect, Effect::Evict(_)) {
                    self.fail(
                        action,
                        rollout::Failed {
                            code: "GaveUp".into(),
                            because: because.into(),
                            then: rollout::Then::GiveUp,
                        },
                        tell,
                    );
                    return;
                }
                if let Some(after) = after {
                    let wait =
                        jiff::SignedDuration::try_from(after).unwrap_or(jiff::SignedDuration::from_secs(60));
                    let until = now().saturating_add(self.memory.wait(wait)).unwrap_or(Timestamp::MAX);
                    self.memory.not_before.insert(key, until);
                }
                tell(Event::TriesAgain { action, because });
            }
            Performed::Failed { failed, refusal } => {
                self.memory.refusals.extend(refusal);
                self.fail(action, failed, tell);
            }
        }
    }

    fn fail(&mut self, action: Action, failed: rollout::Failed, tell: &mut impl FnMut(Event)) {
        let because = failed.because.to_string();
        self.memory.failed.insert(action.key(), failed);
        tell(Event::Failed { action, because });
    }

    /// Writes down what became of a change before anything is done that would hide it.
    async fn record(&mut self, action: &Action, outcome: &Outcome, tell: &mut impl FnMut(Event)) {
        self.book.note(&action.change, outcome);
        if self.write_down(tell).await {
            self.memory.recorded.insert(action.change.clone(), outcome.clone());
        }
    }

    /// Writes the ledger; returns whether it is written.
    async fn write_down(&mut self, tell: &mut impl FnMut(Event)) -> bool {
        self.book.note_refusals(&self.memory.refusals);
        match self.book.write(now()).await {
            Ok(()) => true,
            Err(failure) => {
                tell(Event::Blind { because: format!("the ledger cannot be written: {}", failure.what) });
                false
            }
        }
    }

    /// Tells what has changed about where changes stand; returns whether one has ended.
    fn tell_standings(&mut self, next: &Next, tell: &mut impl FnMut(Event)) -> bool {
        let mut has_ended = false;
        for (change, standing) in &next.standings {
            if self.told.get(change) == Some(standing) {
                continue;
            }
            match standing {
                Standing::Settled(outcome) => {
                    has_ended = true;
                    self.book.note(change, outcome);
                    tell(Event::Settled { change: change.clone(), outcome: outcome.clone() });
                }
                // Only the time has changed until which it waits.
                Standing::Waits(wait) if matches!(self.told.get(change), Some(Standing::Waits(told)) if told.what == wait.what) =>
                    {}
                Standing::Waits(wait) => tell(Event::Waits { change: change.clone(), wait: wait.clone() }),
                Standing::Acts(_) => {}
            }
            self.told.insert(change.clone(), standing.clone());
        }
        has_ended
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
