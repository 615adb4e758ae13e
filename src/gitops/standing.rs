//! Existing proposals and merged plans: the branches of a cluster, and the plan of each. Must never write.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use super::access::Access;
use super::fault::GitOpsFault;
use super::place::Place;
use crate::git::remote::{Clone, Heads, PlanEntry, Proposed, RemoteFault, Tip};
use crate::git::signature::Signers;
use crate::ledger::{Ledger, Recorded};
use crate::model::ChangeClass;
use crate::offline::beside::Other;
use crate::plan::Plan;
use crate::render::proposal::derived_by;
use crate::review::proposal::{self, Files, FolderName, branches, class_of_branch};

/// How long after the start of its month a plan may still wait: the longest validity, plus a month.
const MONTHS_BACK: SignedDuration = SignedDuration::from_hours(31 * 24);

/// A repository with its existing plans.
#[derive(Debug)]
pub struct Around {
    /// The repository.
    pub place: Place,
    /// Its clone.
    pub clone: Clone,
    /// Prefix of the cluster's branch names.
    pub below: String,
    /// Its existing plans.
    pub standing: Standing,
    /// The current time.
    pub at: Timestamp,
}

/// Facts about the cluster and its merged plans.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The id of the managed cluster.
    pub cluster: &'a str,
    /// The current time.
    pub at: Timestamp,
    /// The history of plans, if the cluster was read.
    pub ledger: Option<&'a Ledger>,
    /// Accepted signers, if plans must be signed.
    pub signers: Option<&'a Signers>,
}

/// Merged and proposed plans.
#[derive(Debug)]
pub struct Standing {
    /// The target branch, into which plans are merged.
    pub target: Tip,
    /// The merged plans, by month and folder.
    pub merged: BTreeSet<(String, String)>,
    /// Merged plans that are not settled and may still start.
    waiting: Vec<Other>,
    /// The proposals, sorted by branch name.
    pub proposals: Vec<Proposal>,
    /// The current time.
    at: Timestamp,
}

/// A branch on which nodeform proposed a plan of this cluster.
#[derive(Debug)]
pub struct Proposal {
    /// The branch.
    pub proposed: Proposed,
    /// The class in its name.
    pub class: ChangeClass,
    /// The plan's folder, with its month.
    pub name: String,
    /// Its plan; `None` if its folder is inconsistent.
    pub plan: Option<Plan>,
    /// Whether the plan is not merged.
    pub is_open: bool,
}

impl Around {
    /// Fetches the merged and proposed plans of this cluster only, which also separates two clusters of the same name.
    ///
    /// # Errors
    /// The repository cannot be read.
    pub fn read(place: Place, access: &Access, known: Known<'_>) -> Result<Self, GitOpsFault> {
        let Known { cluster, at, .. } = known;
        let below = branches(cluster.rsplit('/').next().unwrap_or_default());
        let clone = place.open(access)?;
        let of_cluster = OfCluster { clone: &clone, place: &place, known };
        let standing = clone.fetch(&place.branch, Some(&below));
        let standing = standing.and_then(|heads| of_cluster.standing(heads, &below))?;
        Ok(Self { place, clone, below, standing, at })
    }
}

/// Reads the plans of one cluster from a clone.
struct OfCluster<'a> {
    clone: &'a Clone,
    place: &'a Place,
    known: Known<'a>,
}

