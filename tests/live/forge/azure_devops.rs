//! Azure DevOps: what is sent, judged with the answers by Microsoft's own description.

use jiff::Timestamp;
use nodeform::forge::{
    CommitId, Credential, ForgeKind, Opened, Permission, PullRequestState, Review, Sought, Status,
    StatusState, User, Written, connect,
};
use nodeform::model::Secret;
use serde_json::{Value, json};

use super::fake::{Fake, Reply, TOKEN, told};
use super::gitea::{branches, sticky, text};
use super::judge::azure_devops;
use super::specification::{Specification, merge};

const PATH: &str = "acme/my%20infra/_git/plans";
const REPOSITORY: &str = "/acme/my%20infra/_apis/git/repositories/plans";
const ME: &str = "00000000-0000-0000-0000-000000000007";

fn sha(digit: &str) -> String {
    digit.repeat(40)
}

fn fake(specification: &Specification, replies: Vec<Reply>) -> Fake {
    Fake::answering(Some(specification.clone()), replies)
}

fn person(id: &str, name: &str) -> Value {
    json!({"id": id, "displayName": name, "uniqueName": format!("{name}@acme.example")})
}

fn pull(number: u64, fields: Value) -> Value {
    let mut pull = json!({
        "pullRequestId": number, "status": "active", "title": "Plan", "description": "Two nodes",
        "sourceRefName": "refs/heads/nodeform/demo/one", "targetRefName": "refs/heads/main",
        "createdBy": person(ME, "nodeform"), "lastMergeSourceCommit": {"commitId": sha("a")},
    });
    merge(&mut pull, fields);
    pull
}

fn list(values: Value) -> Reply {
    let count = values.as_array().map_or(0, Vec::len);
    Reply::Json(200, json!({"count": count, "value": values}))
}

fn me() -> Reply {
    let properties = json!({"Account": {"$type": "System.String", "$value": "nodeform@acme.example"}});
    let user = json!({"id": ME, "providerDisplayName": "nodeform", "properties": properties});
    Reply::Json(200, json!({"authenticatedUser": user}))
}

#[tokio::test]
async fn one_is_opened_after_a_look_and_found_where_azure_devops_says_it_exists() {
    let Some(known) = azure_devops() else { return };
    let look = format!(
        "GET {REPOSITORY}/pullrequests?api-version=7.1&searchCriteria.status=active\
         &searchCriteria.sourceRefName=refs/heads/nodeform/demo/one&searchCriteria.targetRefName=refs/heads/main\
         &$top=30&$skip=0\n"
    );
    let post = format!(
        "POST {REPOSITORY}/pullrequests?api-version=7.1\n  {{\"description\":\"Two nodes\",\
         \"sourceRefName\":\"refs/heads/nodeform/demo/one\",\"targetRefName\":\"refs/heads/main\",\"title\":\"Plan\"}}\n"
    );
    let listed = || list(json!([pull(3, json!({}))]));
    let new = fake(&known, vec![list(json!([])), Reply::Json(200, pull(3, json!({}))), listed()]);
    let client = new.client(ForgeKind::AzureDevOps, PATH);
    let opened =
        client.open(&branches("nodeform/demo/one"), &text("Plan", "Two nodes")).await.expect("it opens");
    let Opened::New(opened) = opened else { panic!("{opened:?}") };
    let page = format!("http://{}/acme/my%20infra/_git/plans/pullrequest/3", new.host());
    assert_eq!((opened.number, opened.url), (3, Some(page)));
    assert_eq!(new.transcript(), format!("{look}{post}{look}"));
    let pair = data_encoding::BASE64.encode(format!(":{TOKEN}").as_bytes());
    assert!(new.seen().iter().all(|asked| asked.authorization == format!("Basic {pair}")));

    let exists = json!({"$id": "1", "message": "TF401179: An active pull request exists", "errorCode": 0});
    let exists = Reply::raw(409, &exists.to_string());
    let found = fake(&known, vec![list(json!([])), exists, listed()]);
    let client = found.client(ForgeKind::AzureDevOps, PATH);
    let opened =
        client.open(&branches("nodeform/demo/one"), &text("Plan", "Two nodes")).await.expect("it is found");
    assert!(matches!(&opened, Opened::Found(opened) if opened.number == 3), "{opened:?}");
    assert_eq!(found.transcript(), format!("{look}{post}{look}"));
}

