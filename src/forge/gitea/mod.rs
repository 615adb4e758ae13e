//! Gitea and Forgejo, by their REST API (`/api/v1`).
//!
//! They list comments in one answer, and pull requests by neither branch; both are looked for in the list.

mod wire;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::json;

use super::alike;
use super::api::{Api, Change};
use super::comment::Comment;
use super::fault::{FaultKind, ForgeFault};
use super::kind::{self, TextLimits};
use super::pages::{Enough, Listed, Longer, Paging, Start};
use super::place::Place;
use super::pull_request::{Branches, CommitId, PullRequest, Sought, Text};
use super::review::Review;
use super::settings::{Dialect, Scheme, Settings};
use super::status::Status;
use super::transport::{Call, Transport};
use super::user::{Permission, User};

const DIALECT: Dialect = Dialect::at("/api/v1", Scheme::Named("token"));
const PAGING: Paging = Paging { size: "limit", start: Start::Page("page"), within: None };
/// The newest status of each name. The plain list of statuses cannot be sorted within a second.
const COMBINED: Paging = Paging { within: Some("statuses"), ..PAGING };

/// A repository on a Gitea.
#[derive(Debug)]
pub(super) struct Gitea {
    transport: Transport,
    owner: String,
    repository: String,
}

impl Gitea {
    /// Makes a client; nothing is sent.
    pub(super) fn new(settings: &Settings, place: &Place) -> Result<Self, FaultKind> {
        let names = place.owner_and_repository().map_err(|because| FaultKind::Settings { because })?;
        let [owner, repository] = names;
        Ok(Self { transport: settings.transport(place, &DIALECT)?, owner, repository })
    }

    /// The repository, for errors.
    fn name(&self) -> String {
        format!("`{}/{}`", self.owner, self.repository)
    }

    /// The path of something in the repository.
    fn path<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        [&["repos", &self.owner, &self.repository], rest].concat()
    }

    /// The pull requests in a state, the newest first.
    fn pulls(&self, state: &str) -> Result<Call, ForgeFault> {
        let deed = format!("list {state} pull requests of {}", self.name());
        Ok(self.transport.get(&self.path(&["pulls"]), deed)?.query("state", state))
    }

    fn of_one(&self, number: u64, verb: &str) -> String {
        format!("{verb} pull request {number} of {}", self.name())
    }

    async fn until(
        &self,
        call: &Call,
        is_last: impl Fn(&wire::Pull) -> bool,
    ) -> Result<Vec<PullRequest>, ForgeFault> {
        read(PAGING.until(&self.transport, call, Enough { is_last, longer: Longer::IsCut }).await?)
    }
}

fn read(listed: Listed<wire::Pull>) -> Result<Vec<PullRequest>, ForgeFault> {
    let Listed { entries, about } = listed;
    // Whoever forks the repository must not be able to make a list of it fail.
    entries.into_iter().filter(|pull| !pull.is_from_fork()).map(|pull| pull.read(&about)).collect()
}

#[async_trait]
impl Api for Gitea {
    fn limits(&self) -> TextLimits {
        kind::GITEA
    }

    fn fault(&self, deed: String, kind: FaultKind) -> ForgeFault {
        self.transport.fault(deed, kind)
    }

    async fn user(&self) -> Result<User, ForgeFault> {
        let answer =
            self.transport.send(&self.transport.get(&["user"], "read who the token is".to_owned())?).await?;
        answer.about().required(answer.read::<alike::Account>()?.user(), "id")
    }

    async fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeFault> {
        let path = number.to_string();
        let call = self.transport.get(&self.path(&["pulls", &path]), self.of_one(number, "read"))?;
        let answer = self.transport.send(&call).await?;
        answer.read::<wire::Pull>()?.read(answer.about())
    }

    async fn of_branches(&self, branches: &Branches, sought: Sought) -> Result<Vec<PullRequest>, ForgeFault> {
        match sought {
            Sought::Open => self.open_ones().await,
            Sought::Ended => {
                let (source, target) = (branches.source.as_str(), branches.target.as_str());
                self.until(&self.pulls("closed")?, |pull| pull.is_of(source, target)).await
            }
        }
    }

    async fn open_ones(&self) -> Result<Vec<PullRequest>, ForgeFault> {
        read(PAGING.all(&self.transport, &self.pulls("open")?).await?)
    }

