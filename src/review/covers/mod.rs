//! The part of an approved plan that a second plan still needs: a pure function of two plans.
//!
//! ```text
//!  approved ─┐            ┌─ of each approved change: kept, gone, no longer needed, no longer holds
//!            ├─ covers() ─┤
//!  fresh ────┘            └─ of each other change of the fresh plan: why it is not covered
//! ```
//!
//! Fewer, cheaper and slower is always covered. Reads only the two plans, and shares no reasoning with the planner.
//! Must never keep a change that was not approved.

mod creates;
mod made;
mod newcomers;
mod order;
mod pairs;
mod removals;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::SignedDuration;

use crate::plan::{Change, ChangeId, Delete, Execution, Plan};
use creates::Creates;
use removals::Removals;

/// Limit of approved removals that no longer hold, as one in this many, before the others are dropped.
const LOST_ONE_IN: usize = 5;

/// Minimum number of removals that no longer hold before the others are dropped.
const LOST_MIN: usize = 2;

/// The part of an approved plan that a second plan covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Covered {
    /// The fate of each approved change.
    pub approved: BTreeMap<ChangeId, Fate>,
    /// Changes of the fresh plan that were not approved, each with the reason.
    pub strange: BTreeMap<ChangeId, Arc<str>>,
    /// Kept changes in the order of the fresh plan; no wave removes more nodes than the largest wave of the approved
    /// plan.
    pub waves: Vec<Vec<ChangeId>>,
}

/// Fate of an approved change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The fresh plan contains it too, or less of it.
    Kept(Kept),
    /// Its node no longer exists.
    Gone,
    /// It is no longer needed.
    NoLongerNeeded(Arc<str>),
    /// The facts on which it was approved have changed.
    NoLongerHolds(Arc<str>),
    /// It may start later while the plan is valid: a pod that came after the review blocks it, or blocks the removal
    /// that it is for.
    Waits(Arc<str>),
}

/// The kept part of an approved change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The corresponding change of the fresh plan.
    pub fresh: ChangeId,
    /// For a create: indices of its approved choices that the fresh plan still lists.
    pub choices: BTreeSet<usize>,
    /// For a removal: the approved creates that take its pods in the fresh plan.
    pub after: BTreeSet<ChangeId>,
    /// For a removal: maximum drain time of its node in the fresh plan.
    pub grace: Option<SignedDuration>,
}

impl Fate {
    /// Returns the kept part of the change, if any.
    #[must_use]
    pub const fn kept(&self) -> Option<&Kept> {
        match self {
            Self::Kept(kept) => Some(kept),
            Self::Gone | Self::NoLongerNeeded(_) | Self::NoLongerHolds(_) | Self::Waits(_) => None,
        }
    }
}

