//! Upkeep of proposals: for each reviewed class, a proposal is opened, kept, replaced or closed as `automatic` decides.
//!
//! A pull request is closed with its reason before its branch is deleted. Must never change a branch with commits by
//! others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::desk::{Board, Gone, Placed, Stands};
use crate::automatic::{Drafts, People, ProposalStep, Upkeep, differences};
use crate::gitops::{self, PROPOSED, together};
use crate::model::{ChangeClass, Reviewed};
use crate::offline::validity::Validity;
use crate::offline::{Planner, World};
use crate::plan::Plan;

/// State that is passed from one step to the next.
#[derive(Clone, Default)]
pub(super) struct Progress {
    /// How long each class has been in its current state.
    pub(super) upkeep: BTreeMap<ChangeClass, Upkeep>,
    /// The current draft of each class.
    pub(super) drafts: Drafts,
}

/// Result of the upkeep.
#[derive(Default)]
pub(super) struct Proposed {
    /// The new proposal, with its class.
    pub(super) placed: Option<(ChangeClass, Placed)>,
    /// The proposals that were closed.
    pub(super) gone: Vec<Gone>,
    /// Obstacles, one line each.
    pub(super) troubles: Vec<String>,
}

/// Inputs of the upkeep.
pub(super) struct Proposals<'a> {
    pub(super) board: &'a dyn Board,
    /// The world in which no change is held for review.
    pub(super) world: &'a World,
    pub(super) planner: &'a Planner,
    /// The file of the signing key, if plans are signed.
    pub(super) key: Option<&'a Path>,
    pub(super) clock_speed: u32,
    pub(super) proposed: Proposed,
}

impl<'a> Proposals<'a> {
    /// Goes through the reviewed classes; proposes at most one plan, so that the next step sees its effect.
    pub(super) fn keep_up(mut self, Progress { upkeep, drafts }: &mut Progress) -> Proposed {
        let reviewed = &self.world.policy.fleet.reviewed;
        let others = self.board.others(None).into_iter().map(|other| other.name);
        drafts.see(self.world, others.collect(), self.clock_speed);
        for class in proposed_by_itself() {
            if !is_reviewed(reviewed, class) {
                self.take_back(class);
            } else if self.proposed.placed.is_none() {
                self.of_class(class, upkeep.entry(class).or_default(), drafts);
            }
        }
        self.proposed
    }

    /// Withdraws the proposals of a class that is no longer reviewed, unless a person may have proposed them.
    fn take_back(&mut self, class: ChangeClass) {
        let open = if self.board.is_only_ours() { self.board.open(class) } else { Vec::new() };
        open.iter().for_each(|open| self.end(open.name, "it is no longer reviewed"));
    }

    /// Updates the proposal of a class.
    fn of_class(&mut self, class: ChangeClass, upkeep: &mut Upkeep, drafts: &mut Drafts) {
        let (board, times) = (self.board, (self.board.at(), self.clock_speed));
        let open = self.open(class);
        let state = open.as_ref().map(|open| open.open);
        let mut step = |fresh: &Plan| upkeep.step((class, state), (fresh, board.rejected_at(fresh)), times);
        let draft = drafts.of(class);
        let drafted = draft.as_deref().map(&mut step).filter(|step| *step != ProposalStep::Propose);
        let (fresh, step) = match (draft, drafted) {
            (Some(draft), Some(drafted)) => (draft, drafted),
            (Some(_) | None, _) => match self.fresh(class) {
                Ok(fresh) => {
                    let fresh = Arc::new(fresh);
                    drafts.keep(class, Arc::clone(&fresh));
                    let step = step(&fresh);
                    (fresh, step)
                }
                Err(because) => return self.proposed.troubles.push(because),
            },
        };
        match step {
            ProposalStep::Nothing | ProposalStep::Keep | ProposalStep::Wait(_) => {}
            ProposalStep::Differs => open.iter().for_each(|open| self.say_differences(open, &fresh)),
            ProposalStep::Close(why) => open.iter().for_each(|open| self.end(open.name, why)),
            ProposalStep::Propose => match board.propose(&fresh, self.key) {
                Ok(placed) => {
                    upkeep.proposed(board.at());
                    let (Placed::Proposed { replaces, .. } | Placed::Nothing { replaces, .. }) = &placed;
                    replaces.iter().for_each(|(name, why)| self.end(name, why));
                    self.proposed.placed = Some((class, placed));
                }
                Err(fault) => {
                    self.proposed.troubles.push(format!("`{class}` is not proposed: {}", fault.told()));
                }
            },
        }
    }

    /// Returns the open proposal of a class. If there are several, because two controllers overlapped, keeps one: an
    /// edited one, else the last.
    fn open(&mut self, class: ChangeClass) -> Option<Stands<'a>> {
        let mut of_class = self.board.open(class);
        of_class.sort_by_key(|it| (it.open.people == People::Edited, seen_at(it), it.name.to_owned()));
        let open = of_class.pop();
        for other in of_class.into_iter().filter(|other| other.may_go) {
            self.end(other.name, "another of its class is open");
        }
        open
    }

    /// Plans the proposal of a class, in the pools in which it is reviewed.
    fn fresh(&self, class: ChangeClass) -> Result<Plan, String> {
        let mut world = self.world.clone();
        world.valid_for = Some(Validity::OfClasses);
        gitops::narrow(&mut world, class);
        let fleet = &mut world.policy.fleet;
        for pool in world.policy.pools.keys() {
            let not_reviewed = together(class).iter().filter(|class| !fleet.reviewed.has(**class, pool));
            let held: BTreeSet<ChangeClass> = not_reviewed.copied().collect();
            if !held.is_empty() {
                fleet.holds.pools.entry(pool.clone()).or_default().extend(held);
            }
        }
        let planner = |world: &World| self.planner.plan(world).map(|planned| planned.plan.plan().clone());
        let fresh = gitops::planned(&world, Some(class), |own| self.board.others(own), planner);
        fresh.map_err(|refused| {
            let finding = refused.findings.first().map(ToString::to_string).unwrap_or_default();
            format!("the checker rejects the proposal, which is a bug in nodeform: {finding}")
        })
    }

    /// Closes a proposal.
    fn end(&mut self, name: &str, why: &str) {
        match self.board.end(name, why) {
            Ok(gone) => self.proposed.gone.push(gone),
            Err(fault) => self.proposed.troubles.push(fault.told()),
        }
    }

    /// Comments on an edited or reviewed proposal how it differs from a current plan.
    fn say_differences(&mut self, open: &Stands<'_>, fresh: &Plan) {
        let Some(plan) = open.open.plan else { return };
        if let Err(fault) = self.board.say_differences(open.name, &differences(plan, fresh)) {
            self.proposed.troubles.push(fault.told());
        }
    }
}

/// Returns when the world of a proposal was observed.
fn seen_at(proposal: &Stands<'_>) -> Option<Timestamp> {
    proposal.open.plan?.spec.execution.as_ref()?.seen_at
}

/// Returns the classes that the controller proposes itself. `delete-pool` is left out: people request it, and end it.
pub(super) fn proposed_by_itself() -> impl Iterator<Item = ChangeClass> {
    PROPOSED.into_iter().filter(|class| *class != ChangeClass::DeletePool)
}

/// Returns whether a class is reviewed, or one that is proposed with it.
pub(super) fn is_reviewed(reviewed: &Reviewed, class: ChangeClass) -> bool {
    together(class).iter().any(|class| reviewed.has_any(*class))
}
