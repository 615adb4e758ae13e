//! GitHub and GitHub Enterprise Server, by their REST API.
//!
//! GitHub has an API host of its own for its public service; a server has it below `/api/v3`.

mod app;
mod wire;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::json;

use super::alike;
use super::answer::Answer;
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
use app::App;

const SERVER: Dialect = Dialect {
    accept: "application/vnd.github+json",
    github_version: Some("2022-11-28"),
    ..Dialect::at("/api/v3", Scheme::Named("Bearer"))
};
const SERVICE: Dialect = Dialect { path: "", ..SERVER };
const PAGING: Paging = Paging { size: "per_page", start: Start::Page("page"), within: None };
/// The newest status of each name.
const COMBINED: Paging = Paging { within: Some("statuses"), ..PAGING };

/// A repository on GitHub.
#[derive(Debug)]
pub(super) struct GitHub {
    transport: Transport,
    owner: String,
    repository: String,
    /// Who gets tokens, where there is none.
    app: Option<App>,
}

impl GitHub {
    /// Makes a client; nothing is sent.
    pub(super) fn new(settings: &Settings, place: &Place) -> Result<Self, FaultKind> {
        let names = place.owner_and_repository().map_err(|because| FaultKind::Settings { because })?;
        let [owner, repository] = names;
        let transport = match api_host(place.origin.host_str().unwrap_or_default()) {
            Some(host) => {
                let mut service = place.clone();
                let because = || FaultKind::Settings { because: format!("`{host}` is no host") };
                service.origin.set_host(Some(&host)).map_err(|_| because())?;
                settings.transport(&service, &SERVICE)?
            }
            None => settings.transport(place, &SERVER)?,
        };
        let app = App::of(&settings.credential)?;
        Ok(Self { transport, owner, repository, app })
    }

    /// Sends a request as who we are.
    async fn send(&self, call: Call) -> Result<Answer, ForgeFault> {
        self.transport.send(&self.authorized(call).await?).await
    }

    /// Gives a request what proves who we are.
    async fn authorized(&self, call: Call) -> Result<Call, ForgeFault> {
        let Some(app) = &self.app else { return Ok(call) };
        let repository = [self.owner.as_str(), &self.repository];
        Ok(call.authorized(app.authorization(&self.transport, repository).await?))
    }

    /// The repository, for errors.
    fn name(&self) -> String {
        format!("`{}/{}`", self.owner, self.repository)
    }

    /// The path of something in the repository.
    fn path<'a>(&'a self, rest: &[&'a str]) -> Vec<&'a str> {
        [&["repos", &self.owner, &self.repository], rest].concat()
    }

    /// The pull requests in a state, the newest by a field first.
    fn pulls(&self, state: &str, sort: &str) -> Result<Call, ForgeFault> {
        let deed = format!("list {state} pull requests of {}", self.name());
        let call = self.transport.get(&self.path(&["pulls"]), deed)?;
        Ok(call.query("state", state).query("sort", sort).query("direction", "desc"))
    }

    fn of_one(&self, number: u64, verb: &str) -> String {
        format!("{verb} pull request {number} of {}", self.name())
    }
}

/// The host of the API, for hosts whose API is not below their own.
fn api_host(host: &str) -> Option<String> {
    let is_service = host == "github.com" || host.ends_with(".ghe.com");
    is_service.then(|| format!("api.{host}"))
}

fn read(listed: Listed<wire::Pull>) -> Result<Vec<PullRequest>, ForgeFault> {
    let Listed { entries, about } = listed;
    // Whoever forks the repository must not be able to make a list of it fail.
    entries.into_iter().filter(|pull| !pull.is_from_fork()).map(|pull| pull.read(&about)).collect()
}

#[async_trait]
impl Api for GitHub {
    fn limits(&self) -> TextLimits {
        kind::GITHUB
    }

    fn fault(&self, deed: String, kind: FaultKind) -> ForgeFault {
        self.transport.fault(deed, kind)
    }

    async fn user(&self) -> Result<User, ForgeFault> {
        if let Some(app) = &self.app {
            return app.user(&self.transport, [&self.owner, &self.repository]).await;
        }
        let answer = self.send(self.transport.get(&["user"], "read who the token is".to_owned())?).await?;
        answer.about().required(answer.read::<alike::Account>()?.user(), "id")
    }

