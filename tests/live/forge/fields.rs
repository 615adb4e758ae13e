//! Each field of an answer missing, null, of another type, or hostile: an error or a value, and never a wrong one.

use nodeform::forge::{ForgeKind, PullRequest};
use serde_json::{Value, json};

use super::fake::{Fake, Reply};
use super::specification::merge;

const SHA: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

/// A merged pull request of a forge.
struct Sample {
    kind: ForgeKind,
    path: &'static str,
    /// All fields that are read.
    whole: Value,
    /// Those without which there is none.
    needed: &'static [&'static str],
}

fn samples() -> [Sample; 4] {
    let amy = json!({"id": 7, "login": "amy", "username": "amy"});
    let at = "2026-11-29T12:00:00Z";
    let side =
        json!({"label": "nodeform/a", "ref": "nodeform/a", "sha": SHA, "repo_id": 1, "repo": {"id": 1}});
    let pull = json!({
        "number": 7, "state": "closed", "title": "Plan", "body": "Two nodes", "html_url": "https://forge.example/7",
        "user": amy, "head": side, "base": side, "merged": true, "merged_at": at, "merged_by": amy,
        "merge_commit_sha": SHA, "closed_at": at,
    });
    let request = json!({
        "iid": 7, "state": "merged", "title": "Plan", "description": "Two nodes", "author": amy, "sha": SHA,
        "web_url": "https://forge.example/7", "source_branch": "nodeform/a", "target_branch": "nodeform/a",
        "source_project_id": 1, "target_project_id": 1, "merge_user": amy, "merge_commit_sha": SHA, "merged_at": at,
    });
    let person = json!({"id": "7", "uniqueName": "amy"});
    let azure = json!({
        "pullRequestId": 7, "status": "completed", "title": "Plan", "description": "Two nodes", "createdBy": person,
        "sourceRefName": "refs/heads/nodeform/a", "targetRefName": "refs/heads/nodeform/a", "closedBy": person,
        "closedDate": at, "lastMergeCommit": {"commitId": SHA}, "lastMergeSourceCommit": {"commitId": SHA},
    });
    [
        Sample {
            kind: ForgeKind::Gitea,
            path: "o/r",
            whole: pull.clone(),
            needed: &["number", "state", "title", "head", "base", "merged"],
        },
        Sample {
            kind: ForgeKind::GitHub,
            path: "o/r",
            whole: pull,
            needed: &["number", "state", "title", "head", "base"],
        },
        Sample {
            kind: ForgeKind::GitLab,
            path: "o/r",
            whole: request,
            needed: &["iid", "state", "title", "sha", "source_branch", "target_branch"],
        },
        Sample {
            kind: ForgeKind::AzureDevOps,
            path: "o/p/_git/r",
            whole: azure,
            needed: &[
                "pullRequestId",
                "status",
                "title",
                "sourceRefName",
                "targetRefName",
                "lastMergeSourceCommit",
            ],
        },
    ]
}

async fn read(kind: ForgeKind, path: &str, answer: Value) -> Result<PullRequest, String> {
    let fake = Fake::answering(None, vec![Reply::Json(200, answer)]);
    let read = fake.client(kind, path).pull_request(7).await;
    read.map_err(|fault| fault.to_string())
}

