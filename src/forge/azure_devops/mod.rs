//! Azure DevOps, by its REST API 7.1.
//!
//! It reports who votes, but not on which commit: that follows from the vote's thread and the iterations of the pull
//! request. It does not report other users' permissions to a token for code; branch policies decide whose votes count.

mod location;
mod votes;
mod wire;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::json;

use super::api::{Api, Change};
use super::comment::Comment;
use super::fault::{FaultKind, ForgeFault};
use super::history::Pushed;
use super::kind::{self, TextLimits};
use super::limits::EXCHANGE_TIMEOUT_AZURE_DEVOPS;
use super::pages::{Enough, Listed, Longer, Paging, Start};
use super::place::Place;
use super::pull_request::{Branches, CommitId, PullRequest, Sought, Text};
use super::review::Review;
use super::settings::{Dialect, Scheme, Settings};
use super::status::Status;
use super::transport::{Call, Transport};
use super::user::{Permission, User};
use location::Location;

const DIALECT: Dialect =
    Dialect { time_limit: EXCHANGE_TIMEOUT_AZURE_DEVOPS, ..Dialect::at("", Scheme::Basic) };
const VERSION: &str = "7.1";
/// Version of the API for the signed-in user, which only a preview returns.
const VERSION_PREVIEW: &str = "7.1-preview";
const PAGING: Paging = Paging { size: "$top", start: Start::Entry("$skip"), within: Some("value") };
const STATUS_PAGING: Paging = Paging { size: "top", start: Start::Entry("skip"), within: Some("value") };
const HEADS: &str = "refs/heads/";

/// A repository of Azure DevOps.
#[derive(Debug)]
pub(super) struct AzureDevOps {
    transport: Transport,
    location: Location,
}

impl AzureDevOps {
    /// Creates a client; nothing is sent.
    pub(super) fn new(settings: &Settings, place: &Place) -> Result<Self, FaultKind> {
        let location = Location::of(place).map_err(|because| FaultKind::Settings { because })?;
        Ok(Self { transport: settings.transport(place, &DIALECT)?, location })
    }

    fn of_one(&self, number: u64, verb: &str) -> String {
        format!("{verb} pull request {number} of {}", self.location.name())
    }

    /// Prepares a read of something in the repository.
    fn get(&self, rest: &[&str], deed: String) -> Result<Call, ForgeFault> {
        Ok(self.transport.get(&self.location.path(rest), deed)?.query("api-version", VERSION))
    }

    fn post(&self, rest: &[&str], deed: String) -> Result<Call, ForgeFault> {
        Ok(self.transport.post(&self.location.path(rest), deed)?.query("api-version", VERSION))
    }

    fn patch(&self, rest: &[&str], deed: String) -> Result<Call, ForgeFault> {
        Ok(self.transport.patch(&self.location.path(rest), deed)?.query("api-version", VERSION))
    }

    fn pulls(&self, status: &str) -> Result<Call, ForgeFault> {
        let deed = format!("list {status} pull requests of {}", self.location.name());
        Ok(self.get(&["pullrequests"], deed)?.query("searchCriteria.status", status))
    }

    fn read(&self, listed: Listed<wire::Pull>) -> Result<Vec<PullRequest>, ForgeFault> {
        let Listed { entries, about } = listed;
        // A pull request from a fork must not be able to make the list fail.
        let own = entries.into_iter().filter(|pull| !pull.is_from_fork());
        own.map(|pull| pull.read(&about, |number| self.page(number))).collect()
    }

    /// Returns the web page of a pull request.
    fn page(&self, number: u64) -> Option<String> {
        self.transport.page(&self.location.page(&number.to_string()))
    }

    async fn one(&self, call: &Call) -> Result<PullRequest, ForgeFault> {
        let answer = self.transport.send(call).await?;
        answer.read::<wire::Pull>()?.read(answer.about(), |number| self.page(number))
    }

    /// Lists the pull requests that ended with a status since a time.
    async fn ended(&self, status: &str, since: Timestamp) -> Result<Vec<PullRequest>, ForgeFault> {
        let call = self.pulls(status)?.query("searchCriteria.queryTimeRangeType", "closed");
        let call = call.query("searchCriteria.minTime", &since.to_string());
        let enough = Enough { is_last: |_: &wire::Pull| false, longer: Longer::IsCut };
        self.read(PAGING.until(&self.transport, &call, enough).await?)
    }

    async fn threads(&self, number: u64, verb: &str) -> Result<Vec<wire::Thread>, ForgeFault> {
        let path = number.to_string();
        let call = self.get(&["pullRequests", &path, "threads"], self.of_one(number, verb))?;
        self.transport.send(&call).await?.read_list("value")
    }

    async fn history(&self, number: u64) -> Result<Vec<Pushed>, ForgeFault> {
        let path = number.to_string();
        let deed = self.of_one(number, "read the iterations of");
        let answer = self.transport.send(&self.get(&["pullRequests", &path, "iterations"], deed)?).await?;
        let iterations: Vec<wire::Iteration> = answer.read_list("value")?;
        Ok(iterations.into_iter().filter_map(wire::Iteration::read).collect())
    }
}

#[async_trait]
impl Api for AzureDevOps {
    fn limits(&self) -> TextLimits {
        kind::AZURE_DEVOPS
    }

    fn fault(&self, deed: String, kind: FaultKind) -> ForgeFault {
        self.transport.fault(deed, kind)
    }

