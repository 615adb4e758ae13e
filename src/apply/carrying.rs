//! A plan that is being applied: each step takes the latest read of the world, asks for the next actions and starts
//! them.
//!
//! Actions that ended during a read are taken in before the next one, so no action is based on a list that is older
//! than a write. Must never read the world itself: several plans share one read.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use jiff::SignedDuration;
use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::actor::Actor;
use super::book::Book;
use super::stop::Stop;
use crate::ledger::GivenUp;
use crate::plan::ChangeId;
use crate::review::{ApprovedPlan, Brakes};
use crate::rollout::{
    self, Action, ActionKey, Effect, Ended, Event, Memory, News, Next, Outcome, Performed, Standing,
};
use crate::world::Seen;

/// Reason given for changes that had not started when their plan was withdrawn.
pub const WITHDRAWN: &str = "the plan was withdrawn: its folder is no longer on the branch";

/// Delay before an action that panicked is retried, by the cloud's clock.
pub(super) const AFTER_PANIC: SignedDuration = SignedDuration::from_secs(30);

/// A plan that is being applied.
pub struct Carrying {
    /// The plan.
    pub plan: Arc<ApprovedPlan>,
    /// Performs its actions.
    pub actor: Arc<Actor>,
    /// Records the outcomes of its changes.
    pub book: Book,
    /// What is known besides the world.
    pub memory: Memory,
    /// Notified when an action has ended.
    pub ended: Arc<Notify>,
    running: JoinSet<Attempted>,
    /// Running actions that write objects of the cluster.
    writing: BTreeSet<ActionKey>,
    /// Running actions that start a change.
    beginning: BTreeSet<ActionKey>,
    news: News,
}

impl Carrying {
    /// Returns a plan of which no action has started.
    #[must_use]
    pub fn new(plan: Arc<ApprovedPlan>, (actor, book): (Actor, Book), clock_speed: u32) -> Self {
        let (recorded, losses) = (book.recorded(), book.losses());
        let memory = Memory { clock_speed, recorded, losses, ..Memory::default() };
        Self {
            plan,
            actor: Arc::new(actor),
            book,
            memory,
            ended: Arc::default(),
            running: JoinSet::new(),
            writing: BTreeSet::new(),
            beginning: BTreeSet::new(),
            news: News::default(),
        }
    }

    /// Determines the next actions and starts them; returns the state of every change.
    pub async fn step(&mut self, seen: &Seen, tell: &mut impl FnMut(Event)) -> Next {
        self.memory.look(seen);
        let next = rollout::next(&self.plan, seen, &self.memory);
        let is_silent = self.book.note_silent(rollout::silent(&self.plan, seen), seen.at);
        if self.tell_standings(&next, tell) | is_silent {
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
            self.memory.begins(&action);
            if !action.is_of_azure() {
                self.writing.insert(action.key());
            }
            if action.begins_change() {
                self.beginning.insert(action.key());
            }
            let (actor, ended) = (Arc::clone(&self.actor), Arc::clone(&self.ended));
            self.running.spawn(async move {
                let performed = caught(actor.perform(&action)).await;
                ended.notify_one();
                Attempted { action, performed }
            });
        }
        next
    }

    /// Takes in all actions that have ended.
    pub fn take_in_ended(&mut self, tell: &mut impl FnMut(Event)) {
        while let Some(ended) = self.running.try_join_next() {
            // A task is neither cancelled nor does it panic: `caught` catches that.
            ended.into_iter().for_each(|attempted| self.take_in(attempted, tell));
        }
    }

    /// Returns whether no action is running.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns whether objects of the cluster are being written, which a list might not show yet.
    #[must_use]
    pub fn is_writing(&self) -> bool {
        !self.writing.is_empty()
    }

    /// Returns whether a write that starts a change is running: a plan made meanwhile might contain the change again.
    #[must_use]
    pub fn is_beginning(&self) -> bool {
        !self.beginning.is_empty()
    }

    /// Sets whether no new changes start; started changes continue.
    pub const fn stop(&mut self, is_stopping: bool) {
        self.memory.is_stopping = is_stopping;
    }

    /// Sets whether started removals are rolled back if their VMs still exist.
    pub const fn take_back(&mut self, is_taking_back: bool) {
        self.memory.is_taking_back = is_taking_back;
    }