impl OfCluster<'_> {
    fn standing(&self, heads: Heads, below: &str) -> Result<Standing, RemoteFault> {
        let entries = self.clone.plans(&heads.target, &self.place.path)?.entries;
        let waiting = self.waiting(&heads.target, &entries)?;
        let merged: BTreeSet<(String, String)> =
            entries.into_iter().map(|plan| (plan.month, plan.name)).collect();
        let mut proposals = Vec::new();
        for proposed in heads.proposed {
            let Some(rest) = proposed.branch.as_str().strip_prefix(below) else { continue };
            let Some(class) = class_of_branch(rest) else { continue };
            let entries = self.clone.plans(&proposed.tip, &self.place.path)?.entries;
            let Some(entry) = entries.into_iter().find(|entry| entry.name == rest) else { continue };
            let is_open = !merged.contains(&(entry.month.clone(), entry.name.clone()));
            let plan = self.proposal(&proposed.tip, &entry)?.map(|proposal| proposal.plan);
            if plan.as_ref().is_none_or(|plan| self.is_its(plan)) {
                let name = format!("{}/{}", entry.month, entry.name);
                proposals.push(Proposal { proposed, class, name, plan, is_open });
            }
        }
        Ok(Standing { target: heads.target, merged, waiting, proposals, at: self.known.at })
    }

    /// Reads the merged plans that are not settled and may still start.
    fn waiting(&self, tip: &Tip, entries: &[PlanEntry]) -> Result<Vec<Other>, RemoteFault> {
        // Without the cluster, the state of merged plans is unknown.
        let Some(ledger) = self.known.ledger else { return Ok(Vec::new()) };
        let now = self.known.at;
        let first = now.checked_sub(MONTHS_BACK).map_or(String::new(), |at| at.strftime("%Y-%m").to_string());
        let mut waiting = Vec::new();
        for entry in entries.iter().filter(|entry| entry.month >= first) {
            let Ok(name) = FolderName::parse(&entry.month, &entry.name) else { continue };
            if ledger.of_id(&name.id).is_some_and(Recorded::is_spent) {
                continue;
            }
            // A plan without a required signature is never applied.
            let counts = |proposal: &proposal::Proposal| {
                let signature = proposal.signature.as_deref();
                self.known.signers.is_none_or(|signers| signers.verify(&proposal.plan, signature).is_ok())
            };
            let plan = self.proposal(tip, entry)?.filter(counts).map(|proposal| proposal.plan);
            if let Some(plan) = plan.filter(|plan| self.is_its(plan) && may_begin(plan, now)) {
                waiting.push(Other { name: name.to_string(), is_merged: true, plan });
            }
        }
        Ok(waiting)
    }

    /// Reads a folder; `None` if it is inconsistent.
    fn proposal(&self, tip: &Tip, entry: &PlanEntry) -> Result<Option<proposal::Proposal>, RemoteFault> {
        let files = self.clone.files(tip, entry)?;
        Ok(Files::of(files).and_then(|files| proposal::read(None, files, derived_by)).ok())
    }

    fn is_its(&self, plan: &Plan) -> bool {
        plan.spec.execution.as_ref().is_some_and(|execution| &*execution.cluster.id == self.known.cluster)
    }
}

fn may_begin(plan: &Plan, now: Timestamp) -> bool {
    plan.spec.expires_at.is_some_and(|at| at > now)
}

impl Standing {
    /// Returns the merged plans that wait to be applied.
    #[must_use]
    pub fn merged_others(&self) -> &[Other] {
        &self.waiting
    }

    /// Returns the plans that a plan of a class must take into account: merged ones that wait to be applied, and
    /// proposals of other classes. It replaces those of its own class.
    #[must_use]
    pub fn others(&self, own: Option<ChangeClass>) -> Vec<Other> {
        let now = self.at;
        let open = self.proposals.iter().filter(|proposal| proposal.is_open && Some(proposal.class) != own);
        let open = open.filter_map(|proposal| {
            let plan = proposal.plan.clone().filter(|plan| may_begin(plan, now))?;
            Some(Other { name: proposal.name.clone(), is_merged: false, plan })
        });
        self.waiting.iter().cloned().chain(open).collect()
    }
}

impl Proposal {
    /// Returns whether the proposal is open, may still start, and equals this plan except for its observation and
    /// expiry times.
    #[must_use]
    pub fn says_the_same(&self, plan: &Plan, now: Timestamp) -> bool {
        let Some(own) = self.plan.as_ref().filter(|_| self.is_open) else { return false };
        let mut spec = own.spec.clone();
        let is_in_time = may_begin(own, now);
        spec.expires_at = plan.spec.expires_at;
        if let (Some(found), Some(own)) = (&mut spec.execution, &plan.spec.execution) {
            found.seen_at = own.seen_at;
        }
        is_in_time && spec == plan.spec
    }

    /// Returns whether nodeform may delete the branch for another plan of the class: it has no commits by others, and a
    /// readable plan of this cluster.
    #[must_use]
    pub const fn may_be_replaced(&self) -> bool {
        self.proposed.tip.is_ours && self.plan.is_some()
    }
}
