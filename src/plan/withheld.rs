//! Changes that cannot be applied regardless of budgets: they are omitted with everything that depends on them, and
//! reported.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, ChangeId};
use super::evidence::HeldChange;
use super::propose::{Ground, Proposal};
use super::spec::PlannedChange;
use super::target::{runs_on, with_needed};
use crate::model::{ChangeClass, NodeName, PodKey, PoolName};
use crate::solve::Held;

/// The omissions.
#[derive(Clone, Debug, Default)]
pub(super) struct Withheld {
    /// The omitted changes.
    pub(super) changes: BTreeSet<ChangeId>,
    /// The same by node.
    pub(super) nodes: Vec<HeldChange>,
    /// Pods whose new node is omitted, by reason.
    pub(super) pods: Vec<Held>,
}

/// Returns the refused changes of a proposal, each with its reason, and those that depend on them: removals of nodes
/// whose pods would move there, and the new nodes of their other pods.
pub(super) fn withheld(
    ground: Ground<'_>,
    proposal: &Proposal,
    refused: &BTreeMap<ChangeId, String>,
) -> Withheld {
    let first: BTreeSet<&ChangeId> = proposal.changes.keys().filter(|id| refused.contains_key(*id)).collect();
    if first.is_empty() {
        return Withheld::default();
    }
    let others = format!("it waits for what is withheld: {}", why(refused, first.iter().copied()));
    let all = with_needed(ground, proposal, first);
    let mut withheld = Withheld::default();
    let mut pods: BTreeMap<&str, Vec<PodKey>> = BTreeMap::new();
    let is_running = |key: &PodKey| {
        let pod = ground.snapshot.pods.iter().find(|pod| pod.key == *key);
        pod.is_some_and(|pod| runs_on(ground, &pod.place))
    };
    for id in all {
        let because = refused.get(id).unwrap_or(&others);
        let placed = proposal.placements.get(id).map_or(&[][..], |placement| &placement.pods);
        let waiting = placed.iter().filter(|key| !is_running(key)).cloned();
        pods.entry(because).or_default().extend(waiting);
        withheld.nodes.extend(proposal.changes.get(id).and_then(|planned| of(proposal, planned, because)));
        withheld.changes.insert(id.clone());
    }
    let pods = pods.into_iter().filter(|(_, pods)| !pods.is_empty());
    withheld.pods = pods
        .map(|(because, mut pods)| {
            pods.sort();
            Held { pods, waits_for: Held::LAUNCH.to_owned(), because: because.to_owned() }
        })
        .collect();
    withheld
}

/// Returns the reasons without duplicates.
fn why<'i>(refused: &BTreeMap<ChangeId, String>, ids: impl Iterator<Item = &'i ChangeId>) -> String {
    let reasons: BTreeSet<&str> = ids.filter_map(|id| refused.get(id)).map(String::as_str).collect();
    reasons.into_iter().collect::<Vec<_>>().join("; ")
}

fn of(proposal: &Proposal, planned: &PlannedChange, because: &str) -> Option<HeldChange> {
    let change = &planned.change;
    let held = |node: NodeName, pool: Option<PoolName>, class, reason| HeldChange {
        node,
        pool,
        class,
        reason,
        because: because.to_owned(),
        until: None,
    };
    if let Some(create) = change.create() {
        let pool = proposal.claims.get(&create.spec).map(|claim| claim.pool.clone());
        return Some(held(NodeName::new(create.claim.as_str()), pool, ChangeClass::Create, None));
    }
    let target = change.target()?;
    let (class, reason) = match change {
        Change::Delete(delete) => (ChangeClass::of(delete.reason), Some(delete.reason)),
        Change::Adopt(_) => (ChangeClass::Adopt, None),
        Change::Forget(_) => (ChangeClass::Forget, None),
        Change::Update(_) | Change::Create(_) | Change::NoOp(_) => (ChangeClass::Update, None),
    };
    Some(held(target.node.clone(), target.pool.clone(), class, reason))
}
