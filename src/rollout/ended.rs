//! The result of a rollout, change by change.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::Next;
use super::memory::Memory;
use super::outcome::{Outcome, Standing};
use super::told::told;
use crate::plan::ChangeId;

/// The result of a rollout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ended {
    /// Outcomes of finished changes.
    pub outcomes: BTreeMap<ChangeId, Outcome>,
    /// Unfinished changes, each with what it waits for.
    pub open: BTreeMap<ChangeId, String>,
    /// Whether it was stopped.
    pub is_stopped: bool,
    /// Time without progress, if that ended it.
    pub stalled_for: Option<SignedDuration>,
}

impl Ended {
    /// Returns the final state; failed actions that would have been retried are reported with their reason.
    #[must_use]
    pub fn of(next: &Next, memory: &Memory, is_stopped: bool) -> Self {
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
                    let first = || actions.first().map(|action| action.effect.to_string());
                    let what = told(standing, memory).map(|told| told.what).or_else(first);
                    ended.open.insert(change.clone(), what.unwrap_or_default());
                }
            }
        }
        ended
    }

    /// Returns whether the plan is fully applied, except for changes struck in review.
    #[must_use]
    pub fn is_so(&self) -> bool {
        self.open.is_empty() && self.outcomes.values().all(Outcome::is_so)
    }

    /// Returns the number of changes that are not applied.
    #[must_use]
    pub fn not_done(&self) -> usize {
        self.open.len() + self.outcomes.values().filter(|outcome| !outcome.is_so()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::{Ended, Outcome};
    use crate::plan::ChangeId;

    fn ended(outcomes: &[Outcome]) -> Ended {
        let named = outcomes.iter().enumerate();
        let outcomes =
            named.map(|(at, outcome)| (ChangeId(at.to_string().into()), outcome.clone())).collect();
        Ended { outcomes, ..Ended::default() }
    }

    #[test]
    fn what_reviewers_struck_is_not_left_undone() {
        let struck = Outcome::Struck { because: None };
        let done = ended(&[Outcome::Done, struck.clone()]);
        assert_eq!((done.is_so(), done.not_done()), (true, 0));
        let failed = Outcome::Failed { code: "Refused".into(), because: "no".into() };
        let in_part = ended(&[struck, failed]);
        assert_eq!((in_part.is_so(), in_part.not_done()), (false, 1));
        assert_eq!(
            in_part.outcomes.values().map(ToString::to_string).collect::<Vec<_>>(),
            ["struck in review", "failed: no"]
        );
    }
}
