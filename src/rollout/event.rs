//! Events while a plan is applied, for display.

use std::collections::BTreeMap;

use super::Next;
use super::action::Action;
use super::outcome::{Outcome, Standing, Wait};
use crate::plan::ChangeId;

/// An event, for display.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An action was started.
    Began(Action),
    /// An action was done.
    Did(Action),
    /// An action failed and is retried.
    TriesAgain {
        /// The action.
        action: Action,
        /// The reason.
        because: String,
        /// Whether this reason is new for the action.
        is_new: bool,
    },
    /// An action failed and is not retried unchanged.
    Failed {
        /// The action.
        action: Action,
        /// The reason.
        because: String,
    },
    /// An action panicked, which is a bug, and is retried.
    Panicked {
        /// The action.
        action: Action,
        /// The panic message.
        because: String,
    },
    /// A change waits.
    Waits {
        /// The change.
        change: ChangeId,
        /// What it waits for.
        wait: Wait,
    },
    /// A change is finished.
    Settled {
        /// The change.
        change: ChangeId,
        /// The outcome.
        outcome: Outcome,
    },
    /// A part of the world could not be read; nothing is done until it can be.
    Blind {
        /// The part, and the reason.
        because: String,
    },
}

/// The last reported standings, so that each change of them is reported once.
#[derive(Clone, Debug, Default)]
pub struct News {
    told: BTreeMap<ChangeId, Standing>,
}

impl News {
    /// Returns the events for standings that have changed.
    pub fn of(&mut self, next: &Next) -> Vec<Event> {
        let mut events = Vec::new();
        for (change, standing) in &next.standings {
            match (standing, self.told.get(change)) {
                (standing, Some(told)) if standing == told => continue,
                // Only the end of the wait has changed.
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

    /// Settles a change for which nothing more is done.
    pub fn settle(&mut self, change: ChangeId, outcome: Outcome) -> Event {
        self.told.insert(change.clone(), Standing::Settled(outcome.clone()));
        Event::Settled { change, outcome }
    }

    /// Returns a change's outcome if it is finished.
    #[must_use]
    pub fn outcome(&self, change: &ChangeId) -> Option<&Outcome> {
        self.told.get(change)?.outcome()
    }

    /// Returns the outcomes of all finished changes.
    #[must_use]
    pub fn outcomes(&self) -> BTreeMap<ChangeId, Outcome> {
        let ended =
            self.told.iter().filter_map(|(change, told)| Some((change.clone(), told.outcome()?.clone())));
        ended.collect()
    }
}
