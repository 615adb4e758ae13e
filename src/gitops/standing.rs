//! What is proposed already: the branches of a cluster, and the plan of each. Must never write.

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

/// For how long after its month began a plan may wait: the longest validity, and a month more.
const MONTHS_BACK: SignedDuration = SignedDuration::from_hours(31 * 24);

/// Where plans are proposed, and what stands there.
#[derive(Debug)]
pub struct Around {
    /// The repository.
    pub place: Place,
    /// Its clone.
    pub clone: Clone,
    /// How the names of the cluster's branches begin.
    pub below: String,
    /// What stands there.
    pub standing: Standing,
    /// What time it is.
    pub at: Timestamp,
}

/// What is known of the cluster, and of its plans that are merged.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The id of the managed cluster.
    pub cluster: &'a str,
    /// What time it is.
    pub at: Timestamp,
    /// What became of them, where the cluster was asked.
    pub ledger: Option<&'a Ledger>,
    /// Whose signatures count, where plans need one.
    pub signers: Option<&'a Signers>,
}

/// What the target has, and what is proposed to it.
#[derive(Debug)]
pub struct Standing {
    /// The branch that plans are merged into.
    pub target: Tip,
    /// The plans that it has, by month and folder.
    pub merged: BTreeSet<(String, String)>,
    /// Those of them that are not settled and may begin still.
    waiting: Vec<Other>,
    /// What is proposed, by the names of the branches.
    pub proposals: Vec<Proposal>,
    /// What time it is.
    at: Timestamp,
}

/// A branch that nodeform proposed a plan of this cluster on.
#[derive(Debug)]
pub struct Proposal {
    /// The branch.
    pub proposed: Proposed,
    /// The class that its name has.
    pub class: ChangeClass,
    /// The plan's folder, with its month.
    pub name: String,
    /// Its plan; `None` where its folder is gone or does not hold together.
    pub plan: Option<Plan>,
    /// Whether the target does not have the plan.
    pub is_open: bool,
}

impl Around {
    /// Fetches what is merged and proposed, of the plans of this cluster alone: of two clusters of one name each sees its own.
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

/// What is read of a clone: the plans of one cluster.
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

    /// Reads the merged plans that are not settled and may begin still.
    fn waiting(&self, tip: &Tip, entries: &[PlanEntry]) -> Result<Vec<Other>, RemoteFault> {
        // Without the cluster nobody knows what became of a plan that is merged.
        let Some(ledger) = self.known.ledger else { return Ok(Vec::new()) };
        let now = self.known.at;
        let first = now.checked_sub(MONTHS_BACK).map_or(String::new(), |at| at.strftime("%Y-%m").to_string());
        let mut waiting = Vec::new();
        for entry in entries.iter().filter(|entry| entry.month >= first) {
            let Ok(name) = FolderName::parse(&entry.month, &entry.name) else { continue };
            if ledger.of_id(&name.id).is_some_and(Recorded::is_spent) {
                continue;
            }
            // What nobody signed is never applied.
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

    /// Reads a folder, if it holds together.
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

    /// Returns what a plan of a class is made beside: what is merged and waits to be applied, and what is proposed of other
    /// classes. What is proposed of its own class it replaces.
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
    /// Whether it is open and says what this plan says, but for when its world was seen and until when it may begin, and may
    /// begin still.
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

    /// Whether nodeform may delete the branch for another plan of the class: nobody else committed to it, and it is known for
    /// a plan of this cluster.
    #[must_use]
    pub const fn may_be_replaced(&self) -> bool {
        self.proposed.tip.is_ours && self.plan.is_some()
    }
}
