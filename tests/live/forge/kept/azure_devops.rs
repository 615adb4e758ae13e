//! A repository as Azure DevOps shows it.

use serde_json::{Value, json};

use super::super::fake::Reply;
use super::super::judge::{self, Asked};
use super::super::specification::{Specification, merge};
use super::{Account, Approval, Dialect, Ending, Note, PROGRAM, Pull, Repository, field, query, sent};

const HEADS: &str = "refs/heads/";

/// How many letters of a description a list has.
const LISTED_LETTERS: usize = 400;

/// Azure DevOps, in an organisation.
pub(crate) struct AzureDevOps(Specification);

impl AzureDevOps {
    pub(crate) fn read() -> Option<Self> {
        judge::azure_devops().map(Self)
    }
}

fn person(who: Account) -> Value {
    let name = who.name();
    json!({"id": format!("id-{name}"), "displayName": name, "uniqueName": format!("{name}@acme.example")})
}

fn pull(pull: &Pull) -> Value {
    let mut fields = json!({
        "pullRequestId": pull.number, "status": "active", "title": pull.title, "description": pull.body,
        "sourceRefName": format!("{HEADS}{}", pull.source), "targetRefName": format!("{HEADS}{}", pull.target),
        "createdBy": person(PROGRAM), "lastMergeSourceCommit": {"commitId": pull.head()},
    });
    match &pull.ending {
        Ending::Open => {}
        Ending::Closed => merge(&mut fields, json!({"status": "abandoned", "closedDate": pull.touched})),
        Ending::Merged { commit, by } => merge(
            &mut fields,
            json!({
                "status": "completed", "closedDate": pull.touched, "closedBy": person(*by),
                "lastMergeCommit": {"commitId": commit},
            }),
        ),
    }
    fields
}

fn list(values: Vec<Value>) -> Reply {
    Reply::Json(200, json!({"count": values.len(), "value": values}))
}

fn listed(kept: &Repository, asked: &Asked) -> Reply {
    let is = |name: &str, value: String| {
        query(asked, &format!("searchCriteria.{name}")).is_none_or(|wanted| wanted == value)
    };
    let is_meant = |pull: &&Pull| {
        let status = match &pull.ending {
            Ending::Open => "active",
            Ending::Closed => "abandoned",
            Ending::Merged { .. } => "completed",
        };
        let wanted = query(asked, "searchCriteria.status");
        (wanted == Some("all") || wanted == Some(status))
            && is("sourceRefName", format!("{HEADS}{}", pull.source))
            && is("targetRefName", format!("{HEADS}{}", pull.target))
    };
    let cut = |one: &Pull| {
        let mut one = pull(one);
        let text: String = field(&one, "description").chars().take(LISTED_LETTERS).collect();
        one["description"] = json!(text);
        one
    };
    list(kept.pulls.iter().rev().filter(is_meant).map(cut).collect())
}

fn thread(note: &Note) -> Value {
    let comment = json!({"id": 1, "author": person(note.by), "content": note.text, "commentType": "text"});
    json!({"id": note.id, "isDeleted": false, "comments": [comment]})
}

/// The thread that tells of a vote.
fn vote((number, approval): (usize, &Approval)) -> Value {
    let text = |value: &str| json!({"$type": "System.String", "$value": value});
    let voter = person(approval.by);
    let comment = json!({"id": 1, "author": voter, "commentType": "system", "content": "voted 10"});
    json!({
        "id": 10_000 + number, "publishedDate": approval.at, "isDeleted": false, "comments": [comment],
        "properties": {
            "CodeReviewThreadType": text("VoteUpdate"), "CodeReviewVoteResult": text("10"),
            "CodeReviewVotedByIdentity": text("1"),
        },
        "identities": {"1": voter},
    })
}

fn reviewer(approval: &Approval) -> Value {
    let mut reviewer = person(approval.by);
    merge(&mut reviewer, json!({"vote": 10}));
    reviewer
}

