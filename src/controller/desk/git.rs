//! Review in Git: the repository, with what is known of its pull requests.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::super::role::Role;
use super::{Board, Desk, Earlier, Gone, Identity, Placed, Repository, Stands, Wanted, Withdrawn};
use crate::api::node_fleet::{FleetReview, Git, ReviewState};
use crate::apply::{WITHDRAWN, recorded, text};
use crate::automatic::{Open, People};
use crate::cluster::{Cluster, Writer};
use crate::forge::Forge;
use crate::git::remote::PlanEntry;
use crate::gitops::{
    self, Around, Asking, Folders, GitOpsFault, Going, Merged, Noting, Place, Proposal, Proposing,
    PullRequests, Pushed, Token,
};
use crate::ledger::Ledger;
use crate::model::ChangeClass;
use crate::offline::beside::Other;
use crate::plan::{Plan, file};
use crate::review::proposal::{FolderName, work};

/// Timeout for the upkeep of pull requests: the branch is read again afterwards.
const FORGE_MAX: Duration = Duration::from_secs(60);

/// Reason why plans that were approved in the cluster are withdrawn.
const ELSEWHERE: &str = "the plan was withdrawn: the NodeFleet now names a repository";

/// What is known before the repository is read.
pub(super) struct Known<'a> {
    pub(super) identity: &'a Identity,
    /// The NodeFleet's settings for the repository.
    pub(super) git: Git,
    pub(super) place: Place,
}

/// Proposals in the repository.
struct GitBoard {
    around: Around,
    /// The forge, if pull requests are used.
    forge: Option<Box<dyn Forge>>,
    /// State of the pull requests; `Err` if it cannot be determined.
    pull_requests: Result<PullRequests, GitOpsFault>,
    git: Git,
}

/// Reads the repository that the NodeFleet names. Waits for Git on this thread.
///
/// # Errors
/// It cannot be read.
pub(super) async fn read(
    repository: &Repository,
    (writer, earlier): (&Writer, Earlier),
    Known { identity: Identity { id, uid }, git, place }: Known<'_>,
) -> Result<Desk, GitOpsFault> {
    let Earlier { mut written, rests_until, proposer, account, .. } = earlier;
    let (cluster, role) = (writer.cluster(), repository.role);
    let ledger = recorded(cluster).await;
    let ledger = ledger.map_err(|fault| GitOpsFault::of(fault.to_string()).hint(fault.hint()))?;
    let signers = gitops::signers(Some(&git))?;
    let at = cluster.clock().now();
    let known = gitops::Known { cluster: id, at, ledger: Some(&ledger), signers: signers.as_ref() };
    repository.access.renew((&place, git.forge), *cluster.clock()).await?;
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
    let asking =
        Asking { forge: forge_known, place, clone, ledger: &ledger, git: &git, proposer: proposer.account() };
    // Those that were not reached are checked at the next look.
    let asked = tokio::time::timeout(FORGE_MAX, folders.ask_approvals(asking)).await;
    let pull_requests = if asked.is_ok() { pull_requests } else { Err(slow()) };
    let rests_until = rests_after(&pull_requests, &folders);
    let account = account_of(forge.as_deref().filter(|_| role == Role::Proposer), account).await;
    let board = GitBoard { around, forge, pull_requests, git };
    let open = board.around.standing.proposals.iter().filter(|proposal| proposal.is_open);
    Ok(Desk {
        place: Some(board.around.place.clone()),
        proposed: open.map(|open| board.listed(open)).collect(),
        forge_fault: board.pull_requests.as_ref().err().map(|fault| forge_trouble(fault, role)),
        earlier: Earlier { written, rests_until, proposer, account, ..Earlier::default() },
        board: Box::new(board),
        folders,
        there,
        withdrawn,
        ledger,
    })
}

/// Explains why pull requests are unknown, and the consequence.
fn forge_trouble(fault: &GitOpsFault, role: Role) -> String {
    let because = fault.told();
    match role.proposes() {
        true => format!("pull requests are not updated, and nothing new is proposed: {because}"),
        false => format!(
            "cannot read pull requests, so `status.reviews` lacks their pages and plans that need approvals wait: {because}"
        ),
    }
}

