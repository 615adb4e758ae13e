//! A plan carried out in memory: the same rollout as on a live cluster, against a [`World`], without waiting.
//!
//! ```text
//!  World ─ look ─▶ Seen ─▶ rollout::next ─▶ actions ─ perform ─▶ requests ─▶ World
//!    ▲                                                              │
//!    └──────────────────── time goes on ◀───────────────────────────┘
//! ```
//!
//! For the demo and for tests. It sends bodies of its own, written by hand: those of a live cluster need Azure's models.
//! It can be stopped after any side effect and begun anew, or lose any answer.

mod bodies;
mod client;
mod look;
mod perform;

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use super::World;
use crate::arm::{Buckets, bucket};
use crate::bootstrap::BootstrapToken;
use crate::launch::Materials;
use crate::plan::ChangeId;
use crate::review::ApprovedPlan;
use crate::rollout::{self, Action, Effect, Event, Memory, News, Next, Performed, Seen};
pub use client::Client;

/// How often the world is looked at while nothing happens by itself.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_secs(5);

/// The least time that goes by between two looks.
const LOOK_GAP: SignedDuration = SignedDuration::from_secs(1);

/// For so many changes a second more goes by between two looks: what Azure takes to list as many VMs and NICs in pages.
const CHANGES_A_SECOND: i32 = 200;

/// What is said of an answer that got lost.
const LOST: &str = "the connection was closed before the answer had come";

/// A rollout in memory.
#[derive(Debug)]
pub struct Rehearsal<'w> {
    world: &'w mut World,
    plan: &'w ApprovedPlan,
    materials: &'w Materials,
    memory: Memory,
    token: Option<BootstrapToken>,
    client: Client,
    now: Timestamp,
    pending: Vec<Pending>,
    trouble: Trouble,
    effects: usize,
    news: News,
    /// What is left of Azure's budgets.
    buckets: Buckets,
    /// Since when they are counted.
    began: Timestamp,
    last_look: look::LastLook,
}

/// An action that Azure is still carrying out.
#[derive(Debug)]
struct Pending {
    action: Action,
    /// Where to ask how far it is.
    operation: String,
    /// When it began.
    since: Timestamp,
}

/// What is to go wrong, for tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trouble {
    /// The process ends after so many side effects.
    pub stops_after: Option<usize>,
    /// The answer to this side effect, counted from 0, gets lost.
    pub loses: Option<usize>,
}

/// How a rollout in memory ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// Every change has ended.
    Finished(Next),
    /// The process was stopped, as [`Trouble`] has it.
    Stopped,
    /// Time is over and changes have not ended.
    TimedOut(Next),
}

/// How far an action is once it was sent.
#[derive(Debug)]
enum Sent {
    /// It has ended.
    Ended(Performed),
    /// Azure carries it out; there it is asked for.
    Begun(String),
}

/// Returns when the world is looked at again: when something happens in it, after the gap at the soonest.
fn next_look(now: Timestamp, gap: SignedDuration, event: Option<Timestamp>) -> Timestamp {
    let after = |wait| now.saturating_add(wait).unwrap_or(Timestamp::MAX);
    let latest = after(LOOK_AGAIN.max(gap));
    event.unwrap_or(latest).clamp(after(gap), latest)
}

impl<'w> Rehearsal<'w> {
    /// Begins to carry out a plan at a time of the world.
    #[must_use]
    pub fn new(
        world: &'w mut World,
        plan: &'w ApprovedPlan,
        materials: &'w Materials,
        now: Timestamp,
    ) -> Self {
        let client = Client::new(world, now);
        Self {
            world,
            plan,
            materials,
            memory: Memory::default(),
            token: None,
            client,
            now,
            pending: Vec::new(),
            trouble: Trouble::default(),
            effects: 0,
            news: News::default(),
            buckets: Buckets::default(),
            began: now,
            last_look: look::LastLook::default(),
        }
    }

    /// The same with something that goes wrong.
    #[must_use]
    pub const fn with(mut self, trouble: Trouble) -> Self {
        self.trouble = trouble;
        self
    }

    /// The same with what the ledger says of changes that have ended.
    #[must_use]
    pub fn recorded(mut self, recorded: BTreeMap<ChangeId, rollout::Outcome>) -> Self {
        self.memory.recorded = recorded;
        self
    }

    /// What was written down of changes that have ended.
    #[must_use]
    pub const fn outcomes(&self) -> &BTreeMap<ChangeId, rollout::Outcome> {
        &self.memory.recorded
    }

