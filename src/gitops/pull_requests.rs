//! Pull requests of proposals: opened once, closed with their branches, and updated with the results of their plans.
//!
//! They are looked up before each write, so a crash or a second controller leaves only one. Must never merge or
//! approve.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::access::Access;
use super::closed::{mark_letters, marked, rejected};
use super::fault::GitOpsFault;
use super::place::Place;
use super::standing::{Around, Proposal};
use crate::api::node_fleet::{Forge as ForgeWord, Git};
use crate::api::node_plan::Phase;
use crate::apply::text;
use crate::clock::Clock;
use crate::cluster::Cluster;
use crate::forge::{
    self, Branches, CommitId, Forge, ForgeKind, Marker, PullRequest, PullRequestState, Review, Settings,
    Status, StatusState, StickyComment, Text,
};
use crate::git::remote::Branch;
use crate::ledger::{Ledger, Recorded};
use crate::plan::{Change, ChangeId, Plan, file};
use crate::render::proposal::{description, title};
use crate::render::words::count;
use crate::review::proposal::work;

/// Marker of the comment with the result of a plan.
const OUTCOME: &str = "outcome";

/// Names of the commit statuses of proposed and applied plans.
const PLAN: &str = "nodeform/plan";
const APPLY: &str = "nodeform/apply";

/// How long ended pull requests are still read.
const LOOKED_AT: SignedDuration = SignedDuration::from_hours(48);

/// Marker of the comment on differences of a proposal, and its maximum number of lines.
const DIFFERS: &str = "differs";
const DIFFERENCES_MAX: usize = 20;

/// Maximum number of changes that a result lists individually.
const CHANGES_MAX: usize = 200;

/// Text recorded for a merged pull request whose plan was not seen on the branch yet.
const MERGED: &str = "merged";

/// Texts that were already written, by pull request: they are not written again.
pub type Written = BTreeMap<u64, String>;

/// State of the pull requests of a cluster's proposals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PullRequests {
    /// Open pull requests, by branch.
    pub open: BTreeMap<String, OpenOne>,
    /// What people rejected recently by closing its pull request, with the time: the `work` of plans.
    pub rejected: BTreeMap<String, Timestamp>,
    /// Existing branches whose pull requests were closed by people.
    pub closed: BTreeSet<String>,
    /// Branches whose newest commits were approved by people.
    pub approved: BTreeSet<String>,
    /// Branches whose pull requests target a branch other than that of merged plans, with the target.
    pub astray: BTreeMap<String, String>,
}

/// An open pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenOne {
    /// Its number.
    pub number: u64,
    /// Its web page.
    pub page: Option<String>,
}

/// Creates the client of a repository's forge; `None` if the NodeFleet names none.
///
/// # Errors
/// There is no token, or the address does not belong to such a forge.
pub fn connect(
    (git, place): (&Git, &Place),
    access: &Access,
    clock: Clock,
) -> Result<Option<Box<dyn Forge>>, GitOpsFault> {
    let kind = match git.forge {
        Some(ForgeWord::Gitea) => ForgeKind::Gitea,
        Some(ForgeWord::Github) => ForgeKind::GitHub,
        Some(ForgeWord::Gitlab) => ForgeKind::GitLab,
        Some(ForgeWord::Azuredevops) => ForgeKind::AzureDevOps,
        None => return Ok(None),
    };
    let Some(credential) = access.credential()? else {
        return Err(GitOpsFault::of(format!("pull requests of {} need a token, and there is none", place.address))
            .hint("set NODEFORM_GIT_TOKEN, NODEFORM_GIT_TOKEN_FILE or NODEFORM_GITHUB_APP_ID, or take `spec.git.forge` out of the NodeFleet"));
    };
    let settings = Settings { kind, address: place.address.clone(), credential, clock, time_limit: None };
    forge::connect(&settings).map(Some).map_err(GitOpsFault::from)
}

