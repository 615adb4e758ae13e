//! The place where plans are reviewed, as last read: a repository, or the cluster itself if the NodeFleet names none.
//!
//! ```text
//!  NodeFleet names a repository ─▶ git ─────▶ branches, merged folders, pull requests ─┐
//!                          none ─▶ cluster ─▶ NodePlans, NodePlanApprovals ────────────┴▶ Desk: approved, refused, proposed
//! ```
//!
//! Must never take longer to read than its timeout, since reviewed plans wait for it. Must never be written by a process
//! whose role is to apply, nor the NodeFleet by one whose role is to propose.

mod cluster;
mod git;
mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::proposer::Watched;
use super::role::Role;
use crate::api::node_fleet::{FleetReview, ReviewState};
use crate::apply::{By, WITHDRAWN};
use crate::automatic::Open;
use crate::cluster::Writer;
use crate::gitops::{self, Access, Folders, GitOpsFault, Place, Written};
use crate::ledger::Ledger;
use crate::model::{ChangeClass, Digest};
use crate::offline::World;
use crate::offline::beside::Other;
use crate::plan::Plan;
use crate::review::proposal::FolderName;

pub(in crate::controller) use wanted::{Wanted, write};

/// Access to the repository.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    /// The token with its user, and the folder of clones.
    pub access: Access,
    /// Whether plain HTTP is allowed for a repository on this machine.
    pub allows_http: bool,
    /// The key that plans are signed with, if they are.
    pub signing_key: Option<PathBuf>,
    /// The role of this process.
    pub role: Role,
}

/// Read interval by the cloud's clock, and its maximum extension: derived from the cluster, so that clusters of one
/// forge do not always query it at the same time.
const READ: Duration = Duration::from_secs(30);
const READ_LATER: Duration = Duration::from_secs(5);

/// Identity of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::controller) struct Identity {
    /// The id of the managed cluster.
    pub(in crate::controller) id: String,
    /// The UID of its namespace `kube-system`.
    pub(in crate::controller) uid: String,
}

impl Identity {
    /// Returns the identity of a world's cluster; `None` if it is unknown.
    pub(in crate::controller) fn of(world: &World) -> Option<Self> {
        let id = world.snapshot.azure.as_ref()?.cluster.id.to_string();
        Some(Self { id, uid: world.snapshot.cluster.as_ref()?.to_string() })
    }

    /// Returns the interval at which the review place is read.
    pub(in crate::controller) fn reads_every(known: Option<&Self>) -> Duration {
        let uid = known.map(|identity| Digest::of_bytes(identity.uid.as_bytes()).to_string());
        let letters = uid.iter().flat_map(|uid| uid.bytes()).map(u32::from).sum::<u32>();
        READ + READ_LATER * (letters % 100) / 100
    }
}

/// State that earlier looks pass to the next.
#[derive(Clone, Debug, Default)]
pub(in crate::controller) struct Earlier {
    /// What was written to pull requests.
    pub(in crate::controller) written: Written,
    /// Until when the forge asked for no further requests.
    pub(in crate::controller) rests_until: Option<Timestamp>,
    /// State of the proposer, if it is another process: read even if the repository cannot be.
    pub(in crate::controller) proposer: Watched,
    /// The id of the account on the forge, once a proposer knows it.
    pub(in crate::controller) account: Option<String>,
    /// The plans of proposed or rejected NodePlans, by name.
    pub(in crate::controller) plans: BTreeMap<String, Arc<Plan>>,
}

/// Where a plan was approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::controller) enum ApprovedIn {
    /// In this folder of a branch, named as in the ledger.
    Folder(String),
    /// In the cluster.
    Cluster,
}

/// A plan in progress that is no longer approved.
pub(in crate::controller) struct Withdrawn {
    pub(in crate::controller) name: String,
    pub(in crate::controller) plan: Plan,
    /// The reason.
    pub(in crate::controller) because: String,
}

/// An open proposal.
pub(in crate::controller) struct Stands<'a> {
    /// Its name.
    pub(in crate::controller) name: &'a str,
    /// Its state.
    pub(in crate::controller) open: Open<'a>,
    /// Whether another proposal may replace it.
    pub(in crate::controller) may_go: bool,
}

/// Result of proposing a plan.
pub(in crate::controller) enum Placed {
    /// It is proposed: where, and the next step for people.
    Proposed { told: String, replaces: Vec<(String, String)> },
    /// There is nothing to propose, and why.
    Nothing { because: String, replaces: Vec<(String, String)> },
}

/// A proposal that was closed.
pub(in crate::controller) struct Gone {
    /// The branch or the NodePlan.
    pub(in crate::controller) what: String,
    /// Why it was closed.
    pub(in crate::controller) why: String,
    /// Why it still exists, if it could not be deleted.
    pub(in crate::controller) fault: Option<String>,
}

