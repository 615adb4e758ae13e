//! Removals: only nodes that Karpenter manages and that may be disrupted are removed: empty, underutilized and due
//! ones, and any on request.

use std::collections::BTreeMap;

use super::case::Case;
use super::finding::{Finding, Rule};
use super::{balanced, deleted, destroyed, due, held, underutilized};
use crate::model::{DisruptionReason, Node, NodeName, Pod, Pool};
use crate::plan::{Change, ExistingNode};

/// Returns the nodes that the plan changes and must not.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut times: BTreeMap<&NodeName, usize> = BTreeMap::new();
    let saves_nothing = underutilized::saves_nothing(case);
    for (_, delete) in case.plan.spec.deletes() {
        let name = &delete.target.node;
        *times.entry(name).or_default() += 1;
        let faults = match case.nodes.get(name) {
            Some(node) => faults(case, node, delete.reason),
            None => vec!["is removed, but does not exist".to_owned()],
        };
        found.extend(faults.into_iter().map(|why| object(name, why)));
        if delete.reason == DisruptionReason::Underutilized && saves_nothing {
            found.push(object(name, "is removed as underutilized, but that saves nothing".to_owned()));
        }
    }
    for (name, times) in times.into_iter().filter(|(_, times)| *times > 1) {
        found.push(object(name, format!("is removed {times} times")));
    }
    found.extend(balanced::too_little(case).map(|node| {
        object(
            &node,
            "is removed as underutilized, but saves less than `Balanced` asks for what it disturbs"
                .to_owned(),
        )
    }));
    for target in targets(case) {
        found.extend(mistaken(case, target).map(|why| object(&target.node, why)));
    }
    found
}

fn object(node: &NodeName, why: String) -> Finding {
    Finding::new(Rule::Removal, format!("node `{node}`"), why)
}

fn faults(case: &Case<'_>, node: &Node, reason: DisruptionReason) -> Vec<String> {
    let mut faults = Vec::new();
    let pool = node.pool.as_ref();
    match pool.map(|name| (name, case.pool(name))) {
        None => faults.push("is removed, but belongs to no pool: it is not ours".to_owned()),
        // Budgets and `consolidateAfter` do not apply to requested removals; NodeClaim and tags show who owns the node.
        Some((_, None)) if is_known_without_pool(node, reason) => {}
        Some((name, None)) => {
            faults.push(format!(
                "is removed, but its pool `{name}` is not known: what it allows is not either"
            ));
        }
        // Only removals that save money wait for `consolidateAfter`.
        Some(_) if reason.is_due() => {}
        Some((name, Some(pool))) if pool.replicas.is_some() => faults
            .push(format!("is removed to save money, but pool `{name}` asks for a fixed number of nodes")),
        Some((_, Some(pool))) => faults.extend(not_quiet(case, node, pool)),
    }
    let is_left_over = reason == DisruptionReason::Deleted && node.is_deleting;
    if node.is_do_not_disrupt && !is_left_over {
        faults.push(match &node.kept_because {
            Some(because) => format!("is removed, but has to stay: {because}"),
            None => "is removed, but has `karpenter.sh/do-not-disrupt`".to_owned(),
        });
    }
    if node.is_deleting && !is_left_over {
        faults.push("is removed, but is being deleted already".to_owned());
    }
    match reason {
        DisruptionReason::Empty => {
            faults.extend(carries(case, node));
            faults.extend(
                held::wants(case, node).map(|pod| {
                    format!("is removed as empty, but pod `{pod}`, which is held back, may need it")
                }),
            );
        }
        DisruptionReason::Underutilized => faults.extend(underutilized::faults(case, node)),
        DisruptionReason::Drifted
        | DisruptionReason::Expired
        | DisruptionReason::Unhealthy
        | DisruptionReason::Excess => {
            faults.extend(due::faults(case, node, reason));
        }
        DisruptionReason::Destroyed => faults.extend(destroyed::faults(case, node)),
        DisruptionReason::Deleted => faults.extend(deleted::faults(case, node)),
    }
    // In Karpenter a daemonset pod with `karpenter.sh/do-not-disrupt` keeps its node.
    let is_kept = |pod: &&&Pod| pod.is_daemon && pod.is_protected(case.snapshot.at);
    let is_bounded = matches!(reason, DisruptionReason::Unhealthy | DisruptionReason::Deleted)
        || reason.is_due() && node.claimed.termination_grace_period.is_some();
    if let Some(pod) = case.running_on(&node.name).iter().find(is_kept).filter(|_| !is_bounded) {
        faults.push(format!("is removed, but pod `{}` there has `karpenter.sh/do-not-disrupt`", pod.key));
    }
    faults
}

/// Returns whether a node may be removed without its pool: on request, if its NodeClaim says that nodeform created it.
fn is_known_without_pool(node: &Node, reason: DisruptionReason) -> bool {
    let is_asked = matches!(reason, DisruptionReason::Destroyed | DisruptionReason::Deleted);
    is_asked && node.claimed.is_own && node.claim.is_some()
}

fn not_quiet(case: &Case<'_>, node: &Node, pool: &Pool) -> Option<String> {
    let name = &pool.name;
    let Some(asked) = pool.disruption.consolidate_after else {
        return Some(format!("is removed, but pool `{name}` never consolidates (`consolidateAfter: Never`)"));
    };
    let known = node.quiet_since.zip(case.snapshot.at).map(|(since, at)| at.duration_since(since));
    let is_quiet = asked.is_zero() || node.is_consolidatable || known.is_some_and(|quiet| quiet >= asked);
    (!is_quiet).then(|| {
        format!(
            "is removed, but pool `{name}` waits {asked:#} after the last change of pods, and that much \
             quiet is not known"
        )
    })
}

/// Returns the pods that a node removed as empty carries.
fn carries(case: &Case<'_>, node: &Node) -> Option<String> {
    let busy: Vec<&Pod> = case.running_on(&node.name).iter().copied().filter(|pod| !pod.is_daemon).collect();
    let first = busy.first()?;
    Some(format!("is removed as empty, but carries {} pods, such as `{}`", busy.len(), first.key))
}

/// Returns every existing node that a change concerns.
fn targets<'a>(case: &Case<'a>) -> Vec<&'a ExistingNode> {
    let target = |change: &'a Change| match change {
        Change::Delete(delete) => Some(&delete.target),
        Change::Update(update) => Some(&update.target),
        Change::Adopt(adopt) => Some(&adopt.target),
        Change::Forget(forget) => Some(&forget.target),
        Change::Create(_) | Change::NoOp(_) => None,
    };
    case.plan.spec.changes.values().filter_map(|planned| target(&planned.change)).collect()
}

/// Returns how a change misidentifies its node, or that the node is foreign.
fn mistaken(case: &Case<'_>, target: &ExistingNode) -> Option<String> {
    let Some(node) = case.nodes.get(&target.node) else {
        return Some("is changed, but does not exist".to_owned());
    };
    let ExistingNode { node: _, claim, pool, provider_id } = target;
    if node.pool.is_none() {
        return Some("is changed, but belongs to no pool: it is not ours".to_owned());
    }
    let is_same = *claim == node.claim && *pool == node.pool && *provider_id == node.provider_id;
    (!is_same).then(|| "is changed as another node: claim, pool or providerID differ".to_owned())
}
