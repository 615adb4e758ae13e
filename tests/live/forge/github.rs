//! GitHub: what is sent, judged with the answers by GitHub's own description.

use jiff::Timestamp;
use nodeform::forge::{
    CommitId, ForgeKind, Opened, Permission, PullRequestState, Sought, Status, StatusState, User, Written,
};
use serde_json::{Value, json};

use super::fake::{Fake, Reply, told};
use super::gitea::{branches, sticky, text};
use super::judge::GITHUB;
use super::specification::Specification;

const PATH: &str = "acme/plans.git";

/// The description, and answers made of it.
struct Answers(Specification);

impl Answers {
    fn read() -> Option<Self> {
        Specification::read(GITHUB).map(Self)
    }

    fn fake(&self, replies: Vec<Reply>) -> Fake {
        Fake::answering(Some(self.0.clone()), replies)
    }

    fn user(&self, id: u64, login: &str) -> Value {
        self.0.sample("simple-user", json!({"id": id, "login": login}))
    }

    fn side(&self, branch: &str, repository: u64) -> Value {
        let repo = self.0.sample("repository", json!({"id": repository}));
        json!({"label": branch, "ref": branch, "sha": sha("a"), "user": self.user(1, "acme"), "repo": repo})
    }

    /// A pull request as it is read alone, or as a list has it, with these fields.
    fn pull(&self, schema: &str, number: u64, fields: Value) -> Value {
        let mut pull = self.0.sample(
            schema,
            json!({
                "number": number, "state": "open", "title": "Plan", "body": "Two nodes",
                "html_url": format!("https://github.example/acme/plans/pull/{number}"),
                "user": self.user(7, "nodeform"), "head": self.side("nodeform/demo/one", 1), "base": self.side("main", 1),
            }),
        );
        super::specification::merge(&mut pull, fields);
        pull
    }

    fn listed(&self, number: u64, fields: Value) -> Value {
        self.pull("pull-request-simple", number, fields)
    }

    fn one(&self, number: u64, fields: Value) -> Reply {
        Reply::Json(200, self.pull("pull-request", number, fields))
    }

    fn me(&self) -> Reply {
        Reply::Json(200, self.0.sample("private-user", json!({"id": 7, "login": "nodeform"})))
    }

    fn comment(&self, id: u64, user: Value, body: &str) -> Value {
        self.0.sample("issue-comment", json!({"id": id, "user": user, "body": body}))
    }
}

fn sha(digit: &str) -> String {
    digit.repeat(40)
}

const LIST: &str = "GET /api/v3/repos/acme/plans/pulls?state=open&sort=created&direction=desc\
    &head=acme:nodeform/demo/one&base=main&per_page=30&page=1\n";

#[tokio::test]
async fn one_is_opened_after_a_look_and_found_where_github_says_it_exists() {
    let Some(answers) = Answers::read() else { return };
    let none = || Reply::Json(200, json!([]));
    let new = Reply::Json(201, answers.pull("pull-request", 3, json!({})));
    let listed = |numbers: &[u64]| {
        Reply::Json(
            200,
            json!(numbers.iter().map(|number| answers.listed(*number, json!({}))).collect::<Vec<_>>()),
        )
    };
    let fake = answers.fake(vec![none(), new.clone(), listed(&[3])]);
    let client = fake.client(ForgeKind::GitHub, PATH);
    let opened =
        client.open(&branches("nodeform/demo/one"), &text("Plan", "Two nodes")).await.expect("it opens");
    assert!(
        matches!(&opened, Opened::New(new) if new.number == 3 && new.is_open() && !new.is_from_fork),
        "{opened:?}"
    );
    let post = "POST /api/v3/repos/acme/plans/pulls\n  \
        {\"base\":\"main\",\"body\":\"Two nodes\",\"head\":\"nodeform/demo/one\",\"title\":\"Plan\"}\n";
    assert_eq!(fake.transcript(), format!("{LIST}{post}{LIST}"));
    assert!(fake.seen().iter().all(|asked| asked.authorization == "Bearer canary-forge-token"));
    assert!(fake.seen().iter().all(|asked| asked.version == "2022-11-28"));

    // Another was opened at the same time, and before this one.
    let fake =
        answers.fake(vec![none(), new.clone(), listed(&[3, 2]), answers.one(3, json!({"state": "closed"}))]);
    let client = fake.client(ForgeKind::GitHub, PATH);
    let opened =
        client.open(&branches("nodeform/demo/one"), &text("Plan", "Two nodes")).await.expect("it is found");
    assert!(matches!(&opened, Opened::Found(found) if found.number == 2), "{opened:?}");
    let withdrawn = "PATCH /api/v3/repos/acme/plans/pulls/3\n  {\"state\":\"closed\"}\n";
    assert_eq!(fake.transcript(), format!("{LIST}{post}{LIST}{withdrawn}"));

    let message = "A pull request already exists for acme:nodeform/demo/one.";
    let error = json!({"resource": "PullRequest", "code": "custom", "message": message});
    let exists =
        answers.0.sample("validation-error", json!({"message": "Validation Failed", "errors": [error]}));
    let exists = || Reply::Json(422, exists.clone());
    let fake = answers.fake(vec![none(), exists(), listed(&[3])]);
    let client = fake.client(ForgeKind::GitHub, PATH);
    let opened =
        client.open(&branches("nodeform/demo/one"), &text("Plan", "Two nodes")).await.expect("it is found");
    assert!(matches!(&opened, Opened::Found(found) if found.number == 3), "{opened:?}");
    assert_eq!(fake.transcript(), format!("{LIST}{post}{LIST}"));

    let fake = answers.fake(vec![none(), exists(), none()]);
    let client = fake.client(ForgeKind::GitHub, PATH);
    let refused = told(client.open(&branches("nodeform/demo/one"), &text("Plan", "Two nodes")).await);
    assert!(refused.contains(&format!("was not accepted (422): Validation Failed; {message}")), "{refused}");
    fake.transcript();
}