/// Opens missing pull requests, and comments on merged ones with the results of their plans. `written` has the texts
/// that were already written; without it, nothing is written.
///
/// # Errors
/// The forge does not answer, or its answer is invalid.
pub async fn keep_up(
    (forge, cluster): (&dyn Forge, &Cluster),
    (around, ledger): (&Around, &Ledger),
    mut written: Option<&mut Written>,
) -> Result<PullRequests, GitOpsFault> {
    let since = around.at.saturating_sub(LOOKED_AT).unwrap_or(Timestamp::MIN);
    let listed = forge.list(&around.below, since).await.map_err(GitOpsFault::from)?;
    let mut found = PullRequests::default();
    for proposal in around.standing.proposals.iter().filter(|proposal| proposal.is_open) {
        let branch = proposal.proposed.branch.as_str();
        let own = || listed.iter().filter(|it| it.source == branch);
        let known = own().find(|it| it.is_open());
        if let Some(known) = known.filter(|known| known.target != around.place.branch.as_str()) {
            found.astray.insert(branch.to_owned(), plain(&known.target));
            continue;
        }
        if known.is_none() && own().any(|it| matches!(it.state, PullRequestState::Closed { .. })) {
            found.closed.insert(branch.to_owned());
            continue;
        }
        if known.is_none() && is_merged_meanwhile(own(), (around, ledger), written.as_deref_mut()) {
            continue;
        }
        let pull_request = match (known, &proposal.plan) {
            (Some(known), _) => Some(known.clone()),
            (None, Some(plan)) if written.is_some() => {
                Some(open(forge, around, (&proposal.proposed.branch, plan)).await?)
            }
            (None, _) => None,
        };
        let Some(pull_request) = pull_request else { continue };
        if let Some(written) = written.as_deref_mut() {
            tell_plan(forge, (proposal, &pull_request), around.at, written).await?;
        }
        let number = pull_request.number;
        let reviews = forge.reviews(number).await.map_err(GitOpsFault::from)?;
        if reviews.iter().any(Review::approves_head) {
            found.approved.insert(branch.to_owned());
        }
        found.open.insert(branch.to_owned(), OpenOne { number, page: pull_request.url });
    }
    found.rejected = rejected(around, &listed);
    let Some(written) = written else { return Ok(found) };
    written.retain(|number, _| listed.iter().any(|listed| listed.number == *number));
    // A pull request that was merged into another branch brought no plan.
    for pull_request in listed.iter().filter(|it| it.target == around.place.branch.as_str()) {
        let PullRequestState::Merged { commit, .. } = &pull_request.state else { continue };
        let recorded = pull_request.source.rsplit_once('-').and_then(|(_, id)| ledger.of_id(id));
        if let Some(recorded) = recorded {
            let merged = (pull_request.number, commit.as_ref());
            tell_outcome((forge, cluster), merged, recorded, written).await?;
        }
    }
    Ok(found)
}

/// Returns whether one of these seems to be merged since the branches were read: its plan is not in the ledger, and it
/// was not merged at the previous look. It needs no second pull request.
fn is_merged_meanwhile<'a>(
    mut own: impl Iterator<Item = &'a PullRequest>,
    (around, ledger): (&Around, &Ledger),
    written: Option<&mut Written>,
) -> bool {
    let target = around.place.branch.as_str();
    let merged = own.find(|it| matches!(it.state, PullRequestState::Merged { .. }) && it.target == target);
    let (Some(merged), Some(written)) = (merged, written) else { return false };
    let is_known = merged.source.rsplit_once('-').is_some_and(|(_, id)| ledger.of_id(id).is_some());
    !is_known && written.insert(merged.number, MERGED.to_owned()).is_none_or(|before| before != MERGED)
}

/// Comments on a pull request that people are reviewing how it differs from a current plan.
///
/// # Errors
/// The forge does not answer, or its answer is invalid.
pub async fn say_differences(
    forge: &dyn Forge,
    number: u64,
    differences: &BTreeSet<Arc<str>>,
) -> Result<(), GitOpsFault> {
    let mut lines = vec![
        "The cluster has changed since this was proposed. If it is merged, these changes are skipped:\n"
            .to_owned(),
    ];
    lines.extend(differences.iter().take(DIFFERENCES_MAX).map(|line| format!("- {}", plain(line))));
    if let Some(more) = differences.len().checked_sub(DIFFERENCES_MAX).filter(|more| *more > 0) {
        lines.push(format!("- {more} more"));
    }
    let comment = StickyComment { marker: marker(DIFFERS)?, body: lines.join("\n") };
    forge.comment(number, &comment).await.map_err(GitOpsFault::from).map(drop)
}

/// Opens the pull request of a branch with a plan, unless it is open.
///
/// # Errors
/// The forge does not answer, or its answer is invalid.
pub async fn open(
    forge: &dyn Forge,
    around: &Around,
    (source, plan): (&Branch, &Plan),
) -> Result<PullRequest, GitOpsFault> {
    let branches = Branches { source: source.clone(), target: around.place.branch.clone() };
    let limits = forge.limits();
    let work = work(plan);
    let body = description(plan, limits.body.saturating_sub(mark_letters(&work)));
    let text = Text { title: title(plan, limits.title), body: marked(&work, &body) };
    Ok(forge.open(&branches, &text).await.map_err(GitOpsFault::from)?.into_pull_request())
}

