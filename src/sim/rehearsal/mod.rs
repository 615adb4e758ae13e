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

use jiff::{SignedDuration, Timestamp};

use super::World;
use crate::bootstrap::BootstrapToken;
use crate::launch::Ready;
use crate::plan::{ChangeId, ClaimSpecId};
use crate::review::ApprovedPlan;
use crate::rollout::{self, Action, Effect, Event, Memory, Next, Seen, Standing};
pub use client::Client;

/// How often the world is looked at while nothing happens by itself.
const LOOK_AGAIN: SignedDuration = SignedDuration::from_secs(5);

/// The least time that goes by between two looks.
const LOOK_GAP: SignedDuration = SignedDuration::from_secs(1);

/// How often an action is tried before it is given up; evictions are tried on.
const TRIES_MAX: u32 = 8;

/// What VMs start with, by claim spec and choice.
pub type Materials = BTreeMap<(ClaimSpecId, usize), Ready>;

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
    tries: BTreeMap<rollout::ActionKey, u32>,
    trouble: Trouble,
    effects: usize,
    told: BTreeMap<ChangeId, Standing>,
}

/// An action that Azure is still carrying out.
#[derive(Debug)]
struct Pending {
    action: Action,
    /// Where to ask how far it is.
    operation: String,
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

/// What became of an action.
#[derive(Debug)]
enum Performed {
    Done,
    Begun(String),
    Again { after: SignedDuration, because: String },
    Failed { failed: rollout::Failed, refusal: Option<crate::model::Refusal> },
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
            tries: BTreeMap::new(),
            trouble: Trouble::default(),
            effects: 0,
            told: BTreeMap::new(),
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
            let next = rollout::next(self.plan, &seen, &self.memory);
            for event in self.news(&next) {
                tell(self.now, &event, &seen);
            }
            if next.is_finished() && self.pending.is_empty() {
                self.clean();
                return End::Finished(next);
            }
            if self.now >= deadline {
                return End::TimedOut(next);
            }
            for action in &next.actions {
                tell(self.now, &Event::Began(action.clone()), &seen);
                let stops = self.act(action, |now, event| tell(now, event, &seen));
                if stops {
                    return End::Stopped;
                }
            }
            self.pass_time(&next);
            let ended = self.poll();
            for event in ended {
                tell(self.now, &event, &seen);
            }
        }
    }

    /// What has changed about where changes stand.
    fn news(&mut self, next: &Next) -> Vec<Event> {
        let mut events = Vec::new();
        for (change, standing) in &next.standings {
            match (standing, self.told.get(change)) {
                (standing, Some(told)) if standing == told => continue,
                (Standing::Waits(wait), Some(Standing::Waits(told))) if wait.what == told.what => {}
                (Standing::Waits(wait), _) => {
                    events.push(Event::Waits { change: change.clone(), wait: wait.clone() });
                }
                (Standing::Settled(outcome), _) => {
                    events.push(Event::Settled { change: change.clone(), outcome: outcome.clone() });
                }
                (Standing::Acts(_), _) => {}
            }
            self.told.insert(change.clone(), standing.clone());
        }
        events
    }

    /// Has one side effect; returns whether the process ends now.
    fn act(&mut self, action: &Action, mut tell: impl FnMut(Timestamp, &Event)) -> bool {
        let number = self.effects;
        self.effects += 1;
        let performed = self.perform(action);
        let performed = match self.trouble.loses {
            Some(lost) if lost == number => Performed::Again {
                after: LOOK_GAP,
                because: "the connection was closed before the answer had come".to_owned(),
            },
            _ => performed,
        };
        if self.trouble.stops_after.is_some_and(|most| self.effects >= most) {
            return true;
        }
        if let Some(event) = self.take_in(action.clone(), performed) {
            tell(self.now, &event);
        }
        false
    }

    fn take_in(&mut self, action: Action, performed: Performed) -> Option<Event> {
        let key = action.key();
        self.memory.in_flight.remove(&key);
        match performed {
            Performed::Begun(operation) => {
                self.memory.in_flight.insert(key);
                self.pending.push(Pending { action, operation });
                None
            }
            Performed::Done => {
                self.tries.remove(&key);
                if let Effect::Record(outcome) = &action.effect {
                    self.memory.recorded.insert(action.change.clone(), outcome.clone());
                }
                if matches!(action.effect, Effect::PutExtension(_)) {
                    self.memory.done.insert(key);
                }
                self.memory.has_token = self.token.is_some();
                Some(Event::Did(action))
            }
            Performed::Again { after, because } => {
                let tries = self.tries.entry(key.clone()).or_default();
                *tries += 1;
                if *tries >= TRIES_MAX && !matches!(action.effect, Effect::Evict(_)) {
                    let failed = rollout::Failed {
                        code: "GaveUp".into(),
                        because: because.as_str().into(),
                        then: rollout::Then::GiveUp,
                    };
                    self.memory.failed.insert(key, failed);
                    return Some(Event::Failed { action, because });
                }
                let until = self.now.saturating_add(after).unwrap_or(Timestamp::MAX);
                self.memory.not_before.insert(key, until);
                Some(Event::TriesAgain { action, because })
            }
            Performed::Failed { failed, refusal } => {
                self.memory.refusals.extend(refusal);
                let because = failed.because.to_string();
                self.memory.failed.insert(key, failed);
                Some(Event::Failed { action, because })
            }
        }
    }

    /// Lets time go by: until something happens in the world, or it is to be looked at again.
    fn pass_time(&mut self, next: &Next) {
        let soonest = self.now.saturating_add(LOOK_GAP).unwrap_or(Timestamp::MAX);
        let latest = self.now.saturating_add(LOOK_AGAIN).unwrap_or(Timestamp::MAX);
        let event = self.world.next_event().into_iter().chain(next.wake).min().unwrap_or(latest);
        self.now = event.clamp(soonest, latest);
        self.world.advance(self.now);
    }

    /// Asks how far Azure's operations are.
    fn poll(&mut self) -> Vec<Event> {
        let pending = std::mem::take(&mut self.pending);
        let mut events = Vec::new();
        for Pending { action, operation } in pending {
            match self.ended(&action, &operation) {
                Some(performed) => events.extend(self.take_in(action, performed)),
                None => self.pending.push(Pending { action, operation }),
            }
        }
        events
    }
}