    async fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeFault> {
        let path = number.to_string();
        let call = self.transport.get(&self.path(&["pulls", &path]), self.of_one(number, "read"))?;
        let answer = self.send(call).await?;
        answer.read::<wire::Pull>()?.read(answer.about())
    }

    async fn of_branches(&self, branches: &Branches, sought: Sought) -> Result<Vec<PullRequest>, ForgeFault> {
        let state = match sought {
            Sought::Open => "open",
            Sought::Ended => "closed",
        };
        let head = format!("{}:{}", self.owner, branches.source.as_str());
        let call = self.pulls(state, "created")?.query("head", &head).query("base", branches.target.as_str());
        let is_last = |pull: &wire::Pull| sought == Sought::Ended && !pull.is_from_fork();
        let enough = Enough { is_last, longer: Longer::IsCut };
        read(PAGING.until(&self.transport, &self.authorized(call).await?, enough).await?)
    }

    async fn open_ones(&self) -> Result<Vec<PullRequest>, ForgeFault> {
        read(PAGING.all(&self.transport, &self.authorized(self.pulls("open", "created")?).await?).await?)
    }

    async fn ended_since(&self, since: Timestamp) -> Result<Vec<PullRequest>, ForgeFault> {
        // What was not touched since did not end since.
        let is_last = |pull: &wire::Pull| pull.updated_at().is_some_and(|at| at < since);
        let enough = Enough { is_last, longer: Longer::IsCut };
        read(
            PAGING
                .until(&self.transport, &self.authorized(self.pulls("closed", "updated")?).await?, enough)
                .await?,
        )
    }

    async fn create(&self, branches: &Branches, text: &Text) -> Result<PullRequest, ForgeFault> {
        let (source, target) = (branches.source.as_str(), branches.target.as_str());
        let deed = format!("open a pull request of branch `{source}` in {}", self.name());
        let body = json!({"head": source, "base": target, "title": text.title, "body": text.body});
        let call = self.transport.post(&self.path(&["pulls"]), deed)?.body(body);
        let answer = self.send(call).await?;
        answer.read::<wire::Pull>()?.read(answer.about())
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
        let listed: Listed<wire::Decision> =
            PAGING.all(&self.transport, &self.authorized(call).await?).await?;
        Ok(listed.entries.into_iter().filter_map(wire::Decision::read).collect())
    }

    async fn permission(&self, user: &User) -> Result<Permission, ForgeFault> {
        let deed = format!("read what user `{}` may do in {}", user.login, self.name());
        let path = self.path(&["collaborators", &user.login, "permission"]);
        match self.send(self.transport.get(&path, deed)?).await {
            Ok(answer) => answer.read::<alike::Access>()?.read(answer.about(), user),
            Err(ForgeFault { kind: FaultKind::NotFound, .. }) => Ok(Permission::None),
            Err(fault) => Err(fault),
        }
    }

    async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeFault> {
        let path = number.to_string();
        let deed = self.of_one(number, "read the comments of");
        let call = self.transport.get(&self.path(&["issues", &path, "comments"]), deed)?;
        let Listed { entries, about } =
            PAGING.all::<alike::Remark>(&self.transport, &self.authorized(call).await?).await?;
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
        let listed: Listed<alike::Mark> =
            COMBINED.all(&self.transport, &self.authorized(call).await?).await?;
        Ok(listed.entries.into_iter().find(|mark| mark.is_of(context)).and_then(alike::Mark::read))
    }

    async fn create_status(&self, commit: &CommitId, status: &Status) -> Result<(), ForgeFault> {
        let deed = format!("set status `{}` of commit {commit} in {}", status.context, self.name());
        let call = self.transport.post(&self.path(&["statuses", commit.as_str()]), deed)?;
        self.send(call.body(alike::mark(status))).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_service_has_an_api_host_of_its_own() {
        assert_eq!(api_host("github.com").as_deref(), Some("api.github.com"));
        assert_eq!(api_host("acme.ghe.com").as_deref(), Some("api.acme.ghe.com"));
        for server in ["github.acme.example", "github.com.evil.example", "evilghe.com"] {
            assert_eq!(api_host(server), None, "{server}");
        }
    }
}
