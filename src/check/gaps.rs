//! Gaps: data that could not be read is never taken as empty.

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::snapshot::GapKind;

/// Returns the removals that depend on unknown data.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut findings = strangers(case);
    findings.extend(unlisted(case));
    findings
}

/// Returns the removals of a live plan if kinds of the cluster could not be listed.
fn unlisted(case: &Case<'_>) -> Vec<Finding> {
    let mut gaps = case.snapshot.gaps.iter();
    let gap = gaps.find(|gap| gap.kind == GapKind::Unlistable || gap.kind == GapKind::Unlisted);
    let Some(gap) = gap.filter(|_| case.plan.spec.execution.is_some()) else { return Vec::new() };
    let removed = case.plan.spec.deletes();
    let finding = |node| {
        let why = format!("is removed while it is unknown what there is: {}", gap.what);
        Finding::new(Rule::Gaps, format!("node `{node}`"), why)
    };
    removed.map(|(_, delete)| finding(&delete.target.node)).collect()
}

/// Returns removed nodes that have a pool but no NodeClaim, while other nodes have theirs: their owner is unknown. Such
/// a node can be adopted, never removed.
fn strangers(case: &Case<'_>) -> Vec<Finding> {
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
