//! Incremental mode for large clusters: plans the running pods first (cached), then places pending pods into the
//! result.
//!
//! The plan of the running pods does not depend on pending ones, so it is computed once for many plans (`kept`).
//! Pending pods are then placed in the resulting world (`condensed`), and both are one change to the current world
//! (`joined`). This mode is for large clusters with few pending pods beside the running ones. If the nodes for pending
//! pods would cost much of what is removed, or limits leave one of the pods unplaced, all is planned together as usual.
//! Never removes anything that runs for the sake of pending pods.

mod condensed;
mod joined;
mod kept;

use crate::model::{DisruptionReason, Pod, PodPlace};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::memo::Memos;
use super::shrink::consolidate;
use super::solution::{Removal, Solution, Target};

pub(super) use kept::Kept;

/// Clusters that are planned in two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// Minimum number of pods and nodes.
    pub least: usize,
    /// Minimum number of running pods for each pending one: with fewer, the removed and new nodes depend on the pending
    /// pods.
    pub running: usize,
}

impl Default for Parting {
    /// Returns the clusters in which only a few fleets can be compared and nearly all pods run.
    fn default() -> Self {
        Self { least: consolidate::LARGE_MIN, running: 8 }
    }
}

/// Plans the fleet that should exist; `None` if all must be planned together.
pub(super) fn solve(snapshot: &Snapshot, policy: &Policy, memos: &Memos) -> Option<Solution> {
    let waiting = snapshot.pods.iter().filter(|pod| waits(pod)).count();
    let running = snapshot.pods.len() - waiting;
    let is_large = consolidate::planned(snapshot) >= memos.parting.least;
    let is_little = waiting > 0 && waiting.saturating_mul(memos.parting.running) <= running;
    // Headroom is placed wherever pods leave capacity, so it depends on all of them.
    let has_room = || snapshot.pods.iter().any(|pod| waits(pod) && pod.key.is_placeholder());
    if !is_large || !is_little || has_room() {
        return None;
    }
    let kept = memos.running(|kept| kept.is(snapshot, policy), || Kept::of(snapshot, policy, memos));
    kept.with_waiting(snapshot, memos)
}

/// Returns whether a pod belongs to the second part.
fn waits(pod: &Pod) -> bool {
    pod.place == PodPlace::Waiting
}

/// Returns the removed nodes of a target that carry pods: empty ones are left to pending pods.
fn busy(target: &Target) -> impl Iterator<Item = &Removal> {
    target.removed.iter().filter(|removal| removal.reason != DisruptionReason::Empty)
}
