//! Checks whether enough people approved a merged plan, if the NodeFleet requires approvals.
//!
//! The rules come from the cluster, reviews from the forge, and the reviewed plans from Git. An approval counts for the
//! plan that was approved, with the same lines struck or more. Must never count an approval that the forge does not
//! report, nor one by the author of the pull request.

use std::collections::{BTreeMap, BTreeSet};

use super::commit::proposal_at;
use super::fault::GitOpsFault;
use super::folders::{Folder, Folders, Refused};
use super::place::Place;
use crate::api::node_fleet::{Approvals, Git};
use crate::forge::{
    Branches, CommitId, Forge, ForgeFault, Permission, PullRequest, PullRequestState, Review, Sought,
    Standing, User, Verdict,
};
use crate::git::remote::{Branch, Clone, PlanEntry};
use crate::ledger::Ledger;
use crate::model::{Approver, ChangeClass};
use crate::plan::file;
use crate::render::words::{count, verb};
use crate::review::proposal::classes;

/// Reason why an approval does not count.
const NOT_A_WRITER: &str = "may not write to the repository";

/// Inputs for checking approvals.
#[derive(Clone, Copy)]
pub struct Asking<'a> {
    /// Reads pull requests; `Err` is the reason why that fails.
    pub forge: Result<Option<&'a dyn Forge>, &'a GitOpsFault>,
    /// The repository of merged plans.
    pub place: &'a Place,
    /// Its clone.
    pub clone: &'a Clone,
    /// The history of plans.
    pub ledger: &'a Ledger,
    /// The NodeFleet's settings for the repository.
    pub git: &'a Git,
    /// The id of the proposer's account, if it differs from that of the forge's token.
    pub proposer: Option<&'a str>,
}

impl Folders {
    /// Moves plans that lack a required approval to the refused ones. A plan that has started had its approvals, and is
    /// not checked again. Waits for Git on this thread.
    pub async fn ask_approvals(&mut self, asking: Asking<'_>) {
        for mut folder in std::mem::take(&mut self.waiting) {
            let rules = asking.rules(&folder);
            if rules.is_empty() || asking.ledger.of_id(&folder.name.id).is_some() {
                self.waiting.push(folder);
                continue;
            }
            match asking.approved(&folder, &rules).await {
                Ok(by) => {
                    folder.approved_by = by;
                    self.waiting.push(folder);
                }
                Err(fault) => self.refused.push(Refused { name: folder.name.to_string(), fault }),
            }
        }
    }
}

