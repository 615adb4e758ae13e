//! A project as GitLab shows it.

use serde_json::{Value, json};

use super::super::fake::Reply;
use super::super::judge::{self, Asked};
use super::super::specification::{Specification, merge};
use super::{Account, Dialect, Ending, Note, PROGRAM, Pull, Repository, field, query, sent};

/// GitLab, by the description that lies in the tests.
pub(crate) struct GitLab(Specification);

impl GitLab {
    pub(crate) fn read() -> Self {
        Self(judge::gitlab())
    }

    fn user(&self, who: Account) -> Value {
        self.0.sample("user", json!({"id": who.0, "username": who.name()}))
    }

    fn request(&self, pull: &Pull) -> Value {
        let mut fields = json!({
            "iid": pull.number, "state": "opened", "title": pull.title, "description": pull.body,
            "sha": pull.head(), "author": self.user(PROGRAM), "source_branch": pull.source,
            "target_branch": pull.target, "updated_at": pull.touched,
            "web_url": format!("https://gitlab.example/acme/plans/-/merge_requests/{}", pull.number),
        });
        match &pull.ending {
            Ending::Open => {}
            Ending::Closed => merge(&mut fields, json!({"state": "closed", "closed_at": pull.touched})),
            Ending::Merged { commit, by } => merge(
                &mut fields,
                json!({
                    "state": "merged", "merged_at": pull.touched, "merge_user": self.user(*by),
                    "merge_commit_sha": commit,
                }),
            ),
        }
        self.0.sample("merge_request", fields)
    }

    fn note(&self, note: &Note) -> Value {
        self.0.sample("note", json!({"id": note.id, "author": self.user(note.by), "body": note.text}))
    }

    fn listed(&self, kept: &Repository, asked: &Asked) -> Value {
        let is = |name: &str, value: &str| query(asked, name).is_none_or(|wanted| wanted == value);
        let is_meant = |pull: &&Pull| {
            let state = query(asked, "state") == Some("all") || pull.is_open();
            state && is("source_branch", &pull.source) && is("target_branch", &pull.target)
        };
        kept.pulls.iter().rev().filter(is_meant).map(|pull| self.request(pull)).collect()
    }

    fn of_request(&self, pull: &Pull, what: &str) -> Value {
        match what {
            "approvals" => {
                let approved = pull.approvals.iter();
                let approved = approved.map(|one| json!({"user": self.user(one.by), "approved_at": one.at}));
                json!({"approved_by": approved.collect::<Vec<Value>>()})
            }
            "reviewers" => json!([]),
            "versions" => {
                let version = |(at, commit): &(String, String)| {
                    self.0.sample("version", json!({"head_commit_sha": commit, "created_at": at}))
                };
                pull.heads.iter().rev().map(version).collect()
            }
            "notes" => pull.notes.iter().map(|note| self.note(note)).collect(),
            _ => panic!("{what} is not answered"),
        }
    }

    fn change(&self, pull: &mut Pull, body: &Value) -> Value {
        body["title"].as_str().into_iter().for_each(|title| title.clone_into(&mut pull.title));
        body["description"].as_str().into_iter().for_each(|text| text.clone_into(&mut pull.body));
        if body["state_event"] == "close" {
            (pull.ending, pull.touched) = (Ending::Closed, super::now());
        }
        self.request(pull)
    }
}

impl Dialect for GitLab {
    fn word(&self) -> &'static str {
        "gitlab"
    }

    fn path(&self) -> &'static str {
        "acme/plans.git"
    }

    fn specification(&self) -> &Specification {
        &self.0
    }

    fn answer(&self, kept: &mut Repository, asked: &Asked) -> Reply {
        let rest = asked.path.trim_start_matches("/api/v4").trim_start_matches("/projects/acme%2Fplans");
        let parts: Vec<&str> = rest.split('/').skip(1).collect();
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let body = sent(asked);
        match (asked.method.as_str(), parts.as_slice()) {
            ("GET", ["user"]) => Reply::Json(200, self.user(PROGRAM)),
            ("GET", ["merge_requests"]) => Reply::Json(200, self.listed(kept, asked)),
            ("POST", ["merge_requests"]) => {
                let branches = [field(&body, "source_branch"), field(&body, "target_branch")];
                match kept.open(branches, [field(&body, "title"), field(&body, "description")]) {
                    Some(pull) => Reply::Json(201, self.request(pull)),
                    None => Reply::Json(409, json!({"message": ["Another open merge request exists"]})),
                }
            }
            ("GET", ["merge_requests", id]) => Reply::Json(200, self.request(kept.pull(number(id)))),
            ("PUT", ["merge_requests", id]) => Reply::Json(200, self.change(kept.pull(number(id)), &body)),
            ("POST", ["merge_requests", id, "notes"]) => {
                Reply::Json(201, self.note(&kept.say(number(id), field(&body, "body"))))
            }
            ("PUT", ["merge_requests", _, "notes", id]) => {
                let note = kept.note(number(id));
                field(&body, "body").clone_into(&mut note.text);
                Reply::Json(200, self.note(note))
            }
            ("GET", ["merge_requests", id, what]) => {
                Reply::Json(200, self.of_request(kept.pull(number(id)), what))
            }
            ("GET", ["members", "all", id]) => match Account::by_id(id) {
                Some(who) => {
                    let level = if who.may_write() { 30 } else { 20 };
                    let fields = json!({"id": who.0, "access_level": level, "state": "active"});
                    Reply::Json(200, self.0.sample("member", fields))
                }
                None => Reply::Json(404, json!({"message": "404 Not found"})),
            },
            ("GET", ["repository", "commits", commit, "statuses"]) => {
                let statuses = kept.statuses_of(commit, |status| status["name"].clone()).into_iter();
                let is_meant =
                    |status: &Value| query(asked, "name").is_none_or(|name| status["name"] == *name);
                Reply::Json(200, statuses.filter(is_meant).map(|status| self.status(&status)).collect())
            }
            ("POST", ["statuses", commit]) => {
                kept.statuses.push(((*commit).to_owned(), body.clone()));
                Reply::Json(201, self.status(&body))
            }
            _ => panic!("{} {} is not answered", asked.method, asked.path),
        }
    }
}

impl GitLab {
    /// A status as it is shown of what was sent.
    fn status(&self, sent: &Value) -> Value {
        let fields =
            json!({"name": sent["name"], "status": sent["state"], "description": sent["description"]});
        self.0.sample("status", fields)
    }
}
