//! Single-node consolidation: the first node that may be removed, with pools taking turns.

use std::collections::BTreeMap;

use crate::model::PoolName;

use super::allowance::Left;
use super::candidate::Candidate;
use super::consolidation::{self, Underused};
use super::scene::Scene;
use super::{Command, Method};

/// Returns the command that removes one node.
pub(super) fn command(scene: &Scene<'_, '_>) -> Option<Command> {
    let method = Method::SingleNode;
    let Underused { candidates, totals } = Underused::of(scene, method);
    let left = Left::of(scene, method.reason());
    in_turns(&candidates).into_iter().find_map(|one| {
        if left.nodes(one.pool) == 0 || !totals.may_pass(one) {
            return None;
        }
        let command = consolidation::attempt(scene, method, &[one])?;
        totals.approves(&[one], command.savings.0).then_some(command)
    })
}

/// Returns the first candidate of each pool, then the second, and so on; pools by name, an order that Karpenter leaves
/// open.
fn in_turns<'c, 'a>(candidates: &'c [Candidate<'a>]) -> Vec<&'c Candidate<'a>> {
    let mut of_pool: BTreeMap<&PoolName, usize> = BTreeMap::new();
    let mut turns: Vec<(usize, &PoolName, &Candidate<'_>)> = Vec::new();
    for candidate in candidates {
        let turn = of_pool.entry(&candidate.pool.name).or_default();
        turns.push((*turn, &candidate.pool.name, candidate));
        *turn += 1;
    }
    turns.sort_by_key(|(turn, pool, _)| (*turn, *pool));
    turns.into_iter().map(|(_, _, candidate)| candidate).collect()
}