#[tokio::test]
async fn a_token_of_entra_id_is_sent_as_a_bearer() {
    let fake = Fake::answering(azure_devops(), vec![me()]);
    let credential = Credential::Bearer(Secret::new(TOKEN.to_owned()));
    let client = connect(&fake.settings(ForgeKind::AzureDevOps, PATH, credential)).expect("it is valid");
    let user = client.user().await.expect("it is known");
    assert_eq!((user.id.as_str(), user.login.as_str()), (ME, "nodeform@acme.example"));
    assert_eq!(fake.transcript(), "GET /acme/_apis/connectionData?api-version=7.1-preview\n");
    assert_eq!(fake.seen()[0].authorization, format!("Bearer {TOKEN}"));
}

#[tokio::test]
async fn pull_requests_of_forks_are_left_out() {
    let Some(known) = azure_devops() else { return };
    let theirs = pull(4, json!({"forkSource": {"name": "refs/heads/nodeform/demo/one"}}));
    let fake = fake(&known, vec![list(json!([theirs, pull(3, json!({"forkSource": null}))]))]);
    let client = fake.client(ForgeKind::AzureDevOps, PATH);
    let found = client.find(&branches("nodeform/demo/one"), Sought::Open).await.expect("it is read");
    assert_eq!(found.map(|found| found.number), Some(3));
    fake.transcript();
}

#[tokio::test]
async fn the_text_is_written_where_it_differs_and_never_longer_than_is_taken() {
    let Some(known) = azure_devops() else { return };
    let fake = fake(&known, vec![Reply::Json(200, pull(3, json!({})))]);
    let client = fake.client(ForgeKind::AzureDevOps, PATH);
    assert_eq!(client.update(3, &text("Plan", "Two nodes")).await, Ok(Written::Unchanged));
    fake.forget();
    let longest = "🙂".repeat(2_000);
    assert_eq!(client.update(3, &text("Plan", &longest)).await, Ok(Written::Written));
    let expected = format!(
        "GET {REPOSITORY}/pullrequests/3?api-version=7.1\nPATCH {REPOSITORY}/pullrequests/3?api-version=7.1\n  \
         {{\"description\":\"{longest}\"}}\n"
    );
    assert_eq!(fake.transcript(), expected);
    let refused = told(client.update(3, &text("Plan", &format!("{longest}a"))).await);
    assert!(refused.contains("the description has 4001 letters, 4000 are allowed"), "{refused}");
}

/// A thread that tells of a vote.
fn vote(voter: &Value, vote: i64, minute: u64, comment: Value) -> Value {
    let text = |value: &str| json!({"$type": "System.String", "$value": value});
    let properties = json!({
        "CodeReviewThreadType": text("VoteUpdate"), "CodeReviewVoteResult": text(&vote.to_string()),
        "CodeReviewVotedByIdentity": text("1"),
    });
    json!({
        "id": minute, "publishedDate": format!("2026-11-29T11:{minute:02}:00.1Z"), "comments": [comment],
        "properties": properties, "identities": {"1": voter}, "isDeleted": false,
    })
}

