//! A merged plan right before it is applied: approved, without what reviewers struck, and narrowed to what a second plan of the
//! world as it is now says too.

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

/// What is said of a create that only struck removals needed.
const IDLE: &str = "its pods stay where they are";

/// Changes that reviewers struck, each with why where no line of its own was.
pub type Struck = BTreeMap<ChangeId, Option<Arc<str>>>;

/// A merged plan that is to be applied.
pub struct Taking<'a> {
    /// The world as it is now.
    pub world: &'a World,
    /// The plan, judged once more.
    pub checked: CheckedPlan,
    /// What reviewers struck.
    pub struck: Struck,
    /// Its changes that have begun.
    pub begun: &'a BTreeSet<ChangeId>,
    /// What became of its changes in an earlier run, where there was one.
    pub before: Option<&'a BTreeMap<ChangeId, Outcome>>,
    /// Whose approvals counted.
    pub approved_by: &'a [Approver],
    /// How fast it may be carried out.
    pub terms: Terms,
}

/// Why nothing of a merged plan is applied.
#[derive(Debug)]
pub enum NotTaken {
    /// It may not be carried out.
    NotApproved(Vec<NotApproved>),
    /// It has expired before anything of it began.
    Expired {
        /// That it has.
        fault: NotApproved,
        /// The plan, of which nothing begins any more.
        spent: Box<ApprovedPlan>,
    },
    /// The judge refuses the second plan: a bug in nodeform.
    Refused(RefusedPlan),
}

impl Folder {
    /// Returns what reviewers struck of the plan, and what that leaves without use.
    #[must_use]
    pub fn struck(&self) -> Struck {
        let Proposal { plan, struck, .. } = &self.proposal;
        let idle = idle_creates(plan, struck).into_iter().map(|id| (id, Some(IDLE.into())));
        struck.iter().cloned().map(|id| (id, None)).chain(idle).collect()
    }
}

/// Approves a merged plan and narrows it to what still holds.
///
/// # Errors
/// Nothing of it may be carried out.
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
    // What has begun is finished: half a removal helps nobody.
    struck.retain(|id, _| !begun.contains(id));
    let approved = approved.striking(struck).approved_by(approved_by.to_vec());
    let ended = before.iter().flat_map(|before| before.keys());
    narrowed(world, approved, &begun.iter().chain(ended).cloned().collect()).map_err(NotTaken::Refused)
}

/// What an earlier run left waiting of an expired plan ends now; of one that nobody began nothing does.
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
