//! GitLab: what is sent, judged with the answers by a description that was written down from its documentation.

use jiff::Timestamp;
use nodeform::forge::{
    CommitId, ForgeKind, Opened, Permission, PullRequestState, Review, Sought, Status, StatusState, User,
    Written,
};
use serde_json::{Value, json};

use super::fake::{Fake, Reply, told};
use super::gitea::{branches, sticky, text};
use super::judge::gitlab;

const PATH: &str = "acme/platform/plans.git";
/// The project, as one segment.
const PROJECT: &str = "/api/v4/projects/acme%2Fplatform%2Fplans";

fn sha(digit: &str) -> String {
    digit.repeat(40)
}

fn fake(replies: Vec<Reply>) -> Fake {
    Fake::answering(Some(gitlab()), replies)
}

fn user(id: u64, name: &str) -> Value {
    gitlab().sample("user", json!({"id": id, "username": name}))
}

fn request(number: u64, fields: Value) -> Value {
    let mut request = gitlab().sample(
        "merge_request",
        json!({
            "iid": number, "title": "Plan", "description": "Two nodes", "sha": sha("a"), "author": user(7, "nodeform"),
            "source_branch": "nodeform/demo/one", "target_branch": "main",
            "web_url": format!("https://gitlab.example/acme/platform/plans/-/merge_requests/{number}"),
        }),
    );
    super::specification::merge(&mut request, fields);
    request
}

fn one(number: u64, fields: Value) -> Reply {
    Reply::Json(200, request(number, fields))
}

fn none() -> Reply {
    Reply::Json(200, json!([]))
}

fn note(id: u64, author: Value, body: &str, fields: Value) -> Value {
    let mut note = gitlab().sample("note", json!({"id": id, "author": author, "body": body}));
    super::specification::merge(&mut note, fields);
    note
}

#[tokio::test]
async fn one_is_opened_after_a_look_and_found_where_gitlab_says_it_exists() {
    let list = format!(
        "GET {PROJECT}/merge_requests?state=opened&order_by=created_at&sort=desc\
         &source_branch=nodeform/demo/one&target_branch=main&per_page=30&page=1\n"
    );
    let post = format!(
        "POST {PROJECT}/merge_requests\n  {{\"description\":\"Two nodes\",\"source_branch\":\"nodeform/demo/one\",\
         \"target_branch\":\"main\",\"title\":\"Plan\"}}\n"
    );
    let new = fake(vec![
        none(),
        Reply::Json(201, request(3, json!({}))),
        Reply::Json(200, json!([request(3, json!({}))])),
    ]);
    let client = new.client(ForgeKind::GitLab, PATH);
    let opened =
        client.open(&branches("nodeform/demo/one"), &text("Plan", "Two nodes")).await.expect("it opens");
    assert!(matches!(&opened, Opened::New(opened) if opened.number == 3), "{opened:?}");
    assert_eq!(new.transcript(), format!("{list}{post}{list}"));
    assert!(new.seen().iter().all(|asked| asked.authorization == "Bearer canary-forge-token"));

    let exists = json!({"message": ["Another open merge request already exists for this source branch: !3"]});
    let found =
        fake(vec![none(), Reply::Json(409, exists), Reply::Json(200, json!([request(3, json!({}))]))]);
    let client = found.client(ForgeKind::GitLab, PATH);
    let opened =
        client.open(&branches("nodeform/demo/one"), &text("Plan", "Two nodes")).await.expect("it is found");
    assert!(matches!(&opened, Opened::Found(opened) if opened.number == 3), "{opened:?}");
    assert_eq!(found.transcript(), format!("{list}{post}{list}"));
}

#[tokio::test]
async fn merge_requests_of_forks_are_left_out() {
    let theirs = request(4, json!({"source_project_id": 2, "target_project_id": 1}));
    let fake = fake(vec![Reply::Json(200, json!([theirs, request(3, json!({}))]))]);
    let client = fake.client(ForgeKind::GitLab, PATH);
    let found = client.find(&branches("nodeform/demo/one"), Sought::Open).await.expect("it is read");
    assert_eq!(found.map(|found| found.number), Some(3));
}

