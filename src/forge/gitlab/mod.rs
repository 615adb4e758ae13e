//! GitLab, by its REST API (`/api/v4`), where pull requests are merge requests.
//!
//! GitLab reports who approves and when, but not which commit; that follows from the versions of the merge request.

mod wire;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::json;

use super::api::{Api, Change};
use super::comment::Comment;
use super::fault::{FaultKind, ForgeFault};
use super::history::Pushed;
use super::kind::{self, TextLimits};
use super::pages::{Enough, Listed, Longer, Paging, Start};
use super::place::Place;
use super::pull_request::{Branches, CommitId, PullRequest, Sought, Text};
use super::review::Review;
use super::settings::{Dialect, Scheme, Settings};
use super::status::{Status, StatusState};
use super::transport::{Call, Transport};
use super::user::{Permission, User};

/// GitLab accepts every kind of token like an OAuth token.
const DIALECT: Dialect = Dialect::at("/api/v4", Scheme::Named("Bearer"));
const PAGING: Paging = Paging { size: "per_page", start: Start::Page("page"), within: None };

/// A project on GitLab.
#[derive(Debug)]
pub(super) struct GitLab {
    transport: Transport,
    /// The path of the project, with its groups.
    project: String,
}

impl GitLab {
    /// Creates a client; nothing is sent.
    pub(super) fn new(settings: &Settings, place: &Place) -> Result<Self, FaultKind> {
        if place.names.len() < 2 {
            let because = "the path is not `GROUP/PROJECT`".to_owned();
            return Err(FaultKind::Settings { because });
        }
        Ok(Self { transport: settings.transport(place, &DIALECT)?, project: place.names.join("/") })
    }

    /// Returns the path of something in the project, which is one segment including its groups.
    fn path<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        [&["projects", self.project.as_str()], rest].concat()
    }

    fn of_one(&self, number: u64, verb: &str) -> String {
        format!("{verb} pull request {number} of `{}`", self.project)
    }

    /// Prepares a list of something in one merge request.
    fn list_of(&self, number: u64, what: &str, verb: &str) -> Result<Call, ForgeFault> {
        let number_text = number.to_string();
        self.transport.get(&self.path(&["merge_requests", &number_text, what]), self.of_one(number, verb))
    }

    fn merge_requests(&self, state: &str, order: &str) -> Result<Call, ForgeFault> {
        let deed = format!("list {state} pull requests of `{}`", self.project);
        let call = self.transport.get(&self.path(&["merge_requests"]), deed)?;
        Ok(call.query("state", state).query("order_by", order).query("sort", "desc"))
    }

    async fn notes(&self, number: u64, verb: &str) -> Result<Listed<wire::Note>, ForgeFault> {
        let call = self.list_of(number, "notes", verb)?.query("order_by", "created_at").query("sort", "asc");
        PAGING.all(&self.transport, &call).await
    }

    async fn history(&self, number: u64) -> Result<Vec<Pushed>, ForgeFault> {
        let call = self.list_of(number, "versions", "read the versions of")?;
        let listed: Listed<wire::Version> = PAGING.all(&self.transport, &call).await?;
        Ok(listed.entries.into_iter().filter_map(wire::Version::read).collect())
    }

    /// Returns requests for changes. Older servers do not list reviewers with their state.
    async fn change_requests(&self, number: u64) -> Result<Vec<Review>, ForgeFault> {
        let call = self.list_of(number, "reviewers", "read the reviewers of")?;
        match PAGING.all::<wire::Reviewer>(&self.transport, &call).await {
            Ok(listed) => Ok(listed.entries.into_iter().filter_map(wire::Reviewer::read).collect()),
            Err(ForgeFault { kind: FaultKind::NotFound, .. }) => Ok(Vec::new()),
            Err(fault) => Err(fault),
        }
    }
}

fn read(listed: Listed<wire::MergeRequest>) -> Result<Vec<PullRequest>, ForgeFault> {
    let Listed { entries, about } = listed;
    // A merge request from a fork must not be able to make the list fail.
    let own = entries.into_iter().filter(|request| !request.is_from_fork());
    own.map(|request| request.read(&about)).collect()
}

#[async_trait]
impl Api for GitLab {
    fn limits(&self) -> TextLimits {
        kind::GITLAB
    }

    fn fault(&self, deed: String, kind: FaultKind) -> ForgeFault {
        self.transport.fault(deed, kind)
    }

    async fn user(&self) -> Result<User, ForgeFault> {
        let answer =
            self.transport.send(&self.transport.get(&["user"], "read the token's user".to_owned())?).await?;
        answer.about().required(answer.read::<wire::Account>()?.user(), "id")
    }

    async fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeFault> {
        let path = number.to_string();
        let call = self.transport.get(&self.path(&["merge_requests", &path]), self.of_one(number, "read"))?;
        let answer = self.transport.send(&call).await?;
        answer.read::<wire::MergeRequest>()?.read(answer.about())
    }

    async fn of_branches(&self, branches: &Branches, sought: Sought) -> Result<Vec<PullRequest>, ForgeFault> {
        let state = match sought {
            Sought::Open => "opened",
            Sought::Ended => "all",
        };
        let call = self.merge_requests(state, "created_at")?;
        let call = call.query("source_branch", branches.source.as_str());
        let call = call.query("target_branch", branches.target.as_str());
        let is_last = |request: &wire::MergeRequest| sought == Sought::Ended && request.is_ended();
        read(PAGING.until(&self.transport, &call, Enough { is_last, longer: Longer::IsCut }).await?)
    }