impl Asking<'_> {
    /// Returns the rules that apply to a plan.
    fn rules(&self, folder: &Folder) -> Vec<&Approvals> {
        let mut classes: BTreeSet<ChangeClass> = classes(&folder.proposal.plan);
        classes.insert(folder.name.class);
        let rules = self.git.approvals.iter().flatten();
        rules.filter(|rule| rule.classes.iter().any(|class| classes.contains(class))).collect()
    }

    /// Returns who approved a plan.
    async fn approved(&self, folder: &Folder, rules: &[&Approvals]) -> Result<Vec<Approver>, GitOpsFault> {
        let forge = match self.forge {
            Ok(Some(forge)) => forge,
            Ok(None) => return Err(no_forge()),
            Err(fault) => {
                let because = format!("cannot determine whether it is approved: {fault}");
                return Err(GitOpsFault::of(because).hint("it is checked again when the forge answers"));
            }
        };
        let pull_request = self.merged(forge, folder).await?;
        let own = forge.user().await.map_err(unknown)?;
        let mut votes = Vec::new();
        for review in forge.reviews(pull_request.number).await.map_err(unknown)? {
            if review.verdict == Verdict::Approved {
                let counts = self.counts((forge, &own), (folder, &pull_request), &review).await?;
                votes.push(Vote { commit: review.commit, by: review.by, counts });
            }
        }
        let mut approved = BTreeSet::new();
        for rule in rules {
            let Tally { counted, others } = tally(rule, &votes);
            if u32::try_from(counted.len()).unwrap_or(u32::MAX) < rule.count {
                return Err(missing(rule, &pull_request, (&counted, &others)));
            }
            approved.extend(counted);
        }
        Ok(approvers(&approved, &votes, &pull_request))
    }

    /// Returns the merged pull request of a plan.
    async fn merged(&self, forge: &dyn Forge, folder: &Folder) -> Result<PullRequest, GitOpsFault> {
        let execution = folder.proposal.plan.spec.execution.as_ref();
        let cluster = execution.map(|execution| &*execution.cluster.id).unwrap_or_default();
        let source = folder.name.branch(cluster.rsplit('/').next().unwrap_or_default());
        let branch = Branch::parse(&source).map_err(GitOpsFault::from)?;
        let branches = Branches { source: branch, target: self.place.branch.clone() };
        let found = forge.find(&branches, Sought::Ended).await.map_err(unknown)?;
        let merged = found.filter(|found| matches!(found.state, PullRequestState::Merged { .. }));
        merged.ok_or_else(|| {
            let target = self.place.branch.as_str();
            GitOpsFault::stale(format!(
                "it needs approvals, and there is no merged pull request from branch `{source}` into `{target}`"
            ))
            .hint("delete the folder, and merge plans only through their pull requests")
        })
    }

    /// Returns the permission of an approval's author, or why the approval does not count.
    async fn counts(
        &self,
        (forge, own): (&dyn Forge, &User),
        (folder, pull_request): (&Folder, &PullRequest),
        review: &Review,
    ) -> Result<Result<Permission, String>, GitOpsFault> {
        if review.by.id == own.id || self.proposer == Some(review.by.id.as_str()) {
            return Ok(Err("is nodeform's own account".to_owned()));
        }
        if pull_request.author.as_ref().is_some_and(|author| author.id == review.by.id) {
            return Ok(Err("opened the pull request".to_owned()));
        }
        match review.standing {
            Standing::Dismissed => return Ok(Err("approved it, and that was dismissed".to_owned())),
            Standing::Unofficial => return Ok(Err(NOT_A_WRITER.to_owned())),
            Standing::Current | Standing::Stale => {}
        }
        match forge.permission(&review.by).await.map_err(unknown)? {
            Permission::None | Permission::Read => Ok(Err(NOT_A_WRITER.to_owned())),
            permission @ (Permission::Write | Permission::Unknown) => {
                Ok(self.is_of_this(folder, review).map(|()| permission))
            }
        }
    }

    /// Checks that the approved plan is the merged one, with at most fewer removals.
    fn is_of_this(&self, folder: &Folder, review: &Review) -> Result<(), String> {
        let Some(commit) = &review.commit else {
            return Err("approved a commit that the forge does not name".to_owned());
        };
        let short = commit.as_str().get(..7).unwrap_or_default();
        let name = folder.name.folder();
        let is_its = |entry: &PlanEntry| entry.month == folder.name.month && entry.name == name;
        match proposal_at((self.place, self.clone), commit.as_str(), is_its) {
            Err(because) => Err(format!("approved commit {short}, which cannot be read: {because}")),
            Ok(None) => Err(format!("approved commit {short}, which does not have this plan")),
            Ok(Some(approved)) if file::write(&approved.plan) != file::write(&folder.proposal.plan) => {
                Err(format!("approved commit {short}, which has another plan"))
            }
            Ok(Some(approved)) => {
                let more = approved.struck.difference(&folder.proposal.struck).count();
                let nodes = count(more, "node");
                match more {
                    0 => Ok(()),
                    _ => Err(format!(
                        "approved commit {short}, which keeps {nodes} that {} deleted now",
                        verb(more, "is", "are")
                    )),
                }
            }
        }
    }
}

/// An approval.
struct Vote {
    by: User,
    commit: Option<CommitId>,
    /// The permission of its author; `Err` is the reason why it does not count.
    counts: Result<Permission, String>,
}

/// Authors of approvals that count for a rule, and the others with the reasons.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    counted: BTreeSet<String>,
    others: BTreeMap<String, String>,
}

/// Counts the approvals that satisfy a rule.
fn tally(rule: &Approvals, votes: &[Vote]) -> Tally {
    let mut tally = Tally::default();
    for Vote { by, counts, commit: _ } in votes {
        let is_named = rule.by.as_ref().map(|names| names.iter().any(|name| is_called(by, name)));
        let because = match (counts, is_named) {
            (_, Some(false)) => "is not among those whose approval counts".to_owned(),
            (Err(because), _) => because.clone(),
            (Ok(Permission::Write), _) | (Ok(_), Some(true)) => {
                tally.counted.insert(by.login.clone());
                continue;
            }
            (Ok(_), None) => "may or may not write to the repository: the forge does not say".to_owned(),
        };
        tally.others.insert(by.login.clone(), because);
    }
    tally
}

/// Returns the authors of counted approvals, with their evidence.
fn approvers(approved: &BTreeSet<String>, votes: &[Vote], pull_request: &PullRequest) -> Vec<Approver> {
    let page = pull_request.url.as_ref().map_or_else(String::new, |url| format!(", {url}"));
    let counted = votes.iter().filter(|vote| vote.counts.is_ok() && approved.contains(&vote.by.login));
    let record = |vote: &Vote| {
        let commit = vote.commit.as_ref().map_or_else(String::new, |commit| format!(", commit {commit}"));
        format!("pull request {}{commit}{page}", pull_request.number)
    };
    counted.map(|vote| Approver { by: vote.by.login.clone(), record: record(vote) }).collect()
}

/// Compares names case-insensitively, as forges do.
fn is_called(user: &User, name: &str) -> bool {
    user.login.to_lowercase() == name.to_lowercase()
}

