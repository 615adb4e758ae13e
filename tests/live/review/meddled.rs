//! A real Gitea on which somebody meddles with proposals, reviews, comments, rights and the repository itself: each is said once with
//! the next step, nothing is applied without its approval, and nothing is proposed twice.

use serde_json::{Value, json};

use super::controller::FLEET;
use super::gitea::{ADMINISTRATOR, PULLS, Story, says};

const REPOSITORY: &str = "/repos/forge/plans";

impl Story {
    /// Asks Gitea as its administrator.
    async fn asks(&self, request: &str, body: Value) -> Value {
        self.gitea.ask(ADMINISTRATOR, request, body).await
    }

    /// What holds, as the NodeFleet's status says it.
    async fn stops(&self) -> Vec<String> {
        let fleet = self.reviewed.fleet().await;
        let stops = fleet["status"]["stops"].as_array().cloned().unwrap_or_default();
        stops.iter().map(|stop| stop.as_str().expect("a text").to_owned()).collect()
    }

    /// Waits until one line of the status says all of this, and no other says any of it.
    async fn says_once(&self, words: &[&str]) {
        let holds = async || {
            let stops = self.stops().await;
            let said = stops.iter().filter(|stop| words.iter().all(|words| stop.contains(words))).count();
            let any = stops.iter().filter(|stop| words.iter().any(|words| stop.contains(words))).count();
            (said, any) == (1, 1)
        };
        let waited = self.reviewed.stage.program.wait(holds);
        let waited = tokio::time::timeout(crate::program::PATIENCE / 2, waited).await;
        assert!(waited.is_ok(), "{words:?}: {:#?}", self.stops().await);
    }

    /// Waits until nothing is said of this any more.
    async fn says_no_more(&self, words: &str) {
        let program = &self.reviewed.stage.program;
        program.wait(async || self.stops().await.iter().all(|stop| !stop.contains(words))).await;
    }

    async fn fleet_says(&self, spec: Value) {
        assert_eq!(self.reviewed.stage.program.patch(FLEET, &json!({ "spec": spec })).await.0, 200);
    }

    /// Waits until what is merged waits for a freeze.
    async fn is_frozen(&self, folder: &str) {
        let frozen = async || {
            let plans = self.reviewed.plans_of(folder).await;
            plans.iter().any(|plan| plan["status"]["outcomes"].to_string().contains("`friday`"))
        };
        self.reviewed.stage.program.wait(frozen).await;
    }
}

#[tokio::test]
async fn a_pull_request_that_is_led_elsewhere_renamed_closed_and_reopened_stays_one_and_counts_where_it_is_merged()
 {
    let Some(story) = Story::start().await else { return };
    let before = story.reviewed.fills(&["a", "b"]).await;
    let folder = story.reviewed.proposes().await;
    let number = story.pull().await["number"].as_u64().expect("a number");
    let change = format!("PATCH {PULLS}/{number}");
    let body = json!({"new_branch_name": "elsewhere", "old_branch_name": "main"});
    story.asks(&format!("POST {REPOSITORY}/branches"), body).await;

    story.asks(&change, json!({"base": "elsewhere"})).await;
    story
        .reviewed
        .waits_for_review(|review| says(review, "its pull request targets `elsewhere`: change it to `main`"))
        .await;
    story.asks(&change, json!({"base": "main", "title": "Please look"})).await;
    story.reviewed.waits_for_review(|review| review["because"].is_null() && review["page"].is_string()).await;
    story.asks(&change, json!({"state": "closed"})).await;
    let closed =
        "its pull request was closed: the same changes are not proposed for 24 hours; reopen it to go on";
    story.reviewed.waits_for_review(|review| says(review, closed)).await;
    story.asks(&change, json!({"state": "open"})).await;
    story.reviewed.waits_for_review(|review| review["because"].is_null() && review["page"].is_string()).await;
    let pull = story.pull().await;
    assert_eq!((pull["number"].as_u64(), pull["title"].as_str()), (Some(number), Some("Please look")));

    // Merged elsewhere it is no approval: it is proposed where plans are merged.
    story.asks(&change, json!({"base": "elsewhere"})).await;
    story.reviewed.waits_for_review(|review| says(review, "targets `elsewhere`")).await;
    story.gitea.merge(number, "merge").await;
    story.reviewed.stage.program.wait(async || story.pulls().await.len() == 2).await;
    let review = story.reviewed.waits_for_review(|review| review["page"].is_string()).await;
    assert_eq!((review["state"].as_str(), story.reviewed.vms().await), (Some("Proposed"), before.clone()));
    let second = number + 1;
    assert!(
        review["page"].as_str().is_some_and(|page| page.ends_with(&format!("/pulls/{second}"))),
        "{review}"
    );
    story.gitea.merge(second, "merge").await;
    story.reviewed.ends(&folder, "Done").await;
    let after = story.reviewed.vms().await;
    assert!(after.len() == 2 && after.iter().all(|vm| !before.contains(vm)), "{before:?} {after:?}");
    assert_eq!(story.pulls().await.len(), 2);
}

