//! Held-back changes: the next changes after the plan if there were no freezes and holds of the fleet, no exhausted
//! budgets, and no pods with `karpenter.sh/do-not-disrupt`.
//!
//! Plans the world after the plan, so that replanning lists the same. Never turns any of it into a change.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::allowance::{Allowance, PoolNodes};
use crate::model::{DisruptionReason, Holds, Node, NodeName, Pod, PodPlace};
use crate::plan::Plan;
use crate::plan::held::{add_waiting, is_target};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::Solver;

use super::{World, solved};

/// Adds the held-back changes to a plan; skips the computation if nothing is held back.
pub(super) fn listed((world, solver): (&World, &Solver), plan: Plan) -> Plan {
    with_guarded((world, solver), with_held((world, solver), plan))
}

fn with_held((world, solver): (&World, &Solver), mut plan: Plan) -> Plan {
    let World { snapshot, policy, .. } = world;
    if !is_held(world) {
        return plan;
    }
    let mut free: Policy = policy.clone();
    free.fleet.holds = Holds::default();
    let then = crate::sim::after(snapshot, &plan);
    let (next, _) = solved((&World { snapshot: then, policy: free, ..world.clone() }, solver));
    add_waiting(&mut plan, policy, &next);
    plan
}

fn is_held(World { snapshot, policy, .. }: &World) -> bool {
    use DisruptionReason::{Drifted, Empty, Expired, Underutilized, Unhealthy};
    let holds = &policy.fleet.holds;
    let reasons = [Empty, Underutilized, Drifted, Expired, Unhealthy];
    let is_held = |pool| reasons.iter().any(|reason| holds.on_removal(pool, *reason, snapshot.at).is_some());
    !holds.is_none() && policy.pools.keys().any(is_held)
}

/// Lists the nodes that would be removed as underutilized without disruption budgets, PodDisruptionBudgets and
/// protected pods.
fn with_guarded((world, solver): (&World, &Solver), mut plan: Plan) -> Plan {
    let guarded = guarded(world, &plan);
    if guarded.is_empty() {
        return plan;
    }
    let mut free = World { snapshot: crate::sim::after(&world.snapshot, &plan), ..world.clone() };
    free.snapshot.budgets.clear();
    // Pods of gangs that cannot be placed completely stay unbound.
    free.snapshot.pods.retain(|pod| pod.spec.group.is_none() || pod.place != PodPlace::Waiting);
    free.snapshot.without_gangs();
    free.snapshot.pods.iter_mut().for_each(|pod| pod.is_do_not_disrupt = false);
    for pool in free.policy.pools.values_mut() {
        pool.disruption.budgets.clear();
    }
    let (next, _) = solved((&free, solver));
    let would_go = next.target.removed.iter().filter_map(|removal| {
        let because = guarded.get(&removal.node)?;
        let is_underutilized = removal.reason == DisruptionReason::Underutilized;
        is_underutilized.then(|| (removal.node.clone(), format!("underutilized, but {because}")))
    });
    plan.evidence.report.staying.extend(would_go);
    plan.evidence.report.staying.sort();
    plan
}

/// Returns the nodes that a budget or a pod protects, with the reason, unless another reason is already reported.
fn guarded(World { snapshot, policy, .. }: &World, plan: &Plan) -> BTreeMap<NodeName, String> {
    let goes = plan.spec.deletes().map(|(_, delete)| &delete.target.node);
    let said = plan.evidence.report.staying.iter().map(|(node, _)| node);
    let said: BTreeSet<&NodeName> =
        goes.chain(said).chain(plan.evidence.held.iter().map(|held| &held.node)).collect();
    let evictions = snapshot.evictions();
    let protected = first_of_each(&snapshot.pods, |pod| pod.is_protected(snapshot.at));
    let stuck = first_of_each(&snapshot.pods, |pod| !evictions.may_leave(pod));
    let because = |node: &Node| {
        let asks = || {
            Some(format!("its pod `{}` has `karpenter.sh/do-not-disrupt`", protected.get(&node.name)?.key))
        };
        let stuck = || evictions.why_stays(stuck.get(&node.name)?);
        refusal(snapshot, policy, node).or_else(asks).or_else(stuck)
    };
    let is_asked = |node: &&Node| {
        let pool = node.pool.as_ref();
        let is_target = pool.is_some_and(|pool| is_target(&plan.spec.targets, &node.name, pool));
        is_target && !said.contains(&node.name)
    };
    let nodes = snapshot.nodes.iter().filter(is_asked);
    nodes.filter_map(|node| Some((node.name.clone(), because(node)?))).collect()
}

/// Returns the first matching pod on each node.
fn first_of_each(pods: &[Pod], is_like_this: impl Fn(&Pod) -> bool) -> BTreeMap<&NodeName, &Pod> {
    let mut first = BTreeMap::new();
    for pod in pods.iter().filter(|pod| is_like_this(pod)) {
        if let PodPlace::Bound(node) = &pod.place {
            first.entry(node).or_insert(pod);
        }
    }
    first
}

/// Returns why the disruption budgets of a node's pool do not allow its removal as underutilized.
fn refusal(snapshot: &Snapshot, policy: &Policy, node: &Node) -> Option<String> {
    let pool = policy.pools.get(node.pool.as_ref()?)?;
    let nodes = PoolNodes::of(&snapshot.nodes, &pool.name);
    let allowance = Allowance::of(pool, &policy.fleet.holds, snapshot.at);
    allowance.kept(DisruptionReason::Underutilized, &node.name, &nodes)
}
