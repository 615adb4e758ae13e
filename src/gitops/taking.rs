//! Prepares a merged plan for applying: approves it without struck changes, and narrows it to what a second plan of the
//! current world confirms.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::folders::Folder;
use super::second::{Narrowed, narrowed};
use crate::model::Approver;
use crate::offline::World;
use crate::plan::ChangeId;
use crate::review::proposal::{Proposal, idle_creates};
use crate::review::{
    ApprovedPlan, CheckedPlan, LeftOut, NotApproved, Now, RefusedPlan, Terms, approve, finish,
};
use crate::rollout::Outcome;

/// Reason for leaving out a create that only struck removals needed.
const IDLE: &str = "its pods stay where they are";

/// Changes struck by reviewers, with a reason if they were struck implicitly.
pub type Struck = BTreeMap<ChangeId, Option<Arc<str>>>;

/// A merged plan to apply.
pub struct Taking<'a> {
    /// The current world.
    pub world: &'a World,
    /// The plan, checked again.
    pub checked: CheckedPlan,
    /// Changes that reviewers struck.
    pub struck: Struck,
    /// Its started changes.
    pub begun: &'a BTreeSet<ChangeId>,
    /// Outcomes of its changes in an earlier run, if there was one.
    pub before: Option<&'a BTreeMap<ChangeId, Outcome>>,
    /// Authors of the counted approvals.
    pub approved_by: &'a [Approver],
    /// Limits on how fast it may be applied.
    pub terms: Terms,
}

/// Reason why a merged plan is not applied.
#[derive(Debug)]
pub enum NotTaken {
    /// It is not approved.
    NotApproved(Vec<NotApproved>),
    /// It expired before any of its changes started.
    Expired {
        /// The fault.
        fault: NotApproved,
        /// The plan, of which no change starts any more.
        spent: Box<ApprovedPlan>,
    },
    /// The checker rejects the second plan: a bug in nodeform.
    Refused(RefusedPlan),
}

impl Folder {
    /// Returns the changes that reviewers struck, and the creates that become useless.
    #[must_use]
    pub fn struck(&self) -> Struck {
        let Proposal { plan, struck, .. } = &self.proposal;
        let idle = idle_creates(plan, struck).into_iter().map(|id| (id, Some(IDLE.into())));
        struck.iter().cloned().map(|id| (id, None)).chain(idle).collect()
    }
}

/// Approves a merged plan and narrows it to what is still valid.
///
/// # Errors
/// No change of it may be applied.
pub fn taken(taking: Taking<'_>) -> Result<Narrowed, NotTaken> {
    let Taking { world, checked, mut struck, begun, before, approved_by, terms } = taking;
    let now = Now { snapshot: &world.snapshot, policy: &world.policy, begun };
    let approved = match approve(checked.clone(), now, terms) {
        Ok(approved) => approved,
        Err(faults) => match <[NotApproved; 1]>::try_from(faults) {
            Ok([fault @ NotApproved::Expired { .. }]) => expired(checked, now, (fault, before.is_some()))?,
            Ok([fault]) => return Err(NotTaken::NotApproved(vec![fault])),
            Err(faults) => return Err(NotTaken::NotApproved(faults)),
        },
    };
    // Started changes are finished: a half-finished removal is of no use.
    struck.retain(|id, _| !begun.contains(id));
    let approved = approved.striking(struck).approved_by(approved_by.to_vec());
    let ended = before.iter().flat_map(|before| before.keys());
    narrowed(world, approved, &begun.iter().chain(ended).cloned().collect()).map_err(NotTaken::Refused)
}

/// Ends the waiting changes of an expired plan that an earlier run started; fails if it was never started.
fn expired(
    checked: CheckedPlan,
    now: Now<'_>,
    (fault, was_begun): (NotApproved, bool),
) -> Result<ApprovedPlan, NotTaken> {
    let because = if was_begun { format!("{fault}, before this was started") } else { fault.to_string() };
    let left = LeftOut::NoLongerHolds(because.into());
    let spent = finish(checked.plan().clone(), now, &left).map_err(NotTaken::NotApproved)?;
    if was_begun { Ok(spent) } else { Err(NotTaken::Expired { fault, spent: Box::new(spent) }) }
}