#[tokio::test]
async fn what_people_close_stays_rejected_whatever_they_wrote_into_its_description() {
    let Some(mut story) = Story::start().await else { return };
    let before = story.reviewed.fills(&["a", "b"]).await;
    story.reviewed.proposes().await;
    let pull = story.pull().await;
    let number = pull["number"].as_u64().expect("a number");
    let closed = json!({"state": "closed", "body": "Not before the sale ends."});
    story.asks(&format!("PATCH {PULLS}/{number}"), closed).await;
    let closed = "its pull request was closed: the same changes are not proposed for 24 hours";
    story.reviewed.waits_for_review(|review| says(review, closed)).await;
    // With and without its branch.
    let looked = async |story: &Story, slot: &str| {
        let (stage, pod) = (&story.reviewed.stage, format!("big-{slot}"));
        stage.start_pod(&pod, "3", &[slot]).await;
        stage.runs(3).await;
        stage.end_pod(&pod).await;
        stage.program.wait(async || story.reviewed.vms().await.len() == 2).await;
        assert_eq!((story.pulls().await.len(), story.reviewed.vms().await), (1, before.clone()));
    };
    looked(&story, "c").await;
    let branch = pull["head"]["ref"].as_str().expect("a branch").replace('/', "%2F");
    story.asks(&format!("DELETE {REPOSITORY}/branches/{branch}"), json!({})).await;
    story.restarts().await;
    looked(&story, "d").await;
}

#[tokio::test]
async fn an_approval_that_was_dismissed_or_is_of_somebody_who_left_counts_no_more_and_a_deleted_comment_comes_back()
 {
    let needs = json!([{"classes": ["replace"], "count": 1}]);
    let Some(story) = Story::asking(needs).await else { return };
    let before = story.reviewed.fills(&["a", "b"]).await;
    let folder = story.reviewed.proposes().await;
    let number = story.pull().await["number"].as_u64().expect("a number");
    story.gitea.add_user("dave", "write").await;
    let review = story.gitea.review("alice", number, "APPROVED").await;
    for reviewer in ["bob", "dave"] {
        story.gitea.review(reviewer, number, "APPROVED").await;
    }
    let review = review["id"].as_u64().expect("an id");
    let dismiss = format!("POST {PULLS}/{number}/reviews/{review}/dismissals");
    story.asks(&dismiss, json!({"message": "of another plan"})).await;
    story.asks(&format!("DELETE {REPOSITORY}/collaborators/bob"), json!({})).await;
    story.asks("DELETE /admin/users/dave", json!({})).await;
    story.gitea.merge(number, "merge").await;
    let refused = story.reviewed.waits_for_review(|review| review["state"] == "Refused").await;
    let because = format!("pull request {number} needs 1 approval for replace, and has 0; ");
    let others = ["alice approved it, and that was dismissed", "bob may not write to the repository"];
    assert!(says(&refused, &because) && others.iter().all(|words| says(&refused, words)), "{refused}");
    assert!(
        says(&refused, &format!("approve pull request {number}, if the forge still allows")),
        "{refused}"
    );
    assert_eq!(story.reviewed.vms().await, before);

    // Back among those who may write, Bob's approval counts.
    story.fleet_says(json!({"freeze": [{"name": "friday"}]})).await;
    let back = format!("PUT {REPOSITORY}/collaborators/bob");
    story.asks(&back, json!({"permission": "write"})).await;
    story.is_frozen(&folder).await;
    let program = &story.reviewed.stage.program;
    program.wait(async || story.comments(number).await.contains("`friday`")).await;
    let comments = story.asks(&format!("GET {REPOSITORY}/issues/{number}/comments"), json!({})).await;
    let ours =
        comments.as_array().expect("a list").iter().filter(|comment| comment["user"]["login"] == "bot");
    for comment in ours {
        let id = comment["id"].as_u64().expect("an id");
        story.asks(&format!("DELETE {REPOSITORY}/issues/comments/{id}"), json!({})).await;
    }
    story.fleet_says(json!({"freeze": []})).await;
    story.reviewed.ends(&folder, "Done").await;
    program.wait(async || story.comments(number).await.contains("**Done**")).await;
    let comments = story.comments(number).await;
    assert_eq!(comments.matches("\"login\":\"bot\"").count(), 1, "{comments}");
    assert_eq!(story.pulls().await.len(), 1);
    assert!(story.reviewed.vms().await.iter().all(|vm| !before.contains(vm)));
}

