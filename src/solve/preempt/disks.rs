//! Volumes where a pod preempts: what they ask of a node, and how many it takes beside those of others.
//!
//! Nobody is chosen here.

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

/// The volumes of a cluster, and who uses them.
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

    /// Returns what a pod asks for, with its volumes; nothing where it waits for one of them, or they are nowhere together.
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

    /// Returns whether a claim of a pod takes a volume that lies somewhere already: which one depends on who else does.
    pub(super) fn takes_any(&self, pod: &Pod) -> bool {
        let states = claims::of(pod, self.storage);
        states.iter().any(|(_, state)| matches!(state, ClaimState::Takes(_)))
    }

    /// Returns what volumes a node takes beside those of these pods.
    pub(super) fn free(&self, node: &Node, bound: &[&Pod]) -> Free {
        let mut slots = self.slots.of_node(node, self.storage);
        slots.extend(self.choices.on(node, bound, self.storage));
        Free::beside(slots, &node.name, bound, self.storage)
    }
}