    async fn ended_since(&self, since: Timestamp) -> Result<Vec<PullRequest>, ForgeFault> {
        // What was not touched since did not end since. Forgejo cannot sort by the time when they ended.
        let call = self.pulls("closed")?.query("sort", "recentupdate");
        self.until(&call, |pull| pull.updated_at().is_some_and(|at| at < since)).await
    }

    async fn create(&self, branches: &Branches, text: &Text) -> Result<PullRequest, ForgeFault> {
        let (source, target) = (branches.source.as_str(), branches.target.as_str());
        let deed = format!("open a pull request of branch `{source}` in {}", self.name());
        let body = json!({"head": source, "base": target, "title": text.title, "body": text.body});
        let call = self.transport.post(&self.path(&["pulls"]), deed)?.body(body);
        let answer = self.transport.send(&call).await?;
        answer.read::<wire::Pull>()?.read(answer.about())
    }

    async fn change(&self, number: u64, change: Change<'_>) -> Result<(), ForgeFault> {
        let path = number.to_string();
        let call = self.transport.patch(&self.path(&["pulls", &path]), self.of_one(number, change.verb()))?;
        let body = match change {
            Change::Text { .. } => change.fields("title", "body"),
            Change::Close => json!({"state": "closed"}),
        };
        self.transport.send(&call.body(body)).await.map(drop)
    }

    async fn reviews(&self, number: u64) -> Result<Vec<Review>, ForgeFault> {
        let path = number.to_string();
        let deed = self.of_one(number, "read the reviews of");
        let call = self.transport.get(&self.path(&["pulls", &path, "reviews"]), deed)?;
        let listed: Listed<wire::Decision> = PAGING.all(&self.transport, &call).await?;
        Ok(listed.entries.into_iter().filter_map(wire::Decision::read).collect())
    }

    async fn permission(&self, user: &User) -> Result<Permission, ForgeFault> {
        let deed = format!("read what user `{}` may do in {}", user.login, self.name());
        let path = self.path(&["collaborators", &user.login, "permission"]);
        match self.transport.send(&self.transport.get(&path, deed)?).await {
            Ok(answer) => answer.read::<alike::Access>()?.read(answer.about(), user),
            Err(ForgeFault { kind: FaultKind::NotFound, .. }) => Ok(Permission::None),
            Err(fault) => Err(fault),
        }
    }

    async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeFault> {
        let path = number.to_string();
        let deed = self.of_one(number, "read the comments of");
        let call = self.transport.get(&self.path(&["issues", &path, "comments"]), deed)?;
        let answer = self.transport.send(&call).await?;
        answer.read::<Vec<alike::Remark>>()?.into_iter().map(|remark| remark.read(answer.about())).collect()
    }

    async fn create_comment(&self, number: u64, text: &str) -> Result<(), ForgeFault> {
        let path = number.to_string();
        let call = self
            .transport
            .post(&self.path(&["issues", &path, "comments"]), self.of_one(number, "comment on"))?;
        self.transport.send(&call.body(json!({"body": text}))).await.map(drop)
    }

    async fn edit_comment(&self, number: u64, comment: &str, text: &str) -> Result<(), ForgeFault> {
        let deed = self.of_one(number, "edit a comment on");
        let call = self.transport.patch(&self.path(&["issues", "comments", comment]), deed)?;
        self.transport.send(&call.body(json!({"body": text}))).await.map(drop)
    }

    async fn status(&self, commit: &CommitId, context: &str) -> Result<Option<Status>, ForgeFault> {
        let deed = format!("read the statuses of commit {commit} in {}", self.name());
        let call = self.transport.get(&self.path(&["commits", commit.as_str(), "status"]), deed)?;
        let listed: Listed<alike::Mark> = COMBINED.all(&self.transport, &call).await?;
        Ok(listed.entries.into_iter().find(|mark| mark.is_of(context)).and_then(alike::Mark::read))
    }

    async fn create_status(&self, commit: &CommitId, status: &Status) -> Result<(), ForgeFault> {
        let deed = format!("set status `{}` of commit {commit} in {}", status.context, self.name());
        let call = self.transport.post(&self.path(&["statuses", commit.as_str()]), deed)?;
        self.transport.send(&call.body(alike::mark(status))).await.map(drop)
    }
}