#[tokio::test]
async fn the_text_is_written_where_it_differs() {
    let fake = fake(vec![one(3, json!({}))]);
    let client = fake.client(ForgeKind::GitLab, PATH);
    assert_eq!(client.update(3, &text("Plan", "Two nodes\n")).await, Ok(Written::Unchanged));
    fake.forget();
    assert_eq!(client.update(3, &text("Plan 2", "Three nodes")).await, Ok(Written::Written));
    let expected = format!(
        "GET {PROJECT}/merge_requests/3\nPUT {PROJECT}/merge_requests/3\n  \
         {{\"description\":\"Three nodes\",\"title\":\"Plan 2\"}}\n"
    );
    assert_eq!(fake.transcript(), expected);
}

#[tokio::test]
async fn approvals_have_the_commit_that_was_the_head_when_they_were_given() {
    let version = |digit: &str, minute: u64| {
        let at = format!("2026-11-29T11:{minute:02}:00.500Z");
        gitlab().sample("version", json!({"head_commit_sha": sha(digit), "created_at": at}))
    };
    let versions = json!([version("a", 20), version("b", 10)]);
    let reviewer = gitlab().sample("reviewer", json!({"user": user(4, "zoe"), "state": "requested_changes"}));
    let approval = |id, name, at: &str| json!({"user": user(id, name), "approved_at": at});
    let approvals = json!({"approved_by": [
        approval(1, "amy", "2026-11-29T11:21:00.000Z"),
        approval(2, "bob", "2026-11-29T11:19:00.000Z"),
        approval(3, "eve", "2026-11-29T11:09:00.000Z"),
        approval(4, "zoe", "2026-11-29T11:22:00.000Z"),
    ]});
    let with_times = fake(vec![
        Reply::Json(200, approvals),
        Reply::Json(200, json!([reviewer])),
        Reply::Json(200, versions.clone()),
        one(3, json!({})),
    ]);
    let reviews = with_times.client(ForgeKind::GitLab, PATH).reviews(3).await.expect("they are read");
    let shown = |review: &Review| format!("{} {:?} {:?}", review.by.login, review.verdict, review.standing);
    let shown: Vec<String> = reviews.iter().map(shown).collect();
    let expected =
        ["amy Approved Current", "bob Approved Stale", "eve Approved Stale", "zoe ChangesRequested Current"];
    assert_eq!(shown, expected);
    assert_eq!(reviews[1].commit, CommitId::parse(&sha("b")));
    let asked: Vec<String> = with_times.seen().iter().map(|asked| asked.path.replace(PROJECT, "")).collect();
    let of = "/merge_requests/3";
    assert_eq!(
        asked,
        [&format!("{of}/approvals"), &format!("{of}/reviewers"), &format!("{of}/versions"), of]
    );
    with_times.transcript();
}

#[tokio::test]
async fn without_times_they_come_from_what_gitlab_itself_noted_and_nobody_else() {
    let at = |minute: u64| json!({"created_at": format!("2026-11-29T11:{minute:02}:00Z"), "system": true});
    let forged = json!({"created_at": "2026-11-29T11:30:00Z", "system": false});
    let said = "approved this merge request";
    let notes = json!([
        note(1, user(1, "amy"), said, at(15)),
        note(2, user(2, "bob"), said, at(25)),
        note(3, user(1, "amy"), said, forged),
    ]);
    let approvals = json!({"approved_by": [{"user": user(1, "amy")}, {"user": user(2, "bob")}]});
    let version = |digit: &str, minute: u64| {
        let at = format!("2026-11-29T11:{minute:02}:00Z");
        gitlab().sample("version", json!({"head_commit_sha": sha(digit), "created_at": at}))
    };
    let versions = Reply::Json(200, json!([version("a", 20), version("b", 10)]));
    let fake =
        fake(vec![Reply::Json(200, approvals), none(), versions, Reply::Json(200, notes), one(3, json!({}))]);
    let reviews = fake.client(ForgeKind::GitLab, PATH).reviews(3).await.expect("they are read");
    let shown: Vec<(&str, bool)> =
        reviews.iter().map(|one| (one.by.login.as_str(), one.approves_head())).collect();
    assert_eq!(shown, [("amy", false), ("bob", true)]);
    fake.transcript();
}

