//! Waves: creates before drains before deletes, and no more at once than the budgets let go: those of the pools, and
//! the PodDisruptionBudgets of what is evicted.
//!
//! A plan holds all its waves. Each later one is measured against the nodes that its pool then still has,
//! without those that the plan makes, so that it is never larger than the budgets would allow by then. The
//! limit on losses per time counts nodes with running pods only and belongs to the rollout, not here.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, ChangeId, Delete, Replace};
use super::drains::{Drains, Pace};
use super::evidence::HeldChange;
use super::spec::{PlannedChange, Step, Wave};
use crate::model::allowance::Allowance;
use crate::model::{ChangeClass, DisruptionReason, Hold, Node, NodeStage, PoolName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// The order of a plan's changes.
#[derive(Debug, Default)]
pub struct Order {
    /// One after another.
    pub waves: Vec<Wave>,
    /// What stands in no wave, by node.
    pub held: Vec<HeldChange>,
    /// The changes that `held` speaks of.
    pub held_changes: BTreeSet<ChangeId>,
    /// What could not be decided without a time, for people.
    pub undecided: BTreeSet<String>,
}

/// Removals of one pool that wait for their wave.
struct Queue<'a> {
    allowance: Allowance<'a>,
    /// Nodes of the pool that are initialized and not yet leaving.
    nodes: usize,
    /// Nodes that are leaving already; they count in the first wave.
    leaving: usize,
    /// By reason and node name, the next one last.
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
    for (pool, waiting) in removals {
        queues.extend(admit(snapshot, policy, (pool, waiting), &mut order));
    }
    // What is made belongs to the first wave together with a replaced node's removal or not at all.
    for ids in first.steps.values_mut() {
        ids.retain(|id| !order.held_changes.contains(id));
    }
    first.steps.retain(|_, ids| !ids.is_empty());
    spread(first, queues, &Drains::of(snapshot), &mut order.waves);
    order.held.sort_by(|one, other| one.node.cmp(&other.node));
    order
}

/// Returns what of a change goes into the first wave, and what of it is a removal.
const fn parts(change: &Change) -> (Option<Step>, Option<&Delete>) {
    match change {
        Change::Create(_) => (Some(Step::Create), None),
        Change::Delete(delete) => (None, Some(delete)),
        Change::Replace(Replace { create: _, delete }) => (Some(Step::Create), Some(delete)),
        Change::Update(_) => (Some(Step::Update), None),
        Change::Adopt(_) => (Some(Step::Adopt), None),
        Change::Forget(_) => (Some(Step::Forget), None),
        Change::NoOp(_) => (None, None),
    }
}

/// Sets aside what may never go, and returns the queue of the rest.
fn admit<'a>(
    snapshot: &Snapshot,
    policy: &'a Policy,
    (pool, removals): (Option<PoolName>, Vec<(ChangeId, Delete)>),
    order: &mut Order,
) -> Option<Queue<'a>> {
    let Some(known) = pool.as_ref().and_then(|name| policy.pools.get(name)) else {
        let because = match &pool {
            Some(name) => format!("pool `{name}` is not in the input, so its budgets are not known"),
            None => "no pool owns it".to_owned(),
        };
        let hold = Hold { because, until: None };
        removals.into_iter().for_each(|removal| set_aside(removal, hold.clone(), order));
        return None;
    };
    let allowance = Allowance::of(known, &policy.fleet.holds, snapshot.at);
    for schedule in &allowance.undecided {
        order.undecided.insert(format!(
            "whether the budget of pool `{}` with schedule `{schedule}` holds now; taken as if it did",
            known.name
        ));
    }
    let (nodes, leaving) = count(&snapshot.nodes, &known.name);
    let mut waiting = Vec::new();
    for (id, delete) in removals {
        match refusal(&allowance, delete.reason, (nodes, leaving)) {
            Some(hold) => set_aside((id, delete), hold, order),
            None => waiting.push((id, delete)),
        }
    }
    waiting.sort_by(|(_, one), (_, other)| {
        (other.reason, &other.target.node).cmp(&(one.reason, &one.target.node))
    });
    Some(Queue { allowance, nodes, leaving, waiting })
}

/// Returns what keeps a removal out of every wave: the fleet, a budget of nothing, or nodes that are leaving already
/// and use all of it up: a wave without changes cannot be waited for, so the rest is for a later plan.
fn refusal(
    allowance: &Allowance<'_>,
    reason: DisruptionReason,
    (nodes, leaving): (usize, usize),
) -> Option<Hold> {
    if let Some(hold) = allowance.hold(reason) {
        return Some(hold);
    }
    // One node at least, as any percentage of one node is.
    let nodes = nodes.max(1);
    let used_up = leaving >= allowance.nodes(reason, nodes);
    let because = allowance.refusal(reason, nodes).or_else(|| {
        used_up.then(|| {
            format!("{leaving} of its pool on the way out already: the budgets let no more go at once")
        })
    })?;
    Some(Hold { because, until: None })
}

/// Returns how many initialized nodes of the pool stay so far, and how many of it are leaving already.
fn count(nodes: &[Node], pool: &PoolName) -> (usize, usize) {
    let of_pool = || nodes.iter().filter(|node| node.pool.as_ref() == Some(pool));
    let stays = |node: &&Node| node.stage == NodeStage::Initialized && !node.is_deleting;
    (of_pool().filter(stays).count(), of_pool().filter(|node| node.is_deleting).count())
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

/// Spreads the removals over waves; the first goes with what is made.
fn spread(first: Wave, mut queues: Vec<Queue<'_>>, drains: &Drains<'_>, waves: &mut Vec<Wave>) {
    let mut wave = first;
    loop {
        let pace = &mut drains.wave(waves.is_empty());
        let going: BTreeSet<ChangeId> = queues.iter_mut().flat_map(|queue| queue.next(pace)).collect();
        let waiting = queues.iter().any(|queue| !queue.waiting.is_empty());
        if !going.is_empty() {
            let ids: Vec<ChangeId> = going.into_iter().collect();
            wave.steps.insert(Step::Drain, ids.clone());
            wave.steps.insert(Step::Delete, ids);
        }
        if !wave.steps.is_empty() {
            waves.push(std::mem::take(&mut wave));
        }
        if !waiting {
            break;
        }
    }
}

impl Queue<'_> {
    /// Takes what may go in the next wave. Whatever was admitted has more budget than nodes are leaving, and the first
    /// drain of a wave fits every PodDisruptionBudget, so that every wave takes something while something waits.
    fn next(&mut self, pace: &mut Pace<'_>) -> Vec<ChangeId> {
        let Self { allowance, nodes, leaving, waiting } = self;
        let mut going = Vec::new();
        let mut kept = Vec::new();
        while let Some((id, delete)) = waiting.pop() {
            let allowed = allowance.nodes(delete.reason, (*nodes).max(1));
            if going.len() + *leaving < allowed && pace.take(&delete.target.node) {
                going.push(id);
            } else {
                kept.push((id, delete));
            }
        }
        kept.reverse();
        *waiting = kept;
        *nodes = nodes.saturating_sub(going.len());
        *leaving = 0;
        going
    }
}