#[tokio::test]
async fn votes_have_the_commit_that_was_the_head_when_they_were_cast() {
    let Some(known) = azure_devops() else { return };
    let [amy, bob, eve, zoe] = ["amy", "bob", "eve", "zoe"].map(|name| person(&format!("id-{name}"), name));
    let system =
        |author: &Value| json!({"id": 1, "author": author, "commentType": "system", "content": "voted"});
    let reviewer = |who: &Value, vote: i64| {
        let mut reviewer = who.clone();
        merge(&mut reviewer, json!({"vote": vote}));
        reviewer
    };
    let mut team = reviewer(&person("id-team", "team"), 10);
    team["isContainer"] = true.into();
    let forged = json!({"id": 1, "author": person("id-mallory", "mallory"), "commentType": "text", "content": "voted"});
    let threads = json!([
        vote(&amy, 10, 25, system(&amy)),
        vote(&bob, 10, 15, system(&bob)),
        // Mallory writes, after the last push, as if Bob had just approved.
        vote(&bob, 10, 30, forged),
        vote(&zoe, -10, 15, system(&zoe)),
        vote(&eve, 5, 26, system(&eve)),
        vote(&eve, 0, 27, system(&eve)),
    ]);
    let iteration = |id: u64, digit: &str, minute: u64| {
        let at = format!("2026-11-29T11:{minute:02}:00.1234567Z");
        json!({"id": id, "createdDate": at, "sourceRefCommit": {"commitId": sha(digit)}})
    };
    let reviewers = json!([
        reviewer(&amy, 10),
        reviewer(&bob, 10),
        reviewer(&zoe, -10),
        reviewer(&eve, 5),
        reviewer(&person("id-kim", "kim"), 0),
        team,
    ]);
    let iterations = json!([iteration(1, "b", 10), iteration(2, "a", 20)]);
    let replies =
        vec![list(reviewers), list(threads), list(iterations), Reply::Json(200, pull(3, json!({})))];
    let fake = fake(&known, replies);
    let reviews = fake.client(ForgeKind::AzureDevOps, PATH).reviews(3).await.expect("they are read");
    let shown = |review: &Review| format!("{} {:?} {:?}", review.by.login, review.verdict, review.standing);
    let shown: Vec<String> = reviews.iter().map(shown).collect();
    assert_eq!(
        shown,
        [
            "amy@acme.example Approved Current",
            "bob@acme.example Approved Stale",
            "eve@acme.example Approved Stale",
            "zoe@acme.example ChangesRequested Current",
        ]
    );
    assert_eq!(reviews[1].commit, CommitId::parse(&sha("b")));
    assert_eq!(reviews[2].commit, None, "the vote that stands is not the one that was told of last");
    fake.transcript();
}

#[tokio::test]
async fn one_comment_is_kept_in_a_thread_that_keeps_nothing_open() {
    let Some(known) = azure_devops() else { return };
    let thread = |id: u64, author: Value, body: &str| json!({"id": id, "comments": [{"id": 1, "author": author, "content": body, "commentType": "text"}]});
    let copy = thread(5, person("id-eve", "eve"), "<!-- nodeform: plan/demo -->\nMine");
    let ours = thread(6, person(ME, "nodeform"), "<!-- nodeform: plan/demo -->\nReady");
    let both = || list(json!([copy, ours]));
    let comment = Reply::Json(200, json!({"id": 1}));
    let new = Reply::Json(200, ours.clone());
    let fake = fake(&known, vec![me(), list(json!([])), new, both(), both(), comment]);
    let client = fake.client(ForgeKind::AzureDevOps, PATH);
    assert_eq!(client.comment(3, &sticky("Ready")).await, Ok(Written::Written));
    assert_eq!(client.comment(3, &sticky("Ready")).await, Ok(Written::Unchanged));
    assert_eq!(client.comment(3, &sticky("Applied")).await, Ok(Written::Written));
    let threads = format!("{REPOSITORY}/pullRequests/3/threads");
    let version = "?api-version=7.1";
    let text = |body: &str| format!("\"content\":\"<!-- nodeform: plan/demo -->\\n{body}\"");
    let expected = format!(
        "GET /acme/_apis/connectionData?api-version=7.1-preview\nGET {threads}{version}\nPOST {threads}{version}\n  \
         {{\"comments\":[{{\"commentType\":\"text\",{},\"parentCommentId\":0}}],\"status\":\"closed\"}}\n\
         GET {threads}{version}\nGET {threads}{version}\nPATCH {threads}/6/comments/1{version}\n  {{{}}}\n",
        text("Ready"),
        text("Applied")
    );
    assert_eq!(fake.transcript(), expected);
}

#[tokio::test]
async fn a_status_is_set_where_it_differs_by_genre_and_name() {
    let Some(known) = azure_devops() else { return };
    let kept = json!({"state": "succeeded", "description": "ready", "context": {"genre": "nodeform/prod", "name": "demo"}});
    let fake = fake(&known, vec![list(json!([])), Reply::Json(200, kept.clone()), list(json!([kept]))]);
    let client = fake.client(ForgeKind::AzureDevOps, PATH);
    let commit = CommitId::parse(&sha("a")).expect("a commit");
    let (context, description) = ("nodeform/prod/demo".to_owned(), "ready".to_owned());
    let status = Status { context, state: StatusState::Success, description, url: None };
    assert_eq!(client.set_status(&commit, &status).await, Ok(Written::Written));
    assert_eq!(client.set_status(&commit, &status).await, Ok(Written::Unchanged));
    let path = format!("{REPOSITORY}/commits/{commit}/statuses?api-version=7.1");
    let read = format!("GET {path}&latestOnly=true&top=30&skip=0\n");
    let body =
        r#"{"context":{"genre":"nodeform/prod","name":"demo"},"description":"ready","state":"succeeded"}"#;
    assert_eq!(fake.transcript(), format!("{read}POST {path}\n  {body}\n{read}"));
}

