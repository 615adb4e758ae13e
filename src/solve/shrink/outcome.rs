//! What comes of a set of nodes when it goes, beside the fleet where none of them goes.
//!
//! Nothing is chosen here.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{DisruptionReason, NodeName};
use crate::snapshot::Snapshot;
use crate::solve::scheduler;
use crate::solve::solution::{Kept, Removal, Target};

use super::balanced::Scales;
use super::candidate::Candidate;
use super::trial::{Scene, Stage, Trial, is_worse};

/// How often a set is tried again without the nodes whose pods had no place, or are needed where they are.
const MENDS_MAX: usize = 3;

/// A set that may go.
pub(super) struct Best {
    pub(super) leaving: BTreeSet<NodeName>,
    pub(super) trial: Trial,
    /// What the fleet costs by the hour, with what moving is worth.
    pub(super) score: i64,
}

/// What does not change while sets are tried.
pub(super) struct Known<'s> {
    pub(super) scene: &'s Scene<'s>,
    pub(super) snapshot: &'s Snapshot,
    pub(super) candidates: BTreeMap<NodeName, Candidate>,
    pub(super) scales: Scales<'s>,
    /// What the fleet comes to where none of them goes.
    pub(super) base: Trial,
    /// Whether the scheduler alone finds a place for all pods there, and must then find one in any other fleet.
    pub(super) suits_scheduler: bool,
}

/// Returns whether the scheduler alone finds a place for all pods in the fleet without these nodes.
pub(super) fn suits_scheduler(
    (scene, snapshot): (&Scene<'_>, &Snapshot),
    set: &BTreeSet<NodeName>,
    trial: &Trial,
) -> bool {
    if !scheduler::is_small(snapshot, trial.new.len()) {
        return true;
    }
    let kept = trial.placed.iter().map(|(node, pods)| Kept { node: node.clone(), pods: pods.clone() });
    let going = set.iter().map(|node| Removal {
        node: node.clone(),
        reason: DisruptionReason::Underutilized,
        what: None,
    });
    let target = Target { kept: kept.collect(), new: trial.new.clone(), removed: going.collect() };
    scheduler::stranded(scene, snapshot, &target).is_empty()
}

/// What came of a set.
pub(super) struct Outcome {
    /// What was planned: the set, and what was left of it without nodes that cannot go.
    pub(super) tried: Vec<BTreeSet<NodeName>>,
    pub(super) found: Option<Best>,
}

impl Known<'_> {
    /// Tries a set, without the nodes that cannot go. What the set comes to may be planned already.
    pub(super) fn outcome(
        &self,
        stage: &mut Stage<'_>,
        before: &BTreeSet<BTreeSet<NodeName>>,
        (mut planned, mut set): (Option<Trial>, BTreeSet<NodeName>),
    ) -> Outcome {
        let mut tried = Vec::new();
        for _ in 0..MENDS_MAX {
            if set.is_empty() || before.contains(&set) {
                break;
            }
            tried.push(set.clone());
            let trial = planned.take().unwrap_or_else(|| stage.trial(self.scene, &set));
            if trial.stranded.is_empty() && trial.needed.is_empty() {
                let score = self.score(&set, &trial);
                let found = score.map(|score| Best { leaving: set, trial, score });
                return Outcome { tried, found };
            }
            set.retain(|node| !trial.stranded.contains(node) && !trial.needed.contains(node));
        }
        Outcome { tried, found: None }
    }

    /// Returns what the fleet costs with what moving is worth, and what it is worth that the scheduler alone finds a place
    /// for all pods; nothing where it may not be, or saves nothing.
    fn score(&self, set: &BTreeSet<NodeName>, trial: &Trial) -> Option<i64> {
        let thresholds: i64 = set.iter().map(|node| self.candidates[node].threshold()).sum();
        let base = self.base.cost;
        let score = trial.cost.0 + thresholds;
        let is_allowed = trial.is_priced
            && score < base.0
            && !is_worse(&trial.unplaced, &self.base.unplaced)
            && trial.overruled <= self.base.overruled
            && trial.without_room.iter().zip(&self.base.without_room).all(|(now, before)| now <= before)
            && self.scales.agree(set, self.base.vms - trial.vms);
        let is_as_good = || !self.suits_scheduler || suits_scheduler((self.scene, self.snapshot), set, trial);
        is_allowed.then(|| if is_as_good() { score } else { score + scheduler::worth(base).0 })
    }
}