    /// The time of the world.
    #[must_use]
    pub const fn now(&self) -> Timestamp {
        self.now
    }

    /// How many side effects there were.
    #[must_use]
    pub const fn effects(&self) -> usize {
        self.effects
    }

    /// Carries the plan out to its end, within a time; `tell` hears what happens, and looks at the world after each step.
    pub fn run(&mut self, patience: SignedDuration, mut tell: impl FnMut(Timestamp, &Event, &Seen)) -> End {
        let deadline = self.now.saturating_add(patience).unwrap_or(Timestamp::MAX);
        loop {
            let seen = self.look();
            self.memory.look(&seen);
            let next = rollout::next(self.plan, &seen, &self.memory);
            for event in self.news.of(&next) {
                tell(self.now, &event, &seen);
            }
            if next.is_finished() && self.pending.is_empty() {
                self.clean();
                return End::Finished(next);
            }
            if self.now >= deadline {
                return End::TimedOut(next);
            }
            let mut is_held = false;
            for action in &next.actions {
                if !self.may_send(action) {
                    is_held = true;
                    continue;
                }
                tell(self.now, &Event::Began(action.clone()), &seen);
                let stops = self.act(action, |now, event| tell(now, event, &seen));
                if stops {
                    return End::Stopped;
                }
            }
            self.pass_time(&next, is_held);
            let ended = self.poll();
            for event in ended {
                tell(self.now, &event, &seen);
            }
        }
    }

    /// Has one side effect; returns whether the process ends now.
    fn act(&mut self, action: &Action, mut tell: impl FnMut(Timestamp, &Event)) -> bool {
        let number = self.effects;
        self.effects += 1;
        let sent = self.perform(action);
        let sent = match self.trouble.loses {
            Some(lost) if lost == number => {
                // Who does not know whether its token was taken makes another.
                self.token = self.token.take().filter(|_| action.effect != Effect::CreateToken);
                Sent::Ended(Performed::later(LOOK_GAP, LOST))
            }
            _ => sent,
        };
        if self.trouble.stops_after.is_some_and(|most| self.effects >= most) {
            return true;
        }
        match sent {
            Sent::Ended(performed) => {
                tell(self.now, &self.memory.take_in(action.clone(), performed, self.now));
            }
            Sent::Begun(operation) => {
                self.memory.in_flight.insert(action.key());
                self.pending.push(Pending { action: action.clone(), operation, since: self.now });
            }
        }
        false
    }

    /// Takes from the budgets what an action sends to Azure, where they hold enough.
    fn may_send(&mut self, action: &Action) -> bool {
        let Some(request) = self.request(action) else { return true };
        let keys = bucket::of(&request);
        let now = Duration::try_from(self.now.duration_since(self.began)).unwrap_or_default();
        let is_due = self.buckets.are_due(&keys, now);
        if is_due {
            self.buckets.take(&keys, now);
        }
        is_due
    }

    /// Lets time go by: until something happens in the world, or it is to be looked at again; soon where budgets held
    /// something back.
    fn pass_time(&mut self, next: &Next, is_held: bool) {
        // A large world takes its time to be read.
        let changes = i32::try_from(self.plan.spec().changes.len()).unwrap_or(i32::MAX);
        let gap = LOOK_GAP * (1 + changes / CHANGES_A_SECOND);
        let event = match is_held {
            true => Some(self.now),
            false => self.world.next_event().into_iter().chain(next.wake).min(),
        };
        self.now = next_look(self.now, gap, event);
        self.world.advance(self.now);
    }

    /// Asks how far Azure's operations are.
    fn poll(&mut self) -> Vec<Event> {
        let pending = std::mem::take(&mut self.pending);
        let mut events = Vec::new();
        for Pending { action, operation, since } in pending {
            let is_late = self.now.duration_since(since) >= rollout::OPERATION_WAIT;
            let late = || is_late.then(|| Performed::again("the operation has not ended"));
            match self.ended(&action, &operation).or_else(late) {
                Some(performed) => events.push(self.memory.take_in(action, performed, self.now)),
                None => self.pending.push(Pending { action, operation, since }),
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_is_looked_at_when_something_happens_and_a_large_one_not_before_it_is_read() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let look = |gap, event: Option<i64>| {
            next_look(at(100), SignedDuration::from_secs(gap), event.map(at)).as_second() - 100
        };
        assert_eq!([look(1, None), look(1, Some(100)), look(1, Some(103)), look(1, Some(200))], [5, 1, 3, 5]);
        assert_eq!([look(6, None), look(6, Some(101)), look(6, Some(200))], [6, 6, 6]);
    }
}