fn missing(
    rule: &Approvals,
    pull_request: &PullRequest,
    (counted, others): (&BTreeSet<String>, &BTreeMap<String, String>),
) -> GitOpsFault {
    let classes: Vec<&str> = rule.classes.iter().map(|class| class.as_str()).collect();
    let needed = usize::try_from(rule.count).unwrap_or(usize::MAX);
    let of = match &rule.by {
        Some(by) => format!(" by {}", by.join(", ")),
        None => String::new(),
    };
    let number = pull_request.number;
    let mut what = format!(
        "pull request {number} needs {}{of} for {}, and has {}",
        count(needed, "approval"),
        classes.join(", "),
        counted.len()
    );
    if !counted.is_empty() {
        let names: Vec<&str> = counted.iter().map(String::as_str).collect();
        what.push_str(&format!(" (by {})", names.join(", ")));
    }
    for (who, because) in others {
        what.push_str(&format!("; {who} {because}"));
    }
    let page = pull_request.url.as_ref().map_or_else(String::new, |url| format!(": {url}"));
    GitOpsFault::stale(what)
        .hint(format!(
            "approve pull request {number}, if the forge still allows reviews of merged pull requests{page}"
        ))
        .hint("or delete the folder: nodeform proposes it again, to be approved before the merge")
}

fn no_forge() -> GitOpsFault {
    GitOpsFault::of("it needs approvals, and the NodeFleet names no forge to read them from")
        .hint("set `spec.git.forge` of the NodeFleet: `github`, `azuredevops`, `gitlab` or `gitea`")
}

fn unknown(fault: ForgeFault) -> GitOpsFault {
    let mut fault = GitOpsFault::from(fault);
    fault
        .faults
        .iter_mut()
        .for_each(|what| *what = format!("cannot determine whether it is approved: {what}"));
    fault
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(count: u32, by: Option<&[&str]>) -> Approvals {
        let by = by.map(|by| by.iter().map(|&name| name.to_owned()).collect());
        Approvals { classes: vec![ChangeClass::Replace], count, by }
    }

    fn vote(login: &str, counts: Result<Permission, &str>) -> Vote {
        let by = User { id: login.to_owned(), login: login.to_owned() };
        Vote { by, commit: None, counts: counts.map_err(str::to_owned) }
    }

    fn shown(rule: &Approvals, votes: &[Vote]) -> String {
        let Tally { counted, others } = tally(rule, votes);
        let counted: Vec<String> = counted.into_iter().collect();
        let others: Vec<String> =
            others.into_iter().map(|(who, because)| format!("{who} {because}")).collect();
        format!("{} | {}", counted.join(" "), others.join("; "))
    }

    #[test]
    fn whoever_may_write_counts_and_where_that_is_not_said_whoever_is_named() {
        let votes = [
            vote("amy", Ok(Permission::Write)),
            vote("bob", Ok(Permission::Unknown)),
            vote("cid", Err("opened the pull request")),
        ];
        assert_eq!(
            shown(&rule(1, None), &votes),
            "amy | bob may or may not write to the repository: the forge does not say; cid opened the pull request"
        );
        assert_eq!(
            shown(&rule(1, Some(&["Bob", "cid"])), &votes),
            "bob | amy is not among those whose approval counts; cid opened the pull request"
        );
    }

    fn pull_request() -> PullRequest {
        PullRequest {
            number: 12,
            state: PullRequestState::Open,
            text: crate::forge::Text { title: String::new(), body: String::new() },
            source: String::new(),
            target: String::new(),
            head: crate::forge::CommitId::parse(&"a".repeat(40)).expect("an id"),
            author: None,
            url: Some("https://forge.example/12".to_owned()),
            is_from_fork: false,
        }
    }

    #[test]
    fn an_approval_that_counts_names_the_commit_and_the_pull_request() {
        let commit = CommitId::parse(&"b".repeat(40));
        let votes = [Vote { commit, ..vote("amy", Ok(Permission::Write)) }, vote("bob", Err("left"))];
        let named = approvers(&BTreeSet::from(["amy".to_owned(), "bob".to_owned()]), &votes, &pull_request());
        let told: Vec<String> = named.iter().map(ToString::to_string).collect();
        let commit = "b".repeat(40);
        assert_eq!(told, [format!("amy (pull request 12, commit {commit}, https://forge.example/12)")]);
    }

    #[test]
    fn what_is_missing_is_said_with_who_did_not_count_and_why() {
        let pull_request = pull_request();
        let counted = BTreeSet::from(["amy".to_owned()]);
        let others = BTreeMap::from([("bob".to_owned(), "may not write to the repository".to_owned())]);
        let fault = missing(&rule(2, None), &pull_request, (&counted, &others));
        assert_eq!(
            fault.to_string(),
            "pull request 12 needs 2 approvals for replace, and has 1 (by amy); bob may not write to the repository"
        );
        assert_eq!(fault.hints.len(), 2);
    }
}
