//! What happens while a plan is carried out, for whoever shows it.

use std::collections::BTreeMap;

use super::Next;
use super::action::Action;
use super::outcome::{Outcome, Standing, Wait};
use crate::plan::ChangeId;

/// What happened, for whoever shows it.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A side effect has begun.
    Began(Action),
    /// It was had.
    Did(Action),
    /// It was not, and is tried again.
    TriesAgain {
        /// Which.
        action: Action,
        /// Why.
        because: String,
        /// Whether that has not been said of it before.
        is_new: bool,
    },
    /// It was not, and is not tried again as it was.
    Failed {
        /// Which.
        action: Action,
        /// Why.
        because: String,
    },
    /// It panicked, which is a bug, and is tried again.
    Panicked {
        /// Which.
        action: Action,
        /// With what words.
        because: String,
    },
    /// A change waits.
    Waits {
        /// Which.
        change: ChangeId,
        /// For what.
        wait: Wait,
    },
    /// A change has ended.
    Settled {
        /// Which.
        change: ChangeId,
        /// How.
        outcome: Outcome,
    },
    /// A part of the world could not be read; nothing is done until it can.
    Blind {
        /// What, and why.
        because: String,
    },
}

/// Where changes were told to stand, so that each news is told once.
#[derive(Clone, Debug, Default)]
pub struct News {
    told: BTreeMap<ChangeId, Standing>,
}

impl News {
    /// Returns what has changed about where changes stand.
    pub fn of(&mut self, next: &Next) -> Vec<Event> {
        let mut events = Vec::new();
        for (change, standing) in &next.standings {
            match (standing, self.told.get(change)) {
                (standing, Some(told)) if standing == told => continue,
                // Only the time has changed until which it waits.
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

    /// Ends a change that nothing more is done of.
    pub fn settle(&mut self, change: ChangeId, outcome: Outcome) -> Event {
        self.told.insert(change.clone(), Standing::Settled(outcome.clone()));
        Event::Settled { change, outcome }
    }

    /// Returns how a change ended, if it has.
    #[must_use]
    pub fn outcome(&self, change: &ChangeId) -> Option<&Outcome> {
        self.told.get(change)?.outcome()
    }

    /// Returns how every change ended that has.
    #[must_use]
    pub fn outcomes(&self) -> BTreeMap<ChangeId, Outcome> {
        let ended =
            self.told.iter().filter_map(|(change, told)| Some((change.clone(), told.outcome()?.clone())));
        ended.collect()
    }
}