    async fn user(&self) -> Result<User, ForgeFault> {
        let path = self.location.connection_data();
        let call = self.transport.get(&path, "read the token's user".to_owned())?;
        let answer = self.transport.send(&call.query("api-version", VERSION_PREVIEW)).await?;
        answer.about().required(answer.read::<wire::Connection>()?.user(), "authenticatedUser.id")
    }

    async fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeFault> {
        let path = number.to_string();
        self.one(&self.get(&["pullrequests", &path], self.of_one(number, "read"))?).await
    }

    async fn of_branches(&self, branches: &Branches, sought: Sought) -> Result<Vec<PullRequest>, ForgeFault> {
        let status = match sought {
            Sought::Open => "active",
            Sought::Ended => "all",
        };
        let full = |name: &str| format!("{HEADS}{name}");
        let call = self.pulls(status)?;
        let call = call.query("searchCriteria.sourceRefName", &full(branches.source.as_str()));
        let call = call.query("searchCriteria.targetRefName", &full(branches.target.as_str()));
        let is_last = |pull: &wire::Pull| sought == Sought::Ended && pull.is_ended();
        self.read(PAGING.until(&self.transport, &call, Enough { is_last, longer: Longer::IsCut }).await?)
    }

    async fn open_ones(&self) -> Result<Vec<PullRequest>, ForgeFault> {
        self.read(PAGING.all(&self.transport, &self.pulls("active")?).await?)
    }

    async fn ended_since(&self, since: Timestamp) -> Result<Vec<PullRequest>, ForgeFault> {
        let mut ended = self.ended("completed", since).await?;
        ended.extend(self.ended("abandoned", since).await?);
        Ok(ended)
    }

    async fn create(&self, branches: &Branches, text: &Text) -> Result<PullRequest, ForgeFault> {
        let (source, target) = (branches.source.as_str(), branches.target.as_str());
        let deed = format!("open a pull request of branch `{source}` in {}", self.location.name());
        let body = json!({
            "sourceRefName": format!("{HEADS}{source}"), "targetRefName": format!("{HEADS}{target}"),
            "title": text.title, "description": text.body,
        });
        self.one(&self.post(&["pullrequests"], deed)?.body(body)).await
    }

    async fn change(&self, number: u64, change: Change<'_>) -> Result<(), ForgeFault> {
        let path = number.to_string();
        let call = self.patch(&["pullrequests", &path], self.of_one(number, change.verb()))?;
        let body = match change {
            Change::Text { .. } => change.fields("title", "description"),
            Change::Close => json!({"status": "abandoned"}),
        };
        self.transport.send(&call.body(body)).await.map(drop)
    }

    async fn reviews(&self, number: u64) -> Result<Vec<Review>, ForgeFault> {
        let path = number.to_string();
        let deed = self.of_one(number, "read the votes on");
        let answer = self.transport.send(&self.get(&["pullRequests", &path, "reviewers"], deed)?).await?;
        let reviewers: Vec<votes::Reviewer> = answer.read_list("value")?;
        if !reviewers.iter().any(votes::Reviewer::has_voted) {
            return Ok(Vec::new());
        }
        let threads = self.threads(number, "read the votes on").await?;
        let cast: Vec<votes::Cast> = threads.iter().filter_map(votes::Cast::of).collect();
        let history = self.history(number).await?;
        Ok(reviewers.into_iter().filter_map(|reviewer| reviewer.read(&cast, &history)).collect())
    }

    async fn permission(&self, _: &User) -> Result<Permission, ForgeFault> {
        Ok(Permission::Unknown)
    }

    async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeFault> {
        let threads = self.threads(number, "read the comments of").await?;
        Ok(threads.into_iter().filter_map(wire::Thread::first).collect())
    }

    async fn create_comment(&self, number: u64, text: &str) -> Result<(), ForgeFault> {
        let path = number.to_string();
        let call = self.post(&["pullRequests", &path, "threads"], self.of_one(number, "comment on"))?;
        let comment = json!({"parentCommentId": 0, "content": text, "commentType": "text"});
        // An open thread would block completion if a policy requires all threads to be resolved.
        let body = json!({"comments": [comment], "status": "closed"});
        self.transport.send(&call.body(body)).await.map(drop)
    }

    async fn edit_comment(&self, number: u64, comment: &str, text: &str) -> Result<(), ForgeFault> {
        let deed = self.of_one(number, "edit a comment on");
        let path = number.to_string();
        let [thread, comment] = wire::ids(comment);
        let rest = ["pullRequests", &path, "threads", thread, "comments", comment];
        self.transport.send(&self.patch(&rest, deed)?.body(json!({"content": text}))).await.map(drop)
    }

    async fn status(&self, commit: &CommitId, context: &str) -> Result<Option<Status>, ForgeFault> {
        let deed = format!("read the statuses of commit {commit} in {}", self.location.name());
        let call = self.get(&["commits", commit.as_str(), "statuses"], deed)?.query("latestOnly", "true");
        let listed: Listed<wire::Mark> = STATUS_PAGING.all(&self.transport, &call).await?;
        Ok(listed.entries.into_iter().filter_map(wire::Mark::read).find(|mark| mark.context == context))
    }

    async fn create_status(&self, commit: &CommitId, status: &Status) -> Result<(), ForgeFault> {
        let deed = format!("set status `{}` of commit {commit} in {}", status.context, self.location.name());
        let call = self.post(&["commits", commit.as_str(), "statuses"], deed)?;
        self.transport.send(&call.body(wire::mark(status))).await.map(drop)
    }
}
