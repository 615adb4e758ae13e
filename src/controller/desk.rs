//! The repository as it was read, with what is known of its pull requests.
//!
//! Must never be read past its time: whoever waits for Git and the forge holds back what people review. Nor written to by a
//! process whose role is to apply, nor the NodeFleet by one whose role is to propose.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use super::proposer::Watched;
use super::role::Role;
use crate::api::node_fleet::Git;
use crate::apply::{recorded, text};
use crate::automatic::{Open, People};
use crate::cluster::{Cluster, Writer};
use crate::forge::Forge;
use crate::git::remote::PlanEntry;
use crate::gitops::{
    self, Access, Around, Asking, Folders, GitOpsFault, Known, Merged, Noting, Place, Proposal, PullRequests,
    Token, Written,
};
use crate::ledger::Ledger;
use crate::model::Digest;
use crate::offline::World;
use crate::plan::{Plan, file};
use crate::review::proposal::work;

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

/// How often the repository is read, of the cloud's clock, and up to how much later: by the cluster, so that those of one forge
/// do not ask it at the same time for ever.
const READ: Duration = Duration::from_secs(30);
const READ_LATER: Duration = Duration::from_secs(5);

/// How long pull requests are kept up at a time: what happens to the branch is looked at behind it.
const FORGE_MAX: Duration = Duration::from_secs(60);

/// Which cluster it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// The id of the managed cluster.
    pub(super) id: String,
    /// The UID of its namespace `kube-system`.
    pub(super) uid: String,
}

impl Identity {
    /// Which cluster a world is of; nothing where it does not say.
    pub(super) fn of(world: &World) -> Option<Self> {
        let id = world.snapshot.azure.as_ref()?.cluster.id.to_string();
        Some(Self { id, uid: world.snapshot.cluster.as_ref()?.to_string() })
    }

    /// How often its repository is read.
    pub(super) fn reads_every(known: Option<&Self>) -> Duration {
        let uid = known.map(|identity| Digest::of_bytes(identity.uid.as_bytes()).to_string());
        let letters = uid.iter().flat_map(|uid| uid.bytes()).map(u32::from).sum::<u32>();
        READ + READ_LATER * (letters % 100) / 100
    }
}

/// What earlier looks leave to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Earlier {
    /// What was written under pull requests.
    pub(super) written: Written,
    /// Until when the forge asked not to be asked again.
    pub(super) rests_until: Option<Timestamp>,
    /// Who proposes, where that is another process.
    pub(super) proposer: Watched,
}

/// The repository as it was read.
pub(super) struct Desk {
    pub(super) around: Around,
    pub(super) folders: Folders,
    /// The folders that are on the branch.
    pub(super) there: BTreeSet<String>,
    /// The plans that had begun and whose folders are gone.
    pub(super) withdrawn: Vec<Withdrawn>,
    /// The forge, where pull requests are kept up.
    pub(super) forge: Option<Box<dyn Forge>>,
    /// What is known of pull requests; `Err` says why they cannot be kept up.
    pub(super) pull_requests: Result<PullRequests, GitOpsFault>,
    /// What was written under pull requests.
    pub(super) written: Written,
    /// Who proposes, where that is another process.
    pub(super) proposer: Watched,
    /// What became of plans.
    pub(super) ledger: Ledger,
    /// What the NodeFleet says of the repository.
    pub(super) git: Git,
}

impl Desk {
    /// Reads the repository that the NodeFleet names; nothing where it names none. Git is waited for on this thread.
    pub(super) async fn read(
        repository: &Repository,
        (writer, Earlier { mut written, rests_until, mut proposer }): (&Writer, Earlier),
        Identity { id, uid }: &Identity,
    ) -> Result<Option<Self>, GitOpsFault> {
        let (cluster, role) = (writer.cluster(), repository.role);
        if role == Role::Controller {
            proposer.look(cluster).await;
        }
        let Some(git) = gitops::fleet(cluster).await?.and_then(|fleet| fleet.git) else { return Ok(None) };
        let Some(place) = Place::of(&git, repository.allows_http)? else { return Ok(None) };
        let ledger = recorded(cluster).await;
        let ledger = ledger.map_err(|fault| GitOpsFault::of(fault.to_string()).hint(fault.hint()))?;
        let signers = gitops::signers(Some(&git))?;
        let at = cluster.clock().now();
        let known = Known { cluster: id, at, ledger: Some(&ledger), signers: signers.as_ref() };
        let around = Around::read(place, &repository.access, known)?;
        let (place, clone, tip) = (&around.place, &around.clone, &around.standing.target);
        if role.applies() {
            gitops::advance(Noting { writer, place, clone, tip }).await?;
        }
        let entries = clone.plans(tip, &place.path)?.entries;
        let there = entries.iter().map(|entry| format!("{}/{}", entry.month, entry.name)).collect();
        let (mut withdrawn, mut folders) = (Vec::new(), Folders::default());
        if role.applies() {
            withdrawn = taken_back(cluster, (&ledger, place, &entries)).await?;
            let (signers, uid) = (signers.as_ref(), Some(uid.as_str()));
            folders =
                Merged { place, clone, tip, ledger: &ledger, signers, cluster: uid, at }.folders(entries)?;
        }
        let connected = match rests_until.filter(|until| *until > at) {
            Some(until) => Err(rests(until)),
            None if !needs_forge(repository, &git) => Ok(None),
            None => gitops::connect((&git, &around.place), &repository.access, *cluster.clock()),
        };
        let (forge, pull_requests) = match connected {
            Ok(Some(forge)) => {
                let written = role.proposes().then_some(&mut written);
                let keeping = gitops::keep_up((&*forge, cluster), (&around, &ledger), written);
                let kept = tokio::time::timeout(FORGE_MAX, keeping).await.unwrap_or_else(|_| Err(slow()));
                (Some(forge), kept)
            }
            Ok(None) => (None, Ok(PullRequests::default())),
            Err(fault) => (None, Err(fault)),
        };
        let (place, clone) = (&around.place, &around.clone);
        let forge_known = pull_requests.as_ref().map(|_| forge.as_deref());
        let proposer_known = proposer.account();
        let asking =
            Asking { forge: forge_known, place, clone, ledger: &ledger, git: &git, proposer: proposer_known };
        // Those that were not reached wait for the next look.
        let asked = tokio::time::timeout(FORGE_MAX, folders.ask_approvals(asking)).await;
        let pull_requests = if asked.is_ok() { pull_requests } else { Err(slow()) };
        Ok(Some(Self {
            around,
            folders,
            there,
            withdrawn,
            forge,
            pull_requests,
            written,
            proposer,
            ledger,
            git,
        }))
    }
}