    /// Sets the removals that start even while no new changes do, because they are half done.
    pub fn finish(&mut self, removals: BTreeSet<ChangeId>) {
        self.memory.finishing = removals;
    }

    /// Sets the brakes, which hold back changes that have not started.
    pub fn brake(&mut self, brakes: Brakes) {
        self.memory.brakes = Some(brakes);
    }

    /// Returns the changes that have neither started nor ended.
    #[must_use]
    pub fn pending(&self, seen: &Seen) -> Vec<ChangeId> {
        let begun = rollout::begun(self.plan.id(), seen);
        let has_ended = |change: &ChangeId| self.news.outcome(change).is_some();
        let changes = self.plan.spec().changes.keys();
        changes.filter(|change| !begun.contains(*change) && !has_ended(change)).cloned().collect()
    }

    /// Returns whether all that is left waits for a freeze, a budget or another plan.
    #[must_use]
    pub fn has_ended(&self, (next, seen): (&Next, &Seen), stop: &Stop) -> bool {
        if next.is_finished() || !stop.is_held() && next.only_waits(&self.memory) {
            return true;
        }
        stop.is_asked() && self.has_stopped(next, seen)
    }

    /// Returns whether no change is in progress that must and can be finished.
    #[must_use]
    pub fn has_stopped(&self, next: &Next, seen: &Seen) -> bool {
        !next.blind && !self.has_begun(next, seen)
    }

    /// Determines and writes the final state: a withdrawn plan is spent; otherwise, each remaining change is recorded
    /// with what it waits for.
    pub async fn conclude(
        &mut self,
        (next, seen): (&Next, &Seen),
        stop: &Stop,
        tell: &mut impl FnMut(Event),
    ) -> Ended {
        let is_stopped = stop.is_asked() && !next.is_finished();
        let mut ended = Ended::of(next, &self.memory, is_stopped);
        let begun = rollout::begun(self.plan.id(), seen);
        let is_over = !next.blind && !ended.open.keys().any(|change| begun.contains(change));
        let withdrawn = stop.withdrawn().filter(|_| is_over && !ended.is_so());
        if let Some(because) = withdrawn {
            self.withdraw((&mut ended, because), tell).await;
        } else if !ended.open.is_empty() {
            self.leave(&ended.open, tell).await;
        }
        ended
    }

    /// Returns whether a change is in progress that must and can be finished: PodDisruptionBudgets may block one
    /// forever.
    fn has_begun(&self, next: &Next, seen: &Seen) -> bool {
        let is_under_way = |change: &ChangeId| match next.standings.get(change) {
            Some(Standing::Acts(actions)) => {
                !actions.iter().all(|action| self.memory.is_refused_for_long(action))
            }
            Some(Standing::Waits(_)) => true,
            Some(Standing::Settled(_)) | None => false,
        };
        rollout::begun(self.plan.id(), seen).iter().any(is_under_way)
    }

    /// Ends the plan as withdrawn: changes that have not started end, and the plan is spent. Changes in progress remain
    /// so.
    async fn withdraw(&mut self, (ended, because): (&mut Ended, &Arc<str>), tell: &mut impl FnMut(Event)) {
        for change in std::mem::take(&mut ended.open).into_keys() {
            let outcome = Outcome::NoLongerHolds { because: because.clone() };
            self.book.note(&change, &outcome);
            tell(self.news.settle(change.clone(), outcome.clone()));
            ended.outcomes.insert(change, outcome);
        }
        // The plan has ended, though not as planned.
        ended.is_stopped = false;
        self.book.give_up(GivenUp::Withdrawn);
        self.write_down(tell).await;
    }

    /// Leaves changes for the next run, each with what it waits for.
    async fn leave(&mut self, open: &BTreeMap<ChangeId, String>, tell: &mut impl FnMut(Event)) {
        open.iter().for_each(|(change, why)| self.book.wait(change, why));
        self.write_down(tell).await;
    }

    /// Returns the changes that have not ended.
    pub fn unsettled(&self) -> impl Iterator<Item = &ChangeId> {
        let has_ended = |change: &ChangeId| self.news.outcome(change).is_some();
        self.plan.spec().changes.keys().filter(move |change| !has_ended(change))
    }

