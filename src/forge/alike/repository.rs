//! Requests about one repository, which GitHub and Gitea have in common.

use async_trait::async_trait;
use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::wire::{self, Account, Mark, Remark};
use super::{Order, Own, Pull};
use crate::forge::answer::Answer;
use crate::forge::api::{Api, Change};
use crate::forge::comment::Comment;
use crate::forge::fault::{FaultKind, ForgeFault};
use crate::forge::kind::TextLimits;
use crate::forge::pages::{Enough, Listed, Longer, Paging};
use crate::forge::pull_request::{Branches, CommitId, PullRequest, Sought, Text};
use crate::forge::review::Review;
use crate::forge::status::Status;
use crate::forge::transport::{Call, Transport};
use crate::forge::user::{Permission, User};

/// A repository on one of the forges.
#[derive(Debug)]
pub(in crate::forge) struct Repository<O: Own> {
    transport: Transport,
    owner: String,
    repository: String,
    own: O,
}

impl<O: Own> Repository<O> {
    /// Creates a client of `OWNER/REPOSITORY`; nothing is sent.
    pub(in crate::forge) fn new(transport: Transport, names: [String; 2], own: O) -> Self {
        let [owner, repository] = names;
        Self { transport, owner, repository, own }
    }

    /// Returns its owner.
    pub(in crate::forge) fn owner(&self) -> &str {
        &self.owner
    }

    /// Reads a user's permission in the repository, from this path.
    pub(in crate::forge) async fn about(&self, user: &User, rest: &[&str]) -> Result<Answer, ForgeFault> {
        let deed = format!("read what user `{}` may do in {}", user.login, self.name());
        self.send(self.transport.get(&self.path(rest), deed)?).await
    }

    /// Prepares a list of the pull requests in a state and order.
    pub(in crate::forge) fn pulls(&self, state: &str, order: Order) -> Result<Call, ForgeFault> {
        let deed = format!("list {state} pull requests of {}", self.name());
        let call = self.transport.get(&self.path(&["pulls"]), deed)?.query("state", state);
        Ok(O::ordered(call, order))
    }

    /// Reads a list of pull requests up to the last needed one. Those from forks are left out.
    pub(in crate::forge) async fn until(
        &self,
        call: Call,
        is_last: impl Fn(&Pull<O>) -> bool,
    ) -> Result<Vec<PullRequest>, ForgeFault> {
        let call = self.authorized(call).await?;
        let enough = Enough { is_last, longer: Longer::IsCut };
        read(O::PAGING.until(&self.transport, &call, enough).await?)
    }

    /// Reads a whole list.
    async fn all<T: DeserializeOwned>(&self, paging: Paging, call: Call) -> Result<Listed<T>, ForgeFault> {
        paging.all(&self.transport, &self.authorized(call).await?).await
    }

    /// Sends a request with our authorization.
    async fn send(&self, call: Call) -> Result<Answer, ForgeFault> {
        self.transport.send(&self.authorized(call).await?).await
    }

    /// Adds our authorization to a request.
    async fn authorized(&self, call: Call) -> Result<Call, ForgeFault> {
        let authorization = self.own.authorization(&self.transport, self.names()).await?;
        Ok(match authorization {
            Some(authorization) => call.authorized(authorization),
            None => call,
        })
    }

    fn names(&self) -> [&str; 2] {
        [&self.owner, &self.repository]
    }

    /// Returns the name of the repository, for errors.
    fn name(&self) -> String {
        format!("`{}/{}`", self.owner, self.repository)
    }

    /// Returns the path of something in the repository.
    fn path<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        [&["repos", &self.owner, &self.repository], rest].concat()
    }

    fn of_one(&self, number: u64, verb: &str) -> String {
        format!("{verb} pull request {number} of {}", self.name())
    }
}

fn read<O: Own>(listed: Listed<Pull<O>>) -> Result<Vec<PullRequest>, ForgeFault> {
    let Listed { entries, about } = listed;
    // A pull request from a fork must not be able to make the list fail.
    entries.into_iter().filter(|pull| !pull.is_from_fork()).map(|pull| pull.read(&about)).collect()
}

#[async_trait]
impl<O: Own> Api for Repository<O> {
    fn limits(&self) -> TextLimits {
        O::LIMITS
    }

    fn fault(&self, deed: String, kind: FaultKind) -> ForgeFault {
        self.transport.fault(deed, kind)
    }

    async fn user(&self) -> Result<User, ForgeFault> {
        if let Some(user) = self.own.user(&self.transport, self.names()).await? {
            return Ok(user);
        }
        let answer = self.send(self.transport.get(&["user"], "read the token's user".to_owned())?).await?;
        answer.about().required(answer.read::<Account>()?.user(), "id")
    }

