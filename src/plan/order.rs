//! Waves: creates before drains before deletes, never more at the same time than disruption budgets and
//! PodDisruptionBudgets allow.
//!
//! A plan contains all its waves. Each later wave is measured against the nodes that its pool then still has, without
//! the plan's new nodes, so it never exceeds what the budgets would allow by then. The rate limit on losses counts only
//! nodes with running pods and belongs to the rollout, not here.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, ChangeId, Delete};
use super::drains::{Drains, Pace};
use super::evidence::HeldChange;
use super::spec::{PlannedChange, Step, Wave};
use crate::model::allowance::{Allowance, PoolNodes};
use crate::model::{ChangeClass, Hold, NodeName, PoolName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// The order of a plan's changes.
#[derive(Debug, Default)]
pub struct Order {
    /// The waves in order.
    pub waves: Vec<Wave>,
    /// Changes that are in no wave, by node.
    pub held: Vec<HeldChange>,
    /// Ids of the changes in `held`.
    pub held_changes: BTreeSet<ChangeId>,
    /// What could not be evaluated without a time, for people.
    pub undecided: BTreeSet<String>,
}

/// Removals of one pool that wait for a wave.
struct Queue<'a> {
    allowance: Allowance<'a>,
    /// Nodes that the pool still has; those being deleted count in the first wave.
    nodes: PoolNodes<'a>,
    /// Sorted by reason and node name, the next one last.
    waiting: Vec<(ChangeId, Delete)>,
}

/// Orders the changes.
#[must_use]
pub fn order(snapshot: &Snapshot, policy: &Policy, changes: &BTreeMap<ChangeId, PlannedChange>) -> Order {
    let mut order = Order::default();
    let mut first = Wave::default();
    let mut removals: BTreeMap<Option<PoolName>, Vec<(ChangeId, Delete)>> = BTreeMap::new();
    for (id, planned) in changes {
        let (step, removal) = parts(&planned.change);
        if let Some(delete) = removal {
            removals.entry(delete.target.pool.clone()).or_default().push((id.clone(), delete.clone()));
        }
        if let Some(step) = step {
            first.steps.entry(step).or_default().push(id.clone());
        }
    }
    let mut queues = Vec::new();
    for (pool, waiting) in &mut removals {
        queues.extend(admit(snapshot, policy, (pool.as_ref(), std::mem::take(waiting)), &mut order));
    }
    let going = spread(queues, &Drains::of(snapshot), &mut order);
    // A removal that is held takes its changes out of the first wave too.
    for ids in first.steps.values_mut() {
        ids.retain(|id| !order.held_changes.contains(id));
    }
    first.steps.retain(|_, ids| !ids.is_empty());
    order.waves = waves(first, going);
    order.held.sort_by(|one, other| one.node.cmp(&other.node));
    order
}

/// Returns a change's step in the first wave, and its removal.
const fn parts(change: &Change) -> (Option<Step>, Option<&Delete>) {
    match change {
        Change::Create(_) => (Some(Step::Create), None),
        Change::Delete(delete) => (None, Some(delete)),
        Change::Update(_) => (Some(Step::Update), None),
        Change::Adopt(_) => (Some(Step::Adopt), None),
        Change::Forget(_) => (Some(Step::Forget), None),
        Change::NoOp(_) => (None, None),
    }
}

/// Sets aside removals that are never allowed, and returns the queue of the rest.
fn admit<'a>(
    snapshot: &'a Snapshot,
    policy: &'a Policy,
    (pool, mut removals): (Option<&'a PoolName>, Vec<(ChangeId, Delete)>),
    order: &mut Order,
) -> Option<Queue<'a>> {
    let holds = &policy.fleet.holds;
    let Some(name) = pool else {
        let hold = Hold { because: "no pool owns it".to_owned(), until: None };
        removals.into_iter().for_each(|removal| set_aside(removal, hold.clone(), order));
        return None;
    };
    let allowance = if let Some(known) = policy.pools.get(name) {
        Allowance::of(known, holds, snapshot.at)
    } else {
        let because = format!("pool `{name}` is not in the input, so its budgets are not known");
        let hold = Hold { because, until: None };
        for budgeted in removals.extract_if(.., |(_, delete)| !delete.reason.is_asked()) {
            set_aside(budgeted, hold.clone(), order);
        }
        Allowance::without_budgets(name, holds, snapshot.at)
    };
    for schedule in &allowance.undecided {
        order.undecided.insert(format!(
            "whether the budget of pool `{name}` with schedule `{schedule}` holds now; taken as if it did"
        ));
    }
    let nodes = PoolNodes::of(&snapshot.nodes, name);
    let (down, well): (Vec<_>, Vec<_>) =
        removals.into_iter().partition(|(_, delete)| nodes.not_ready.contains(&delete.target.node));
    let mut waiting = Vec::new();
    // A not-ready node that is removed no longer counts when the others are checked.
    let mut then = nodes.clone();
    for (id, delete) in down.into_iter().chain(well) {
        match refusal(&allowance, &delete, &then) {
            Some(hold) => set_aside((id, delete), hold, order),
            None => {
                then.not_ready.remove(&delete.target.node);
                waiting.push((id, delete));
            }
        }
    }
    waiting.sort_by(|(_, one), (_, other)| {
        (other.reason, &other.target.node).cmp(&(one.reason, &one.target.node))
    });
    Some(Queue { allowance, nodes, waiting })
}

