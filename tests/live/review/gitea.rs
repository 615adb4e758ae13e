//! The controller with pull requests on a real Gitea: one for a plan, whatever is killed; what becomes of the plan is said under
//! it; and what people close does not come back.

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::Stage;
use super::controller::Reviewed;
use crate::forge::fake::{Fake, Reply};
use crate::forge::real::Gitea;

pub(super) const ADMINISTRATOR: &str = "forge";
pub(super) const PULLS: &str = "/repos/forge/plans/pulls";

/// A controller that works as the user `bot` on a Gitea.
pub(super) struct Story {
    pub(super) gitea: Gitea,
    token: String,
    pub(super) reviewed: Reviewed,
}

impl Story {
    pub(super) async fn start() -> Option<Self> {
        Self::asking(json!([])).await
    }

    /// The same where the NodeFleet asks for approvals.
    pub(super) async fn asking(approvals: Value) -> Option<Self> {
        let gitea = Gitea::start().await?;
        let url = gitea.url.clone();
        Some(Self::at(gitea, &url, approvals).await)
    }

    /// The same with a recorder between the controller and Gitea.
    async fn recorded() -> Option<(Self, Fake)> {
        let gitea = Gitea::start().await?;
        let recorder = Fake::before(&gitea.url, None);
        let url = format!("http://{}", recorder.host());
        Some((Self::at(gitea, &url, json!([])).await, recorder))
    }

    async fn at(gitea: Gitea, url: &str, approvals: Value) -> Self {
        let token = prepared(&gitea).await;
        let repository = format!("{url}/forge/plans.git");
        let git = json!({"repository": repository, "forge": "gitea", "approvals": approvals});
        let reviewed = Reviewed::of(Stage::of_slots().await, git, &variables(&token)).await;
        Self { gitea, token, reviewed }
    }

    pub(super) async fn restarts(&mut self) {
        self.reviewed.controller.kill().await.expect("it runs");
        self.starts();
    }

    fn starts(&mut self) {
        self.reviewed.controller = self.reviewed.stage.controls_with(&variables(&self.token));
    }

    /// Kills the controller once a write is done whose answer it does not get; returns which.
    async fn is_killed_after(&mut self, lost: tokio::sync::oneshot::Receiver<String>) -> String {
        let written = tokio::time::timeout(crate::program::PATIENCE, lost).await;
        self.reviewed.controller.kill().await.expect("it runs");
        written.expect("it writes").expect("the recorder runs")
    }

    pub(super) async fn pulls(&self) -> Vec<Value> {
        let listed = self.gitea.ask(ADMINISTRATOR, &format!("GET {PULLS}?state=all"), json!({})).await;
        listed.as_array().cloned().expect("a list")
    }

    /// Waits for the one pull request, and returns it.
    pub(super) async fn pull(&self) -> Value {
        self.reviewed.stage.program.wait(async || !self.pulls().await.is_empty()).await;
        let pulls = self.pulls().await;
        let [pull] = pulls.as_slice() else { panic!("{pulls:?}") };
        pull.clone()
    }

    /// Strikes the second removal of a plan, as the forge's editor does it; returns its node.
    async fn strikes(&self, folder: &str, branch: &str) -> String {
        let path = format!("/repos/forge/plans/contents/nodeform/plans/{folder}/destroy.txt");
        let file = self.gitea.ask("alice", &format!("GET {path}?ref={branch}"), json!({})).await;
        let text =
            BASE64.decode(file["content"].as_str().expect("a text").as_bytes()).expect("it is encoded");
        let text = String::from_utf8(text).expect("a text");
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- node/")).collect();
        assert_eq!(lines.len(), 3, "{text}");
        let struck = lines[1].trim_start_matches("- node/").split_whitespace().next().expect("a name");
        let left: String =
            lines.iter().filter(|line| !line.contains(struck)).map(|line| format!("{line}\n")).collect();
        let body = json!({"content": BASE64.encode(left.as_bytes()), "sha": file["sha"], "branch": branch, "message": "Keep one"});
        self.gitea.ask("alice", &format!("PUT {path}"), body).await;
        struck.to_owned()
    }