#[tokio::test]
async fn what_somebody_may_do_is_unknown_and_counts_as_nothing() {
    let fake = Fake::answering(None, vec![Reply::raw(200, "{}")]);
    let amy = User { id: "1".to_owned(), login: "amy".to_owned() };
    let permission = fake.client(ForgeKind::AzureDevOps, PATH).permission(&amy).await;
    assert_eq!(permission, Ok(Permission::Unknown));
    assert!(!Permission::Unknown.may_write() && fake.seen().is_empty());
}

#[tokio::test]
async fn an_open_one_is_abandoned_after_its_comment_and_a_completed_one_stays() {
    let Some(known) = azure_devops() else { return };
    let closed =
        || Reply::Json(200, pull(3, json!({"status": "abandoned", "closedDate": "2026-11-29T12:00:00.1Z"})));
    let open = Reply::Json(200, pull(3, json!({})));
    let thread = Reply::Json(200, json!({"id": 6}));
    let replies = vec![open, me(), list(json!([])), thread, closed(), closed()];
    let abandoned = fake(&known, replies);
    let client = abandoned.client(ForgeKind::AzureDevOps, PATH);
    let state = client.close(3, &sticky("Superseded")).await.expect("it closes");
    assert!(matches!(state, PullRequestState::Closed { at: Some(_) }), "{state:?}");
    let patch =
        format!("PATCH {REPOSITORY}/pullrequests/3?api-version=7.1\n  {{\"status\":\"abandoned\"}}\n");
    assert!(abandoned.transcript().contains(&patch));

    let completed = json!({
        "status": "completed", "closedDate": "2026-11-29T12:00:00.1Z", "closedBy": person("id-amy", "amy"),
        "lastMergeCommit": {"commitId": sha("c")},
    });
    let completed = fake(&known, vec![Reply::Json(200, pull(3, completed))]);
    let client = completed.client(ForgeKind::AzureDevOps, PATH);
    let state = client.close(3, &sticky("Superseded")).await.expect("it is read");
    let PullRequestState::Merged { commit, by: Some(by), at: Some(_) } = state else { panic!("{state:?}") };
    assert_eq!((commit, by.id.as_str()), (CommitId::parse(&sha("c")), "id-amy"));
    completed.transcript();
}

#[tokio::test]
async fn a_list_asks_for_what_ended_since_in_both_ways() {
    let Some(known) = azure_devops() else { return };
    let ended = |number: u64, status: &str, hour: u64| {
        pull(number, json!({"status": status, "closedDate": format!("2026-11-29T{hour:02}:00:00.1Z")}))
    };
    let page: Vec<Value> =
        (10..40).map(|number| pull(number, json!({"sourceRefName": "refs/heads/other"}))).collect();
    let replies = vec![
        list(json!(page)),
        list(json!([pull(5, json!({}))])),
        list(json!([ended(4, "completed", 11)])),
        list(json!([ended(3, "abandoned", 11), ended(2, "abandoned", 9)])),
    ];
    let fake = fake(&known, replies);
    let since: Timestamp = "2026-11-29T10:00:00Z".parse().expect("a time");
    let listed =
        fake.client(ForgeKind::AzureDevOps, PATH).list("nodeform/demo/", since).await.expect("it is listed");
    assert_eq!(listed.iter().map(|one| one.number).collect::<Vec<_>>(), [5, 4, 3]);
    let open = |skip: u64| {
        format!(
            "GET {REPOSITORY}/pullrequests?api-version=7.1&searchCriteria.status=active&$top=30&$skip={skip}\n"
        )
    };
    let ended = |status: &str| {
        format!(
            "GET {REPOSITORY}/pullrequests?api-version=7.1&searchCriteria.status={status}\
             &searchCriteria.queryTimeRangeType=closed&searchCriteria.minTime=2026-11-29T10:00:00Z&$top=30&$skip=0\n"
        )
    };
    let expected = [open(0), open(30), ended("completed"), ended("abandoned")].concat();
    assert_eq!(fake.transcript(), expected);
}
