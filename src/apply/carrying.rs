//! One plan that is being carried out: each step takes what was seen, asks what is next, and has it begun.
//!
//! What ended while the world was being read is taken in only before the next look, so that no list older than a write
//! is acted on. Must never look itself: several plans share a look.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::actor::Actor;
use super::book::Book;
use super::performed::Performed;
use crate::plan::ChangeId;
use crate::review::ApprovedPlan;
use crate::rollout::{self, Action, ActionKey, Effect, Ended, Event, Memory, Next, Outcome, Seen, Standing};

/// How often an action is tried before it is given up; evictions, which PodDisruptionBudgets hold, are tried on.
const TRIES_MAX: u32 = 8;

/// A plan that is being carried out.
pub struct Carrying {
    /// The plan.
    pub plan: Arc<ApprovedPlan>,
    /// Acts.
    pub actor: Arc<Actor>,
    /// Where it is written down what becomes of changes.
    pub book: Book,
    /// What is known beside the world.
    pub memory: Memory,
    /// Told when something has ended.
    pub ended: Arc<Notify>,
    running: JoinSet<(Action, Performed)>,
    /// What is being written to objects of the cluster.
    writing: BTreeSet<ActionKey>,
    tries: BTreeMap<ActionKey, u32>,
    told: BTreeMap<ChangeId, Standing>,
}

impl Carrying {
    /// Carries nothing out yet.
    #[must_use]
    pub fn new(plan: Arc<ApprovedPlan>, (actor, book): (Actor, Book), clock_speed: u32) -> Self {
        let memory = Memory { clock_speed, recorded: book.recorded(), ..Memory::default() };
        Self {
            plan,
            actor: Arc::new(actor),
            book,
            memory,
            ended: Arc::default(),
            running: JoinSet::new(),
            writing: BTreeSet::new(),
            tries: BTreeMap::new(),
            told: BTreeMap::new(),
        }
    }

    /// Asks what is next and has it begun; returns where everything stands.
    pub async fn step(&mut self, seen: &Seen, tell: &mut impl FnMut(Event)) -> Next {
        let next = rollout::next(&self.plan, seen, &self.memory);
        if self.tell_standings(&next, tell) {
            self.write_down(tell).await;
        }
        let actions: Vec<Action> =
            next.actions.iter().filter(|action| self.may_begin(action)).cloned().collect();
        for action in actions {
            if let Effect::Record(outcome) = &action.effect {
                self.record(&action, outcome, tell).await;
                continue;
            }
            tell(Event::Began(action.clone()));
            self.memory.in_flight.insert(action.key());
            if !action.is_of_azure() {
                self.writing.insert(action.key());
            }
            let (actor, ended) = (Arc::clone(&self.actor), Arc::clone(&self.ended));
            self.running.spawn(async move {
                let performed = actor.perform(&action).await;
                ended.notify_one();
                (action, performed)
            });
        }
        next
    }

    /// Takes in all that has ended.
    pub fn take_in_ended(&mut self, tell: &mut impl FnMut(Event)) {
        while let Some(ended) = self.running.try_join_next() {
            ended.into_iter().for_each(|(action, performed)| self.take_in(action, performed, tell));
        }
    }

    /// Returns whether nothing is being done.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns whether objects of the cluster are being written that a list might not show yet.
    #[must_use]
    pub fn is_writing(&self) -> bool {
        !self.writing.is_empty()
    }

    /// Nothing new begins from now on; what has begun is gone on with.
    pub const fn stop(&mut self, is_stopping: bool) {
        self.memory.is_stopping = is_stopping;
    }

    /// Returns the changes that have neither begun nor ended.
    #[must_use]
    pub fn pending(&self, seen: &Seen) -> Vec<ChangeId> {
        let begun = rollout::begun(self.plan.id(), seen);
        let has_ended =
            |change: &ChangeId| self.told.get(change).is_some_and(|told| told.outcome().is_some());
        let changes = self.plan.spec().changes.keys();
        changes.filter(|change| !begun.contains(*change) && !has_ended(change)).cloned().collect()
    }

    /// Returns the changes that have not ended.
    pub fn unsettled(&self) -> impl Iterator<Item = &ChangeId> {
        let has_ended =
            |change: &ChangeId| self.told.get(change).is_some_and(|told| told.outcome().is_some());
        self.plan.spec().changes.keys().filter(move |change| !has_ended(change))
    }

    /// Ends it: what has not begun by now is no longer wanted, and the ledger says so. Returns what became of its
    /// changes.
    pub async fn end(mut self, because: &str, tell: &mut impl FnMut(Event)) -> Ended {
        let left: Vec<ChangeId> = self.unsettled().cloned().collect();
        for change in left {
            let outcome = Outcome::Withheld { because: because.into() };
            self.book.note(&change, &outcome);
            self.told.insert(change.clone(), Standing::Settled(outcome.clone()));
            tell(Event::Settled { change, outcome });
        }
        self.write_down(tell).await;
        if let Err(because) = self.actor.clean().await {
            tell(Event::Blind { because });
        }
        let outcomes =
            self.told.iter().filter_map(|(change, told)| Some((change.clone(), told.outcome()?.clone())));
        Ended { outcomes: outcomes.collect(), ..Ended::default() }
    }

    /// Whether an action may begin: once it is to stop, only what belongs to a change that has begun.
    fn may_begin(&self, action: &Action) -> bool {
        !self.memory.is_stopping || !matches!(action.effect, Effect::CreateClaim(_))
    }

    fn take_in(&mut self, action: Action, performed: Performed, tell: &mut impl FnMut(Event)) {
        let key = action.key();
        self.memory.in_flight.remove(&key);
        self.writing.remove(&key);
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

#[expect(clippy::disallowed_methods, reason = "the world is seen at a time")]
fn now() -> Timestamp {
    Timestamp::now()
}