/// Returns what keeps a removal out of every wave: a hold of the fleet, a budget of 0, or not-ready nodes that use up
/// the budget. A wave without changes cannot be waited for, so the rest is left to a later plan.
fn refusal(allowance: &Allowance<'_>, delete: &Delete, nodes: &PoolNodes<'_>) -> Option<Hold> {
    if let Some(hold) = allowance.hold(delete.reason) {
        return Some(hold);
    }
    let because = allowance.kept(delete.reason, &delete.target.node, nodes)?;
    Some(Hold { because, until: None })
}

fn set_aside((id, delete): (ChangeId, Delete), Hold { because, until }: Hold, order: &mut Order) {
    let Delete { target, reason } = delete;
    order.held.push(HeldChange {
        node: target.node,
        pool: target.pool,
        class: ChangeClass::of(reason),
        reason: Some(reason),
        because,
        until,
    });
    order.held_changes.insert(id);
}

/// Distributes the removals over waves. Removals that fit no wave are set aside: while a pool shrinks, a percentage of
/// it may drop to the number of its not-ready nodes.
fn spread(mut queues: Vec<Queue<'_>>, drains: &Drains<'_>, order: &mut Order) -> Vec<Vec<ChangeId>> {
    let mut waves = Vec::new();
    loop {
        let pace = &mut drains.wave(waves.is_empty());
        let going: BTreeSet<ChangeId> = queues.iter_mut().flat_map(|queue| queue.next(pace)).collect();
        if going.is_empty() {
            break;
        }
        waves.push(going.into_iter().collect());
    }
    for Queue { allowance, nodes, waiting } in queues {
        for (id, delete) in waiting {
            let late = || Hold { because: "the budgets let no more go".to_owned(), until: None };
            let hold = refusal(&allowance, &delete, &nodes).unwrap_or_else(late);
            set_aside((id, delete), hold, order);
        }
    }
    waves
}

/// Returns the waves with these removals; the first one includes the other steps.
fn waves(first: Wave, going: Vec<Vec<ChangeId>>) -> Vec<Wave> {
    let mut waves = Vec::new();
    let mut wave = first;
    for ids in going {
        wave.steps.insert(Step::Drain, ids.clone());
        wave.steps.insert(Step::Delete, ids);
        waves.push(std::mem::take(&mut wave));
    }
    waves.extend(Some(wave).filter(|wave| !wave.steps.is_empty()));
    waves
}

impl Queue<'_> {
    /// Takes the removals of the next wave. The first drain of a wave fits every PodDisruptionBudget, so every wave
    /// takes something while budgets allow it.
    fn next(&mut self, pace: &mut Pace<'_>) -> Vec<ChangeId> {
        let Self { allowance, nodes, waiting } = self;
        let mut going = Vec::new();
        let mut names: BTreeSet<NodeName> = BTreeSet::new();
        let mut kept = Vec::new();
        while let Some((id, delete)) = waiting.pop() {
            let node = &delete.target.node;
            let allowed = allowance.nodes(delete.reason, nodes.joined.max(1));
            let down = nodes.down_beside(delete.reason, |other| other == node || names.contains(other));
            if going.len() + nodes.leaving + down < allowed && pace.take(node) {
                names.insert(node.clone());
                going.push(id);
            } else {
                kept.push((id, delete));
            }
        }
        kept.reverse();
        *waiting = kept;
        nodes.joined = nodes.joined.saturating_sub(going.len());
        nodes.not_ready.retain(|node| !names.contains(*node));
        nodes.leaving = 0;
        going
    }
}