#[tokio::test]
async fn one_comment_is_kept() {
    let me = || Reply::Json(200, user(7, "nodeform"));
    let copy = note(1, user(9, "eve"), "<!-- nodeform: plan/demo -->\nMine", json!({}));
    let ours = note(2, user(7, "nodeform"), "<!-- nodeform: plan/demo -->\nReady", json!({}));
    let both = || Reply::Json(200, json!([copy, ours]));
    let replies =
        vec![me(), none(), Reply::Json(201, ours.clone()), both(), both(), Reply::Json(200, ours.clone())];
    let fake = fake(replies);
    let client = fake.client(ForgeKind::GitLab, PATH);
    assert_eq!(client.comment(3, &sticky("Ready")).await, Ok(Written::Written));
    assert_eq!(client.comment(3, &sticky("Ready")).await, Ok(Written::Unchanged));
    assert_eq!(client.comment(3, &sticky("Applied")).await, Ok(Written::Written));
    let writes: Vec<String> = fake
        .seen()
        .iter()
        .filter(|asked| asked.method != "GET")
        .map(|asked| format!("{} {}", asked.method, asked.path))
        .collect();
    let notes = format!("{PROJECT}/merge_requests/3/notes");
    assert_eq!(writes, [format!("POST {notes}"), format!("PUT {notes}/2")]);
    fake.transcript();
}

#[tokio::test]
async fn a_status_is_set_where_it_differs_and_an_error_counts_as_failed() {
    let commit = CommitId::parse(&sha("a")).expect("a commit");
    let kept = json!({"name": "nodeform/demo", "status": "failed", "description": "no plan"});
    let kept = gitlab().sample("status", kept);
    let set = fake(vec![none(), Reply::Json(201, kept.clone()), Reply::Json(200, json!([kept]))]);
    let client = set.client(ForgeKind::GitLab, PATH);
    let (context, description) = ("nodeform/demo".to_owned(), "no plan".to_owned());
    let status = Status { context, state: StatusState::Error, description, url: None };
    assert_eq!(client.set_status(&commit, &status).await, Ok(Written::Written));
    assert_eq!(client.set_status(&commit, &status).await, Ok(Written::Unchanged));
    let read =
        format!("GET {PROJECT}/repository/commits/{commit}/statuses?name=nodeform/demo&per_page=30&page=1\n");
    let body = r#"{"description":"no plan","name":"nodeform/demo","state":"failed"}"#;
    assert_eq!(set.transcript(), format!("{read}POST {PROJECT}/statuses/{commit}\n  {body}\n{read}"));

    let same = json!({"message": "Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition)"});
    let same = fake(vec![none(), Reply::Json(400, same)]);
    let pending = Status { state: StatusState::Pending, ..status };
    assert_eq!(
        same.client(ForgeKind::GitLab, PATH).set_status(&commit, &pending).await,
        Ok(Written::Written)
    );
    let other = fake(vec![none(), Reply::Json(400, json!({"message": "name is too long"}))]);
    let refused = told(other.client(ForgeKind::GitLab, PATH).set_status(&commit, &pending).await);
    assert!(refused.contains("was not accepted (400): name is too long"), "{refused}");
}