/// Open proposals. Those in a repository are written immediately, blocking this thread; for the cluster, the writes are
/// returned.
pub(in crate::controller) trait Board: Send {
    /// Returns when it was read.
    fn at(&self) -> Timestamp;
    /// Returns the plans that a plan of a class must respect: approved and not settled ones, and proposals of other
    /// classes.
    fn others(&self, own: Option<ChangeClass>) -> Vec<Other>;
    /// Returns the open proposals of a class.
    fn open(&self, class: ChangeClass) -> Vec<Stands<'_>>;
    /// Returns when people rejected a plan's changes.
    fn rejected_at(&self, plan: &Plan) -> Option<Timestamp>;
    /// Returns whether people's rejections are known: otherwise nothing is proposed.
    fn may_propose(&self) -> bool;
    /// Proposes a plan, signed with a key file if there is one.
    ///
    /// # Errors
    /// It cannot be written, or conflicts with another proposal.
    fn propose(&self, plan: &Plan, key: Option<&Path>) -> Result<Placed, GitOpsFault>;
    /// Closes an open proposal with a reason.
    ///
    /// # Errors
    /// It remains open.
    fn end(&self, name: &str, why: &str) -> Result<Gone, GitOpsFault>;
    /// Comments on an open proposal how it differs from a current plan.
    ///
    /// # Errors
    /// It cannot be written.
    fn say_differences(&self, name: &str, differences: &BTreeSet<Arc<str>>) -> Result<(), GitOpsFault>;
    /// Returns whether only this process proposes here: it then withdraws what is no longer reviewed.
    fn is_only_ours(&self) -> bool;
    /// Takes out the writes that are still to be made, in order.
    fn wanted(&mut self) -> Vec<Wanted>;
}

/// State of the place where plans are reviewed.
pub(in crate::controller) struct Desk {
    /// Open proposals.
    pub(in crate::controller) board: Box<dyn Board>,
    /// Location of approved plans, the prefix of their folder names; `None` for the cluster.
    place: Option<Place>,
    /// The approved plans, and those that are not applied.
    pub(in crate::controller) folders: Folders,
    /// The names of all approved plans, settled or not.
    pub(in crate::controller) there: BTreeSet<String>,
    /// The plans in progress that are no longer approved.
    pub(in crate::controller) withdrawn: Vec<Withdrawn>,
    /// The open proposals, for the NodeFleet's status.
    pub(in crate::controller) proposed: Vec<FleetReview>,
    /// Why pull requests are unknown.
    pub(in crate::controller) forge_fault: Option<String>,
    /// The history of plans.
    pub(in crate::controller) ledger: Ledger,
    /// State that this look passes to the next.
    pub(in crate::controller) earlier: Earlier,
}

impl Desk {
    /// Reads the repository that the NodeFleet names; `None` if it names none now. Waits for Git on this thread.
    ///
    /// # Errors
    /// It cannot be read.
    pub(in crate::controller) async fn of_repository(
        repository: &Repository,
        (writer, earlier): (&Writer, Earlier),
        identity: &Identity,
    ) -> Result<Option<Self>, GitOpsFault> {
        let Some(git) = gitops::fleet(writer.cluster()).await?.and_then(|fleet| fleet.git) else {
            return Ok(None);
        };
        let Some(place) = Place::of(&git, repository.allows_http)? else { return Ok(None) };
        git::read(repository, (writer, earlier), git::Known { identity, git, place }).await.map(Some)
    }

    /// Reads the plans that wait for approval in the cluster.
    ///
    /// # Errors
    /// They cannot be read.
    pub(in crate::controller) async fn of_cluster(
        seen: (&Writer, Earlier),
        identity: &Identity,
    ) -> Result<Self, GitOpsFault> {
        cluster::read(seen, identity).await
    }

    /// Returns where the plan of a name was approved.
    pub(in crate::controller) fn place_of(&self, name: &str) -> ApprovedIn {
        match &self.place {
            Some(place) => ApprovedIn::Folder(place.folder(&name)),
            None => ApprovedIn::Cluster,
        }
    }

    /// Returns where the plan of a folder was approved.
    pub(in crate::controller) fn place_of_folder(&self, name: &FolderName) -> ApprovedIn {
        self.place_of(&name.to_string())
    }

    /// Returns whether a process of a role proposes here: proposals in the cluster are made by the role that writes to
    /// it.
    pub(in crate::controller) const fn proposes(&self, role: Role) -> bool {
        match self.place {
            Some(_) => role.proposes(),
            None => role.applies(),
        }
    }

    /// Returns the reason for withdrawing a plan that is no longer here.
    pub(in crate::controller) const fn gone(&self) -> &'static str {
        match self.place {
            Some(_) => WITHDRAWN,
            None => "the plan was withdrawn: its NodePlan is gone",
        }
    }

    /// Returns the next step for an approved plan that can never be applied.
    pub(in crate::controller) fn anew(&self, name: &FolderName) -> String {
        match self.place {
            Some(_) => format!("remove the folder, and propose it again (class `{}`)", name.class),
            None => format!("reject it: `nodeform reject {}`", name.id),
        }
    }

    /// Returns the state of approved plans.
    pub(in crate::controller) const fn approved_state(&self) -> ReviewState {
        match self.place {
            Some(_) => ReviewState::Merged,
            None => ReviewState::Approved,
        }
    }
}

impl ApprovedIn {
    /// Returns who applies the plan.
    pub(in crate::controller) fn by(&self) -> By<'_> {
        match self {
            Self::Folder(folder) => By::Person(Some(folder)),
            Self::Cluster => By::Approval,
        }
    }
}
