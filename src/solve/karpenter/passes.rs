//! Repeats passes until nothing changes: a pass sees the claims of earlier ones, and may place pods that these left
//! over.
//!
//! Every claim becomes the cheapest node that it allows. Never moves running pods.

use std::collections::BTreeMap;

use crate::model::{NodeName, PodKey};
use crate::snapshot::Snapshot;

use super::leaving::Leaving;
use super::pass::{Pass, Start};
use super::settle::Settled;
use super::store::Store;
use super::{Ignored, PodError, Settings};

/// Result of all passes.
#[derive(Default)]
pub(super) struct Passed {
    /// Claims, in the order in which they were opened.
    pub(super) settled: Vec<Settled>,
    /// Node of each placed pod: an existing node, or a claim.
    pub(super) placed: BTreeMap<PodKey, NodeName>,
    /// Pods that no pool takes.
    pub(super) errors: Vec<PodError>,
    /// Skipped pods.
    pub(super) ignored: Vec<Ignored>,
    /// Pods that a budget keeps on a node that is being removed.
    pub(super) stuck: Vec<PodKey>,
}

/// Repeats passes until one places nothing. All earlier passes place a pod, so the loop ends.
pub(super) fn passes(
    (snapshot, store): (&Snapshot, &Store<'_>),
    settings: Settings,
    left_out: &BTreeMap<PodKey, String>,
) -> Passed {
    let mut passed = Passed::default();
    loop {
        let Passed { settled, placed, .. } = &passed;
        let leaving = Leaving::default();
        let start = Start { snapshot, store, settings, settled, placed, left_out, leaving };
        let memory = &mut store.memory.borrow_mut();
        let mut pass = Pass::of(start, memory);
        pass.run();
        let new = pass.settled(passed.settled.len());
        let joined = pass.joined();
        let stuck = pass.roll.stuck.into_iter().cloned().collect();
        let (errors, ignored) = (pass.errors, pass.roll.ignored);
        let is_over = new.is_empty() && joined.is_empty();
        for (node, claim, pods) in joined {
            passed.placed.extend(pods.iter().map(|pod| (pod.clone(), node.clone())));
            if let Some(claim) = claim {
                let bought = &mut passed.settled[claim].bought;
                bought.pods.extend(pods);
                bought.has_more = true;
            }
        }
        for claim in &new {
            passed.placed.extend(claim.bought.pods.iter().map(|pod| (pod.clone(), claim.name.clone())));
        }
        passed.settled.extend(new);
        if is_over {
            return Passed { errors, ignored, stuck, ..passed };
        }
    }
}
