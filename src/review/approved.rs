//! Approved plan: may be applied, except for the changes that are left out. Only `approve` creates one.
//!
//! It can be narrowed further, and never widened.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::approve::Terms;
use super::brakes::Brakes;
use super::covers::{Covered, Fate};
use super::left_out::LeftOut;
use crate::model::Approver;
use crate::plan::{Change, ChangeId, Execution, Plan, PlanSpec};

/// A plan that may be applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovedPlan {
    plan: Plan,
    execution: Execution,
    id: Arc<str>,
    left_out: BTreeMap<ChangeId, LeftOut>,
    /// Indices of the allowed choices, by create; all if absent.
    choices: BTreeMap<ChangeId, BTreeSet<usize>>,
    waves: Vec<Vec<ChangeId>>,
    /// Removals whose pods a create takes, by create; creates for pending pods are absent.
    serves: BTreeMap<ChangeId, Vec<ChangeId>>,
    terms: Terms,
    brakes: Brakes,
    approvers: Vec<Approver>,
}

impl ApprovedPlan {
    pub(super) fn of(
        plan: Plan,
        execution: Execution,
        left_out: BTreeMap<ChangeId, LeftOut>,
        (terms, brakes): (Terms, Brakes),
    ) -> Self {
        let (id, serves) = (plan.id().into(), serves(&execution));
        let waves = beside_what_they_serve(waves(&plan.spec), &serves);
        let (choices, approvers) = (BTreeMap::new(), Vec::new());
        Self { plan, execution, id, left_out, choices, waves, serves, terms, brakes, approvers }
    }

    /// Returns the plan as approved under these brakes, which are the baseline for starting changes.
    #[must_use]
    pub fn under(mut self, brakes: Brakes) -> Self {
        self.brakes = brakes;
        self
    }

    /// Returns the plan as approved by these people.
    #[must_use]
    pub fn approved_by(mut self, approvers: Vec<Approver>) -> Self {
        self.approvers = approvers;
        self
    }

    /// Returns the people whose approvals counted, if approval was required.
    #[must_use]
    pub fn approvers(&self) -> &[Approver] {
        &self.approvers
    }

    /// Returns the plan with these changes withheld as well, each with the reason.
    #[must_use]
    pub fn withholding(self, held: BTreeMap<ChangeId, Arc<str>>) -> Self {
        let held = held.into_iter().map(|(id, because)| (id, LeftOut::Withheld(because)));
        self.leaving_out(held.collect())
    }

    /// Returns the plan without the changes that reviewers struck, each with a reason if its own line was not struck.
    #[must_use]
    pub fn striking(self, struck: BTreeMap<ChangeId, Option<Arc<str>>>) -> Self {
        let struck = struck.into_iter().map(|(id, because)| (id, LeftOut::Struck(because)));
        self.leaving_out(struck.collect())
    }

    /// Returns the plan with these changes left out as well; earlier reasons are kept.
    #[must_use]
    pub fn leaving_out(mut self, left_out: BTreeMap<ChangeId, LeftOut>) -> Self {
        for (id, left) in left_out {
            self.left_out.entry(id).or_insert(left);
        }
        self
    }

    /// Returns the plan narrowed to what a second plan covers: in that plan's order, with no other choices, no shorter
    /// grace period, and waiting for all nodes that either requires. Changes without a fate are unchanged.
    #[must_use]
    pub fn narrowed(mut self, covered: &Covered) -> Self {
        let mut left_out: BTreeMap<ChangeId, LeftOut> = BTreeMap::new();
        for (id, fate) in &covered.approved {
            match fate {
                Fate::Kept(kept) => {
                    if let Some(removal) = self.execution.removals.get_mut(id) {
                        // Does not wait for a node that is no longer created: the second plan places its pods
                        // elsewhere.
                        removal.after.retain(|create| {
                            covered.approved.get(create).is_none_or(|fate| fate.kept().is_some())
                        });
                        removal.after.extend(kept.after.iter().cloned());
                        removal.after.sort();
                        removal.after.dedup();
                        // `None` means no limit.
                        removal.grace = removal.grace.zip(kept.grace).map(|(one, other)| one.max(other));
                    } else if !kept.choices.is_empty() {
                        self.choices.insert(id.clone(), kept.choices.clone());
                    }
                }
                // Apply notices that it is gone when the change starts.
                Fate::Gone => {}
                Fate::NoLongerNeeded(because) => {
                    left_out.insert(id.clone(), LeftOut::NoLongerNeeded(because.clone()));
                }
                Fate::NoLongerHolds(because) => {
                    left_out.insert(id.clone(), LeftOut::NoLongerHolds(because.clone()));
                }
                Fate::Waits(because) => {
                    left_out.insert(id.clone(), LeftOut::Waits(because.clone()));
                }
            }
        }
        let later: BTreeSet<&ChangeId> = covered.waves.iter().flatten().collect();
        let first: Vec<ChangeId> =
            self.waves.iter().flatten().filter(|id| !later.contains(id)).cloned().collect();
        self.waves = vec![first];
        if let Some((wave, others)) = covered.waves.split_first() {
            self.waves.iter_mut().for_each(|first| first.extend(wave.iter().cloned()));
            self.waves.extend(others.iter().cloned());
        }
        self.serves = serves(&self.execution);
        self.waves = beside_what_they_serve(std::mem::take(&mut self.waves), &self.serves);
        self.waves.iter_mut().for_each(|wave| creates_first(&self.plan.spec, wave));
        self.leaving_out(left_out)
    }

