//! The merged plans of a branch: those that wait to be applied, those that are refused and why, and the others.
//!
//! Anyone who may merge can fill the branch, so reads are limited. Must never accept a plan whose folder is
//! inconsistent, that belongs to another cluster, or that lacks a required signature.

use std::fmt;

use jiff::{SignedDuration, Timestamp};

use super::bounds;
use super::fault::GitOpsFault;
use super::place::Place;
use crate::api::node_plan::Phase;
use crate::git::remote::{Clone, PlanEntry, Tip};
use crate::git::signature::Signers;
use crate::ledger::Ledger;
use crate::model::Approver;
use crate::plan::Plan;
use crate::render::proposal::derived_by;
use crate::review::proposal::{self, Files, FolderName, Proposal, ProposalFault, is_month_over};

/// How long after its expiry a plan that was not applied is listed individually.
const TOLD_FOR: SignedDuration = SignedDuration::from_hours(7 * 24);

/// A merged plan that is not settled.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Its name.
    pub name: FolderName,
    /// Its files.
    pub proposal: Proposal,
    /// Its approvers, if the NodeFleet requires approvals.
    pub approved_by: Vec<Approver>,
}

/// A merged plan that is not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// Its folder.
    pub name: String,
    /// The reason.
    pub fault: GitOpsFault,
}

/// Numbers of skipped plans, which are not listed individually.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PassedOver {
    /// Already applied.
    pub spent: usize,
    /// Expired.
    pub expired: usize,
    /// Of other clusters.
    pub of_others: usize,
}

impl fmt::Display for Refused {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "plan `{}` is not applied: {}", self.name, self.fault)
    }
}

/// The plans of a branch, classified.
#[derive(Clone, Debug, Default)]
pub struct Folders {
    /// Plans that wait to be applied, oldest first.
    pub waiting: Vec<Folder>,
    /// Plans that are not applied.
    pub refused: Vec<Refused>,
    /// The skipped plans.
    pub passed_over: PassedOver,
}

/// Inputs for classifying merged plans.
#[derive(Clone, Copy)]
pub struct Merged<'a> {
    /// The repository of merged plans.
    pub place: &'a Place,
    /// Its clone.
    pub clone: &'a Clone,
    /// The branch's last commit.
    pub tip: &'a Tip,
    /// The history of plans.
    pub ledger: &'a Ledger,
    /// Accepted signers, if plans must be signed.
    pub signers: Option<&'a Signers>,
    /// The UID of the cluster's namespace `kube-system`, if known.
    pub cluster: Option<&'a str>,
    /// The current time.
    pub at: Timestamp,
}

impl Folder {
    /// Returns a line with its approvers.
    #[must_use]
    pub fn approval(&self) -> Option<String> {
        let names: Vec<&str> = self.approved_by.iter().map(|approver| approver.by.as_str()).collect();
        (!names.is_empty()).then(|| format!("approved by {}", names.join(", ")))
    }
}

impl Merged<'_> {
    /// Reads the folders that are not settled.
    ///
    /// # Errors
    /// The repository cannot be read, or exceeds the limits.
    pub fn folders(&self, entries: Vec<PlanEntry>) -> Result<Folders, GitOpsFault> {
        let mut folders = Folders::default();
        let mut read = bounds::Read::default();
        for entry in entries {
            let name = FolderName::parse(&entry.month, &entry.name);
            let known = name.as_ref().ok().and_then(|name| self.ledger.of_id(&name.id));
            let shown = || format!("{}/{}", entry.month, entry.name);
            if let Some(known) = known.filter(|known| known.is_spent()) {
                // Its folder was removed and came back: by a revert of the revert, a cherry-pick, or an old clone.
                if known.phase() == Phase::Withdrawn
                    && known.expires_at.is_none_or(|at| !is_long_ago(at, self.at))
                {
                    folders.refused.push(Refused { name: shown(), fault: came_back() });
                } else if known.phase() == Phase::Expired {
                    folders.passed_over.expired += 1;
                } else {
                    folders.passed_over.spent += 1;
                }
                continue;
            }
            if known.is_none() && is_month_over(&entry.month, self.at) {
                folders.passed_over.expired += 1;
                continue;
            }
            let files = self.clone.files(self.tip, &entry)?;
            read.take_in(&files, self.place)?;
            let folder = name.and_then(|name| {
                let proposal = proposal::read(Some(&name), Files::of(files)?, derived_by)?;
                Ok(Folder { name, proposal, approved_by: Vec::new() })
            });
            match folder {
                Ok(folder) => self.sort(folder, known.is_some(), &mut folders),
                Err(fault) => folders.refused.push(Refused { name: shown(), fault: broken(&fault) }),
            }
        }
        let seen_at = |plan: &Plan| plan.spec.execution.as_ref().and_then(|execution| execution.seen_at);
        folders.waiting.sort_by_key(|folder| (seen_at(&folder.proposal.plan), folder.name.clone()));
        Ok(folders)
    }

    fn sort(&self, folder: Folder, is_known: bool, folders: &mut Folders) {
        let Proposal { plan, signature, .. } = &folder.proposal;
        if self.is_of_other_cluster(plan) {
            folders.passed_over.of_others += 1;
        } else if !is_known && plan.spec.expires_at.is_some_and(|at| is_long_ago(at, self.at)) {
            folders.passed_over.expired += 1;
        } else {
            let signed = self.signers.map_or(Ok(()), |signers| signers.verify(plan, signature.as_deref()));
            match signed {
                Ok(()) => folders.waiting.push(folder),
                Err(fault) => {
                    let fault = unsigned(&fault.to_string());
                    folders.refused.push(Refused { name: folder.name.to_string(), fault });
                }
            }
        }
    }

    /// Returns whether a plan belongs to another cluster, whose own pipeline applies it: clusters may share a branch
    /// and a path.
    fn is_of_other_cluster(&self, plan: &Plan) -> bool {
        let planned = plan.spec.execution.as_ref().map(|execution| &*execution.cluster.uid);
        planned.zip(self.cluster).is_some_and(|(planned, found)| planned != found)
    }
}

fn is_long_ago(expires_at: Timestamp, now: Timestamp) -> bool {
    expires_at.checked_add(TOLD_FOR).is_ok_and(|at| at < now)
}

fn came_back() -> GitOpsFault {
    GitOpsFault::stale(
        "it was withdrawn before by removing its folder from the branch, so it cannot be applied",
    )
    .hint("remove the folder, and propose again: `nodeform propose --live`")
}

fn unsigned(fault: &str) -> GitOpsFault {
    GitOpsFault::stale(fault).hint(
        "propose it again with NODEFORM_SIGNING_KEY_FILE, the private key of one of `git.signers` of the NodeFleet, and remove the folder",
    )
}

fn broken(fault: &ProposalFault) -> GitOpsFault {
    GitOpsFault::stale(fault.to_string()).hint(fault.hint())
}
