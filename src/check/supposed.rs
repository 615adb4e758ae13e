//! What-if plans: a plan with assumptions says so, counts today's nodes, and changes nothing that it assumes away. A
//! plan narrowed to targets holds only changes of these and of what they need.

use std::collections::BTreeSet;

use super::case::Case;
use super::finding::{Finding, Rule};
use super::made::Made;
use crate::model::{Node, NodeName, NodeSelector, PodKey, PodPlace, Requirement, Target, label};
use crate::plan::{Change, ChangeId, PlannedChange};

/// Returns the faults of a plan's assumptions and omissions.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let head = head(case).into_iter().map(|why| Finding::new(Rule::Supposed, "plan", why));
    let mut found: Vec<Finding> = head.collect();
    for absent in &case.snapshot.supposed.absent {
        let object = format!("node `{}`", absent.node.name);
        found.extend(of_absent(case, &absent.node).map(|why| Finding::new(Rule::Supposed, &*object, why)));
    }
    for made in &case.made {
        found.extend(in_failed_zone(case, made).map(|why| Finding::new(Rule::Supposed, made.title(), why)));
    }
    found.extend(beside_targets(case));
    found
}

fn head(case: &Case<'_>) -> Vec<String> {
    let (spec, supposed) = (&case.plan.spec, &case.snapshot.supposed);
    let mut faults = Vec::new();
    if spec.what_if != supposed.what_if {
        faults.push("supposes something else than what it was made for".to_owned());
    }
    if supposed.what_if.is_nothing() && !supposed.absent.is_empty() {
        faults.push("leaves out nodes and does not say that it supposes anything".to_owned());
    }
    if !spec.what_if.is_nothing() && spec.expires_at.is_some() {
        faults.push("supposes what is not so, and yet may be applied until it expires".to_owned());
    }
    if !spec.targets.is_sorted() {
        faults.push("has targets that are not sorted".to_owned());
    }
    faults
}

/// Checks that an absent node is covered by the assumption, and that nothing else refers to it.
fn of_absent(case: &Case<'_>, node: &Node) -> Option<String> {
    let what_if = &case.snapshot.supposed.what_if;
    let in_zone = node.labels.get(label::ZONE).is_some_and(|zone| what_if.without_zones.contains(&**zone));
    let is_meant = what_if.from_scratch.as_ref().is_some_and(|text| match NodeSelector::parse(text) {
        // Without a selector, nodes of system agent pools stay.
        Ok(all) if all.is_everything() => {
            node.pool.is_some() || node.labels.get(label::AKS_MODE).is_none_or(|mode| &**mode != "system")
        }
        Ok(selector) => selector.selects(&node.labels),
        Err(_) => false,
    });
    if !in_zone && !is_meant {
        return Some("is left out, and nothing that is supposed speaks of it".to_owned());
    }
    if case.nodes.contains_key(&node.name) {
        return Some("is there, and left out as well".to_owned());
    }
    let runs = case.snapshot.pods.iter().find(|pod| pod.place == PodPlace::Bound(node.name.clone()));
    if let Some(pod) = runs {
        return Some(format!("is left out, and pod `{}` still runs there", pod.key));
    }
    let is_new = |made: &&Made<'_>| *made.create.vm == *node.name.as_str();
    case.made.iter().any(|made| is_new(&made)).then(|| "exists, and a new node has its name".to_owned())
}

fn in_failed_zone(case: &Case<'_>, made: &Made<'_>) -> Option<String> {
    let gone = &case.snapshot.supposed.what_if.without_zones;
    let listed = made.claim.requirements.get(label::ZONE).and_then(Requirement::listed);
    let may_be = |zone: &str| listed.is_some_and(|zones| zones.contains(zone));
    let zone = gone.iter().find(|zone| made.zone == *zone || may_be(zone.as_str()))?;
    Some(format!("may be made in zone `{zone}`, which is supposed to have failed"))
}

/// Returns whether a change is one side of a move, which needs the other side: a removed node whose pods a new node
/// takes, or that new node.
fn moves_with_others(case: &Case<'_>, change: &Change) -> bool {
    let runs_on = |key: &PodKey| match case.pods.get(key).map(|pod| &pod.place) {
        Some(PodPlace::Bound(node)) => Some(node),
        Some(PodPlace::Waiting) | None => None,
    };
    let moving = |made: &Made<'_>| made.pods.iter().filter_map(runs_on).collect::<Vec<_>>();
    match change {
        Change::Delete(delete) => case.made.iter().any(|made| moving(made).contains(&&delete.target.node)),
        Change::Create(create) => {
            let made = case.made.iter().find(|made| made.create.claim == create.claim);
            made.is_some_and(|made| moving(made).iter().any(|node| case.removed.contains_key(*node)))
        }
        Change::Update(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => false,
    }
}

/// Returns the changes that match no target and that no target needs.
fn beside_targets(case: &Case<'_>) -> Vec<Finding> {
    let spec = &case.plan.spec;
    if spec.targets.is_empty() {
        return Vec::new();
    }
    let targets: BTreeSet<&Target> = spec.targets.iter().collect();
    let is_target = |target: Target| targets.contains(&target);
    let is_wanted = |(id, planned): (&ChangeId, &PlannedChange)| {
        let existing = planned.change.target().is_some_and(|there| {
            is_target(Target::Node(there.node.clone()))
                || there.pool.clone().is_some_and(|pool| is_target(Target::NodePool(pool)))
        });
        let made = case.made.iter().find(|made| made.id == id);
        existing
            || made.is_some_and(|made| {
                is_target(Target::NodePool(made.pool.clone()))
                    || is_target(Target::Node(NodeName::new(made.create.claim.as_str())))
                    || is_target(Target::Node(NodeName::new(&made.create.vm)))
                    || made.pods.iter().any(|key| comes_from_target(case, key, &targets))
            })
            || moves_with_others(case, &planned.change)
            || matches!(planned.change, Change::NoOp(_))
    };
    let beside = spec.changes.iter().filter(|change| !is_wanted(*change));
    let finding = |(id, _): (&ChangeId, &PlannedChange)| {
        Finding::new(Rule::Supposed, format!("change `{id}`"), "is not among the targets of the plan")
    };
    beside.map(finding).collect()
}

/// Returns whether a pod runs on a node that is a target, or whose pool is one.
fn comes_from_target(case: &Case<'_>, key: &crate::model::PodKey, targets: &BTreeSet<&Target>) -> bool {
    let Some(PodPlace::Bound(name)) = case.pods.get(key).map(|pod| &pod.place) else { return false };
    let pool = case.nodes.get(name).and_then(|node| node.pool.clone());
    targets.contains(&Target::Node(name.clone()))
        || pool.is_some_and(|pool| targets.contains(&Target::NodePool(pool)))
}