    async fn open_ones(&self) -> Result<Vec<PullRequest>, ForgeFault> {
        read(PAGING.all(&self.transport, &self.merge_requests("opened", "created_at")?).await?)
    }

    async fn ended_since(&self, since: Timestamp) -> Result<Vec<PullRequest>, ForgeFault> {
        // A merge request that was not updated since did not end since.
        let is_last = |request: &wire::MergeRequest| request.updated_at().is_some_and(|at| at < since);
        let enough = Enough { is_last, longer: Longer::IsCut };
        let listed =
            PAGING.until(&self.transport, &self.merge_requests("all", "updated_at")?, enough).await?;
        let mut ended = read(listed)?;
        ended.retain(|request| !request.is_open());
        Ok(ended)
    }

    async fn create(&self, branches: &Branches, text: &Text) -> Result<PullRequest, ForgeFault> {
        let (source, target) = (branches.source.as_str(), branches.target.as_str());
        let deed = format!("open a pull request of branch `{source}` in `{}`", self.project);
        let body = json!({
            "source_branch": source, "target_branch": target, "title": text.title, "description": text.body,
        });
        let call = self.transport.post(&self.path(&["merge_requests"]), deed)?.body(body);
        let answer = self.transport.send(&call).await?;
        answer.read::<wire::MergeRequest>()?.read(answer.about())
    }

    async fn change(&self, number: u64, change: Change<'_>) -> Result<(), ForgeFault> {
        let path = number.to_string();
        let path = self.path(&["merge_requests", &path]);
        let body = match change {
            Change::Text { .. } => change.fields("title", "description"),
            Change::Close => json!({"state_event": "close"}),
        };
        let call = self.transport.put(&path, self.of_one(number, change.verb()))?.body(body);
        self.transport.send(&call).await.map(drop)
    }

    async fn reviews(&self, number: u64) -> Result<Vec<Review>, ForgeFault> {
        let answer =
            self.transport.send(&self.list_of(number, "approvals", "read the approvals of")?).await?;
        let approvals: wire::Approvals = answer.read()?;
        let approvals = answer.about().required(approvals.approved_by, "approved_by")?;
        let changes = self.change_requests(number).await?;
        if approvals.is_empty() {
            return Ok(changes);
        }
        let history = self.history(number).await?;
        // Older servers have the time of an approval only in a note.
        let has_times = approvals.iter().all(wire::Approval::has_time);
        let notes =
            if has_times { Vec::new() } else { self.notes(number, "read the approvals of").await?.entries };
        let approved = approvals.into_iter().filter_map(|approval| approval.read(&notes, &history));
        // A request for changes overrides an approval by the same person: the later entry counts.
        Ok(approved.chain(changes).collect())
    }

    async fn permission(&self, user: &User) -> Result<Permission, ForgeFault> {
        let deed = format!("read what user `{}` may do in `{}`", user.login, self.project);
        let path = self.path(&["members", "all", &user.id]);
        match self.transport.send(&self.transport.get(&path, deed)?).await {
            Ok(answer) => answer.read::<wire::Member>()?.read(answer.about(), user),
            Err(ForgeFault { kind: FaultKind::NotFound, .. }) => Ok(Permission::None),
            Err(fault) => Err(fault),
        }
    }

    async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeFault> {
        let Listed { entries, about } = self.notes(number, "read the comments of").await?;
        entries.into_iter().map(|note| note.read(&about)).collect()
    }

    async fn create_comment(&self, number: u64, text: &str) -> Result<(), ForgeFault> {
        let path = number.to_string();
        let path = self.path(&["merge_requests", &path, "notes"]);
        let call = self.transport.post(&path, self.of_one(number, "comment on"))?;
        self.transport.send(&call.body(json!({"body": text}))).await.map(drop)
    }

    async fn edit_comment(&self, number: u64, comment: &str, text: &str) -> Result<(), ForgeFault> {
        let path = number.to_string();
        let path = self.path(&["merge_requests", &path, "notes", comment]);
        let call = self.transport.put(&path, self.of_one(number, "edit a comment on"))?;
        self.transport.send(&call.body(json!({"body": text}))).await.map(drop)
    }

    /// Returns the status as stored. GitLab has no state for `Error`: it counts as failed.
    fn as_kept(&self, status: &Status) -> Status {
        let mut kept = status.fitted(self.limits().status_description);
        if kept.state == StatusState::Error {
            kept.state = StatusState::Failure;
        }
        kept
    }

    async fn status(&self, commit: &CommitId, context: &str) -> Result<Option<Status>, ForgeFault> {
        let deed = format!("read the statuses of commit {commit} in `{}`", self.project);
        let path = self.path(&["repository", "commits", commit.as_str(), "statuses"]);
        let call = self.transport.get(&path, deed)?.query("name", context);
        let listed: Listed<wire::Mark> = PAGING.all(&self.transport, &call).await?;
        Ok(listed.entries.into_iter().find(|mark| mark.is_of(context)).and_then(wire::Mark::read))
    }

    async fn create_status(&self, commit: &CommitId, status: &Status) -> Result<(), ForgeFault> {
        let deed = format!("set status `{}` of commit {commit} in `{}`", status.context, self.project);
        let call = self.transport.post(&self.path(&["statuses", commit.as_str()]), deed)?;
        match self.transport.send(&call.body(wire::mark(status))).await {
            // The state is already set, and GitLab does not change the description.
            Err(ForgeFault { kind: FaultKind::Invalid { status: 400, because }, .. })
                if because.as_str().contains("Cannot transition status") =>
            {
                Ok(())
            }
            result => result.map(drop),
        }
    }
}