    pub(super) async fn comments(&self, number: u64) -> String {
        let path = format!("GET /repos/forge/plans/issues/{number}/comments");
        self.gitea.ask(ADMINISTRATOR, &path, json!({})).await.to_string()
    }

    async fn statuses(&self, commit: &str) -> String {
        let path = format!("GET /repos/forge/plans/commits/{commit}/statuses");
        self.gitea.ask(ADMINISTRATOR, &path, json!({})).await.to_string()
    }
}

/// Makes the repository and its users; returns the token of `bot`.
pub(super) async fn prepared(gitea: &Gitea) -> String {
    gitea.create_repository().await;
    for (user, permission) in [("bot", "write"), ("alice", "write"), ("bob", "write"), ("carol", "read")] {
        gitea.add_user(user, permission).await;
    }
    gitea.token("bot", "write:repository,write:issue,read:user")
}

/// Whether a review says why it is as it is, in these words.
pub(super) fn says(review: &Value, words: &str) -> bool {
    review["because"].as_str().is_some_and(|because| because.contains(words))
}

fn variables(token: &str) -> [(&str, &str); 2] {
    [("NODEFORM_GIT_TOKEN", token), ("NODEFORM_GIT_USER", "bot")]
}

#[tokio::test]
async fn a_plan_has_one_pull_request_whatever_is_killed_and_says_under_it_what_became_of_it() {
    let Some(mut story) = Story::start().await else { return };
    let before = story.reviewed.fills(&["a", "b"]).await;
    let folder = story.reviewed.proposes().await;
    let pull = story.pull().await;
    let (number, title) =
        (pull["number"].as_u64().expect("a number"), pull["title"].as_str().expect("a title"));
    assert!(title.starts_with("[nodeform demo] replace: +2 -2 nodes, "), "{title}");
    let body = pull["body"].as_str().expect("a text");
    assert!(body.contains("2 of 3 nodes are deleted, 2 are created"), "{body}");
    let head = pull["head"]["sha"].as_str().expect("a commit").to_owned();
    story.reviewed.stage.program.wait(async || story.statuses(&head).await.contains("nodeform/plan")).await;
    assert!(story.statuses(&head).await.contains("the plan holds together"));

    story.restarts().await;
    let review = story.reviewed.waits_for_review(|review| review["page"].is_string()).await;
    assert!(
        review["page"].as_str().is_some_and(|page| page.ends_with(&format!("/pulls/{number}"))),
        "{review}"
    );
    assert_eq!(story.pulls().await.len(), 1);
    story.gitea.review("alice", number, "APPROVED").await;
    story.gitea.squash(number).await;
    story.reviewed.ends(&folder, "Done").await;
    let after = story.reviewed.vms().await;
    assert!(after.len() == 2 && after.iter().all(|vm| !before.contains(vm)), "{before:?} {after:?}");
    story.reviewed.stage.program.wait(async || story.comments(number).await.contains("**Done**")).await;
    let comments = story.comments(number).await;
    assert!(before.iter().all(|vm| comments.contains(vm.as_str())), "{comments}");
    assert_eq!(story.pulls().await.len(), 1);
}

#[tokio::test]
async fn what_people_close_is_not_proposed_again_that_day() {
    let Some(mut story) = Story::start().await else { return };
    let before = story.reviewed.fills(&["a", "b"]).await;
    story.reviewed.proposes().await;
    let pull = story.pull().await;
    let number = pull["number"].as_u64().expect("a number");
    story.gitea.ask("alice", &format!("PATCH {PULLS}/{number}"), json!({"state": "closed"})).await;
    let is_rejected =
        |review: &Value| review["because"].as_str().is_some_and(|because| because.contains("closed"));
    story.reviewed.waits_for_review(is_rejected).await;
    // Without its branch it is known by what it would do, whoever asks.
    let branch = pull["head"]["ref"].as_str().expect("a branch").replace('/', "%2F");
    story.gitea.ask("alice", &format!("DELETE /repos/forge/plans/branches/{branch}"), json!({})).await;
    story.restarts().await;
    let stage = &story.reviewed.stage;
    stage.start_pod("big-c", "3", &["c"]).await;
    stage.runs(3).await;
    stage.end_pod("big-c").await;
    stage.program.wait(async || story.reviewed.vms().await.len() == 2).await;
    assert_eq!(story.pulls().await.len(), 1);
    assert_eq!(story.reviewed.vms().await, before);
}