#[tokio::test]
async fn pull_requests_of_forks_are_left_out_also_where_the_fork_is_gone() {
    let Some(answers) = Answers::read() else { return };
    let fork = answers.listed(5, json!({"head": answers.side("nodeform/demo/one", 2)}));
    let mut gone = answers.listed(4, json!({}));
    gone["head"]["repo"] = Value::Null;
    // GitHub answers so, though it describes the repository as never missing.
    let fake =
        Fake::answering(None, vec![Reply::Json(200, json!([fork, gone, answers.listed(3, json!({}))]))]);
    let client = fake.client(ForgeKind::GitHub, PATH);
    let found = client.find(&branches("nodeform/demo/one"), Sought::Open).await.expect("it is read");
    assert_eq!(found.map(|found| found.number), Some(3));
}

#[tokio::test]
async fn the_text_is_written_where_it_differs() {
    let Some(answers) = Answers::read() else { return };
    let fake = answers.fake(vec![answers.one(3, json!({"body": "Two nodes\r\n"}))]);
    let client = fake.client(ForgeKind::GitHub, PATH);
    assert_eq!(client.update(3, &text("Plan", "Two nodes")).await, Ok(Written::Unchanged));
    fake.forget();
    assert_eq!(client.update(3, &text("Plan", "Three nodes")).await, Ok(Written::Written));
    let expected = "GET /api/v3/repos/acme/plans/pulls/3\nPATCH /api/v3/repos/acme/plans/pulls/3\n  {\"body\":\"Three nodes\"}\n";
    assert_eq!(fake.transcript(), expected);
}

#[tokio::test]
async fn the_latest_decision_of_each_person_is_read_with_its_commit() {
    let Some(answers) = Answers::read() else { return };
    let review = |id: u64, login: &str, state: &str, commit: &str, minute: u64| {
        let at = format!("2026-11-29T11:{minute:02}:00Z");
        let commit = sha(commit);
        let fields =
            json!({"user": answers.user(id, login), "state": state, "commit_id": commit, "submitted_at": at});
        answers.0.sample("pull-request-review", fields)
    };
    let reviews = json!([
        review(1, "amy", "CHANGES_REQUESTED", "b", 1),
        review(2, "bob", "APPROVED", "b", 2),
        review(1, "amy", "APPROVED", "a", 3),
        review(1, "amy", "COMMENTED", "a", 4),
        review(3, "zoe", "DISMISSED", "a", 5),
        answers
            .0
            .sample("pull-request-review", json!({"state": "APPROVED", "user": null, "commit_id": sha("a")})),
    ]);
    let fake = answers.fake(vec![Reply::Json(200, reviews), answers.one(3, json!({}))]);
    let reviews = fake.client(ForgeKind::GitHub, PATH).reviews(3).await.expect("they are read");
    let shown = |review: &nodeform::forge::Review| {
        format!("{} {:?} {:?}", review.by.login, review.verdict, review.standing)
    };
    let shown: Vec<String> = reviews.iter().map(shown).collect();
    assert_eq!(shown, ["amy Approved Current", "bob Approved Stale", "zoe Approved Dismissed"]);
    assert_eq!(reviews[0].commit, CommitId::parse(&sha("a")));
    fake.transcript();
}