#[tokio::test]
async fn a_field_that_is_missing_or_null_is_an_error_exactly_where_nothing_can_stand_for_it() {
    for Sample { kind, path, whole, needed } in samples() {
        let full = read(kind, path, whole.clone()).await.expect("it is whole");
        for field in whole.as_object().expect("an object").keys() {
            for without in [None, Some(Value::Null)] {
                let mut answer = whole.clone();
                answer.as_object_mut().expect("an object").remove(field);
                answer.as_object_mut().expect("an object").extend(without.map(|null| (field.clone(), null)));
                let read = read(kind, path, answer).await;
                match read {
                    Ok(read) => {
                        assert!(!needed.contains(&field.as_str()), "{kind} {field}: {read:?}");
                        assert_eq!((read.number, &read.head, &read.source), (7, &full.head, &full.source));
                        assert!(!read.is_open(), "{kind} {field}: {read:?}");
                    }
                    Err(error) => {
                        assert!(needed.contains(&field.as_str()), "{kind} {field}: {error}");
                        assert!(error.contains("the answer has no valid `"), "{kind} {field}: {error}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn a_field_of_another_type_is_an_error_and_never_a_panic() {
    for Sample { kind, path, whole, needed: _ } in samples() {
        for field in whole.as_object().expect("an object").keys() {
            for strange in
                [json!(-1), json!(1.5), json!([[]]), json!({"id": []}), json!(true), json!("\u{0}")]
            {
                let mut answer = whole.clone();
                answer[field] = strange.clone();
                if let Err(error) = read(kind, path, answer).await {
                    let is_told = error.contains("is not one of its API") || error.contains("has no valid `");
                    assert!(is_told, "{kind} {field} {strange}: {error}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_state_or_a_commit_that_nobody_knows_is_an_error() {
    for Sample { kind, path, whole, needed: _ } in samples() {
        let state = if kind == ForgeKind::AzureDevOps { "status" } else { "state" };
        for strange in ["", "OPEN", "notSet", "draft"] {
            let mut answer = whole.clone();
            answer[state] = strange.into();
            let refused = read(kind, path, answer).await.expect_err("it is unknown");
            assert!(refused.contains(&format!("no valid `{state}`")), "{kind}: {refused}");
        }
        for strange in ["", "a", "main", &"g".repeat(40), &format!("{SHA}a")] {
            let mut answer = whole.clone();
            match kind {
                ForgeKind::Gitea | ForgeKind::GitHub => merge(&mut answer, json!({"head": {"sha": strange}})),
                ForgeKind::GitLab => merge(&mut answer, json!({"sha": strange})),
                ForgeKind::AzureDevOps => {
                    merge(&mut answer, json!({"lastMergeSourceCommit": {"commitId": strange}}));
                }
            }
            assert!(read(kind, path, answer).await.is_err(), "{kind} {strange}");
        }
    }
}

#[tokio::test]
async fn a_broken_one_of_a_fork_does_not_make_a_list_fail_and_one_of_our_own_does() {
    for Sample { kind, path, whole, needed: _ } in samples() {
        let is_wrapped = kind == ForgeKind::AzureDevOps;
        for is_fork in [true, false] {
            let mut broken = whole.clone();
            let fork = match (kind, is_fork) {
                (ForgeKind::AzureDevOps, true) => json!({"forkSource": {}}),
                (ForgeKind::GitLab, true) => json!({"source_project_id": 2}),
                (ForgeKind::Gitea | ForgeKind::GitHub, true) => json!({"head": {"repo_id": 2, "repo": null}}),
                (_, false) => json!({}),
            };
            merge(&mut broken, fork);
            merge(&mut broken, json!({"title": null}));
            let list = json!([broken, whole]);
            let list = if is_wrapped { json!({"value": list}) } else { list };
            let fake = Fake::answering(None, vec![Reply::Json(200, list)]);
            let listed = fake.client(kind, path).list("nodeform/", jiff::Timestamp::UNIX_EPOCH).await;
            assert_eq!(listed.is_ok(), is_fork, "{kind}: {listed:?}");
        }
    }
}

#[tokio::test]
async fn names_and_pages_that_would_mislead_a_reader_are_not_kept_as_they_are() {
    let hostile = "\u{1b}[2Jamy\u{202e}\n";
    for Sample { kind, path, whole, needed: _ } in samples() {
        let mut answer = whole;
        match kind {
            ForgeKind::Gitea | ForgeKind::GitHub => {
                let user = json!({"login": hostile});
                let side = json!({"label": hostile, "ref": hostile});
                merge(&mut answer, json!({"user": user, "head": side, "html_url": "javascript:alert(1)"}));
            }
            ForgeKind::GitLab => {
                let author = json!({"username": hostile});
                let more =
                    json!({"author": author, "source_branch": hostile, "web_url": "javascript:alert(1)"});
                merge(&mut answer, more);
            }
            ForgeKind::AzureDevOps => {
                let by = json!({"uniqueName": hostile.repeat(100)});
                let source = format!("refs/heads/{hostile}");
                merge(&mut answer, json!({"createdBy": by, "sourceRefName": source}));
            }
        }
        let read = read(kind, path, answer).await.expect("it is read");
        let author = read.author.expect("an author").login;
        for text in [&author, &read.source] {
            assert!(!text.contains(['\u{1b}', '\u{202e}', '\n']), "{kind}: {text:?}");
            assert!(text.contains("amy") && text.chars().count() <= 300, "{kind}: {text:?}");
        }
        assert!(read.url.is_none_or(|url| url.starts_with("http://127.0.0.1")), "{kind}");
    }
}