#[tokio::test]
async fn a_line_that_a_reviewer_strikes_in_the_web_editor_keeps_its_node_and_the_others_are_replaced() {
    let Some(story) = Story::start().await else { return };
    let before = story.reviewed.fills(&["a", "b", "c"]).await;
    let folder = story.reviewed.proposes().await;
    let pull = story.pull().await;
    let number = pull["number"].as_u64().expect("a number");
    let branch = pull["head"]["ref"].as_str().expect("a branch");
    let struck = story.strikes(&folder, branch).await;
    story.reviewed.waits_for_review(|review| says(review, "somebody else committed to it")).await;
    story.gitea.review("bob", number, "APPROVED").await;
    story.gitea.merge(number, "rebase").await;
    story.reviewed.ends(&folder, "Done").await;
    let after = story.reviewed.vms().await;
    let kept: Vec<&String> = before.iter().filter(|vm| after.contains(vm)).collect();
    assert_eq!((after.len(), kept), (3, vec![&struck]), "{before:?} {after:?}");
    story.reviewed.stage.program.wait(async || story.comments(number).await.contains("Struck")).await;
}

#[tokio::test]
async fn what_is_merged_without_the_approvals_that_the_fleet_asks_for_waits_for_them() {
    let needs = |count: u32| json!([{"classes": ["replace"], "count": count}]);
    let Some(story) = Story::asking(needs(2)).await else { return };
    let before = story.reviewed.fills(&["a", "b", "c"]).await;
    let folder = story.reviewed.proposes().await;
    let pull = story.pull().await;
    let number = pull["number"].as_u64().expect("a number");
    for reviewer in ["alice", "carol"] {
        story.gitea.review(reviewer, number, "APPROVED").await;
    }
    // What is struck afterwards takes nothing from an approval.
    let struck = story.strikes(&folder, pull["head"]["ref"].as_str().expect("a branch")).await;
    // Whoever steals the token that proposes can merge with it, and gets nothing.
    story.gitea.merge_as("bot", number, "fast-forward-only").await;
    let review = story.reviewed.waits_for_review(|review| review["state"] == "Refused").await;
    let because = format!("pull request {number} needs 2 approvals for replace, and has 1 (by alice)");
    assert!(says(&review, &because) && says(&review, "carol may not write to the repository"), "{review}");
    assert_eq!(story.reviewed.vms().await, before);

    // What is asked for stands in the cluster.
    let fleet = json!({"spec": {"git": {"approvals": needs(1)}}});
    let stage = &story.reviewed.stage;
    assert_eq!(stage.program.patch(super::controller::FLEET, &fleet).await.0, 200);
    story.reviewed.ends(&folder, "Done").await;
    let after = story.reviewed.vms().await;
    let kept: Vec<&String> = before.iter().filter(|vm| after.contains(vm)).collect();
    assert_eq!((after.len(), kept), (3, vec![&struck]), "{before:?} {after:?}");
}

#[tokio::test]
async fn killed_after_each_of_its_writes_the_controller_leaves_one_of_everything() {
    let Some((mut story, recorder)) = Story::recorded().await else { return };
    let before = story.reviewed.fills(&["a", "b"]).await;
    let mut written = Vec::new();
    let mut lost = recorder.loses_next_write();
    story.reviewed.drifts().await;
    for _ in 0..3 {
        written.push(story.is_killed_after(lost).await);
        lost = recorder.loses_next_write();
        story.starts();
    }
    let names = ["POST /forge/plans.git/git-receive-pack", "POST /api/v1/repos/forge/plans/pulls"];
    assert_eq!(written[..2], names);
    assert!(written[2].contains("/statuses/"), "{written:?}");
    let pull = story.pull().await;
    let number = pull["number"].as_u64().expect("a number");
    story.gitea.merge(number, "rebase-merge").await;
    // What is said of it as it goes on: the comment and its changes, and the status of the merge.
    while !story.comments(number).await.contains("**Done**") {
        written.push(story.is_killed_after(lost).await);
        lost = recorder.loses_next_write();
        story.starts();
    }
    drop(lost);
    let comments = story.comments(number).await;
    assert_eq!(comments.matches("\"login\":\"bot\"").count(), 1, "{comments}\n{written:?}");
    assert_eq!(story.pulls().await.len(), 1);
    let after = story.reviewed.vms().await;
    assert!(after.len() == 2 && after.iter().all(|vm| !before.contains(vm)), "{before:?} {after:?}");
}