#[tokio::test]
async fn one_comment_is_kept_and_a_copy_of_its_marker_is_left_alone() {
    let Some(answers) = Answers::read() else { return };
    let copy = answers.comment(1, answers.user(9, "eve"), "<!-- nodeform: plan/demo -->\nMine");
    let ours = answers.comment(2, answers.user(7, "nodeform"), "<!-- nodeform: plan/demo -->\nReady");
    let fake = answers.fake(vec![
        answers.me(),
        Reply::Json(200, json!([copy])),
        Reply::Json(201, ours.clone()),
        Reply::Json(200, json!([copy, ours])),
        Reply::Json(200, json!([copy, ours])),
        Reply::Json(200, ours),
    ]);
    let client = fake.client(ForgeKind::GitHub, PATH);
    assert_eq!(client.comment(3, &sticky("Ready")).await, Ok(Written::Written));
    assert_eq!(client.comment(3, &sticky("Ready")).await, Ok(Written::Unchanged));
    assert_eq!(client.comment(3, &sticky("Applied")).await, Ok(Written::Written));
    let list = "GET /api/v3/repos/acme/plans/issues/3/comments?per_page=30&page=1\n";
    let text = |body: &str| format!("\n  {{\"body\":\"<!-- nodeform: plan/demo -->\\n{body}\"}}\n");
    let expected = format!(
        "GET /api/v3/user\n{list}POST /api/v3/repos/acme/plans/issues/3/comments{}{list}{list}\
         PATCH /api/v3/repos/acme/plans/issues/comments/2{}",
        text("Ready"),
        text("Applied")
    );
    assert_eq!(fake.transcript(), expected);
}

#[tokio::test]
async fn a_status_is_set_where_it_differs_and_its_words_are_cut() {
    let Some(answers) = Answers::read() else { return };
    let kept = json!({"context": "nodeform/demo", "state": "pending", "description": format!("{}…", "ä".repeat(139))});
    let status = answers.0.sample("simple-commit-status", kept);
    let combined = answers.0.sample("combined-commit-status", json!({"statuses": [status]}));
    let none = answers.0.sample("combined-commit-status", json!({}));
    let set = Reply::Json(201, answers.0.sample("status", json!({})));
    let fake = answers.fake(vec![Reply::Json(200, none), set, Reply::Json(200, combined)]);
    let client = fake.client(ForgeKind::GitHub, PATH);
    let commit = CommitId::parse(&sha("a")).expect("a commit");
    let (context, description) = ("nodeform/demo".to_owned(), "ä".repeat(200));
    let status = Status { context, state: StatusState::Pending, description, url: None };
    assert_eq!(client.set_status(&commit, &status).await, Ok(Written::Written));
    assert_eq!(client.set_status(&commit, &status).await, Ok(Written::Unchanged));
    let (a, cut) = (sha("a"), "ä".repeat(139));
    let read = format!("GET /api/v3/repos/acme/plans/commits/{a}/status?per_page=30&page=1\n");
    let body = format!("{{\"context\":\"nodeform/demo\",\"description\":\"{cut}…\",\"state\":\"pending\"}}");
    assert_eq!(
        fake.transcript(),
        format!("{read}POST /api/v3/repos/acme/plans/statuses/{a}\n  {body}\n{read}")
    );
}

