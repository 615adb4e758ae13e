//! Where plans are reviewed, as it was read: a repository, or the cluster itself where the NodeFleet names none.
//!
//! ```text
//!  NodeFleet names a repository ─▶ git ─────▶ branches, merged folders, pull requests ─┐
//!                          none ─▶ cluster ─▶ NodePlans, NodePlanApprovals ────────────┴▶ Desk: approved, refused, proposed
//! ```
//!
//! Must never be read past its time: whoever waits for it holds back what people review. Nor written to by a process whose role is to
//! apply, nor the NodeFleet by one whose role is to propose.

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

/// Who speaks to the repository.
#[derive(Clone, Debug, Default)]
pub struct Repository {
    /// The token with its user, and where clones lie.
    pub access: Access,
    /// Whether one of this machine is taken by plain HTTP.
    pub allows_http: bool,
    /// What plans are signed with, where they are.
    pub signing_key: Option<PathBuf>,
    /// What this process does with it.
    pub role: Role,
}

/// How often it is read, of the cloud's clock, and up to how much later: by the cluster, so that those of one forge do not ask it at
/// the same time for ever.
const READ: Duration = Duration::from_secs(30);
const READ_LATER: Duration = Duration::from_secs(5);

/// Which cluster it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::controller) struct Identity {
    /// The id of the managed cluster.
    pub(in crate::controller) id: String,
    /// The UID of its namespace `kube-system`.
    pub(in crate::controller) uid: String,
}

impl Identity {
    /// Which cluster a world is of; nothing where it does not say.
    pub(in crate::controller) fn of(world: &World) -> Option<Self> {
        let id = world.snapshot.azure.as_ref()?.cluster.id.to_string();
        Some(Self { id, uid: world.snapshot.cluster.as_ref()?.to_string() })
    }

    /// How often the place is read where its plans are reviewed.
    pub(in crate::controller) fn reads_every(known: Option<&Self>) -> Duration {
        let uid = known.map(|identity| Digest::of_bytes(identity.uid.as_bytes()).to_string());
        let letters = uid.iter().flat_map(|uid| uid.bytes()).map(u32::from).sum::<u32>();
        READ + READ_LATER * (letters % 100) / 100
    }
}

/// What earlier looks leave to the next.
#[derive(Clone, Debug, Default)]
pub(in crate::controller) struct Earlier {
    /// What was written under pull requests.
    pub(in crate::controller) written: Written,
    /// Until when the forge asked not to be asked again.
    pub(in crate::controller) rests_until: Option<Timestamp>,
    /// Who proposes, where that is another process: looked at whether or not the repository can be read.
    pub(in crate::controller) proposer: Watched,
    /// The id of the account on the forge, once a proposer knows it.
    pub(in crate::controller) account: Option<String>,
    /// The plans of NodePlans that are proposed or were rejected, by their names.
    pub(in crate::controller) plans: BTreeMap<String, Arc<Plan>>,
}

/// Where a plan was approved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::controller) enum ApprovedIn {
    /// In this folder of a branch, as the ledger has it.
    Folder(String),
    /// In the cluster.
    Cluster,
}

/// A plan that had begun and is no longer approved.
pub(in crate::controller) struct Withdrawn {
    pub(in crate::controller) name: String,
    pub(in crate::controller) plan: Plan,
    /// Why.
    pub(in crate::controller) because: String,
}

/// A proposal that is open.
pub(in crate::controller) struct Stands<'a> {
    /// Its name.
    pub(in crate::controller) name: &'a str,
    /// How it stands.
    pub(in crate::controller) open: Open<'a>,
    /// Whether another may take its place.
    pub(in crate::controller) may_go: bool,
}

/// What became of a plan that was to be proposed.
pub(in crate::controller) enum Placed {
    /// It is proposed: where, and what people do next.
    Proposed { told: String, replaces: Vec<(String, String)> },
    /// There is nothing to propose, and why.
    Nothing { because: String, replaces: Vec<(String, String)> },
}

/// A proposal that went.
pub(in crate::controller) struct Gone {
    /// The branch or the NodePlan.
    pub(in crate::controller) what: String,
    /// Why it went.
    pub(in crate::controller) why: String,
    /// Why it is there still, where it could not be taken away.
    pub(in crate::controller) fault: Option<String>,
}

