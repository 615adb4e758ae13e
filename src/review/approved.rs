//! A plan that may be carried out, but for what is left out of it; `approve` alone makes one.
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

/// A plan that may be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApprovedPlan {
    plan: Plan,
    execution: Execution,
    id: Arc<str>,
    left_out: BTreeMap<ChangeId, LeftOut>,
    /// The places of the choices that may be tried, by create; all where it is not said.
    choices: BTreeMap<ChangeId, BTreeSet<usize>>,
    waves: Vec<Vec<ChangeId>>,
    /// The removals whose pods a create takes, by create; one for pods that wait is not among them.
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

    /// Returns the plan as approved under these brakes: what they say is what changes are begun on.
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

    /// Returns whose approvals counted, where people had to approve it.
    #[must_use]
    pub fn approvers(&self) -> &[Approver] {
        &self.approvers
    }

    /// Returns the plan with these changes left out as well, each with the reason.
    #[must_use]
    pub fn withholding(self, held: BTreeMap<ChangeId, Arc<str>>) -> Self {
        let held = held.into_iter().map(|(id, because)| (id, LeftOut::Withheld(because)));
        self.leaving_out(held.collect())
    }

    /// Returns the plan without the changes that reviewers struck, each with the reason where no line of its own was.
    #[must_use]
    pub fn striking(self, struck: BTreeMap<ChangeId, Option<Arc<str>>>) -> Self {
        let struck = struck.into_iter().map(|(id, because)| (id, LeftOut::Struck(because)));
        self.leaving_out(struck.collect())
    }

    /// Returns the plan with these changes left out as well; what was left out before stays so.
    #[must_use]
    pub fn leaving_out(mut self, left_out: BTreeMap<ChangeId, LeftOut>) -> Self {
        for (id, left) in left_out {
            self.left_out.entry(id).or_insert(left);
        }
        self
    }

    /// Returns the plan narrowed to what a second plan covers: in the order of that, with no other choices, no less grace,
    /// and waiting for no fewer nodes than either says. What is neither kept nor left out by then is as it was.
    #[must_use]
    pub fn narrowed(mut self, covered: &Covered) -> Self {
        let mut left_out: BTreeMap<ChangeId, LeftOut> = BTreeMap::new();
        for (id, fate) in &covered.approved {
            match fate {
                Fate::Kept(kept) => {
                    if let Some(removal) = self.execution.removals.get_mut(id) {
                        // A node that does not come any more is not waited for: the second plan has other room.
                        removal.after.retain(|create| {
                            covered.approved.get(create).is_none_or(|fate| fate.kept().is_some())
                        });
                        removal.after.extend(kept.after.iter().cloned());
                        removal.after.sort();
                        removal.after.dedup();
                        // None is without end.
                        removal.grace = removal.grace.zip(kept.grace).map(|(one, other)| one.max(other));
                    } else if !kept.choices.is_empty() {
                        self.choices.insert(id.clone(), kept.choices.clone());
                    }
                }
                // Whether it is gone is seen when its turn comes.
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

    /// Returns what is done at once, and after which.
    #[must_use]
    pub fn waves(&self) -> &[Vec<ChangeId>] {
        &self.waves
    }

    /// Returns whether a choice of a create may be tried, by its place.
    #[must_use]
    pub fn may_choose(&self, create: &ChangeId, choice: usize) -> bool {
        self.choices.get(create).is_none_or(|choices| choices.contains(&choice))
    }

    /// Returns every decision.
    #[must_use]
    pub const fn spec(&self) -> &PlanSpec {
        &self.plan.spec
    }

    /// Returns the plan, for people.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Returns how it is carried out.
    #[must_use]
    pub const fn execution(&self) -> &Execution {
        &self.execution
    }

    /// Returns the plan's name.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the changes that are left out, with the reason.
    #[must_use]
    pub const fn left_out(&self) -> &BTreeMap<ChangeId, LeftOut> {
        &self.left_out
    }

    /// Returns how many nodes may be drained at once.
    #[must_use]
    pub const fn parallelism(&self) -> usize {
        self.terms.parallelism
    }

    /// Returns the removals whose pods a create takes; none where pods wait for it already.
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

/// The removals whose pods each create takes. One that pods wait for already is needed whatever goes.
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

/// Puts creates into the wave of the first removal whose pods they take: made before, they would only stand there.
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

/// The waves of a plan, each change once: in the order of the steps, creates before what waits for them.
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