#[tokio::test]
async fn permissions_are_of_the_account_that_was_meant() {
    let Some(answers) = Answers::read() else { return };
    for (permission, id, expected) in [
        ("admin", 1, Permission::Write),
        ("write", 1, Permission::Write),
        ("read", 1, Permission::Read),
        ("none", 1, Permission::None),
        ("write", 2, Permission::None),
    ] {
        let user = answers.0.sample("nullable-collaborator", json!({"id": id, "login": "amy"}));
        let fields = json!({"permission": permission, "user": user});
        let access = answers.0.sample("repository-collaborator-permission", fields);
        let fake = answers.fake(vec![Reply::Json(200, access)]);
        let amy = User { id: "1".to_owned(), login: "amy".to_owned() };
        assert_eq!(
            fake.client(ForgeKind::GitHub, PATH).permission(&amy).await,
            Ok(expected),
            "{permission} {id}"
        );
        assert_eq!(fake.transcript(), "GET /api/v3/repos/acme/plans/collaborators/amy/permission\n");
    }
    let fake = answers.fake(vec![Reply::Json(404, answers.0.sample("basic-error", json!({})))]);
    let nobody = User { id: "1".to_owned(), login: "a/../b".to_owned() };
    assert_eq!(fake.client(ForgeKind::GitHub, PATH).permission(&nobody).await, Ok(Permission::None));
    assert_eq!(fake.transcript(), "GET /api/v3/repos/acme/plans/collaborators/a%2F..%2Fb/permission\n");
}

#[tokio::test]
async fn an_open_one_is_closed_after_its_comment_and_a_merged_one_stays() {
    let Some(answers) = Answers::read() else { return };
    let closed = json!({"state": "closed", "closed_at": "2026-11-29T12:00:00Z"});
    let comment = answers.comment(2, answers.user(7, "nodeform"), "");
    let fake = answers.fake(vec![
        answers.one(3, json!({})),
        answers.me(),
        Reply::Json(200, json!([])),
        Reply::Json(201, comment),
        answers.one(3, closed.clone()),
        answers.one(3, closed),
    ]);
    let state =
        fake.client(ForgeKind::GitHub, PATH).close(3, &sticky("Superseded")).await.expect("it closes");
    assert!(matches!(state, PullRequestState::Closed { at: Some(_) }), "{state:?}");
    let methods: Vec<String> = fake.seen().into_iter().map(|asked| asked.method).collect();
    assert_eq!(methods, ["GET", "GET", "GET", "POST", "PATCH", "GET"]);
    assert!(fake.transcript().contains("PATCH /api/v3/repos/acme/plans/pulls/3\n  {\"state\":\"closed\"}\n"));

    let merged = json!({
        "state": "closed", "merged": true, "merged_at": "2026-11-29T12:00:00Z", "merge_commit_sha": sha("c"),
        "merged_by": answers.user(1, "amy"),
    });
    let fake = answers.fake(vec![answers.one(3, merged)]);
    let state =
        fake.client(ForgeKind::GitHub, PATH).close(3, &sticky("Superseded")).await.expect("it is read");
    let PullRequestState::Merged { commit, by, at: Some(_) } = state else { panic!("{state:?}") };
    assert_eq!((commit, by.map(|by| by.login).as_deref()), (CommitId::parse(&sha("c")), Some("amy")));
    assert_eq!(fake.transcript(), "GET /api/v3/repos/acme/plans/pulls/3\n");
}

#[tokio::test]
async fn a_list_ends_with_what_was_not_touched_since() {
    let Some(answers) = Answers::read() else { return };
    let ended = |number: u64, hour: u64| {
        let at = format!("2026-11-29T{hour:02}:00:00Z");
        answers.listed(number, json!({"state": "closed", "closed_at": at, "updated_at": at}))
    };
    let other = answers.listed(9, json!({"head": answers.side("feature", 1)}));
    let page: Vec<Value> = (0..30).map(|place| ended(30 - place, 11)).collect();
    let fake = answers.fake(vec![
        Reply::Json(200, json!([other, answers.listed(31, json!({}))])),
        Reply::Json(200, json!(page)),
        Reply::Json(200, json!([ended(40, 9), ended(41, 8)])),
    ]);
    let since: Timestamp = "2026-11-29T10:00:00Z".parse().expect("a time");
    let listed =
        fake.client(ForgeKind::GitHub, PATH).list("nodeform/demo/", since).await.expect("it is listed");
    let numbers: Vec<u64> = listed.iter().map(|one| one.number).collect();
    assert_eq!(numbers, (1..=31).rev().collect::<Vec<u64>>());
    let list = |state: &str, sort: &str, page: u64| {
        format!(
            "GET /api/v3/repos/acme/plans/pulls?state={state}&sort={sort}&direction=desc&per_page=30&page={page}\n"
        )
    };
    let expected =
        [list("open", "created", 1), list("closed", "updated", 1), list("closed", "updated", 2)].concat();
    assert_eq!(fake.transcript(), expected);
}
