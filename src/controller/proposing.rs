//! Proposals kept up: for each class that is reviewed one is opened, kept, replaced or closed, as `automatic` says.
//!
//! A pull request is closed with its reason before its branch goes. Must never change a branch that somebody else has committed
//! to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;

use super::desk::Desk;
use crate::automatic::{Drafts, ProposalStep, Upkeep, differences};
use crate::gitops::{self, GitOpsFault, Going, Gone, PROPOSED, Proposal, Proposing, Pushed, together};
use crate::model::ChangeClass;
use crate::offline::validity::Validity;
use crate::offline::{Planner, World};
use crate::plan::Plan;
use crate::review::proposal::FolderName;

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
    /// What was pushed, and of which class.
    pub(super) pushed: Option<(ChangeClass, Pushed)>,
    /// The branches that went.
    pub(super) gone: Vec<Gone>,
    /// What stands in the way, a line each.
    pub(super) troubles: Vec<String>,
}

/// What proposals are kept up with.
pub(super) struct Proposals<'a> {
    pub(super) desk: &'a Desk,
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
        let others = self.desk.around.standing.others(None).into_iter().map(|other| other.name);
        drafts.see(self.world, others.collect(), self.clock_speed);
        for class in PROPOSED {
            let is_reviewed = together(class).iter().any(|class| reviewed.has_any(*class));
            if is_reviewed && self.proposed.pushed.is_none() {
                self.of_class(class, upkeep.entry(class).or_default(), drafts);
            }
        }
        self.proposed
    }

    /// Keeps up what is proposed of a class.
    fn of_class(&mut self, class: ChangeClass, upkeep: &mut Upkeep, drafts: &mut Drafts) {
        let (desk, times) = (self.desk, (self.desk.around.at, self.clock_speed));
        let open = self.open(class);
        let state = open.map(|open| desk.state(open));
        let mut step = |fresh: &Plan| upkeep.step((class, state), (fresh, desk.rejected_at(fresh)), times);
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
            ProposalStep::Differs => open.into_iter().for_each(|open| self.say_differences(open, &fresh)),
            ProposalStep::Close(why) => {
                open.into_iter().for_each(|proposal| self.end(Going { proposal, why: why.to_owned() }));
            }
            ProposalStep::Propose => match self.propose(&fresh) {
                Ok(pushed) => {
                    upkeep.proposed(desk.around.at);
                    self.proposed.pushed = Some((class, pushed));
                }
                Err(fault) => {
                    self.proposed.troubles.push(format!("`{class}` is not proposed: {}", fault.told()));
                }
            },
        }
    }

    /// Returns the open proposal of a class. Of several, as two controllers may have opened for a moment, one stays: what people
    /// have edited, else the last.
    fn open(&mut self, class: ChangeClass) -> Option<&'a Proposal> {
        let standing = &self.desk.around.standing;
        let of_class: Vec<&Proposal> = standing
            .proposals
            .iter()
            .filter(|proposal| proposal.class == class && proposal.is_open)
            .collect();
        let open =
            of_class.iter().copied().max_by_key(|it| (!it.proposed.tip.is_ours, seen_at(it), &it.name));
        let others = of_class.into_iter().filter(|it| open.is_some_and(|open| open.name != it.name));
        for proposal in others.filter(|other| other.may_be_replaced()) {
            self.end(Going { proposal, why: "another of its class is open".to_owned() });
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
        let fresh = gitops::planned(&world, Some(class), &self.desk.around.standing, planner);
        fresh.map_err(|refused| {
            let finding = refused.findings.first().map(ToString::to_string).unwrap_or_default();
            format!("the judge refuses what would be proposed, which is a bug of nodeform: {finding}")
        })
    }

    /// Pushes a plan; then what it replaces goes.
    fn propose(&mut self, plan: &Plan) -> Result<Pushed, GitOpsFault> {
        let Desk { around, git, .. } = self.desk;
        let Some(name) = FolderName::of(plan) else {
            return Ok(Pushed::Nothing { because: "nothing changes".to_owned(), same: None });
        };
        let key = self.key.map(gitops::signing_key).transpose()?;
        let signature = gitops::signed(plan, key.as_ref(), Some(git))?;
        let proposing = Proposing { plan, name, around };
        let pushed = proposing.propose(&gitops::files(plan, signature))?;
        proposing.replaces(&pushed).into_iter().for_each(|going| self.end(going));
        Ok(pushed)
    }

    /// Closes the pull request of a proposal and deletes its branch. While the forge does not take the reason, both stand: forges
    /// that close by themselves what lost its branch would take it for rejected by people.
    fn end(&mut self, going: Going<'_>) {
        let Desk { around, forge, .. } = self.desk;
        if let Some(forge) = forge {
            let branch = going.proposal.proposed.branch.as_str();
            let closing = gitops::close(&**forge, around, (branch, &going.why));
            if let Err(fault) = tokio::runtime::Handle::current().block_on(closing) {
                return self.proposed.troubles.push(fault.told());
            }
        }
        self.proposed.gone.push(going.delete(&around.clone));
    }

    /// Says under the pull request of a proposal that people are at in what it differs from what would be proposed now.
    fn say_differences(&mut self, open: &Proposal, fresh: &Plan) {
        let Desk { forge: Some(forge), pull_requests: Ok(known), .. } = self.desk else { return };
        let (Some(plan), Some(known)) = (&open.plan, known.open.get(open.proposed.branch.as_str())) else {
            return;
        };
        let differences = differences(plan, fresh);
        let saying = gitops::say_differences(&**forge, known.number, &differences);
        if let Err(fault) = tokio::runtime::Handle::current().block_on(saying) {
            self.proposed.troubles.push(fault.told());
        }
    }
}

/// When the world was seen that a proposal was made of.
fn seen_at(proposal: &Proposal) -> Option<Timestamp> {
    proposal.plan.as_ref()?.spec.execution.as_ref()?.seen_at
}