/// Returns whether the forge is used: a process that only reads it, without a token, skips it unless approvals are
/// counted.
fn needs_forge(repository: &Repository, git: &Git) -> bool {
    let has_token = !matches!(repository.access.token, Token::None);
    repository.role.proposes() || has_token || git.approvals.iter().flatten().next().is_some()
}

/// Returns the id of the token's account on the forge; `None` if it is unknown.
async fn account_of(forge: Option<&dyn Forge>, known: Option<String>) -> Option<String> {
    let (Some(forge), None) = (forge, &known) else { return known };
    let asked = tokio::time::timeout(FORGE_MAX, forge.user()).await;
    asked.ok()?.ok().map(|user| user.id)
}

/// Reads back the plans in progress that are no longer approved here.
async fn taken_back(
    cluster: &Cluster,
    (ledger, place, entries): (&Ledger, &Place, &[PlanEntry]),
) -> Result<Vec<Withdrawn>, GitOpsFault> {
    let gone = gitops::withdrawn(ledger, place, entries).into_iter();
    let gone = gone.map(|(folder, recorded)| (folder.to_owned(), recorded, WITHDRAWN));
    let elsewhere = ledger.unfinished().filter(|plan| plan.needs_approval);
    let elsewhere = elsewhere.map(|recorded| (recorded.name.clone(), recorded, ELSEWHERE));
    let mut withdrawn = Vec::new();
    for (name, recorded, because) in gone.chain(elsewhere) {
        let read = text(cluster, recorded).await.map_err(|fault| fault.to_string());
        let read = read.and_then(|text| file::read_spec(&text).map_err(|fault| fault.to_string()));
        let plan = read.map_err(|fault| not_read_back(&name, &recorded.name, &fault))?;
        withdrawn.push(Withdrawn { name, plan, because: because.to_owned() });
    }
    Ok(withdrawn)
}

/// Returns until when the forge asked for no further requests.
fn rests_after(pull_requests: &Result<PullRequests, GitOpsFault>, folders: &Folders) -> Option<Timestamp> {
    let refused = folders.refused.iter().filter_map(|refused| refused.fault.until);
    pull_requests.as_ref().err().and_then(|fault| fault.until).into_iter().chain(refused).max()
}

impl Board for GitBoard {
    fn at(&self) -> Timestamp {
        self.around.at
    }

    fn others(&self, own: Option<ChangeClass>) -> Vec<Other> {
        self.around.standing.others(own)
    }

