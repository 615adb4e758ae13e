//! A large cluster in two parts: what runs, planned as if nobody waited, and then those who wait.
//!
//! What runs comes to the same whatever waits beside it, so that it is worked out once for many plans (`kept`). What waits
//! is then placed in the world that this leads to (`condensed`), and both are one change from the world as it is
//! (`joined`). That is how clusters are planned that are large, where little waits beside what runs. Where those who wait
//! would buy much of what goes, or limits leave one of them over, all is planned together as always. Nothing that runs
//! goes for the sake of what waits.

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

/// Which clusters are planned in two parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// Those of so many pods and nodes and more.
    pub least: usize,
    /// Those in which so many pods run or more for each that waits: beside fewer, what goes and what is made depends on
    /// those who wait.
    pub running: usize,
}

impl Default for Parting {
    /// Where no more than a few fleets can be compared, and nearly all pods run.
    fn default() -> Self {
        Self { least: consolidate::LARGE_MIN, running: 8 }
    }
}

/// Works out the fleet that should exist; nothing where all must be planned together.
pub(super) fn solve(snapshot: &Snapshot, policy: &Policy, memos: &Memos) -> Option<Solution> {
    let waiting = snapshot.pods.iter().filter(|pod| waits(pod)).count();
    let running = snapshot.pods.len() - waiting;
    let is_large = consolidate::planned(snapshot) >= memos.parting.least;
    let is_little = waiting > 0 && waiting.saturating_mul(memos.parting.running) <= running;
    // Room is kept where pods leave it, whichever they are.
    let has_room = || snapshot.pods.iter().any(|pod| waits(pod) && pod.key.is_placeholder());
    if !is_large || !is_little || has_room() {
        return None;
    }
    let kept = memos.running(|kept| kept.is(snapshot, policy), || Kept::of(snapshot, policy, memos));
    kept.with_waiting(snapshot, memos)
}

/// Returns whether a pod is of the second part.
fn waits(pod: &Pod) -> bool {
    pod.place == PodPlace::Waiting
}

/// Returns what goes of a target though it carries pods: what carries none is left to those who wait.
fn busy(target: &Target) -> impl Iterator<Item = &Removal> {
    target.removed.iter().filter(|removal| removal.reason != DisruptionReason::Empty)
}