fn iterations(pull: &Pull) -> Reply {
    let iteration = |(id, (at, commit)): (usize, &(String, String))| json!({"id": id + 1, "createdDate": at, "sourceRefCommit": {"commitId": commit}});
    list(pull.heads.iter().enumerate().map(iteration).collect())
}

fn change(one: &mut Pull, body: &Value) -> Reply {
    body["title"].as_str().into_iter().for_each(|title| title.clone_into(&mut one.title));
    body["description"].as_str().into_iter().for_each(|text| text.clone_into(&mut one.body));
    if body["status"] == "abandoned" {
        (one.ending, one.touched) = (Ending::Closed, super::now());
    }
    Reply::Json(200, pull(one))
}

impl Dialect for AzureDevOps {
    fn word(&self) -> &'static str {
        "azuredevops"
    }

    fn path(&self) -> &'static str {
        "acme/infra/_git/plans"
    }

    fn specification(&self) -> &Specification {
        &self.0
    }

    fn answer(&self, kept: &mut Repository, asked: &Asked) -> Reply {
        let rest = asked.path.trim_start_matches("/acme");
        let rest = rest.trim_start_matches("/infra/_apis/git/repositories/plans");
        let parts: Vec<&str> = rest.split('/').skip(1).collect();
        let number = |text: &str| text.parse::<u64>().expect("a number");
        let body = sent(asked);
        match (asked.method.as_str(), parts.as_slice()) {
            ("GET", ["_apis", "connectionData"]) => {
                let account = json!({"$type": "System.String", "$value": "nodeform@acme.example"});
                let me = json!({"id": "id-nodeform", "providerDisplayName": "nodeform", "properties": {"Account": account}});
                Reply::Json(200, json!({"authenticatedUser": me}))
            }
            ("GET", ["pullrequests"]) => listed(kept, asked),
            ("POST", ["pullrequests"]) => {
                let branch = |name: &str| field(&body, name).trim_start_matches(HEADS).to_owned();
                let branches = [branch("sourceRefName"), branch("targetRefName")];
                let texts = [field(&body, "title"), field(&body, "description")];
                match kept.open(branches.each_ref().map(String::as_str), texts) {
                    Some(new) => Reply::Json(200, pull(new)),
                    None => Reply::raw(409, r#"{"message": "TF401179: An active pull request exists"}"#),
                }
            }
            ("GET", ["pullrequests", id]) => Reply::Json(200, pull(kept.pull(number(id)))),
            ("PATCH", ["pullrequests", id]) => change(kept.pull(number(id)), &body),
            ("GET", ["pullRequests", id, "reviewers"]) => {
                list(kept.pull(number(id)).approvals.iter().map(reviewer).collect())
            }
            ("GET", ["pullRequests", id, "iterations"]) => iterations(kept.pull(number(id))),
            ("GET", ["pullRequests", id, "threads"]) => {
                let pull = kept.pull(number(id));
                let votes = pull.approvals.iter().enumerate().map(vote);
                list(pull.notes.iter().map(thread).chain(votes).collect())
            }
            ("POST", ["pullRequests", id, "threads"]) => {
                Reply::Json(200, thread(&kept.say(number(id), field(&body["comments"][0], "content"))))
            }
            ("PATCH", ["pullRequests", _, "threads", id, "comments", _]) => {
                field(&body, "content").clone_into(&mut kept.note(number(id)).text);
                Reply::Json(200, json!({"id": 1}))
            }
            ("GET", ["commits", commit, "statuses"]) => {
                list(kept.statuses_of(commit, |status| status["context"].clone()))
            }
            ("POST", ["commits", commit, "statuses"]) => {
                kept.statuses.push(((*commit).to_owned(), body.clone()));
                Reply::Json(200, body)
            }
            _ => panic!("{} {} is not answered", asked.method, asked.path),
        }
    }
}