/// Where proposals stand. Those of a repository are written at once, and waited for on this thread; of the cluster it is returned
/// what is to be written.
pub(in crate::controller) trait Board: Send {
    /// When it was read.
    fn at(&self) -> Timestamp;
    /// Returns what a plan of a class is made beside: what is approved and not settled, and what is proposed of other classes.
    fn others(&self, own: Option<ChangeClass>) -> Vec<Other>;
    /// Returns the open proposals of a class.
    fn open(&self, class: ChangeClass) -> Vec<Stands<'_>>;
    /// Returns when people rejected what a plan does.
    fn rejected_at(&self, plan: &Plan) -> Option<Timestamp>;
    /// Returns whether it is known what people rejected: else nothing is proposed.
    fn may_propose(&self) -> bool;
    /// Proposes a plan, signed with the key of a file where there is one.
    ///
    /// # Errors
    /// It cannot be written, or is not alone.
    fn propose(&self, plan: &Plan, key: Option<&Path>) -> Result<Placed, GitOpsFault>;
    /// Takes an open proposal away, and says why.
    ///
    /// # Errors
    /// It stands still.
    fn end(&self, name: &str, why: &str) -> Result<Gone, GitOpsFault>;
    /// Says beside an open proposal in what it differs from what would be proposed now.
    ///
    /// # Errors
    /// It cannot be written.
    fn say_differences(&self, name: &str, differences: &BTreeSet<Arc<str>>) -> Result<(), GitOpsFault>;
    /// Returns whether nobody else proposes here: what is no longer reviewed is taken back then.
    fn is_only_ours(&self) -> bool;
    /// Takes out what is to be written yet, in this order.
    fn wanted(&mut self) -> Vec<Wanted>;
}

/// Where plans are reviewed, as it was read.
pub(in crate::controller) struct Desk {
    /// Where proposals stand.
    pub(in crate::controller) board: Box<dyn Board>,
    /// Where approved plans are: the start of the names of their folders; nothing for the cluster.
    place: Option<Place>,
    /// The plans that are approved, and those of which nothing is done.
    pub(in crate::controller) folders: Folders,
    /// The names of all that are approved, settled or not.
    pub(in crate::controller) there: BTreeSet<String>,
    /// The plans that had begun and are no longer approved.
    pub(in crate::controller) withdrawn: Vec<Withdrawn>,
    /// What is proposed.
    pub(in crate::controller) proposed: Vec<FleetReview>,
    /// Why pull requests are not kept up.
    pub(in crate::controller) forge_fault: Option<String>,
    /// What became of plans.
    pub(in crate::controller) ledger: Ledger,
    /// What this look leaves to the next.
    pub(in crate::controller) earlier: Earlier,
}

impl Desk {
    /// Reads the repository that the NodeFleet names; nothing where it names none by now. Git is waited for on this thread.
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

    /// Reads what waits for approvals in the cluster.
    ///
    /// # Errors
    /// It cannot be read.
    pub(in crate::controller) async fn of_cluster(
        seen: (&Writer, Earlier),
        identity: &Identity,
    ) -> Result<Self, GitOpsFault> {
        cluster::read(seen, identity).await
    }

    /// Returns where a plan of a name was approved.
    pub(in crate::controller) fn place_of(&self, name: &str) -> ApprovedIn {
        match &self.place {
            Some(place) => ApprovedIn::Folder(place.folder(&name)),
            None => ApprovedIn::Cluster,
        }
    }

    /// Returns the same of a plan's folder.
    pub(in crate::controller) fn place_of_folder(&self, name: &FolderName) -> ApprovedIn {
        self.place_of(&name.to_string())
    }

    /// Returns whether a process of a role proposes here: what waits in the cluster is written by who writes to the cluster.
    pub(in crate::controller) const fn proposes(&self, role: Role) -> bool {
        match self.place {
            Some(_) => role.proposes(),
            None => role.applies(),
        }
    }

    /// Why a plan counts no more that is not here.
    pub(in crate::controller) const fn gone(&self) -> &'static str {
        match self.place {
            Some(_) => WITHDRAWN,
            None => "the plan was withdrawn: its NodePlan is gone",
        }
    }

    /// What to do about a plan that is approved and can never be carried out.
    pub(in crate::controller) fn anew(&self, name: &FolderName) -> String {
        match self.place {
            Some(_) => format!("remove the folder, and propose it again (class `{}`)", name.class),
            None => format!("reject it: `nodeform reject {}`", name.id),
        }
    }

    /// Returns the state of a plan that is approved.
    pub(in crate::controller) const fn approved_state(&self) -> ReviewState {
        match self.place {
            Some(_) => ReviewState::Merged,
            None => ReviewState::Approved,
        }
    }
}

impl ApprovedIn {
    /// Returns who has the plan carried out.
    pub(in crate::controller) fn by(&self) -> By<'_> {
        match self {
            Self::Folder(folder) => By::Person(Some(folder)),
            Self::Cluster => By::Approval,
        }
    }
}
