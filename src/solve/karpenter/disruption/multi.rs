//! Multi-node consolidation: as many of the first candidates as can be removed together, found by binary search.
//!
//! Karpenter assumes that a set of nodes can be removed if a larger one can; if that is wrong, the best set is missed,
//! here as in Karpenter.

use std::collections::BTreeMap;

use super::allowance::Left;
use super::candidate::Candidate;
use super::consolidation::{self, Underused};
use super::replacement::Narrowing;
use super::scene::Scene;
use super::{Command, Method};

/// Maximum number of nodes beside the first.
const NODES_MAX: usize = 100;

/// Returns the command that removes several nodes.
pub(super) fn command(scene: &Scene<'_, '_>) -> Option<Command> {
    let method = Method::MultiNode;
    let Underused { candidates, totals } = Underused::of(scene, method);
    let mut left = Left::of(scene, method.reason());
    let allowed: Vec<&Candidate<'_>> = candidates.iter().filter(|one| left.take(one.pool)).collect();
    let (mut least, mut most) = (1, allowed.len().saturating_sub(1).min(NODES_MAX));
    let mut best = None;
    while least <= most {
        let middle = usize::midpoint(least, most);
        let going = &allowed[..=middle];
        let found = consolidation::attempt(scene, method, going);
        let found = found.and_then(|command| without_own_sizes(scene, going, command));
        match found.filter(|command| totals.approves(going, command.savings.0)) {
            Some(command) => {
                best = Some(command);
                least = middle + 1;
            }
            None => most = middle - 1,
        }
    }
    best
}

/// Drops the sizes of the replacement that are no cheaper than a removed node of the same size: that node could have
/// been kept.
fn without_own_sizes(
    scene: &Scene<'_, '_>,
    going: &[&Candidate<'_>],
    mut command: Command,
) -> Option<Command> {
    let Some(claim) = command.replacements.first_mut() else { return Some(command) };
    let pool = scene.policy.pools.get(&claim.pool)?;
    let mut own: BTreeMap<&str, i64> = BTreeMap::new();
    for kind in going.iter().filter_map(|one| one.kind) {
        let prices = going.iter().filter(|one| one.kind.is_some_and(|other| other.name == kind.name));
        let least = prices.filter_map(|one| one.price).min();
        own.insert(kind.name.as_str(), least.map_or(0, |price| price.0));
    }
    let limit = claim.sizes.iter().filter_map(|size| own.get(size.as_str()).copied()).min();
    let narrowing = Narrowing { scene, pool };
    let before = narrowing.first_price(claim);
    if !narrowing.keep_cheaper(claim, limit.unwrap_or(i64::MAX)) || claim.sizes.is_empty() {
        return None;
    }
    command.savings.0 += before - narrowing.first_price(claim);
    Some(command)
}