#[tokio::test]
async fn a_repository_that_takes_no_branch_or_is_archived_is_said_and_proposed_to_once_it_takes_one() {
    let Some(story) = Story::start().await else { return };
    let before = story.reviewed.fills(&["a", "b"]).await;
    let rule = json!({"rule_name": "nodeform/**", "enable_push": false});
    story.asks(&format!("POST {REPOSITORY}/branch_protections"), rule).await;
    story.reviewed.drifts().await;
    let protected = ["`replace` is not proposed: ", "does not take branch `nodeform/demo/replace-"];
    let next = "let the token's user create and delete branches below `nodeform/`; a rule that protects them must exempt this user";
    story.says_once(&[&protected[..], &[next]].concat()).await;
    story.asks(&format!("PATCH {REPOSITORY}"), json!({"archived": true})).await;
    story.says_once(&["`replace` is not proposed: ", "may not write to it (403)", "not archived"]).await;
    assert_eq!((story.pulls().await.len(), story.reviewed.vms().await), (0, before.clone()));

    story.asks(&format!("PATCH {REPOSITORY}"), json!({"archived": false})).await;
    story.asks(&format!("DELETE {REPOSITORY}/branch_protections/nodeform%2F%2A%2A"), json!({})).await;
    let number = story.pull().await["number"].as_u64().expect("a number");
    story.says_no_more("is not proposed").await;
    // What is merged is applied though nothing can be said of it.
    story.fleet_says(json!({"freeze": [{"name": "friday"}]})).await;
    let review = story.reviewed.waits_for_review(|review| review["page"].is_string()).await;
    let folder = review["folder"].as_str().expect("a folder");
    story.gitea.merge(number, "merge").await;
    story.is_frozen(folder).await;
    story.asks(&format!("PATCH {REPOSITORY}"), json!({"archived": true})).await;
    story.fleet_says(json!({"freeze": []})).await;
    story.reviewed.ends(folder, "Done").await;
    story.says_once(&["pull requests are not updated, and nothing new is proposed: ", "not archived"]).await;
    story.asks(&format!("PATCH {REPOSITORY}"), json!({"archived": false})).await;
    story.reviewed.stage.program.wait(async || story.comments(number).await.contains("**Done**")).await;
    assert_eq!(story.pulls().await.len(), 1);
}

#[tokio::test]
async fn a_repository_that_is_renamed_is_not_followed_and_goes_on_where_the_fleet_names_its_new_address() {
    let Some(story) = Story::start().await else { return };
    let before = story.reviewed.fills(&["a", "b"]).await;
    let folder = story.reviewed.proposes().await;
    let number = story.pull().await["number"].as_u64().expect("a number");
    story.asks(&format!("PATCH {REPOSITORY}"), json!({"name": "nodes"})).await;
    let next = "the repository was renamed or moved: name its new address in `spec.git.repository`";
    story.says_once(&["leads to another address, which is not followed", next]).await;
    // Everybody but nodeform is led to it.
    story.gitea.merge_in("nodes", ADMINISTRATOR, (number, "merge")).await;
    let stage = &story.reviewed.stage;
    stage.start_pod("big-c", "3", &["c"]).await;
    stage.runs(3).await;
    stage.end_pod("big-c").await;
    stage.program.wait(async || story.reviewed.vms().await.len() == 2).await;
    assert_eq!(story.reviewed.vms().await, before);
    story.fleet_says(json!({"git": {"repository": format!("{}/forge/nodes.git", story.gitea.url)}})).await;
    story.reviewed.ends(&folder, "Done").await;
    story.says_no_more("leads to another address").await;
    story.reviewed.stage.program.wait(async || story.comments(number).await.contains("**Done**")).await;
    assert_eq!(story.pulls().await.len(), 1);
    assert!(story.reviewed.vms().await.iter().all(|vm| !before.contains(vm)));
}