/// Returns the part of an approved plan that a fresh plan covers.
#[must_use]
pub fn covers(approved: &Plan, fresh: &Plan) -> Covered {
    let (ours, theirs) = match executions(approved, fresh) {
        Ok(executions) => executions,
        Err(because) => return nothing(approved, fresh, because),
    };
    let pair = Pair { approved, fresh, ours, theirs };
    let removals = Removals::of(pair);
    let creates = Creates::of(pair, &removals);
    let mut covered = Covered { strange: creates.strange(), ..Covered::default() };
    let (going, refused) = removals.covered(&creates);
    covered.strange.extend(refused);
    let others = same(pair);
    covered.strange.extend(strange_others(pair, &others));
    for (id, planned) in &approved.spec.changes {
        let fate = match &planned.change {
            Change::Create(_) => creates.fate(id),
            Change::Delete(delete) => match going.get(id) {
                Some(fate) => fate.clone(),
                None => match removals.why(id, &covered.strange) {
                    None => removals.lost(id, delete).unwrap_or_else(|| stays(fresh, delete, None)),
                    because => stays(fresh, delete, because),
                },
            },
            Change::Update(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => {
                match others.contains(id) {
                    true => Fate::Kept(Kept::same(id)),
                    false => Fate::NoLongerNeeded("already done, or no longer needed".into()),
                }
            }
        };
        covered.approved.insert(id.clone(), fate);
    }
    covered.without_needless(pair);
    covered.creates_wait(pair);
    covered.waves = order::waves(pair, &covered);
    covered
}

impl Covered {
    /// Returns whether the whole fresh plan is covered.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.strange.is_empty()
    }

    /// Drops the kept removals, and the creates for them, if at least two and more than a fifth of the approved
    /// removals no longer hold: the cluster has changed too much since the review. Returns the reason if so.
    pub fn drop_if_too_many_are_lost(&mut self, approved: &Plan) -> Option<Arc<str>> {
        let removals: Vec<&ChangeId> = approved.spec.deletes().map(|(id, _)| id).collect();
        let is_lost = |id: &&&ChangeId| matches!(self.approved.get(**id), Some(Fate::NoLongerHolds(_)));
        let (lost, of) = (removals.iter().filter(is_lost).count(), removals.len());
        if lost < LOST_MIN || lost * LOST_ONE_IN <= of {
            return None;
        }
        let because: Arc<str> =
            format!("{lost} of the {of} approved removals no longer hold, more than a fifth").into();
        for id in removals {
            if let Some(fate) = self.approved.get_mut(id)
                && matches!(fate, Fate::Kept(_))
            {
                *fate = Fate::NoLongerHolds(because.clone());
            }
        }
        let needed_before = approved.spec.execution.as_ref().map(|ours| needed(ours, |_| true));
        for (id, fate) in &mut self.approved {
            let Fate::Kept(_) = fate else { continue };
            let was_for_removals = needed_before.as_ref().is_some_and(|needed| needed.contains(id));
            if was_for_removals && !is_nominated(approved.spec.execution.as_ref(), id) {
                *fate = Fate::NoLongerNeeded("the nodes whose pods it takes stay".into());
            }
        }
        let kept = |id: &ChangeId| matches!(self.approved.get(id), Some(Fate::Kept(_)));
        self.waves.iter_mut().for_each(|wave| wave.retain(kept));
        self.waves.retain(|wave| !wave.is_empty());
        Some(because)
    }

    /// Makes creates wait that only waiting removals need: their pods need the capacity later.
    fn creates_wait(&mut self, pair: Pair<'_>) {
        let waits = |id: &ChangeId| matches!(self.approved.get(id), Some(Fate::Waits(_)));
        for id in needed(pair.ours, waits) {
            if let Some(fate) = self.approved.get_mut(&id)
                && matches!(fate, Fate::NoLongerNeeded(_))
            {
                *fate = Fate::Waits("the nodes whose pods it takes wait".into());
            }
        }
    }

    /// Leaves out creates that only removals need which are not covered.
    fn without_needless(&mut self, pair: Pair<'_>) {
        let Pair { theirs, .. } = pair;
        let kept: BTreeSet<&ChangeId> =
            self.approved.values().filter_map(Fate::kept).map(|kept| &kept.fresh).collect();
        let all = needed(theirs, |_| true);
        let left = needed(theirs, |removal| kept.contains(removal));
        let is_needless = |fresh: &ChangeId| {
            all.contains(fresh) && !left.contains(fresh) && !is_nominated(Some(theirs), fresh)
        };
        let needless: Vec<ChangeId> = self
            .approved
            .iter()
            .filter(|(_, fate)| fate.kept().is_some_and(|kept| is_needless(&kept.fresh)))
            .map(|(id, _)| id.clone())
            .collect();
        for id in needless {
            let because = "the nodes whose pods it would take stay".into();
            self.approved.insert(id, Fate::NoLongerNeeded(because));
        }
    }
}

impl Kept {
    /// Returns a change that is identical in both plans.
    fn same(id: &ChangeId) -> Self {
        Self { fresh: id.clone(), choices: BTreeSet::new(), after: BTreeSet::new(), grace: None }
    }
}

/// Two plans of one cluster.
#[derive(Clone, Copy, Debug)]
struct Pair<'a> {
    approved: &'a Plan,
    fresh: &'a Plan,
    ours: &'a Execution,
    theirs: &'a Execution,
}

