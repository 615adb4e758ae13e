//! How a rollout ended, change by change.

use std::collections::BTreeMap;

use super::Next;
use super::outcome::{Outcome, Standing};
use crate::plan::ChangeId;

/// How a rollout ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// What became of each change; one that is not here has not ended.
    pub outcomes: BTreeMap<ChangeId, Outcome>,
    /// The changes that have not ended, each with what it waits for.
    pub open: BTreeMap<ChangeId, String>,
    /// Whether it was stopped.
    pub is_stopped: bool,
}

impl Ended {
    /// Returns where everything stands at the end.
    #[must_use]
    pub fn of(next: &Next, is_stopped: bool) -> Self {
        let mut ended = Self { is_stopped, ..Self::default() };
        for (change, standing) in &next.standings {
            match standing {
                Standing::Settled(outcome) => {
                    ended.outcomes.insert(change.clone(), outcome.clone());
                }
                Standing::Waits(wait) => {
                    ended.open.insert(change.clone(), wait.what.clone());
                }
                Standing::Acts(actions) => {
                    let what = actions.first().map(|action| action.effect.to_string());
                    ended.open.insert(change.clone(), what.unwrap_or_default());
                }
            }
        }
        ended
    }

    /// Returns whether the world is as the plan wanted it.
    #[must_use]
    pub fn is_so(&self) -> bool {
        self.open.is_empty() && self.outcomes.values().all(Outcome::is_so)
    }

    /// Returns how many changes the world is not as they wanted it.
    #[must_use]
    pub fn not_done(&self) -> usize {
        self.open.len() + self.outcomes.values().filter(|outcome| !outcome.is_so()).count()
    }
}