    async fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeFault> {
        let path = number.to_string();
        let call = self.transport.get(&self.path(&["pulls", &path]), self.of_one(number, "read"))?;
        let answer = self.send(call).await?;
        answer.read::<Pull<O>>()?.read(answer.about())
    }

    async fn of_branches(&self, branches: &Branches, sought: Sought) -> Result<Vec<PullRequest>, ForgeFault> {
        O::of_branches(self, branches, sought).await
    }

    async fn open_ones(&self) -> Result<Vec<PullRequest>, ForgeFault> {
        read::<O>(self.all(O::PAGING, self.pulls("open", Order::Opened)?).await?)
    }

    async fn ended_since(&self, since: Timestamp) -> Result<Vec<PullRequest>, ForgeFault> {
        // A pull request that was not updated since did not end since. Forgejo cannot sort by the time of the end.
        let is_last = |pull: &Pull<O>| pull.updated_at().is_some_and(|at| at < since);
        self.until(self.pulls("closed", Order::Touched)?, is_last).await
    }

    async fn create(&self, branches: &Branches, text: &Text) -> Result<PullRequest, ForgeFault> {
        let (source, target) = (branches.source.as_str(), branches.target.as_str());
        let deed = format!("open a pull request of branch `{source}` in {}", self.name());
        let body = json!({"head": source, "base": target, "title": text.title, "body": text.body});
        let call = self.transport.post(&self.path(&["pulls"]), deed)?.body(body);
        let answer = self.send(call).await?;
        answer.read::<Pull<O>>()?.read(answer.about())
    }

    async fn change(&self, number: u64, change: Change<'_>) -> Result<(), ForgeFault> {
        let path = number.to_string();
        let call = self.transport.patch(&self.path(&["pulls", &path]), self.of_one(number, change.verb()))?;
        let body = match change {
            Change::Text { .. } => change.fields("title", "body"),
            Change::Close => json!({"state": "closed"}),
        };
        self.send(call.body(body)).await.map(drop)
    }

    async fn reviews(&self, number: u64) -> Result<Vec<Review>, ForgeFault> {
        let path = number.to_string();
        let deed = self.of_one(number, "read the reviews of");
        let call = self.transport.get(&self.path(&["pulls", &path, "reviews"]), deed)?;
        let listed: Listed<O::Decision> = self.all(O::PAGING, call).await?;
        Ok(listed.entries.into_iter().filter_map(O::review).collect())
    }

    async fn permission(&self, user: &User) -> Result<Permission, ForgeFault> {
        O::permission(self, user).await
    }

    async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeFault> {
        let path = number.to_string();
        let deed = self.of_one(number, "read the comments of");
        let call = self.transport.get(&self.path(&["issues", &path, "comments"]), deed)?;
        let Listed { entries, about } = if let Some(paging) = O::COMMENT_PAGING {
            self.all::<Remark>(paging, call).await?
        } else {
            let answer = self.send(call).await?;
            Listed { entries: answer.read()?, about: answer.about().clone() }
        };
        entries.into_iter().map(|remark| remark.read(&about)).collect()
    }

    async fn create_comment(&self, number: u64, text: &str) -> Result<(), ForgeFault> {
        let path = number.to_string();
        let deed = self.of_one(number, "comment on");
        let call = self.transport.post(&self.path(&["issues", &path, "comments"]), deed)?;
        self.send(call.body(json!({"body": text}))).await.map(drop)
    }

    async fn edit_comment(&self, number: u64, comment: &str, text: &str) -> Result<(), ForgeFault> {
        let deed = self.of_one(number, "edit a comment on");
        let call = self.transport.patch(&self.path(&["issues", "comments", comment]), deed)?;
        self.send(call.body(json!({"body": text}))).await.map(drop)
    }

    async fn status(&self, commit: &CommitId, context: &str) -> Result<Option<Status>, ForgeFault> {
        let deed = format!("read the statuses of commit {commit} in {}", self.name());
        let call = self.transport.get(&self.path(&["commits", commit.as_str(), "status"]), deed)?;
        // The newest status of each name: Gitea cannot order the plain list of statuses within a second.
        let combined = Paging { within: Some("statuses"), ..O::PAGING };
        let listed: Listed<Mark> = self.all(combined, call).await?;
        Ok(listed.entries.into_iter().find(|mark| mark.is_of(context)).and_then(Mark::read))
    }

    async fn create_status(&self, commit: &CommitId, status: &Status) -> Result<(), ForgeFault> {
        let deed = format!("set status `{}` of commit {commit} in {}", status.context, self.name());
        let call = self.transport.post(&self.path(&["statuses", commit.as_str()]), deed)?;
        self.send(call.body(wire::mark(status))).await.map(drop)
    }
}