#[tokio::test]
async fn members_from_developer_on_may_write() {
    for (level, state, id, expected) in [
        (50, "active", 1, Permission::Write),
        (30, "active", 1, Permission::Write),
        (20, "active", 1, Permission::Read),
        (10, "active", 1, Permission::Read),
        (5, "active", 1, Permission::None),
        (50, "blocked", 1, Permission::None),
        (50, "active", 2, Permission::None),
    ] {
        let member = gitlab().sample("member", json!({"id": id, "access_level": level, "state": state}));
        let fake = fake(vec![Reply::Json(200, member)]);
        let amy = User { id: "1".to_owned(), login: "amy".to_owned() };
        let permission = fake.client(ForgeKind::GitLab, PATH).permission(&amy).await;
        assert_eq!(permission, Ok(expected), "{level} {state} {id}");
        assert_eq!(fake.transcript(), format!("GET {PROJECT}/members/all/1\n"));
    }
    let fake = fake(vec![Reply::Json(404, json!({"message": "404 Not found"}))]);
    let amy = User { id: "1".to_owned(), login: "amy".to_owned() };
    assert_eq!(fake.client(ForgeKind::GitLab, PATH).permission(&amy).await, Ok(Permission::None));
}

#[tokio::test]
async fn a_merged_one_names_the_commit_whichever_way_it_was_merged() {
    for (fields, commit) in [
        (json!({"merge_commit_sha": sha("c"), "squash_commit_sha": sha("d")}), "c"),
        (json!({"squash_commit_sha": sha("d")}), "d"),
        (json!({}), "a"),
    ] {
        let merged =
            json!({"state": "merged", "merged_at": "2026-11-29T12:00:00.000Z", "merge_user": user(1, "amy")});
        let mut whole = request(3, merged);
        super::specification::merge(&mut whole, fields);
        let fake = fake(vec![Reply::Json(200, whole)]);
        let state =
            fake.client(ForgeKind::GitLab, PATH).close(3, &sticky("too late")).await.expect("it is read");
        let PullRequestState::Merged { commit: Some(merged), by: Some(by), at: Some(_) } = state else {
            panic!("{state:?}")
        };
        assert_eq!((merged.as_str(), by.login.as_str()), (sha(commit).as_str(), "amy"));
        assert_eq!(fake.transcript(), format!("GET {PROJECT}/merge_requests/3\n"));
    }
}

#[tokio::test]
async fn an_open_one_is_closed_after_its_comment() {
    let closed = || one(3, json!({"state": "closed", "closed_at": "2026-11-29T12:00:00.000Z"}));
    let said = note(2, user(7, "nodeform"), "", json!({}));
    let me = Reply::Json(200, user(7, "nodeform"));
    let fake = fake(vec![one(3, json!({})), me, none(), Reply::Json(201, said), closed(), closed()]);
    let state =
        fake.client(ForgeKind::GitLab, PATH).close(3, &sticky("Superseded")).await.expect("it closes");
    assert!(matches!(state, PullRequestState::Closed { at: Some(_) }), "{state:?}");
    let close = format!("PUT {PROJECT}/merge_requests/3\n  {{\"state_event\":\"close\"}}\n");
    assert!(fake.transcript().contains(&close));
}

#[tokio::test]
async fn a_list_ends_with_what_was_not_touched_since() {
    let ended = |number: u64, hour: u64| {
        let at = format!("2026-11-29T{hour:02}:00:00.000Z");
        request(number, json!({"state": "closed", "closed_at": at, "updated_at": at}))
    };
    let open = || Reply::Json(200, json!([request(5, json!({"updated_at": "2026-11-29T11:00:00Z"}))]));
    let fake = fake(vec![open(), Reply::Json(200, json!([ended(4, 11), ended(3, 9)]))]);
    let since: Timestamp = "2026-11-29T10:00:00Z".parse().expect("a time");
    let listed =
        fake.client(ForgeKind::GitLab, PATH).list("nodeform/demo/", since).await.expect("it is listed");
    assert_eq!(listed.iter().map(|one| one.number).collect::<Vec<_>>(), [5, 4]);
    fake.transcript();
}
