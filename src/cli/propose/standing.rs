//! What is proposed already: the branches of a cluster, and the plan of each. Must never write.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::super::remote::Place;
use crate::git::remote::{Clone, Heads, PlanEntry, Proposed, RemoteFault, Tip};
use crate::model::ChangeClass;
use crate::plan::Plan;
use crate::render::proposal::derived_by;
use crate::review::proposal::{self, Files, class_of_branch};

/// What the target has, and what is proposed to it.
#[derive(Debug)]
pub(super) struct Standing {
    /// The branch that plans are merged into.
    pub(super) target: Tip,
    /// The plans that it has, by month and folder.
    pub(super) merged: BTreeSet<(String, String)>,
    /// What is proposed, by the names of the branches.
    pub(super) proposals: Vec<Proposal>,
}

/// A branch that nodeform proposed a plan of this cluster on.
#[derive(Debug)]
pub(super) struct Proposal {
    /// The branch.
    pub(super) proposed: Proposed,
    /// The class that its name has.
    pub(super) class: ChangeClass,
    /// Its plan; `None` where its folder is gone or does not hold together.
    pub(super) plan: Option<Plan>,
    /// Whether the target does not have the plan.
    pub(super) is_open: bool,
}

impl Standing {
    /// Reads what was fetched: the branches that begin so, of the plans of this cluster. Of two clusters of one name each sees
    /// its own.
    pub(super) fn read(
        (clone, place): (&Clone, &Place),
        heads: Heads,
        (below, cluster): (&str, &str),
    ) -> Result<Self, RemoteFault> {
        let entries = clone.plans(&heads.target, &place.path)?.entries;
        let merged: BTreeSet<(String, String)> =
            entries.into_iter().map(|plan| (plan.month, plan.name)).collect();
        let mut proposals = Vec::new();
        for proposed in heads.proposed {
            let Some(rest) = proposed.branch.as_str().strip_prefix(below) else { continue };
            let Some(class) = class_of_branch(rest) else { continue };
            let entries = clone.plans(&proposed.tip, &place.path)?.entries;
            let Some(entry) = entries.into_iter().find(|entry| entry.name == rest) else { continue };
            let is_open = !merged.contains(&(entry.month.clone(), entry.name.clone()));
            let plan = proposed_plan(clone, &proposed.tip, &entry)?;
            let of = plan.as_ref().and_then(|plan| Some(&*plan.spec.execution.as_ref()?.cluster.id));
            if of.is_none_or(|of| of == cluster) {
                proposals.push(Proposal { proposed, class, plan, is_open });
            }
        }
        Ok(Self { target: heads.target, merged, proposals })
    }
}

/// Reads the plan of a folder, if it holds together.
fn proposed_plan(clone: &Clone, tip: &Tip, entry: &PlanEntry) -> Result<Option<Plan>, RemoteFault> {
    let files = clone.files(tip, entry)?;
    let read = Files::of(files).and_then(|files| proposal::read(None, files, derived_by));
    Ok(read.ok().map(|read| read.plan))
}

impl Proposal {
    /// Whether it is open and says what this plan says, but for when its world was seen and until when it may begin, and may
    /// begin still.
    pub(super) fn says_the_same(&self, plan: &Plan, now: Timestamp) -> bool {
        let Some(own) = self.plan.as_ref().filter(|_| self.is_open) else { return false };
        let mut spec = own.spec.clone();
        let is_in_time = spec.expires_at.is_some_and(|at| at > now);
        spec.expires_at = plan.spec.expires_at;
        if let (Some(found), Some(own)) = (&mut spec.execution, &plan.spec.execution) {
            found.seen_at = own.seen_at;
        }
        is_in_time && spec == plan.spec
    }

    /// Whether nodeform may delete the branch for another plan of the class: nobody else committed to it, and it is known for
    /// a plan of this cluster.
    pub(super) const fn may_be_replaced(&self) -> bool {
        self.proposed.tip.is_ours && self.plan.is_some()
    }
}
