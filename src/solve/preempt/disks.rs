//! Volumes in preemption: their node requirements, and how many more volumes a node takes beside those of its pods.
//!
//! Never chooses victims.

use crate::model::storage::Storage;
use crate::model::{Node, Pod};
use crate::snapshot::Snapshot;
use crate::solve::demand::Ask;
use crate::solve::fit::available::Choices;
use crate::solve::fit::claims::{self, ClaimState};
use crate::solve::fit::mounts::{Free, Shared};
use crate::solve::fit::slots::SizeSlots;
use crate::solve::fit::turns::Turns;
use crate::solve::fit::volumes;

/// The volumes of a cluster, and the pods that use them.
pub(super) struct Disks<'a> {
    storage: &'a Storage,
    shared: Shared,
    turns: Turns<'a>,
    slots: SizeSlots,
    choices: Choices,
}

impl<'a> Disks<'a> {
    pub(super) fn of(snapshot: &'a Snapshot) -> Self {
        let storage = &snapshot.storage;
        Self {
            storage,
            shared: Shared::of(snapshot),
            turns: Turns::of(&snapshot.pods, storage),
            slots: SizeSlots::of(snapshot),
            choices: Choices::of(storage),
        }
    }

    /// Returns the requests of a pod with its volumes; `None` if it waits for one of them, or no node can have them
    /// all.
    pub(super) fn ask(&self, pod: &Pod) -> Option<Ask> {
        let ask = Ask::of(&pod.spec);
        if pod.spec.volumes.is_empty() {
            return Some(ask);
        }
        self.turns.why(pod).ok()?;
        let volumes = volumes::asked(pod, self.storage, &self.shared).ok()?;
        let alternatives = volumes::joined(&ask.alternatives, &volumes).ok()?;
        Some(Ask { alternatives, volumes: volumes.mounts, ..ask })
    }

    /// Returns whether a claim of a pod binds to an available volume with a location: which one depends on other
    /// claims.
    pub(super) fn takes_any(&self, pod: &Pod) -> bool {
        let states = claims::of(pod, self.storage);
        states.iter().any(|(_, state)| matches!(state, ClaimState::Takes(_)))
    }

    /// Returns which volumes a node can take in addition to those of these pods.
    pub(super) fn free(&self, node: &Node, bound: &[&Pod]) -> Free {
        let mut slots = self.slots.of_node(node, self.storage);
        slots.extend(self.choices.on(node, bound, self.storage));
        Free::beside(slots, &node.name, bound, self.storage)
    }
}
