//! The life of pull requests on a real Gitea, through a recorder that judges each request by Gitea's own description.

use jiff::Timestamp;
use nodeform::forge::{
    Branches, CommitId, Forge, ForgeKind, Marker, Opened, Permission, PullRequestState, Sought, Standing,
    Status, StatusState, StickyComment, Text, User, Verdict, Written,
};
use nodeform::git::remote::Branch;
use serde_json::{Value, json};

use super::fake::{Fake, told};
use super::judge;
use super::real::Gitea;

/// What nodeform's token may do, and no more.
const SCOPES: &str = "write:repository,write:issue,read:user";

struct Bed {
    gitea: Gitea,
    recorder: Fake,
    forge: Box<dyn Forge>,
}

pub(crate) fn branches(source: &str) -> Branches {
    let branch = |name| Branch::parse(name).expect("a branch");
    Branches { source: branch(source), target: branch("main") }
}

pub(crate) fn text(title: &str, body: &str) -> Text {
    Text { title: title.to_owned(), body: body.to_owned() }
}

pub(crate) fn sticky(body: &str) -> StickyComment {
    let marker = Marker::parse("plan/demo").expect("it is valid");
    StickyComment { marker, body: body.to_owned() }
}

impl Bed {
    async fn start() -> Option<Self> {
        let gitea = Gitea::start().await?;
        gitea.create_repository().await;
        for (name, permission) in
            [("nodeform", "write"), ("amy", "write"), ("bob", "read"), ("zoe", "write"), ("eve", "none")]
        {
            gitea.add_user(name, permission).await;
        }
        let recorder = Fake::before(&gitea.url, judge::gitea());
        let token = gitea.token("nodeform", SCOPES);
        let forge = recorder.client_of(ForgeKind::Gitea, "forge/plans.git", &token);
        Some(Self { gitea, recorder, forge })
    }

    /// Opens a pull request of a new branch with one file.
    async fn opened(&self, branch: &str) -> u64 {
        self.gitea.commit(branch, &format!("{branch}/plan.yaml")).await;
        let opened = self.forge.open(&branches(branch), &text("Plan", "Two nodes")).await.expect("it opens");
        opened.into_pull_request().number
    }

    /// How often a method was sent.
    fn sent(&self, method: &str) -> usize {
        self.recorder.seen().iter().filter(|asked| asked.method == method).count()
    }
}

#[tokio::test]
async fn a_pull_request_lives_on_a_real_gitea() {
    let Some(bed) = Bed::start().await else { return };
    the_token_says_who_it_is(&bed).await;
    opening_again_and_at_the_same_time_leaves_one(&bed).await;
    only_what_differs_is_written(&bed).await;
    one_comment_is_kept_and_those_of_others_stay(&bed).await;
    the_latest_decision_of_each_person_is_read(&bed).await;
    permissions_are_those_of_the_repository(&bed).await;
    a_status_is_set_where_it_differs(&bed).await;
    a_closed_one_stays_closed_and_says_why(&bed).await;
    a_merged_one_names_its_commit_and_who_merged(&bed).await;
    lists_hold_what_begins_with_a_prefix_and_no_forks(&bed).await;
    refusals_say_what_to_do(&bed).await;
    assert!(!bed.recorder.transcript().is_empty(), "each request is as Gitea describes it");
}

async fn the_token_says_who_it_is(bed: &Bed) {
    let user = bed.forge.user().await.expect("it is known");
    assert_eq!(user.login, "nodeform");
    assert!(user.id.parse::<u64>().is_ok(), "{user:?}");
}

async fn opening_again_and_at_the_same_time_leaves_one(bed: &Bed) {
    bed.gitea.commit("nodeform/demo/one", "one").await;
    let (branches, words) = (branches("nodeform/demo/one"), text("Plan 1", "Two nodes"));
    assert_eq!(bed.forge.find(&branches, Sought::Open).await, Ok(None));
    let (first, second) = tokio::join!(bed.forge.open(&branches, &words), bed.forge.open(&branches, &words));
    let (first, second) = (first.expect("it opens"), second.expect("it is found"));
    let is_new = [&first, &second].map(|opened| matches!(opened, Opened::New(_)));
    assert!(is_new != [true, true], "one of both is found");
    let pull_request = first.into_pull_request();
    assert_eq!(second.into_pull_request().number, pull_request.number);
    let all = bed.forge.list("nodeform/demo/one", Timestamp::MAX).await.expect("it is listed");
    assert_eq!(all.len(), 1, "one is open");
    assert_eq!(pull_request.text, words);
    assert_eq!((pull_request.source.as_str(), pull_request.target.as_str()), ("nodeform/demo/one", "main"));
    assert_eq!(pull_request.author.as_ref().map(|author| author.login.as_str()), Some("nodeform"));
    assert!(pull_request.is_open() && !pull_request.is_from_fork);
    let again = bed.forge.open(&branches, &text("Plan 2", "")).await.expect("it is found");
    assert_eq!(again, Opened::Found(pull_request.clone()));
    assert_eq!(bed.forge.find(&branches, Sought::Open).await, Ok(Some(pull_request)));
}

