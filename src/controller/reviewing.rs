//! One review step: determines which merged plan is applied next; if there is none, what is proposed.
//!
//! It uses the same functions as `nodeform propose` and `nodeform apply --merged`. Must never apply a plan of a branch
//! that could not be read.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::desk::{Desk, Repository};
use super::proposing::{Progress, Proposals, Proposed, is_reviewed, proposed_by_itself};
use crate::apply::ended;
use crate::automatic;
use crate::gitops::{self, Folder, GitOpsFault, Narrowed, NotTaken, Refused, Taking};
use crate::model::ClaimName;
use crate::offline::{Planner, World};
use crate::plan::{ChangeId, Plan};
use crate::review::proposal::FolderName;
use crate::review::{ApprovedPlan, CheckedPlan, NotApproved, Terms};

/// Inputs of a step.
pub(super) struct Asked {
    pub(super) world: World,
    pub(super) desk: Desk,
    /// The started changes, by plan id.
    pub(super) begun: BTreeMap<Arc<str>, BTreeSet<ChangeId>>,
    /// Plans that are skipped now: in progress, or waiting and checked recently.
    pub(super) passed_over: BTreeSet<Arc<str>>,
    pub(super) progress: Progress,
    pub(super) planner: Arc<Planner>,
    pub(super) repository: Repository,
    pub(super) clock_speed: u32,
}

/// Result of a step.
pub(super) struct Done {
    pub(super) world: World,
    pub(super) desk: Desk,
    pub(super) merged: Merging,
    pub(super) proposed: Proposed,
    pub(super) progress: Progress,
}

/// The applicable part of a merged plan.
pub(super) struct Begins {
    pub(super) name: FolderName,
    pub(super) plan: ApprovedPlan,
    /// Remarks on the rest of it, for the log.
    pub(super) said: Vec<String>,
}

/// Returns whether a step has anything to do: a plan is approved, or may be proposed.
pub(super) fn is_needed(world: &World, desk: &Desk) -> bool {
    let reviewed = &world.policy.fleet.reviewed;
    let stands = |class| desk.board.is_only_ours() && !desk.board.open(class).is_empty();
    !desk.folders.waiting.is_empty()
        || proposed_by_itself().any(|class| is_reviewed(reviewed, class) || stands(class))
}

/// Determines which merged plan starts; if none does, updates proposals. Plans, and waits for Git, on this thread.
pub(super) fn step(asked: Asked) -> Done {
    let Asked { world, desk, begun, passed_over, mut progress, planner, repository, clock_speed } = asked;
    let world = automatic::to_be_reviewed(&world);
    let nothing = BTreeSet::new();
    let (mut merged, role) = (Merging::default(), repository.role);
    for folder in &desk.folders.waiting {
        let id: Arc<str> = folder.proposal.plan.id().into();
        let is_passed_over = !role.applies() || passed_over.contains(&id) || merged.begins.is_some();
        let begun = begun.get(&id).unwrap_or(&nothing);
        if !is_passed_over && shows(&world, &folder.proposal.plan, begun) {
            merged.look((&world, &desk), folder, begun);
        }
    }
    // Without the forge's answer, it is unknown whether people closed a pull request.
    let may_propose = desk.proposes(role) && !world.policy.fleet.is_suspended && desk.board.may_propose();
    let proposed = match merged.begins.is_none() && may_propose {
        true => {
            let (board, world, planner) = (&*desk.board, &world, &*planner);
            let key = repository.signing_key.as_deref();
            Proposals { board, world, planner, key, clock_speed, proposed: Proposed::default() }
                .keep_up(&mut progress)
        }
        false => Proposed::default(),
    };
    Done { world, desk, merged, proposed, progress }
}

/// Returns whether a world shows the nodes that a plan has started to create. In one that was read earlier, their pods
/// would be unschedulable.
fn shows(world: &World, plan: &Plan, begun: &BTreeSet<ChangeId>) -> bool {
    let claims: BTreeSet<&ClaimName> =
        world.snapshot.nodes.iter().filter_map(|node| node.claim.as_ref()).collect();
    let mut own = plan.spec.creates().filter(|(id, _, _)| begun.contains(*id));
    own.all(|(_, create, _)| claims.contains(&create.claim))
}

/// Results of the merged plans that were checked, one after the other.
#[derive(Default)]
pub(super) struct Merging {
    /// The plan that starts.
    pub(super) begins: Option<Begins>,
    /// The plans that expired before they started, which is recorded.
    pub(super) expired: Vec<Begins>,
    /// The plans that are not applied.
    pub(super) refused: Vec<Refused>,
}

impl Merging {
    /// Determines which part of a merged plan starts.
    fn look(&mut self, (world, desk): (&World, &Desk), folder: &Folder, begun: &BTreeSet<ChangeId>) {
        let Folder { name, proposal, approved_by } = folder;
        let plan = proposal.plan.clone();
        let known = desk.ledger.of_id(&name.id);
        let before = known.map(|known| known.status.as_ref().map(ended).unwrap_or_default());
        let (snapshot, policy) = (plan.snapshot(), plan.policy());
        let checked = match CheckedPlan::judged(&snapshot, &policy, plan) {
            Ok(checked) => checked,
            Err(refused) => return self.refuse(name, &refused.findings, [desk.anew(name)]),
        };
        let (struck, before, terms) = (folder.struck(), before.as_ref(), Terms::default());
        let begins = |plan, said| Begins { name: name.clone(), plan, said };
        match gitops::taken(Taking { world, checked, struck, begun, before, approved_by, terms }) {
            Ok(Narrowed { plan, mut said }) => {
                said.extend(folder.approval());
                self.begins = Some(begins(plan, said));
            }
            Err(NotTaken::Refused(refused)) => {
                let bug = "the checker rejects the second plan, which is a bug in nodeform";
                let findings = refused.findings.iter().map(|finding| format!("{bug}: {finding}"));
                self.refuse(name, &findings.collect::<Vec<String>>(), [desk.anew(name)]);
            }
            Err(NotTaken::NotApproved(faults)) => {
                let is_for_good = faults.iter().any(NotApproved::is_of_plan);
                let passing = faults.iter().filter(|fault| !fault.is_of_plan()).map(NotApproved::hint);
                let hints = passing.chain(is_for_good.then(|| desk.anew(name)));
                self.refuse(name, &faults, hints);
            }
            Err(NotTaken::Expired { fault, spent }) => {
                self.expired.push(begins(*spent, Vec::new()));
                self.refuse(name, &[fault], [desk.anew(name)]);
            }
        }
    }

    fn refuse<T: ToString>(
        &mut self,
        name: &FolderName,
        faults: &[T],
        hints: impl IntoIterator<Item = String>,
    ) {
        let faults = faults.iter().map(ToString::to_string).collect();
        let hints = hints.into_iter().collect();
        let fault = GitOpsFault { faults, hints, is_stale: true, until: None };
        self.refused.push(Refused { name: name.to_string(), fault });
    }
}
