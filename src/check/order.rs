//! Order: every step of every change is in exactly one wave, and no node is removed before its replacement exists.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{NodeName, PoolName};
use crate::plan::{Change, ChangeId, Precondition, Step};

/// Returns the faults of the waves and of the changes' preconditions.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut object = |what: String, why: String| found.push(Finding::new(Rule::Order, what, why));
    let when = when(case);
    for (id, planned) in &case.plan.spec.changes {
        for step in steps(&planned.change) {
            match when.get(&(id, *step)).map_or(&[][..], Vec::as_slice) {
                [_] => {}
                [] => object(format!("change `{id}`"), format!("its step {step:?} stands in no wave")),
                waves => {
                    object(format!("change `{id}`"), format!("its step {step:?} stands in waves {waves:?}"));
                }
            }
        }
        for pool in planned.preconditions.iter().filter_map(|condition| other_limits(case, condition)) {
            object(format!("change `{id}`"), format!("is bound by limits that pool `{pool}` does not have"));
        }
        let missing = missing_conditions(&planned.change, &planned.preconditions);
        for what in missing {
            object(format!("change `{id}`"), format!("starts without the condition `{what}`"));
        }
    }
    for (id, step) in when.keys() {
        match case.plan.spec.changes.get(id) {
            None => {
                object(format!("change `{id}`"), "stands in a wave, but there is no such change".to_owned());
            }
            Some(planned) if !steps(&planned.change).contains(step) => {
                object(
                    format!("change `{id}`"),
                    format!("stands in a wave with step {step:?}, which it has not"),
                );
            }
            Some(_) => {}
        }
    }
    for (id, why) in too_early(case, &when) {
        object(format!("change `{id}`"), why);
    }
    for (number, wave) in (1..).zip(&case.plan.spec.waves) {
        let is_sorted = wave.steps.values().all(|ids| !ids.is_empty() && ids.is_sorted());
        if wave.steps.is_empty() || !is_sorted {
            object(format!("wave {number}"), "is empty, or its changes are not sorted".to_owned());
        }
    }
    found
}

/// The waves of each step of each change.
type When<'a> = BTreeMap<(&'a ChangeId, Step), Vec<usize>>;

fn when<'a>(case: &Case<'a>) -> When<'a> {
    let mut when = When::new();
    for (number, wave) in (1..).zip(&case.plan.spec.waves) {
        for (step, ids) in &wave.steps {
            for id in ids {
                when.entry((id, *step)).or_default().push(number);
            }
        }
    }
    when
}

const fn steps(change: &Change) -> &'static [Step] {
    match change {
        Change::Create(_) => &[Step::Create],
        Change::Delete(_) => &[Step::Drain, Step::Delete],
        Change::Update(_) => &[Step::Update],
        Change::Adopt(_) => &[Step::Adopt],
        Change::Forget(_) => &[Step::Forget],
        Change::NoOp(_) => &[],
    }
}

/// Checks that nodes are created before any is removed, and that a node is drained before it is deleted.
fn too_early<'a>(case: &Case<'a>, when: &When<'a>) -> Vec<(&'a ChangeId, String)> {
    let first = |id: &'a ChangeId, step| when.get(&(id, step)).and_then(|waves| waves.first().copied());
    let is_plain_create = |id: &ChangeId| {
        case.plan.spec.changes.get(id).is_some_and(|it| matches!(it.change, Change::Create(_)))
    };
    let creates = when.iter().filter(|((id, step), _)| *step == Step::Create && is_plain_create(id));
    let last_create = creates.flat_map(|(_, waves)| waves).max().copied().unwrap_or(0);
    let mut early = Vec::new();
    for id in case.plan.spec.changes.keys() {
        let (create, drain, delete) =
            (first(id, Step::Create), first(id, Step::Drain), first(id, Step::Delete));
        if drain.is_some_and(|wave| wave < last_create) {
            early.push((id, "takes a node away before all new nodes are made".to_owned()));
        }
        let is_ordered = |one: Option<usize>, two: Option<usize>| one.zip(two).is_none_or(|(a, b)| a <= b);
        if !is_ordered(create, drain) || !is_ordered(drain, delete) || !is_ordered(create, delete) {
            early.push((id, "its steps stand in the wrong order".to_owned()));
        }
    }
    early
}

/// Returns the pool whose limits a precondition states wrongly.
fn other_limits<'c>(case: &Case<'_>, condition: &'c Precondition) -> Option<&'c PoolName> {
    let Precondition::WithinLimits { pool, nodes_max, limits } = condition else { return None };
    let known = case.policy.pools.get(pool);
    let is_so = known.is_some_and(|known| known.nodes_max == *nodes_max && known.limits == *limits);
    (!is_so).then_some(pool)
}

/// Returns the preconditions that a change of this kind requires and does not have.
fn missing_conditions(change: &Change, conditions: &[Precondition]) -> BTreeSet<&'static str> {
    let (create, delete) = match change {
        Change::Create(create) => (Some(create), None),
        Change::Delete(delete) => (None, Some(delete)),
        Change::Update(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => (None, None),
    };
    let holds = |test: &dyn Fn(&Precondition) -> bool| conditions.iter().any(test);
    let mut missing = BTreeSet::new();
    if let Change::Forget(forget) = change
        && !holds(&|it| matches!(it, Precondition::SameNode { node, .. } if *node == forget.target.node))
    {
        missing.insert("sameNode");
    }
    if let Some(create) = create {
        if !holds(&|it| matches!(it, Precondition::NameFree { claim } if *claim == create.claim)) {
            missing.insert("nameFree");
        }
        if !holds(&|it| matches!(it, Precondition::PoolUnchanged { .. })) {
            missing.insert("poolUnchanged");
        }
        if !holds(&|it| matches!(it, Precondition::WithinLimits { .. })) {
            missing.insert("withinLimits");
        }
    }
    if let Some(delete) = delete {
        let name = &delete.target.node;
        if !holds(&|it| matches!(it, Precondition::SameNode { node, .. } if node == name)) {
            missing.insert("sameNode");
        }
        let may_be_node_only = delete.reason.is_due();
        let is_it = |node: &NodeName, node_only: bool| node == name && (may_be_node_only || !node_only);
        let is_deleted = delete.reason == crate::model::DisruptionReason::Deleted;
        let is_protected = |it: &Precondition| matches!(it, Precondition::NotProtected { node, node_only } if is_it(node, *node_only));
        if !is_deleted && !holds(&is_protected) {
            missing.insert("notProtected");
        }
        let is_empty = delete.reason == crate::model::DisruptionReason::Empty;
        if is_empty && !holds(&|it| matches!(it, Precondition::NodeEmpty { node } if node == name)) {
            missing.insert("nodeEmpty");
        }
    }
    missing
}
