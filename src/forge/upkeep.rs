//! Rules shared by all forges: look before writing, and write only what differs.
//!
//! So each operation can be repeated after a crash, or run twice at the same time, and leaves one pull request and one
//! comment.

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::sync::OnceCell;

use super::Forge;
use super::api::{Api, Change};
use super::comment::{StickyComment, is_same_text};
use super::fault::{FaultKind, ForgeFault};
use super::kind::TextLimits;
use super::pull_request::{Branches, CommitId, Opened, PullRequest, PullRequestState, Sought, Text, Written};
use super::review::{self, Review};
use super::status::Status;
use super::user::{Permission, User};

/// A forge with these rules.
#[derive(Debug)]
pub(super) struct Upkeep<A> {
    api: A,
    /// The token's user, once it was read.
    user: OnceCell<User>,
}

impl<A: Api> Upkeep<A> {
    pub(super) fn new(api: A) -> Self {
        Self { api, user: OnceCell::new() }
    }

    /// Rejects a text that the forge would reject, before anything is sent.
    fn fits(&self, what: &'static str, text: &str, most: usize) -> Result<(), ForgeFault> {
        let letters = text.encode_utf16().count();
        if letters <= most {
            return Ok(());
        }
        let kind = FaultKind::TooLong { what, letters, most };
        Err(self.api.fault(format!("write the {what} of a pull request"), kind))
    }

    fn text_fits(&self, text: &Text) -> Result<(), ForgeFault> {
        let TextLimits { title, body, comment: _, status_description: _ } = self.api.limits();
        self.fits("title", &text.title, title)?;
        self.fits("description", &text.body, body)
    }
}

#[async_trait]
impl<A: Api> Forge for Upkeep<A> {
    fn limits(&self) -> TextLimits {
        self.api.limits()
    }

    async fn user(&self) -> Result<User, ForgeFault> {
        self.user.get_or_try_init(|| self.api.user()).await.cloned()
    }

    async fn find(&self, branches: &Branches, sought: Sought) -> Result<Option<PullRequest>, ForgeFault> {
        let is_meant = |found: &PullRequest| {
            !found.is_from_fork
                && found.source == branches.source.as_str()
                && found.target == branches.target.as_str()
                && found.is_open() == (sought == Sought::Open)
        };
        let found = self.api.of_branches(branches, sought).await?.into_iter().filter(is_meant);
        Ok(match sought {
            // If two were opened at the same time, all programs use the first.
            Sought::Open => found.min_by_key(|found| found.number),
            Sought::Ended => found.max_by_key(|found| found.number),
        })
    }

    async fn open(&self, branches: &Branches, text: &Text) -> Result<Opened, ForgeFault> {
        self.text_fits(text)?;
        if let Some(found) = self.find(branches, Sought::Open).await? {
            return Ok(Opened::Found(found));
        }
        let created = match self.api.create(branches, text).await {
            Ok(created) => created,
            // Another program may have been faster, or the answer to our own earlier request was lost.
            Err(fault) if matches!(fault.kind, FaultKind::Conflict { .. } | FaultKind::Invalid { .. }) => {
                let found = self.find(branches, Sought::Open).await?;
                return found.map(Opened::Found).ok_or(fault);
            }
            Err(fault) => return Err(fault),
        };
        // A forge may accept two concurrent ones (Gitea does): the later one is closed.
        match self.find(branches, Sought::Open).await? {
            Some(first) if first.number < created.number => {
                self.api.change(created.number, Change::Close).await?;
                Ok(Opened::Found(first))
            }
            Some(_) | None => Ok(Opened::New(created)),
        }
    }

    async fn update(&self, number: u64, text: &Text) -> Result<Written, ForgeFault> {
        self.text_fits(text)?;
        let now = self.api.pull_request(number).await?.text;
        let title = (!is_same_text(&now.title, &text.title)).then_some(text.title.as_str());
        let body = (!is_same_text(&now.body, &text.body)).then_some(text.body.as_str());
        if title.is_none() && body.is_none() {
            return Ok(Written::Unchanged);
        }
        self.api.change(number, Change::Text { title, body }).await?;
        Ok(Written::Written)
    }

    async fn close(&self, number: u64, why: &StickyComment) -> Result<PullRequestState, ForgeFault> {
        let state = self.api.pull_request(number).await?.state;
        if state != PullRequestState::Open {
            return Ok(state);
        }
        // If it were closed first, an interruption would leave it without the reason.
        self.comment(number, why).await?;
        self.api.change(number, Change::Close).await?;
        Ok(self.api.pull_request(number).await?.state)
    }

    async fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeFault> {
        self.api.pull_request(number).await
    }

    async fn list(&self, prefix: &str, since: Timestamp) -> Result<Vec<PullRequest>, ForgeFault> {
        let mut listed = self.api.open_ones().await?;
        listed.retain(PullRequest::is_open);
        let mut ended = self.api.ended_since(since).await?;
        ended.retain(|found| found.state.ended_at().is_some_and(|at| at >= since));
        listed.extend(ended);
        listed.retain(|found| !found.is_from_fork && found.source.starts_with(prefix));
        // A pull request that ended between the two lists is in both: the later answer counts.
        listed.reverse();
        listed.sort_by_key(|found| std::cmp::Reverse(found.number));
        listed.dedup_by_key(|found| found.number);
        Ok(listed)
    }

    async fn reviews(&self, number: u64) -> Result<Vec<Review>, ForgeFault> {
        let reviews = self.api.reviews(number).await?;
        // Read after the reviews: commits pushed meanwhile make them stale.
        let head = self.api.pull_request(number).await?.head;
        Ok(review::latest(reviews, &head))
    }

    async fn permission(&self, user: &User) -> Result<Permission, ForgeFault> {
        self.api.permission(user).await
    }

    async fn comment(&self, number: u64, comment: &StickyComment) -> Result<Written, ForgeFault> {
        let text = comment.text();
        self.fits("comment", &text, self.api.limits().comment)?;
        let user = self.user().await?;
        let comments = self.api.comments(number).await?;
        // A comment by another author with a copy of our marker must not be taken for ours.
        let is_ours = |author: &Option<String>| author.as_ref() == Some(&user.id);
        let ours = comments.iter().find(|found| is_ours(&found.author) && comment.is_in(&found.text));
        match ours {
            Some(found) if is_same_text(&found.text, &text) => return Ok(Written::Unchanged),
            Some(found) => self.api.edit_comment(number, &found.id, &text).await?,
            None => self.api.create_comment(number, &text).await?,
        }
        Ok(Written::Written)
    }

    async fn set_status(&self, commit: &CommitId, status: &Status) -> Result<Written, ForgeFault> {
        let status = self.api.as_kept(status);
        if self.api.status(commit, &status.context).await?.as_ref() == Some(&status) {
            return Ok(Written::Unchanged);
        }
        self.api.create_status(commit, &status).await?;
        Ok(Written::Written)
    }
}
