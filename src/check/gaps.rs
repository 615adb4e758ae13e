//! Gaps: what could not be read is never taken for empty.

use super::case::Case;
use super::finding::{Finding, Rule};

/// Returns the removals that rest on what is not known: a node that says it belongs to a pool and has no
/// NodeClaim, where others have theirs, may be anybody's. It can be adopted, never removed.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let has_read_claims = case.snapshot.nodes.iter().any(|node| node.claim.is_some());
    let removed = case.plan.spec.deletes().filter_map(|(_, delete)| case.nodes.get(&delete.target.node));
    let is_stranger = |node: &&&crate::model::Node| node.pool.is_some() && node.claim.is_none();
    removed
        .filter(|node| has_read_claims && is_stranger(node))
        .map(|node| {
            let why = "is removed, but has no NodeClaim: it is to be adopted first";
            Finding::new(Rule::Gaps, format!("node `{}`", node.name), why)
        })
        .collect()
}
