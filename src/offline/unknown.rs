//! Nodes whose removal depends on missing data: the time, or fields of their NodeClaims.
//!
//! Plans the world after the plan as if these nodes were quiet, so only nodes that would really be removed are listed.
//! Never turns any of it into a change.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ClaimName, DisruptionReason, Node, NodeName, NodeStage, PoolName};
use crate::plan::Plan;
use crate::plan::held::is_target;
use crate::solve::{NotDecided, Solver};

use super::{World, solved};

/// The missing data of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Missing {
    /// Its NodeClaim.
    Claim,
    /// The time of its last pod event.
    Quiet,
    /// The current time.
    Time,
}

impl Missing {
    const fn of(self, nodes: usize) -> &'static str {
        match (self, nodes) {
            (Self::Claim, 1) => "its NodeClaim is not in the input",
            (Self::Claim, _) => "their NodeClaims are not in the input",
            (Self::Quiet, 1) => "its NodeClaim does not say since when no pod came or went",
            (Self::Quiet, _) => "their NodeClaims do not say since when no pod came or went",
            (Self::Time, _) => "the time is not known (`--at`)",
        }
    }
}

/// Adds the undecided nodes to a plan; skips the computation if nothing is missing.
pub(super) fn listed((world, solver): (&World, &Solver), mut plan: Plan) -> Plan {
    let unknown = unknown(world, &plan);
    if unknown.is_empty() {
        return plan;
    }
    let mut then = World { snapshot: crate::sim::after(&world.snapshot, &plan), ..world.clone() };
    for node in then.snapshot.nodes.iter_mut().filter(|node| unknown.contains_key(&node.name)) {
        node.is_consolidatable = true;
        node.claim.get_or_insert_with(|| ClaimName::new(node.name.as_str()));
    }
    let (next, _) = solved((&then, solver));
    let mut named: BTreeMap<(PoolName, Missing), Vec<NodeName>> = BTreeMap::new();
    for removal in &next.target.removed {
        let goes_for_money =
            matches!(removal.reason, DisruptionReason::Empty | DisruptionReason::Underutilized);
        if let Some(missing) = unknown.get(&removal.node).filter(|_| goes_for_money) {
            named.entry(missing.clone()).or_default().push(removal.node.clone());
        }
    }
    let report = &mut plan.evidence.report;
    report.staying.retain(|(node, _)| !named.values().any(|nodes| nodes.contains(node)));
    let not_decided = named.into_iter().map(|((pool, missing), mut nodes)| {
        nodes.sort();
        NotDecided { pool, because: missing.of(nodes.len()).to_owned(), nodes }
    });
    report.not_decided = not_decided.collect();
    plan
}

/// Returns the nodes that may not have been quiet for long enough, each with its pool and the missing data; excludes
/// nodes kept for another reason.
fn unknown(world: &World, plan: &Plan) -> BTreeMap<NodeName, (PoolName, Missing)> {
    let World { snapshot, policy, .. } = world;
    let has_claims = snapshot.nodes.iter().any(|node| node.claim.is_some());
    let goes: BTreeSet<&NodeName> = plan.spec.deletes().map(|(_, delete)| &delete.target.node).collect();
    let held: BTreeSet<&NodeName> = plan.evidence.held.iter().map(|held| &held.node).collect();
    let of_node = |node: &Node| {
        let pool = policy.pools.get(node.pool.as_ref()?)?;
        let after = pool.disruption.consolidate_after?;
        let stays = !goes.contains(&node.name) && !held.contains(&node.name) && !node.is_deleting;
        let may_go =
            pool.replicas.is_none() && !node.is_do_not_disrupt && node.stage == NodeStage::Initialized;
        if !stays || !may_go || !is_target(&plan.spec.targets, &node.name, &pool.name) {
            return None;
        }
        let is_known =
            after.is_zero() || node.is_consolidatable || snapshot.at.is_some() && node.quiet_since.is_some();
        let missing = match &node.claim {
            None if has_claims || !is_known => Missing::Claim,
            Some(_) if !is_known && node.quiet_since.is_none() => Missing::Quiet,
            Some(_) if !is_known => Missing::Time,
            None | Some(_) => return None,
        };
        Some((node.name.clone(), (pool.name.clone(), missing)))
    };
    snapshot.nodes.iter().filter_map(of_node).collect()
}
