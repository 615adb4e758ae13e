//! Proposals kept up: for each class that is reviewed one is opened, kept, replaced or closed, as `automatic` says.
//!
//! A pull request is closed with its reason before its branch goes. Must never change a branch that somebody else has committed
//! to.

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

/// What one step leaves to the next.
#[derive(Clone, Default)]
pub(super) struct Progress {
    /// How long each class has been as it is.
    pub(super) upkeep: BTreeMap<ChangeClass, Upkeep>,
    /// What would be proposed of each.
    pub(super) drafts: Drafts,
}

/// What became of proposals.
#[derive(Default)]
pub(super) struct Proposed {
    /// What was proposed, and of which class.
    pub(super) placed: Option<(ChangeClass, Placed)>,
    /// The proposals that went.
    pub(super) gone: Vec<Gone>,
    /// What stands in the way, a line each.
    pub(super) troubles: Vec<String>,
}

/// What proposals are kept up with.
pub(super) struct Proposals<'a> {
    pub(super) board: &'a dyn Board,
    /// The world in which nothing is kept back for a review.
    pub(super) world: &'a World,
    pub(super) planner: &'a Planner,
    /// The file of the key that plans are signed with, where they are.
    pub(super) key: Option<&'a Path>,
    pub(super) clock_speed: u32,
    pub(super) proposed: Proposed,
}

impl<'a> Proposals<'a> {
    /// Goes through the classes that are reviewed; proposes one at most: the next step sees what that changed.
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

    /// Takes back what is proposed of a class that is no longer reviewed, unless a person may have proposed it.
    fn take_back(&mut self, class: ChangeClass) {
        let open = if self.board.is_only_ours() { self.board.open(class) } else { Vec::new() };
        open.iter().for_each(|open| self.end(open.name, "it is no longer reviewed"));
    }

    /// Keeps up what is proposed of a class.
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

    /// Returns the open proposal of a class. Of several, as two controllers may have opened for a moment, one stays: what people
    /// have edited, else the last.
    fn open(&mut self, class: ChangeClass) -> Option<Stands<'a>> {
        let mut of_class = self.board.open(class);
        of_class.sort_by_key(|it| (it.open.people == People::Edited, seen_at(it), it.name.to_owned()));
        let open = of_class.pop();
        for other in of_class.into_iter().filter(|other| other.may_go) {
            self.end(other.name, "another of its class is open");
        }
        open
    }

    /// What would be proposed now of a class, in the pools where it is reviewed.
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

    /// Takes a proposal away.
    fn end(&mut self, name: &str, why: &str) {
        match self.board.end(name, why) {
            Ok(gone) => self.proposed.gone.push(gone),
            Err(fault) => self.proposed.troubles.push(fault.told()),
        }
    }

    /// Says beside a proposal that people are at in what it differs from what would be proposed now.
    fn say_differences(&mut self, open: &Stands<'_>, fresh: &Plan) {
        let Some(plan) = open.open.plan else { return };
        if let Err(fault) = self.board.say_differences(open.name, &differences(plan, fresh)) {
            self.proposed.troubles.push(fault.told());
        }
    }
}

/// When the world was seen that a proposal was made of.
fn seen_at(proposal: &Stands<'_>) -> Option<Timestamp> {
    proposal.open.plan?.spec.execution.as_ref()?.seen_at
}

/// The classes that the controller proposes by itself. Nodes of a pool go because somebody asks for it: what a person proposed of
/// that is theirs to end.
pub(super) fn proposed_by_itself() -> impl Iterator<Item = ChangeClass> {
    PROPOSED.into_iter().filter(|class| *class != ChangeClass::DeletePool)
}

/// Whether people review a class, or one that is proposed with it.
pub(super) fn is_reviewed(reviewed: &Reviewed, class: ChangeClass) -> bool {
    together(class).iter().any(|class| reviewed.has_any(*class))
}
