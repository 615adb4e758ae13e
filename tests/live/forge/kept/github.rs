//! A repository as GitHub shows it.

use serde_json::{Value, json};

use super::super::fake::Reply;
use super::super::judge::{Asked, GITHUB};
use super::super::specification::{Specification, merge};
use super::{Account, Dialect, Ending, Note, PEOPLE, PROGRAM, Pull, Repository, field, query, sent};

/// GitHub Enterprise Server.
pub(crate) struct GitHub(Specification);

impl GitHub {
    pub(crate) fn read() -> Option<Self> {
        Specification::read(GITHUB).map(Self)
    }

    fn user(&self, who: Account) -> Value {
        self.0.sample("simple-user", json!({"id": who.0, "login": who.name()}))
    }

    fn side(&self, branch: &str, commit: &str) -> Value {
        let repo = self.0.sample("repository", json!({"id": 1}));
        json!({"label": branch, "ref": branch, "sha": commit, "user": self.user(PROGRAM), "repo": repo})
    }

    /// A pull request as it is read alone, or as a list has it.
    fn pull(&self, schema: &str, pull: &Pull) -> Value {
        let mut fields = json!({
            "number": pull.number, "state": if pull.is_open() { "open" } else { "closed" }, "title": pull.title,
            "body": pull.body, "html_url": format!("https://github.example/acme/plans/pull/{}", pull.number),
            "user": self.user(PROGRAM), "head": self.side(&pull.source, pull.head()),
            "base": self.side(&pull.target, pull.head()), "updated_at": pull.touched,
        });
        if !pull.is_open() {
            fields["closed_at"] = json!(pull.touched);
        }
        if let Ending::Merged { commit, by } = &pull.ending {
            merge(&mut fields, json!({"merged_at": pull.touched, "merge_commit_sha": commit}));
            if schema == "pull-request" {
                merge(&mut fields, json!({"merged": true, "merged_by": self.user(*by)}));
            }
        }
        self.0.sample(schema, fields)
    }

    fn comment(&self, note: &Note) -> Value {
        self.0.sample("issue-comment", json!({"id": note.id, "user": self.user(note.by), "body": note.text}))
    }

    fn listed(&self, kept: &Repository, asked: &Asked) -> Value {
        let is_meant = |pull: &&Pull| {
            let head = query(asked, "head").is_none_or(|head| head == format!("acme:{}", pull.source));
            let base = query(asked, "base").is_none_or(|base| base == pull.target);
            head && base && (query(asked, "state") == Some("open")) == pull.is_open()
        };
        let meant = kept.pulls.iter().rev().filter(is_meant);
        meant.map(|pull| self.pull("pull-request-simple", pull)).collect()
    }

    fn reviews(&self, pull: &Pull) -> Value {
        let review = |one: &super::Approval| {
            let fields = json!({
                "user": self.user(one.by), "state": "APPROVED", "commit_id": one.commit, "submitted_at": one.at,
            });
            self.0.sample("pull-request-review", fields)
        };
        pull.approvals.iter().map(review).collect()
    }

    fn permission(&self, name: &str) -> Reply {
        if !PEOPLE.contains(&name) {
            return Reply::Json(404, self.0.sample("basic-error", json!({})));
        }
        let who = Account::of(name);
        let permission = if who.may_write() { "write" } else { "read" };
        let user = self.0.sample("nullable-collaborator", json!({"id": who.0, "login": name}));
        let fields = json!({"permission": permission, "user": user});
        Reply::Json(200, self.0.sample("repository-collaborator-permission", fields))
    }

    fn status(&self, kept: &Repository, commit: &str) -> Value {
        let statuses = kept.statuses_of(commit, |status| status["context"].clone());
        let statuses = statuses.into_iter().map(|status| self.0.sample("simple-commit-status", status));
        let statuses: Vec<Value> = statuses.collect();
        self.0.sample("combined-commit-status", json!({ "statuses": statuses }))
    }
}

impl Dialect for GitHub {
    fn word(&self) -> &'static str {
        "github"
    }

    fn path(&self) -> &'static str {
        "acme/plans.git"
    }

    fn specification(&self) -> &Specification {
        &self.0
    }

    fn answer(&self, kept: &mut Repository, asked: &Asked) -> Reply {
        let rest = asked.path.trim_start_matches("/api/v3").trim_start_matches("/repos/acme/plans");
        let parts: Vec<&str> = rest.split('/').skip(1).collect();
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let body = sent(asked);
        match (asked.method.as_str(), parts.as_slice()) {
            ("GET", ["user"]) => {
                let fields = json!({"id": PROGRAM.0, "login": PROGRAM.name()});
                Reply::Json(200, self.0.sample("private-user", fields))
            }
            ("GET", ["pulls"]) => Reply::Json(200, self.listed(kept, asked)),
            ("POST", ["pulls"]) => {
                let branches = [field(&body, "head"), field(&body, "base")];
                match kept.open(branches, [field(&body, "title"), field(&body, "body")]) {
                    Some(pull) => Reply::Json(201, self.pull("pull-request", pull)),
                    None => Reply::Json(422, self.0.sample("validation-error", json!({"message": "exists"}))),
                }
            }
            ("GET", ["pulls", id]) => Reply::Json(200, self.pull("pull-request", kept.pull(number(id)))),
            ("PATCH", ["pulls", id]) => {
                let pull = kept.pull(number(id));
                body["title"].as_str().into_iter().for_each(|title| title.clone_into(&mut pull.title));
                body["body"].as_str().into_iter().for_each(|body| body.clone_into(&mut pull.body));
                if body["state"] == "closed" {
                    (pull.ending, pull.touched) = (Ending::Closed, super::now());
                }
                Reply::Json(200, self.pull("pull-request", pull))
            }
            ("GET", ["pulls", id, "reviews"]) => Reply::Json(200, self.reviews(kept.pull(number(id)))),
            ("GET", ["issues", id, "comments"]) => {
                let notes = kept.pull(number(id)).notes.iter();
                Reply::Json(200, notes.map(|note| self.comment(note)).collect())
            }
            ("POST", ["issues", id, "comments"]) => {
                Reply::Json(201, self.comment(&kept.say(number(id), field(&body, "body"))))
            }
            ("PATCH", ["issues", "comments", id]) => {
                let note = kept.note(number(id));
                field(&body, "body").clone_into(&mut note.text);
                Reply::Json(200, self.comment(note))
            }
            ("GET", ["collaborators", name, "permission"]) => self.permission(name),
            ("GET", ["commits", commit, "status"]) => Reply::Json(200, self.status(kept, commit)),
            ("POST", ["statuses", commit]) => {
                kept.statuses.push(((*commit).to_owned(), body));
                Reply::Json(201, self.0.sample("status", json!({})))
            }
            _ => panic!("{} {} is not answered", asked.method, asked.path),
        }
    }
}