#[tokio::test]
async fn by_hand_a_plan_gets_one_pull_request_and_is_applied_once_it_is_approved() {
    let Some(gitea) = Gitea::start().await else { return };
    let token = prepared(&gitea).await;
    let stage = Stage::start().await;
    let repository = format!("{}/forge/plans.git", gitea.url);
    let approvals = |by: &str| json!([{"classes": ["create"], "count": 1, "by": [by]}]);
    let git = json!({"repository": repository, "forge": "gitea", "approvals": approvals("bob")});
    let fleet = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "demo"}, "spec": {"git": git}});
    assert_eq!(stage.program.kube("POST", super::controller::FLEETS, &fleet).await.0, 201);
    let run = async |arguments: &[&str]| stage.run_with(&repository, arguments, &variables(&token)).await;

    let propose = ["propose", "--live", "--class", "create"];
    let proposed = run(&propose).await;
    assert!(proposed.code == Some(0) && proposed.said.contains("Pull request 1: http://"), "{proposed:?}");
    let again = run(&propose).await;
    assert!(again.printed.starts_with("Nothing to propose: "), "{again:?}");
    assert!(again.said.contains("Pull request 1: http://"), "{again:?}");
    gitea.review("alice", 1, "APPROVED").await;
    gitea.merge(1, "merge").await;

    let refused = run(&["apply", "--merged"]).await;
    let because = "pull request 1 needs 1 approval by bob for create, and has 0; alice is not among those whose approval counts";
    assert!(refused.code == Some(3) && refused.said.contains(because), "{refused:?}");
    assert_eq!(stage.machines().await, (0, 0));
    let fleet = json!({"spec": {"git": {"approvals": approvals("alice")}}});
    assert_eq!(stage.program.patch(super::controller::FLEET, &fleet).await.0, 200);
    let applied = run(&["apply", "--merged"]).await;
    assert!(applied.code == Some(0) && applied.said.contains(", approved by alice\n"), "{applied:?}");
    assert_eq!(stage.machines().await, (1, 1));
}

#[tokio::test]
async fn a_forge_that_asks_for_a_pause_or_says_nothing_holds_no_routine_work() {
    let Some((story, recorder)) = Story::recorded().await else { return };
    let before = story.reviewed.fills(&["a", "b"]).await;
    recorder.refuses(Some(Reply::raw(429, "").with("retry-after", "20")));
    story.reviewed.drifts().await;
    let stage = &story.reviewed.stage;
    let stops = async || story.reviewed.fleet().await["status"]["stops"].to_string();
    stage.program.wait(async || stops().await.contains("the forge limits requests: next attempt at")).await;
    let asked = || recorder.seen().iter().filter(|asked| asked.path.starts_with("/api/")).count();
    let before_pause = asked();
    stage.start_pod("big-c", "3", &["c"]).await;
    stage.runs(3).await;
    // It would be asked twice a second, and is asked once for each pause.
    assert!(asked() - before_pause <= 4, "{} requests", asked() - before_pause);
    assert_eq!(story.pulls().await.len(), 0);
    recorder.refuses(None);
    let pull = story.pull().await;
    assert!(before.iter().all(|vm| pull["body"].as_str().is_some_and(|body| body.contains(vm.as_str()))));

    // What is merged begins once the repository can be read again.
    recorder.is_silent(true);
    story.gitea.merge(pull["number"].as_u64().expect("a number"), "merge").await;
    stage.end_pod("big-c").await;
    stage.program.wait(async || story.reviewed.vms().await.len() == 2).await;
    stage.program.wait(async || stops().await.contains("no reviewed plan starts until")).await;
    assert_eq!(story.reviewed.vms().await, before);
    recorder.is_silent(false);
    let is_replaced = async || story.reviewed.vms().await.iter().all(|vm| !before.contains(vm));
    stage.program.wait(is_replaced).await;
}