    /// Ends the plan: records changes that have not ended as no longer needed. Returns the outcomes of its changes.
    pub async fn end(mut self, because: &str, tell: &mut impl FnMut(Event)) -> Ended {
        let left: Vec<ChangeId> = self.unsettled().cloned().collect();
        for change in left {
            let outcome = Outcome::Withheld { because: because.into() };
            self.book.note(&change, &outcome);
            tell(self.news.settle(change, outcome));
        }
        self.write_down(tell).await;
        self.clean(tell).await;
        Ended { outcomes: self.news.outcomes(), ..Ended::default() }
    }

    /// Removes objects that are needed only while the plan is applied.
    pub async fn clean(&mut self, tell: &mut impl FnMut(Event)) {
        if let Err(because) = self.actor.clean().await {
            tell(Event::Blind { because });
        }
    }

    /// Returns whether an action may start: while stopping, only actions of started changes.
    fn may_begin(&self, action: &Action) -> bool {
        !self.memory.is_stopping || !matches!(action.effect, Effect::CreateClaim(_))
    }

    fn take_in(&mut self, attempted: Attempted, tell: &mut impl FnMut(Event)) {
        let Attempted { action, performed } = attempted;
        self.writing.remove(&action.key());
        self.beginning.remove(&action.key());
        let performed = performed.unwrap_or_else(|panicked| {
            tell(Event::Panicked { action: action.clone(), because: panicked.clone() });
            Performed::later(AFTER_PANIC, panicked)
        });
        let has_ended = self.news.outcome(&action.change).is_some();
        let event = self.memory.take_in(action, performed, self.actor.now());
        // A request that is still followed when its change has ended, such as the creation of a NIC that was deleted since,
        // changes nothing any more.
        if !has_ended || !matches!(event, Event::TriesAgain { .. } | Event::Failed { .. }) {
            tell(event);
        }
    }

    /// Records the outcome of a change before a step that removes the evidence.
    async fn record(&mut self, action: &Action, outcome: &Outcome, tell: &mut impl FnMut(Event)) {
        self.book.note_ahead(&action.change, outcome);
        if self.write_down(tell).await {
            self.memory.recorded.insert(action.change.clone(), outcome.clone());
        }
    }

    /// Writes the ledger; returns whether that succeeded.
    async fn write_down(&mut self, tell: &mut impl FnMut(Event)) -> bool {
        self.book.note_refusals(&self.memory.refusals);
        self.book.note_losses(&self.memory.losses);
        match self.book.write(self.actor.now()).await {
            Ok(()) => true,
            Err(failure) => {
                tell(Event::Blind { because: format!("the ledger cannot be written: {}", failure.what) });
                false
            }
        }
    }

    /// Reports changes of state; returns whether a change has ended.
    fn tell_standings(&mut self, next: &Next, tell: &mut impl FnMut(Event)) -> bool {
        let mut has_ended = false;
        for event in self.news.of(next) {
            if let Event::Settled { change, outcome } = &event {
                has_ended = true;
                self.book.note(change, outcome);
                let planned = self.plan.spec().changes.get(change);
                if outcome.is_so() && planned.is_some_and(|planned| planned.change.create().is_some()) {
                    self.memory.recorded.insert(change.clone(), outcome.clone());
                }
            }
            tell(event);
        }
        has_ended
    }
}

/// An action that was attempted.
pub(super) struct Attempted {
    pub(super) action: Action,
    /// Its result, or the message of its panic.
    pub(super) performed: Result<Performed, String>,
}

/// Performs an action and catches panics. A panic ends neither the plan nor the process: it is a bug in nodeform, is
/// reported, and the action is retried like any other that failed.
pub(super) async fn caught(performing: impl Future<Output = Performed>) -> Result<Performed, String> {
    let performed = AssertUnwindSafe(performing).catch_unwind().await;
    performed.map_err(|panic| {
        let words = panic.downcast_ref::<&str>().map(|words| (*words).to_owned());
        let words = words.or_else(|| panic.downcast_ref::<String>().cloned());
        format!("nodeform has a bug: {}", words.as_deref().unwrap_or("a panic without words"))
    })
}