    fn open(&self, class: ChangeClass) -> Vec<Stands<'_>> {
        let proposals = self.around.standing.proposals.iter();
        let open = proposals.filter(|proposal| proposal.class == class && proposal.is_open);
        open.map(|proposal| Stands {
            name: &proposal.name,
            open: self.state(proposal),
            may_go: proposal.may_be_replaced(),
        })
        .collect()
    }

    fn rejected_at(&self, plan: &Plan) -> Option<Timestamp> {
        self.pull_requests.as_ref().ok()?.rejected.get(&work(plan)).copied()
    }

    fn may_propose(&self) -> bool {
        self.pull_requests.is_ok()
    }

    fn propose(&self, plan: &Plan, key: Option<&Path>) -> Result<Placed, GitOpsFault> {
        let Self { around, git, .. } = self;
        let Some(name) = FolderName::of(plan) else {
            return Ok(Placed::Nothing { because: "nothing changes".to_owned(), replaces: Vec::new() });
        };
        let key = key.map(gitops::signing_key).transpose()?;
        let signature = gitops::signed(plan, key.as_ref(), Some(git))?;
        let proposing = Proposing { plan, name, around };
        let pushed = proposing.propose(&gitops::files(plan, signature))?;
        let replaces = proposing.replaces(&pushed).into_iter();
        let replaces = replaces.map(|Going { proposal, why }| (proposal.name.clone(), why)).collect();
        Ok(match pushed {
            Pushed::Proposed { folder, branch, .. } => {
                let told = format!("`{folder}` on branch `{}`: review and merge it", branch.as_str());
                Placed::Proposed { told, replaces }
            }
            Pushed::Nothing { because, .. } => Placed::Nothing { because, replaces },
        })
    }

    /// Closes the pull request of a proposal and deletes its branch. If the forge does not accept the reason, both are
    /// kept: forges close pull requests without a branch, which would look like a rejection by people.
    fn end(&self, name: &str, why: &str) -> Result<Gone, GitOpsFault> {
        let Self { around, forge, .. } = self;
        let Some(proposal) = around.standing.proposals.iter().find(|proposal| proposal.name == name) else {
            return Err(GitOpsFault::of(format!("`{name}` is not proposed")));
        };
        if let Some(forge) = forge {
            let branch = proposal.proposed.branch.as_str();
            let closing = gitops::close(&**forge, around, (branch, why));
            tokio::runtime::Handle::current().block_on(closing)?;
        }
        let going = Going { proposal, why: why.to_owned() };
        let gitops::Gone { branch, why, fault } = going.delete(&around.clone);
        Ok(Gone { what: format!("branch `{branch}`"), why, fault })
    }

    fn say_differences(&self, name: &str, differences: &BTreeSet<Arc<str>>) -> Result<(), GitOpsFault> {
        let Self { around, forge: Some(forge), pull_requests: Ok(known), .. } = self else { return Ok(()) };
        let proposal = around.standing.proposals.iter().find(|proposal| proposal.name == name);
        let branch = proposal.map(|proposal| proposal.proposed.branch.as_str());
        let Some(known) = branch.and_then(|branch| known.open.get(branch)) else { return Ok(()) };
        let saying = gitops::say_differences(&**forge, known.number, differences);
        tokio::runtime::Handle::current().block_on(saying)
    }

    fn is_only_ours(&self) -> bool {
        // Users propose with `nodeform propose`.
        false
    }

    fn wanted(&mut self) -> Vec<Wanted> {
        Vec::new()
    }
}

impl GitBoard {
    /// Returns the state of a proposal.
    fn state<'p>(&self, open: &'p Proposal) -> Open<'p> {
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

    /// Returns a proposal for the NodeFleet's status: where it is, and what it waits for.
    fn listed(&self, open: &Proposal) -> FleetReview {
        let branch = open.proposed.branch.as_str();
        let known = self.pull_requests.as_ref().ok();
        let astray = known.and_then(|known| known.astray.get(branch));
        let is_closed = known.is_some_and(|known| known.closed.contains(branch));
        let because = match (self.state(open).people, &open.plan, astray) {
            (_, _, Some(target)) => {
                let branch = self.around.place.branch.as_str();
                Some(format!("its pull request targets `{target}`: change it to `{branch}`"))
            }
            (People::Closed, ..) => {
                Some(
                    "its pull request was closed: the same changes are not proposed for 24 hours; reopen it to go on"
                        .to_owned(),
                )
            }
            (People::Edited, ..) if is_closed => Some(
                "somebody else committed to it, and its pull request was closed: delete the branch"
                    .to_owned(),
            ),
            (People::Edited, ..) => {
                Some("somebody else committed to it: it is kept until it is merged or deleted".to_owned())
            }
            (People::Nothing | People::Approved, None, _) => {
                Some("its folder does not hold together: delete the branch".to_owned())
            }
            (People::Approved, Some(_), _) => Some("it is approved: merge it".to_owned()),
            (People::Nothing, Some(_), _) => None,
        };
        FleetReview {
            folder: open.name.clone(),
            state: ReviewState::Proposed,
            branch: Some(branch.to_owned()),
            page: known.and_then(|known| known.open.get(branch)?.page.clone()),
            because,
        }
    }
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
    .hint(format!("restore the folder, or delete NodePlan `{name}`: its started changes are then rolled back"))
}
