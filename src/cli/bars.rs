//! Progress of a rollout as bars on one line: one for created nodes, one for deleted nodes.
//!
//! Must never show a started change as finished.

use std::collections::BTreeSet;

use crate::plan::{Change, ChangeId, PlanSpec};
use crate::rollout::Event;

/// Maximum width of a bar, in columns.
const BAR_COLUMNS_MAX: usize = 20;

/// Minimum width of a bar; a narrower one is omitted because it is not readable.
const BAR_COLUMNS_MIN: usize = 4;

/// Progress of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tally {
    comes: Part,
    goes: Part,
    not_done: usize,
}

/// Progress of the changes of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Part {
    all: BTreeSet<ChangeId>,
    begun: BTreeSet<ChangeId>,
    ended: BTreeSet<ChangeId>,
}

impl Tally {
    /// Returns the tally of a plan of which nothing has started.
    pub(super) fn of(spec: &PlanSpec) -> Self {
        let mut tally = Self::default();
        for (id, planned) in &spec.changes {
            match planned.change {
                Change::Create(_) => tally.comes.all.insert(id.clone()),
                Change::Delete(_) => tally.goes.all.insert(id.clone()),
                Change::Update(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => false,
            };
        }
        tally
    }

    /// Updates the tally with an event.
    pub(super) fn take_in(&mut self, event: &Event) {
        match event {
            Event::Began(action) => {
                self.comes.begin(&action.change);
                self.goes.begin(&action.change);
            }
            Event::Settled { change, outcome } => {
                let is_new = self.comes.end(change) | self.goes.end(change);
                self.not_done += usize::from(is_new && !outcome.is_so());
            }
            Event::Did(_)
            | Event::TriesAgain { .. }
            | Event::Failed { .. }
            | Event::Panicked { .. }
            | Event::Waits { .. }
            | Event::Blind { .. } => {}
        }
    }

    /// Returns one line of at most this many columns.
    pub(super) fn text(&self, columns: usize) -> String {
        let parts = [("Adding", &self.comes), ("Removing", &self.goes)];
        let parts: Vec<_> = parts.into_iter().filter(|(_, part)| !part.all.is_empty()).collect();
        let not_done = match self.not_done {
            0 => String::new(),
            count => format!("  {count} not done"),
        };
        let words: usize = parts.iter().map(|(word, part)| word.len() + part.counts().len() + 4).sum();
        let left = columns.saturating_sub(words + not_done.len()) / parts.len().max(1);
        let width = if left < BAR_COLUMNS_MIN { 0 } else { left.min(BAR_COLUMNS_MAX) };
        let shown = parts.into_iter().map(|(word, part)| match width {
            0 => format!("{word} {}", part.counts()),
            width => format!("{word} {} {}", part.bar(width), part.counts()),
        });
        shown.collect::<Vec<_>>().join("  ") + &not_done
    }
}

impl Part {
    fn begin(&mut self, change: &ChangeId) {
        if self.all.contains(change) {
            self.begun.insert(change.clone());
        }
    }

    /// Marks a change as finished; returns whether it is one of these and was not finished before.
    fn end(&mut self, change: &ChangeId) -> bool {
        self.all.contains(change) && self.ended.insert(change.clone())
    }

    fn counts(&self) -> String {
        format!("{} of {}", self.ended.len(), self.all.len())
    }

    /// Returns the bar: finished, started, and not started changes, each rounded down, so that it is full only at the
    /// end.
    fn bar(&self, width: usize) -> String {
        let of = |count: usize| count * width / self.all.len().max(1);
        let ended = of(self.ended.len());
        let begun = of(self.begun.union(&self.ended).count()) - ended;
        format!("{}{}{}", "█".repeat(ended), "▒".repeat(begun), "░".repeat(width - ended - begun))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rollout::Outcome;

    fn ids(count: usize) -> BTreeSet<ChangeId> {
        (0..count).map(|number| ChangeId(format!("c{number}").into())).collect()
    }

    fn tally(comes: usize, goes: usize) -> Tally {
        let part = |all| Part { all, ..Part::default() };
        let goes = (0..goes).map(|number| ChangeId(format!("d{number}").into())).collect();
        Tally { comes: part(ids(comes)), goes: part(goes), not_done: 0 }
    }

    fn settled(change: &str, outcome: Outcome) -> Event {
        Event::Settled { change: ChangeId(change.into()), outcome }
    }

    #[test]
    fn what_has_ended_begun_and_not_begun_are_told_apart() {
        let mut tally = tally(4, 2);
        tally.take_in(&settled("c0", Outcome::Done));
        tally.comes.begin(&ChangeId("c1".into()));
        assert_eq!(
            tally.text(100),
            "Adding █████▒▒▒▒▒░░░░░░░░░░ 1 of 4  Removing ░░░░░░░░░░░░░░░░░░░░ 0 of 2"
        );
        for change in ["c0", "c1", "c2", "c3"] {
            tally.take_in(&settled(change, Outcome::Done));
        }
        let failed = Outcome::Failed { code: "ZonalAllocationFailed".into(), because: "full".into() };
        tally.take_in(&settled("d1", failed));
        assert_eq!(
            tally.text(100),
            "Adding ████████████████████ 4 of 4  Removing ██████████░░░░░░░░░░ 1 of 2  1 not done"
        );
    }

    #[test]
    fn a_line_is_never_wider_than_the_terminal_as_long_as_its_words_fit() {
        let mut tally = tally(7, 3);
        tally.take_in(&settled("c6", Outcome::Withheld { because: "frozen".into() }));
        for columns in 45..120 {
            let text = tally.text(columns);
            assert!(text.chars().count() <= columns, "{columns}: {text}");
        }
        assert_eq!(tally.text(20), "Adding 1 of 7  Removing 0 of 3  1 not done");
    }

    #[test]
    fn a_sort_of_change_that_is_not_planned_has_no_bar_and_strange_changes_count_nothing() {
        let mut tally = tally(0, 1);
        tally.take_in(&settled("x", Outcome::Done));
        assert_eq!(tally.text(60), "Removing ░░░░░░░░░░░░░░░░░░░░ 0 of 1");
        assert_eq!(Tally::default().text(60), "");
    }
}
