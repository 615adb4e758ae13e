//! Which preferences are taken up: for each content and preference in which form, and for how many pods.

use std::collections::BTreeMap;

use crate::model::{Form, Preference};

use super::firm::Taken;
use super::wishes::Wisher;

/// A preference of all pods of a content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    /// The content, by its place in the list of contents.
    pub(super) content: usize,
    pub(super) preference: Preference,
}

/// How far a preference is taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// The strongest form.
    pub(super) form: Form,
    /// For so many pods of the content at most, in their order.
    pub(super) pods: usize,
}

/// As it is written, for every pod.
pub(super) const FULL: Level = Level { form: Form::Whole, pods: usize::MAX };

/// What is taken up; what is not named is not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice(BTreeMap<Item, Level>);

impl Choice {
    /// Takes these up in full.
    pub(super) fn full(items: &[Item]) -> Self {
        Self(items.iter().map(|item| (*item, FULL)).collect())
    }

    /// Returns how far a preference is taken up.
    pub(super) fn level(&self, item: Item) -> Option<Level> {
        self.0.get(&item).copied()
    }

    /// Takes a preference up so far, or not at all.
    pub(super) fn set(&mut self, item: Item, level: Option<Level>) {
        match level.filter(|level| level.pods > 0) {
            Some(level) => {
                self.0.insert(item, level);
            }
            None => {
                self.0.remove(&item);
            }
        }
    }

    /// Returns this choice with others beside it, as far as they are taken up in a third.
    pub(super) fn with(&self, items: &[Item], levels: &Self) -> Self {
        let mut both = self.clone();
        for item in items {
            both.set(*item, levels.level(*item));
        }
        both
    }

    /// Returns what is taken up for the pod of this rank in its content.
    pub(super) fn of(&self, content: usize, rank: usize, wisher: &Wisher<'_>) -> Vec<Taken> {
        let taken = wisher.open.iter().filter_map(|(preference, strongest)| {
            let level = self.level(Item { content, preference: *preference })?;
            (rank < level.pods).then(|| (*preference, level.form.min(*strongest)))
        });
        taken.collect()
    }
}
