//! Replanning: results of one plan are reused by the next one if they follow from the same inputs.
//!
//! Caches only results keyed by all of their inputs, so a plan is byte for byte the one that is computed from scratch.
//! Never uses a plan as a hint for the next one, and never decides anything.

use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::apart::Parting;
use super::memo::Memos;
use super::solution::Solution;
use super::{caution, choices, drains, gangs, headroom, report};

/// Solver that caches what the next plan can use: which offerings may be bought for which pods, as long as pools,
/// sizes, prices and DaemonSets are the same, and in large clusters the plan of the running pods, as long as only
/// pending pods change and time changes nothing for it. The cache is bounded, however long the solver lives.
#[derive(Default)]
pub struct Solver {
    memos: Memos,
}

impl Solver {
    /// Returns a solver that plans these clusters, and no others, in two parts.
    #[must_use]
    pub fn parting(parting: Parting) -> Self {
        Self { memos: Memos::parting(parting) }
    }

    /// Plans the fleet that should exist: the same as [`super::solve`], whatever was planned before.
    #[must_use]
    pub fn solve(&self, snapshot: &Snapshot, policy: &Policy) -> Solution {
        let plan = |world: &Snapshot| {
            caution::solve(world, policy, |policy| headroom::solve(world, policy, &self.memos))
        };
        let solve = || gangs::solve(snapshot, |world| drains::solve(world, plan));
        // Runs the rest on one of the threads that share the work, so no thread is woken in vain.
        let mut solution = rayon::join(solve, || ()).0;
        choices::keep(snapshot, policy, &mut solution);
        report::attached::warn(snapshot, &mut solution);
        report::systems::warn(snapshot, &mut solution);
        solution
    }
}
