//! Planning again and again: what was worked out for one plan serves the next one, where it follows from the same.
//!
//! Only tables are kept, of results by all that they follow from, so that a plan is byte for byte the one that is made from
//! nothing. No plan is a hint for the next one, and nothing here decides anything.

use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::apart::Parting;
use super::memo::Memos;
use super::solution::Solution;
use super::{caution, choices, drains, gangs, headroom, report};

/// Plans, and keeps what the next plan can use: what may be bought for which pods, as long as pools, sizes, prices and
/// daemonsets are the same, and in large clusters what all that runs comes to, as long as only others wait beside it and time
/// changes nothing for it. What is kept is bounded, however long it lives.
#[derive(Default)]
pub struct Solver {
    memos: Memos,
}

impl Solver {
    /// Plans these clusters in two parts, and no others.
    #[must_use]
    pub fn parting(parting: Parting) -> Self {
        Self { memos: Memos::parting(parting) }
    }

    /// Works out the fleet that should exist: the same as [`super::solve`], whatever was planned before.
    #[must_use]
    pub fn solve(&self, snapshot: &Snapshot, policy: &Policy) -> Solution {
        let plan = |world: &Snapshot| {
            caution::solve(world, policy, |policy| headroom::solve(world, policy, &self.memos))
        };
        let solve = || gangs::solve(snapshot, |world| drains::solve(world, plan));
        // One of the threads that share the work does the rest as well: nobody is woken in vain.
        let mut solution = rayon::join(solve, || ()).0;
        choices::keep(snapshot, policy, &mut solution);
        report::attached::warn(snapshot, &mut solution);
        report::systems::warn(snapshot, &mut solution);
        solution
    }
}
