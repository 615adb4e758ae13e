//! The controller with pull requests on a real Gitea: one for a plan, whatever is killed; what becomes of the plan is said under
//! it; and what people close does not come back.

use data_encoding::BASE64;
use serde_json::{Value, json};

use super::Stage;
use super::controller::Reviewed;
use crate::forge::real::Gitea;

const ADMINISTRATOR: &str = "forge";
const PULLS: &str = "/repos/forge/plans/pulls";

/// A controller that works as the user `bot` on a Gitea.
struct Story {
    gitea: Gitea,
    token: String,
    reviewed: Reviewed,
}

impl Story {
    async fn start() -> Option<Self> {
        Self::asking(json!([])).await
    }

    /// The same where the NodeFleet asks for approvals.
    async fn asking(approvals: Value) -> Option<Self> {
        let gitea = Gitea::start().await?;
        gitea.create_repository().await;
        gitea.add_user("bot", "write").await;
        for (reviewer, permission) in [("alice", "write"), ("bob", "write"), ("carol", "read")] {
            gitea.add_user(reviewer, permission).await;
        }
        let token = gitea.token("bot", "write:repository,write:issue,read:user");
        let repository = format!("{}/forge/plans.git", gitea.url);
        let git = json!({"repository": repository, "forge": "gitea", "approvals": approvals});
        let reviewed = Reviewed::of(Stage::of_slots().await, git, &variables(&token)).await;
        Some(Self { gitea, token, reviewed })
    }

    async fn restarts(&mut self) {
        self.reviewed.controller.kill().await.expect("it runs");
        self.reviewed.controller = self.reviewed.stage.controls_with(&variables(&self.token));
    }

    async fn pulls(&self) -> Vec<Value> {
        let listed = self.gitea.ask(ADMINISTRATOR, &format!("GET {PULLS}?state=all"), json!({})).await;
        listed.as_array().cloned().expect("a list")
    }

    /// Waits for the one pull request, and returns it.
    async fn pull(&self) -> Value {
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

    async fn comments(&self, number: u64) -> String {
        let path = format!("GET /repos/forge/plans/issues/{number}/comments");
        self.gitea.ask(ADMINISTRATOR, &path, json!({})).await.to_string()
    }

    async fn statuses(&self, commit: &str) -> String {
        let path = format!("GET /repos/forge/plans/commits/{commit}/statuses");
        self.gitea.ask(ADMINISTRATOR, &path, json!({})).await.to_string()
    }
}

/// Whether a review says why it is as it is, in these words.
fn says(review: &Value, words: &str) -> bool {
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
    story.gitea.merge(number, "squash").await;
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
