//! Common parts of single-node and multi-node consolidation: the candidates, and whether removing them pays.

use crate::model::{ConsolidationPolicy, label};
use crate::solve::karpenter::leaving::Quiet;

use super::balanced::Totals;
use super::candidate::{self, Candidate, Class};
use super::scene::Scene;
use super::{Command, Method, probe, replacement};

/// Nodes that may be consolidated, in Karpenter's order, and the totals of their pools.
pub(super) struct Underused<'a> {
    pub(super) candidates: Vec<Candidate<'a>>,
    pub(super) totals: Totals<'a>,
}

impl<'a> Underused<'a> {
    /// Reads the nodes that may be consolidated: those that are not empty, whose pools allow it, and whose price can be
    /// determined.
    pub(super) fn of(scene: &Scene<'a, '_>, method: Method) -> Self {
        let mut candidates = candidate::all(scene, Class::Graceful);
        let totals = Totals::of(scene, &candidates);
        candidates.retain(|one| {
            let is_labelled = |key: &str| one.node.labels.contains_key(key);
            let is_priced =
                one.kind.is_some() && is_labelled(label::CAPACITY_TYPE) && is_labelled(label::ZONE);
            let is_wanted = one.pool.disruption.policy != ConsolidationPolicy::WhenEmpty;
            is_priced
                && is_wanted
                && !one.is_empty()
                && one.may_go(scene, method)
                && one.is_consolidatable(scene)
        });
        candidate::sort(&mut candidates);
        Self { candidates, totals }
    }
}

/// Returns the command that removes these nodes, if their pods fit elsewhere with at most one cheaper new node.
pub(super) fn attempt(scene: &Scene<'_, '_>, method: Method, going: &[&Candidate<'_>]) -> Option<Command> {
    let without = probe::without(scene, going, Quiet::Respected)?;
    replacement::command(scene, method, going, without)
}