async fn only_what_differs_is_written(bed: &Bed) {
    let number = bed.opened("nodeform/demo/text").await;
    bed.recorder.forget();
    let forge = &bed.forge;
    assert_eq!(forge.update(number, &text("Plan", "Two nodes\n")).await, Ok(Written::Unchanged));
    assert_eq!(bed.sent("PATCH"), 0);
    assert_eq!(forge.update(number, &text("Plan", "Three\r\nnodes")).await, Ok(Written::Written));
    assert_eq!(forge.update(number, &text("Plan", "Three\nnodes")).await, Ok(Written::Unchanged));
    assert_eq!(forge.update(number, &text("Plan `🙂`", "")).await, Ok(Written::Written));
    let bodies: Vec<String> = bed
        .recorder
        .seen()
        .into_iter()
        .filter(|asked| asked.method == "PATCH")
        .map(|asked| asked.body)
        .collect();
    assert_eq!(bodies, [r#"{"body":"Three\r\nnodes"}"#, r#"{"body":"","title":"Plan `🙂`"}"#]);
    assert_eq!(forge.pull_request(number).await.map(|read| read.text), Ok(text("Plan `🙂`", "")));
    let long = told(forge.update(number, &text(&"a".repeat(256), "")).await);
    assert!(long.contains("the title has 256 letters, 255 are allowed"), "{long}");
}

async fn one_comment_is_kept_and_those_of_others_stay(bed: &Bed) {
    let number = bed.opened("nodeform/demo/comment").await;
    let comments = format!("/repos/forge/plans/issues/{number}/comments");
    let copied = json!({"body": "<!-- nodeform: plan/demo -->\nMine"});
    bed.gitea.ask("zoe", &format!("POST {comments}"), copied).await;
    assert_eq!(bed.forge.comment(number, &sticky("Ready")).await, Ok(Written::Written));
    assert_eq!(bed.forge.comment(number, &sticky("Ready")).await, Ok(Written::Unchanged));
    assert_eq!(bed.forge.comment(number, &sticky("Applied")).await, Ok(Written::Written));
    let listed = bed.gitea.ask("forge", &format!("GET {comments}"), json!({})).await;
    let listed: Vec<String> = listed.as_array().expect("a list").iter().map(comment_shown).collect();
    assert_eq!(
        listed,
        ["zoe: <!-- nodeform: plan/demo -->\nMine", "nodeform: <!-- nodeform: plan/demo -->\nApplied"]
    );
}

fn comment_shown(comment: &Value) -> String {
    format!("{}: {}", comment["user"]["login"].as_str().unwrap_or(""), comment["body"].as_str().unwrap_or(""))
}

async fn the_latest_decision_of_each_person_is_read(bed: &Bed) {
    let number = bed.opened("nodeform/demo/review").await;
    let head = bed.forge.pull_request(number).await.expect("it is there").head;
    bed.gitea.review("amy", number, "REQUEST_CHANGES").await;
    bed.gitea.review("amy", number, "APPROVED").await;
    bed.gitea.review("bob", number, "APPROVED").await;
    bed.gitea.review("bob", number, "COMMENT").await;
    let taken_back = bed.gitea.review("zoe", number, "APPROVED").await["id"].clone();
    let dismissal = format!("POST /repos/forge/plans/pulls/{number}/reviews/{taken_back}/dismissals");
    bed.gitea.ask("forge", &dismissal, json!({"message": "too early"})).await;
    let reviews = bed.forge.reviews(number).await.expect("they are read");
    let shown: Vec<_> =
        reviews.iter().map(|review| (review.by.login.as_str(), review.verdict, review.standing)).collect();
    use Verdict::Approved;
    let expected = [
        ("amy", Approved, Standing::Current),
        ("bob", Approved, Standing::Unofficial),
        ("zoe", Approved, Standing::Dismissed),
    ];
    assert_eq!(shown, expected);
    assert!(reviews.iter().all(|review| review.commit.as_ref() == Some(&head) && review.at.is_some()));
    assert_eq!(reviews.iter().filter(|review| review.approves_head()).count(), 1);
    bed.gitea.commit("nodeform/demo/review", "nodeform/demo/more").await;
    let reviews = bed.forge.reviews(number).await.expect("they are read");
    assert!(reviews.iter().all(|review| !review.approves_head()), "{reviews:?}");
    assert_eq!(reviews[0].commit.as_ref(), Some(&head), "it was about the earlier head");
}

async fn permissions_are_those_of_the_repository(bed: &Bed) {
    let of =
        async |id: String, login: &str| bed.forge.permission(&User { id, login: login.to_owned() }).await;
    for (login, permission) in [
        ("amy", Permission::Write),
        ("bob", Permission::None),
        ("eve", Permission::None),
        ("forge", Permission::Write),
    ] {
        let id = bed.gitea.ask("forge", &format!("GET /users/{login}"), json!({})).await["id"].to_string();
        assert_eq!(of(id, login).await, Ok(permission), "{login}");
        assert_eq!(
            of("999".to_owned(), login).await,
            Ok(Permission::None),
            "the name has passed to somebody else"
        );
    }
    for hostile in ["nobody-of-this-name", "../../../users", "a/b", "a?b#c", "%2e%2e", ".."] {
        assert_eq!(of("99".to_owned(), hostile).await, Ok(Permission::None), "{hostile}");
    }
}

async fn a_status_is_set_where_it_differs(bed: &Bed) {
    let head = CommitId::parse(&bed.gitea.commit("nodeform/demo/status", "status").await).expect("a commit");
    let status = |state, description: &str| Status {
        context: "nodeform/demo".to_owned(),
        state,
        description: description.to_owned(),
        url: None,
    };
    let pending = status(StatusState::Pending, "waiting for an approval");
    bed.recorder.forget();
    assert_eq!(bed.forge.set_status(&head, &pending).await, Ok(Written::Written));
    assert_eq!(bed.forge.set_status(&head, &pending).await, Ok(Written::Unchanged));
    for round in 0..3 {
        let done = Status {
            url: Some("https://plans.example/1".to_owned()),
            ..status(StatusState::Success, &"ä".repeat(300))
        };
        let expected = if round == 0 { Written::Written } else { Written::Unchanged };
        assert_eq!(bed.forge.set_status(&head, &done).await, Ok(expected));
        assert_eq!(
            bed.forge
                .set_status(&head, &Status { context: format!("other/{round}"), ..pending.clone() })
                .await,
            Ok(Written::Written)
        );
    }
    assert_eq!(
        bed.forge.set_status(&head, &pending).await,
        Ok(Written::Written),
        "it went back within a second"
    );
    assert_eq!(bed.forge.set_status(&head, &pending).await, Ok(Written::Unchanged));
    assert_eq!(bed.sent("POST"), 6);
}

async fn a_closed_one_stays_closed_and_says_why(bed: &Bed) {
    let number = bed.opened("nodeform/demo/close").await;
    let why = sticky("Superseded by a newer plan");
    let state = bed.forge.close(number, &why).await.expect("it closes");
    assert!(matches!(state, PullRequestState::Closed { at: Some(_) }), "{state:?}");
    bed.recorder.forget();
    assert_eq!(bed.forge.close(number, &why).await, Ok(state.clone()));
    assert_eq!((bed.sent("PATCH"), bed.sent("POST")), (0, 0));
    let branches = branches("nodeform/demo/close");
    assert_eq!(bed.forge.find(&branches, Sought::Open).await, Ok(None));
    let found = bed.forge.find(&branches, Sought::Ended).await.expect("it is read").expect("it is found");
    assert_eq!((found.number, found.state), (number, state));
    let next = bed.forge.open(&branches, &text("Plan", "")).await.expect("it opens");
    let Opened::New(next) = next else { panic!("a closed one is not opened again: {next:?}") };
    bed.forge.close(next.number, &why).await.expect("it closes");
    // The first one is touched again: the newest is still the other.
    bed.forge.comment(number, &sticky("Superseded by two newer plans")).await.expect("it is written");
    let found = bed.forge.find(&branches, Sought::Ended).await.expect("it is read").expect("it is found");
    assert_eq!(found.number, next.number);
}

async fn a_merged_one_names_its_commit_and_who_merged(bed: &Bed) {
    let number = bed.opened("nodeform/demo/merge").await;
    bed.gitea.squash(number).await;
    bed.gitea.ask("forge", "DELETE /repos/forge/plans/branches/nodeform%2Fdemo%2Fmerge", json!({})).await;
    let read = bed.forge.pull_request(number).await.expect("it is read");
    assert_eq!(read.source, "nodeform/demo/merge", "its name stays when the branch is gone");
    let PullRequestState::Merged { commit: Some(commit), by: Some(by), at: Some(_) } = &read.state else {
        panic!("{read:?}")
    };
    assert_eq!(by.login, "forge");
    let main = bed.gitea.ask("forge", "GET /repos/forge/plans/branches/main", json!({})).await;
    assert_eq!(main["commit"]["id"], commit.as_str());
    assert_eq!(bed.forge.close(number, &sticky("too late")).await, Ok(read.state));
}

async fn lists_hold_what_begins_with_a_prefix_and_no_forks(bed: &Bed) {
    let number = bed.opened("nodeform/listed/one").await;
    bed.opened("nodeform-other").await;
    let fork = bed.gitea.ask("amy", "POST /repos/forge/plans/forks", json!({})).await;
    let name = fork["full_name"].as_str().expect("a name").to_owned();
    let file = json!({"content": "", "message": "mine", "branch": "nodeform/listed/one"});
    bed.gitea.ask("amy", &format!("POST /repos/{name}/contents/theirs"), file).await;
    let theirs = json!({"head": "amy:nodeform/listed/one", "base": "main", "title": "theirs"});
    let theirs = bed.gitea.ask("amy", "POST /repos/forge/plans/pulls", theirs).await["number"]
        .as_u64()
        .expect("a number");
    assert!(bed.forge.pull_request(theirs).await.expect("it is read").is_from_fork);
    let numbers = async |prefix: &str, since: Timestamp| -> Vec<u64> {
        let listed = bed.forge.list(prefix, since).await.expect("it is listed");
        listed.into_iter().map(|one| one.number).collect()
    };
    assert_eq!(numbers("nodeform/listed/", Timestamp::UNIX_EPOCH).await, [number]);
    let found = bed.forge.find(&branches("nodeform/listed/one"), Sought::Open).await.expect("it is read");
    assert_eq!(found.map(|found| found.number), Some(number));
    bed.forge.close(number, &sticky("no longer needed")).await.expect("it closes");
    assert_eq!(numbers("nodeform/listed/", Timestamp::UNIX_EPOCH).await, [number]);
    assert_eq!(numbers("nodeform/listed/", Timestamp::MAX).await, [0_u64; 0]);
    assert!(numbers("nodeform/demo/", Timestamp::UNIX_EPOCH).await.len() >= 7);
}

async fn refusals_say_what_to_do(bed: &Bed) {
    let host = bed.recorder.host();
    let stranger = bed.recorder.client_of(ForgeKind::Gitea, "forge/plans", "canary-unknown-token");
    let refused = told(stranger.pull_request(1).await);
    let start = format!(
        "error: cannot read pull request 1 of `forge/plans` at `{host}`: the token was not accepted (401)"
    );
    assert!(refused.starts_with(&start) && !refused.contains("canary"), "{refused}");
    let missing = told(bed.forge.pull_request(9_999).await);
    assert!(
        missing.contains("cannot read pull request 9999 of `forge/plans`") && missing.contains("(404)"),
        "{missing}"
    );
    let reader = bed.gitea.token("eve", "read:user");
    let reader = bed.recorder.client_of(ForgeKind::Gitea, "forge/plans", &reader);
    let denied = told(reader.pull_request(1).await);
    assert!(denied.contains("the token has no permission (403)"), "{denied}");
    let none = told(bed.forge.open(&branches("nodeform/no-such-branch"), &text("Plan", "")).await);
    assert!(none.contains("cannot open a pull request of branch `nodeform/no-such-branch`"), "{none}");
}
