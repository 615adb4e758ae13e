//! Converts JSON that GitHub and Gitea have in common, in which any field may be missing.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::forge::answer::About;
use crate::forge::comment::Comment;
use crate::forge::fault::ForgeFault;
use crate::forge::status::{Status, StatusState};
use crate::forge::user::{Permission, User};

/// Suffix that only the names of GitHub Apps have.
pub(in crate::forge) const APP_SUFFIX: &str = "[bot]";

/// An account; GitHub has null for a deleted one.
#[derive(Debug, Deserialize)]
pub(in crate::forge) struct Account {
    id: Option<i64>,
    login: Option<String>,
}

impl Account {
    /// Returns the user; `None` for Gitea's deleted accounts, which share a negative number. An App does not know the
    /// number of its own account, only its name, which no person can have.
    pub(in crate::forge) fn user(self) -> Option<User> {
        let (id, login) = (self.id.filter(|id| *id > 0)?, self.login?);
        let is_app = login.ends_with(APP_SUFFIX);
        Some(if is_app { app(&login) } else { User::new(&id.to_string(), &login) })
    }
}

/// Returns the user as which an App acts, by the name of its account.
pub(in crate::forge) fn app(login: &str) -> User {
    User::new(login, login)
}

/// A user's permission; GitHub reports custom roles as the nearest of these.
#[derive(Debug, Deserialize)]
pub(in crate::forge) struct Access {
    permission: Option<String>,
    user: Option<Account>,
}

impl Access {
    /// Returns the permission, if it is of the requested account: names can pass to other accounts.
    pub(in crate::forge) fn read(self, about: &About, meant: &User) -> Result<Permission, ForgeFault> {
        let permission = about.required(self.permission, "permission")?;
        let is_meant = self.user.and_then(Account::user).is_some_and(|user| user.id == meant.id);
        Ok(match &*permission {
            _ if !is_meant => Permission::None,
            "owner" | "admin" | "write" => Permission::Write,
            "read" => Permission::Read,
            "none" => Permission::None,
            _ => Permission::Unknown,
        })
    }
}

/// A comment.
#[derive(Debug, Deserialize)]
pub(super) struct Remark {
    id: Option<u64>,
    body: Option<String>,
    user: Option<Account>,
}

impl Remark {
    /// Returns the comment.
    pub(super) fn read(self, about: &About) -> Result<Comment, ForgeFault> {
        let id = about.required(self.id, "id")?.to_string();
        let author = self.user.and_then(Account::user).map(|user| user.id);
        Ok(Comment { id, author, text: self.body.unwrap_or_default() })
    }
}

/// A status.
#[derive(Debug, Deserialize)]
pub(super) struct Mark {
    context: Option<String>,
    /// Gitea calls it `status`.
    #[serde(alias = "status")]
    state: Option<String>,
    description: Option<String>,
    target_url: Option<String>,
}

impl Mark {
    /// Returns whether it has this name.
    pub(super) fn is_of(&self, context: &str) -> bool {
        self.context.as_deref() == Some(context)
    }

    /// Returns the status; `None` if it has a state that we never set.
    pub(super) fn read(self) -> Option<Status> {
        let state = match self.state.as_deref()? {
            "pending" => StatusState::Pending,
            "success" => StatusState::Success,
            "failure" => StatusState::Failure,
            "error" => StatusState::Error,
            _ => return None,
        };
        let url = self.target_url.filter(|url| !url.is_empty());
        Some(Status { context: self.context?, state, description: self.description.unwrap_or_default(), url })
    }
}

/// Returns the JSON of a status to send.
pub(super) fn mark(status: &Status) -> Value {
    let Status { context, state, description, url } = status;
    let state = match state {
        StatusState::Pending => "pending",
        StatusState::Success => "success",
        StatusState::Failure => "failure",
        StatusState::Error => "error",
    };
    let mut mark = json!({"context": context, "state": state, "description": description});
    if let Some(url) = url {
        mark["target_url"] = url.as_str().into();
    }
    mark
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(account: Value) -> Option<User> {
        serde_json::from_value::<Account>(account).expect("an account").user()
    }

    #[test]
    fn an_app_is_told_by_its_name_and_a_deleted_account_is_nobody() {
        assert_eq!(user(json!({"id": 7, "login": "amy"})), Some(User::new("7", "amy")));
        assert_eq!(user(json!({"id": 7, "login": "plans[bot]"})), Some(app("plans[bot]")));
        for nobody in
            [json!({"id": -1, "login": "Ghost"}), json!({"id": 0, "login": "a"}), json!({"login": "a"})]
        {
            assert_eq!(user(nobody.clone()), None, "{nobody}");
        }
    }
}