/// Returns the execution sections of both plans, if they are of the same cluster.
fn executions<'a>(
    approved: &'a Plan,
    fresh: &'a Plan,
) -> Result<(&'a Execution, &'a Execution), &'static str> {
    match (&approved.spec.execution, &fresh.spec.execution) {
        (Some(ours), Some(theirs)) if ours.cluster.is_same(&theirs.cluster) => Ok((ours, theirs)),
        (Some(_), Some(_)) => Err("the plans are of two clusters"),
        (None, _) => Err("the approved plan was not made from a live cluster"),
        (Some(_), None) => Err("the fresh plan does not say how it is applied"),
    }
}

/// Returns a result that covers nothing. A fresh plan without changes needs none of the approved ones.
fn nothing(approved: &Plan, fresh: &Plan, because: &'static str) -> Covered {
    let because: Arc<str> = because.into();
    let fate = |(id, planned): (&ChangeId, &crate::plan::PlannedChange)| {
        let fate = match (planned.change.delete(), fresh.spec.changes.is_empty()) {
            (Some(delete), true) => stays(fresh, delete, None),
            (None, true) => Fate::NoLongerNeeded("no longer needed".into()),
            (Some(_) | None, false) => Fate::NoLongerHolds(because.clone()),
        };
        (id.clone(), fate)
    };
    Covered {
        approved: approved.spec.changes.iter().map(fate).collect(),
        strange: fresh.spec.changes.keys().map(|id| (id.clone(), because.clone())).collect(),
        waves: Vec::new(),
    }
}

/// Returns the fate of an approved removal that the fresh plan does not contain.
fn stays(fresh: &Plan, delete: &Delete, refused: Option<Arc<str>>) -> Fate {
    let evidence = &fresh.evidence;
    let node = &delete.target.node;
    let is_it = |known: &crate::model::Node| {
        known.name == *node || known.claim.is_some() && known.claim == delete.target.claim
    };
    if !evidence.world.nodes.iter().any(is_it) {
        return Fate::Gone;
    }
    let held = || evidence.held.iter().find(|held| held.node == *node).map(|held| held.because.as_str());
    let staying = || {
        let mut staying = evidence.report.staying.iter();
        staying.find(|(name, _)| name == node).map(|(_, because)| because.as_str())
    };
    let because = refused.or_else(|| held().or_else(staying).map(Arc::from));
    Fate::NoLongerHolds(because.unwrap_or_else(|| {
        "in the fresh plan it is kept: its pods would not all fit elsewhere, or nothing would be saved".into()
    }))
}

/// Returns the changes of other kinds that are identical in both plans, on the same node.
fn same(Pair { approved, fresh, ours, theirs }: Pair<'_>) -> BTreeSet<ChangeId> {
    let is_same = |(id, planned): &(&ChangeId, &crate::plan::PlannedChange)| {
        let is_alike = fresh.spec.changes.get(*id).is_some_and(|theirs| theirs.change == planned.change);
        is_alike && ours.nodes.get(*id) == theirs.nodes.get(*id)
    };
    approved.spec.changes.iter().filter(is_same).map(|(id, _)| id.clone()).collect()
}

fn strange_others(pair: Pair<'_>, same: &BTreeSet<ChangeId>) -> BTreeMap<ChangeId, Arc<str>> {
    let changes = pair.fresh.spec.changes.iter();
    let others = changes.filter(|(id, planned)| match &planned.change {
        Change::Create(_) | Change::Delete(_) => false,
        Change::Update(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => !same.contains(*id),
    });
    others.map(|(id, _)| (id.clone(), "not approved in this form".into())).collect()
}

/// Returns the creates that removals wait for.
fn needed(execution: &Execution, counts: impl Fn(&ChangeId) -> bool) -> BTreeSet<ChangeId> {
    let removals = execution.removals.iter().filter(|(id, _)| counts(id));
    removals.flat_map(|(_, removal)| removal.after.iter().cloned()).collect()
}

/// Returns whether pending pods are nominated to a node.
fn is_nominated(execution: Option<&Execution>, create: &ChangeId) -> bool {
    execution.and_then(|execution| execution.nominations.get(create)).is_some_and(|pods| !pods.is_empty())
}

#[cfg(test)]
mod tests;