    /// Returns the waves in order.
    #[must_use]
    pub fn waves(&self) -> &[Vec<ChangeId>] {
        &self.waves
    }

    /// Returns whether a choice of a create is allowed, by its index.
    #[must_use]
    pub fn may_choose(&self, create: &ChangeId, choice: usize) -> bool {
        self.choices.get(create).is_none_or(|choices| choices.contains(&choice))
    }

    /// Returns all decisions.
    #[must_use]
    pub const fn spec(&self) -> &PlanSpec {
        &self.plan.spec
    }

    /// Returns the plan, for people.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns its execution section.
    #[must_use]
    pub const fn execution(&self) -> &Execution {
        &self.execution
    }

    /// Returns the plan's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the changes that are left out, with their reasons.
    #[must_use]
    pub const fn left_out(&self) -> &BTreeMap<ChangeId, LeftOut> {
        &self.left_out
    }

    /// Returns how many nodes may be drained at the same time.
    #[must_use]
    pub const fn parallelism(&self) -> usize {
        self.terms.parallelism
    }

    /// Returns the removals whose pods a create takes; empty if pending pods need it.
    #[must_use]
    pub fn serves(&self, create: &ChangeId) -> &[ChangeId] {
        self.serves.get(create).map_or(&[], Vec::as_slice)
    }

    /// Returns the brakes that it was approved under.
    #[must_use]
    pub const fn brakes(&self) -> &Brakes {
        &self.brakes
    }
}

/// Returns the removals whose pods each create takes, without creates that pending pods need anyway.
fn serves(execution: &Execution) -> BTreeMap<ChangeId, Vec<ChangeId>> {
    let mut serves: BTreeMap<ChangeId, Vec<ChangeId>> = BTreeMap::new();
    for (removal, known) in &execution.removals {
        for create in &known.after {
            serves.entry(create.clone()).or_default().push(removal.clone());
        }
    }
    serves.retain(|create, _| execution.nominations.get(create).is_none_or(Vec::is_empty));
    serves
}

/// Moves creates into the wave of the first removal whose pods they take: created earlier, they would only be idle.
fn beside_what_they_serve(
    mut waves: Vec<Vec<ChangeId>>,
    serves: &BTreeMap<ChangeId, Vec<ChangeId>>,
) -> Vec<Vec<ChangeId>> {
    let place = |id: &ChangeId| waves.iter().position(|wave| wave.contains(id));
    let moved = serves.iter().filter_map(|(create, removals)| {
        let (from, to) = (place(create)?, removals.iter().filter_map(place).min()?);
        (from < to).then(|| (create.clone(), from, to))
    });
    let moved: Vec<(ChangeId, usize, usize)> = moved.collect();
    for (create, from, to) in moved {
        waves[from].retain(|id| *id != create);
        waves[to].insert(0, create);
    }
    waves
}

/// Returns the waves of a plan with each change once, in the order of its steps: creates before changes that wait for
/// them.
fn waves(spec: &PlanSpec) -> Vec<Vec<ChangeId>> {
    let mut waves = Vec::new();
    for wave in &spec.waves {
        let mut ids: Vec<ChangeId> = Vec::new();
        for id in wave.steps.values().flatten() {
            if !ids.contains(id) {
                ids.push(id.clone());
            }
        }
        waves.push(ids);
    }
    waves
}

fn creates_first(spec: &PlanSpec, wave: &mut [ChangeId]) {
    let is_create = |id: &ChangeId| {
        spec.changes.get(id).is_some_and(|planned| matches!(planned.change, Change::Create(_)))
    };
    wave.sort_by_key(|id| !is_create(id));
}
