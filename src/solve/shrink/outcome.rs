//! Evaluates the removal of a set of nodes, compared with the fleet that removes none of them.
//!
//! Never chooses nodes.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{DisruptionReason, NodeName};
use crate::snapshot::Snapshot;
use crate::solve::scheduler;
use crate::solve::solution::{Kept, Removal, Target};

use super::balanced::Scales;
use super::candidate::Candidate;
use super::trial::{Scene, Stage, Trial, is_worse};

/// Maximum number of times that a set is tried again without the nodes whose pods were not placed, or are needed where
/// they are.
const MENDS_MAX: usize = 3;

/// A set that may be removed.
pub(super) struct Best {
    pub(super) leaving: BTreeSet<NodeName>,
    pub(super) trial: Trial,
    /// Hourly cost of the fleet plus the cost of moving.
    pub(super) score: i64,
}

/// Inputs that are the same for all sets.
pub(super) struct Known<'s> {
    pub(super) scene: &'s Scene<'s>,
    pub(super) snapshot: &'s Snapshot,
    pub(super) candidates: BTreeMap<NodeName, Candidate>,
    pub(super) scales: Scales<'s>,
    /// The trial that removes no candidate.
    pub(super) base: Trial,
    /// Whether kube-scheduler alone places all pods in it, which every other fleet must then satisfy as well.
    pub(super) suits_scheduler: bool,
}

/// Returns whether kube-scheduler alone places all pods in the fleet without these nodes.
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

/// The result of trying a set.
pub(super) struct Outcome {
    /// The planned sets: the given one, and what was left of it without nodes that cannot be removed.
    pub(super) tried: Vec<BTreeSet<NodeName>>,
    pub(super) found: Option<Best>,
}

impl Known<'_> {
    /// Tries a set without the nodes that cannot be removed. The trial of the full set may be given.
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

    /// Returns the cost of the fleet plus the cost of moving, plus a penalty if kube-scheduler alone may no longer
    /// place all pods; `None` if the fleet is not allowed or saves nothing.
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
