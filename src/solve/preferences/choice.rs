//! Choice of honored preferences: for each spec and preference, in which form and for how many pods.

use std::collections::BTreeMap;

use crate::model::{Form, Preference};

use super::firm::Taken;
use super::wishes::Wisher;

/// A preference of all pods with the same spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Item {
    /// The spec, as an index into the list of contents.
    pub(super) content: usize,
    pub(super) preference: Preference,
}

/// How far a preference is honored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    /// The strongest form.
    pub(super) form: Form,
    /// Maximum number of pods with this spec for which it is honored, in their order.
    pub(super) pods: usize,
}

/// As written, for every pod.
pub(super) const FULL: Level = Level { form: Form::Whole, pods: usize::MAX };

/// The honored preferences; those that are not listed are ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Choice(BTreeMap<Item, Level>);

impl Choice {
    /// Honors these in full.
    pub(super) fn full(items: &[Item]) -> Self {
        Self(items.iter().map(|item| (*item, FULL)).collect())
    }

    /// Returns how far a preference is honored.
    pub(super) fn level(&self, item: Item) -> Option<Level> {
        self.0.get(&item).copied()
    }

    /// Sets how far a preference is honored, if at all.
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

    /// Returns this choice plus `items`, as far as `levels` honors them.
    pub(super) fn with(&self, items: &[Item], levels: &Self) -> Self {
        let mut both = self.clone();
        for item in items {
            both.set(*item, levels.level(*item));
        }
        both
    }

    /// Returns the preferences honored for the pod of this rank among pods with its spec.
    pub(super) fn of(&self, content: usize, rank: usize, wisher: &Wisher<'_>) -> Vec<Taken> {
        let taken = wisher.open.iter().filter_map(|(preference, strongest)| {
            let level = self.level(Item { content, preference: *preference })?;
            (rank < level.pods).then(|| (*preference, level.form.min(*strongest)))
        });
        taken.collect()
    }
}