impl Desk {
    /// Until when the forge asked not to be asked again.
    pub(super) fn rests_until(&self) -> Option<Timestamp> {
        let refused = self.folders.refused.iter().filter_map(|refused| refused.fault.until);
        self.pull_requests.as_ref().err().and_then(|fault| fault.until).into_iter().chain(refused).max()
    }

    /// Why pull requests are not known, and what does not happen meanwhile.
    pub(super) fn forge_trouble(&self, role: Role) -> Option<String> {
        let because = self.pull_requests.as_ref().err()?.told();
        Some(match role.proposes() {
            true => format!("pull requests are not kept up, and nothing new is proposed: {because}"),
            false => format!(
                "cannot read pull requests, so `status.reviews` lacks their pages and plans that need approvals wait: {because}"
            ),
        })
    }

    /// How a proposal stands.
    pub(super) fn state<'p>(&self, open: &'p Proposal) -> Open<'p> {
        let branch = open.proposed.branch.as_str();
        let is = |of: fn(&PullRequests) -> &BTreeSet<String>| {
            self.pull_requests.as_ref().is_ok_and(|known| of(known).contains(branch))
        };
        let people = match open.proposed.tip.is_ours {
            false => People::Edited,
            true if is(|known| &known.closed) => People::Closed,
            true if is(|known| &known.approved) => People::Approved,
            true => People::Nothing,
        };
        Open { plan: open.plan.as_ref(), people }
    }

    /// When people rejected what a plan does.
    pub(super) fn rejected_at(&self, plan: &Plan) -> Option<Timestamp> {
        self.pull_requests.as_ref().ok()?.rejected.get(&work(plan)).copied()
    }
}

/// A plan that had begun and whose folder is gone.
pub(super) struct Withdrawn {
    pub(super) folder: String,
    pub(super) plan: Plan,
}

/// Whether the forge is asked: who only reads it and has no token does without, unless approvals are counted.
fn needs_forge(repository: &Repository, git: &Git) -> bool {
    let has_token = !matches!(repository.access.token, Token::None);
    repository.role.proposes() || has_token || git.approvals.iter().flatten().next().is_some()
}

/// Reads back the plans that had begun and whose folders are gone.
async fn taken_back(
    cluster: &Cluster,
    (ledger, place, entries): (&Ledger, &Place, &[PlanEntry]),
) -> Result<Vec<Withdrawn>, GitOpsFault> {
    let mut withdrawn = Vec::new();
    for (folder, recorded) in gitops::withdrawn(ledger, place, entries) {
        let read = text(cluster, recorded).await.map_err(|fault| fault.to_string());
        let read = read.and_then(|text| file::read_spec(&text).map_err(|fault| fault.to_string()));
        let plan = read.map_err(|because| not_read_back(folder, &recorded.name, &because))?;
        withdrawn.push(Withdrawn { folder: folder.to_owned(), plan });
    }
    Ok(withdrawn)
}

fn rests(until: Timestamp) -> GitOpsFault {
    let fault = GitOpsFault::of(format!("the forge limits requests: next attempt at {until:.0}"));
    GitOpsFault { until: Some(until), ..fault }
}

fn slow() -> GitOpsFault {
    let seconds = FORGE_MAX.as_secs();
    GitOpsFault::of(format!("the forge did not finish answering within {seconds} seconds"))
}

fn not_read_back(folder: &str, name: &str, because: &str) -> GitOpsFault {
    GitOpsFault::of(format!(
        "`{folder}` is no longer on the branch, and its plan cannot be read back from NodePlan `{name}`: {because}"
    ))
    .hint(format!("restore the folder, or delete NodePlan `{name}`: what it has begun is then taken back"))
}