/// Sets a status on the newest commit of a pull request: whether the plan is consistent.
async fn tell_plan(
    forge: &dyn Forge,
    (proposal, pull_request): (&Proposal, &PullRequest),
    at: Timestamp,
    written: &mut Written,
) -> Result<(), GitOpsFault> {
    let expires_at = proposal.plan.as_ref().and_then(|plan| plan.spec.expires_at);
    let (state, description) = match (&proposal.plan, expires_at) {
        (None, _) => {
            (StatusState::Failure, "the folder does not hold together: run `nodeform verify`".to_owned())
        }
        (Some(_), Some(expires_at)) if expires_at > at => {
            (StatusState::Success, format!("the plan holds together, and may begin until {expires_at:.0}"))
        }
        (Some(_), _) => (StatusState::Failure, "the plan has expired".to_owned()),
    };
    let status = Status { context: PLAN.to_owned(), state, description, url: None };
    let text = format!("{} {status:?}", pull_request.head);
    if written.get(&pull_request.number) == Some(&text) {
        return Ok(());
    }
    forge.set_status(&pull_request.head, &status).await.map_err(GitOpsFault::from)?;
    written.insert(pull_request.number, text);
    Ok(())
}

/// Comments on a merged pull request with the outcome of each change of its plan.
async fn tell_outcome(
    (forge, cluster): (&dyn Forge, &Cluster),
    (number, commit): (u64, Option<&CommitId>),
    recorded: &Recorded,
    written: &mut Written,
) -> Result<(), GitOpsFault> {
    let known = outcome(recorded, None);
    if written.get(&number) == Some(&known) {
        return Ok(());
    }
    // Without its text, changes are listed without their nodes.
    let text = text(cluster, recorded).await.ok();
    let body = outcome(recorded, text.and_then(|text| file::read_spec(&text).ok()).as_ref());
    forge
        .comment(number, &StickyComment { marker: marker(OUTCOME)?, body })
        .await
        .map_err(GitOpsFault::from)?;
    if let Some(commit) = commit {
        let phase = recorded.phase();
        let state = match phase {
            Phase::Done => StatusState::Success,
            Phase::Proposed | Phase::Applying => StatusState::Pending,
            Phase::Partial | Phase::Failed | Phase::Withdrawn | Phase::Expired | Phase::Rejected => {
                StatusState::Failure
            }
        };
        let description = format!("plan {}: {phase:?}", recorded.name);
        let status = Status { context: APPLY.to_owned(), state, description, url: None };
        forge.set_status(commit, &status).await.map_err(GitOpsFault::from)?;
    }
    written.insert(number, known);
    Ok(())
}

/// Formats the result of a plan: a row for each change, with its node from the plan.
fn outcome(recorded: &Recorded, plan: Option<&Plan>) -> String {
    let changes = recorded.status.iter().flat_map(|status| status.outcomes.iter().flatten());
    let rows: Vec<String> = changes
        .map(|(id, known)| {
            let what = known.change.as_deref().unwrap_or(id);
            let node = plan.and_then(|plan| node(id, plan)).unwrap_or_default();
            let because = known.message.as_deref().map_or_else(String::new, |message| format!(": {message}"));
            format!("| {} | {} | {:?}{} |", plain(&node), plain(what), known.outcome, plain(&because))
        })
        .collect();
    let more = rows.len().saturating_sub(CHANGES_MAX);
    let mut lines = vec![format!("**{:?}** (plan `{}`)", recorded.phase(), recorded.name), String::new()];
    let approvers = recorded.approvers();
    if !approvers.is_empty() {
        lines.extend(
            approvers.iter().map(|approver| format!("Approved by {}\n", plain(&approver.to_string()))),
        );
    }
    lines.extend(["| node | change | outcome |".to_owned(), "| --- | --- | --- |".to_owned()]);
    lines.extend(rows.into_iter().take(CHANGES_MAX));
    if more > 0 {
        lines.push(format!("\n{} more: `nodeform status`", count(more, "change")));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// Returns the node of a change, with a sign for its action.
fn node(id: &str, plan: &Plan) -> Option<String> {
    Some(match &plan.spec.changes.get(&ChangeId(id.into()))?.change {
        Change::Create(create) => format!("+ `{}`", create.vm),
        Change::Delete(delete) => format!("- `{}`", delete.target.node),
        Change::Update(update) => format!("~ `{}`", update.target.node),
        Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => return None,
    })
}

/// Escapes a text for a cell of a table.
fn plain(text: &str) -> String {
    crate::model::shown::plain(text).replace('|', "\\|").replace('<', "&lt;").replace('@', "&#64;")
}

pub(super) fn marker(name: &str) -> Result<Marker, GitOpsFault> {
    Marker::parse(name).ok_or_else(|| GitOpsFault::of(format!("`{name}` is no marker")))
}
