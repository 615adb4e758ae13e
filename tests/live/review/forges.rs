//! The controller on GitHub, GitLab and Azure DevOps, each by a server that keeps what is done and that the forge's own description
//! judges: what counts as approved, a merge queue, and what people close.

use serde_json::{Value, json};

use super::Stage;
use super::controller::{FLEET, Reviewed};
use super::forge::TOKEN;
use super::gitea::says;
use crate::forge::kept::{AzureDevOps, Dialect, GitHub, GitLab, Kept};

const REPLACE: &str = "nodeform/demo/replace";

/// A controller that proposes on such a forge.
struct Story {
    kept: Kept,
    reviewed: Reviewed,
}

impl Story {
    async fn start(dialect: impl Dialect, approvals: Value) -> Self {
        let stage = Stage::of_slots().await;
        let forge = dialect.word();
        let kept = Kept::before(&stage.forge, dialect);
        let git = json!({"repository": kept.url, "forge": forge, "approvals": approvals});
        let reviewed = Reviewed::of(stage, git, &[("NODEFORM_GIT_TOKEN", TOKEN)]).await;
        Self { kept, reviewed }
    }

    /// Waits until what replaces all nodes has its pull request; returns its folder.
    async fn proposes(&self) -> String {
        let folder = self.reviewed.proposes().await;
        self.reviewed.waits_for_review(|review| review["page"].is_string()).await;
        assert_eq!(self.kept.pulls(), 1);
        folder
    }

    /// Has a reviewer change the branch by a script.
    fn pushes(&self, script: &str) {
        let branch = self.reviewed.stage.forge.proposed(REPLACE);
        self.reviewed.stage.forge.script(&format!(
            "git checkout -q -B own origin/{branch}\n{script}\ngit push -q origin own:{branch}\ngit checkout -q main"
        ));
        self.kept.look();
    }

    /// Has a node come and go, which takes a plan and some looks at the repository.
    async fn works(&self, slot: &str) {
        let stage = &self.reviewed.stage;
        let before = self.reviewed.vms().await.len();
        let pod = format!("big-{slot}");
        stage.start_pod(&pod, "3", &[slot]).await;
        stage.runs(before + 1).await;
        stage.end_pod(&pod).await;
        stage.program.wait(async || self.reviewed.vms().await.len() == before).await;
    }

    fn head(&self) -> String {
        self.reviewed.stage.forge.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// Expects the plan to be carried out once, and said under its pull request and in its NodePlan.
    async fn is_done(&self, (folder, commit): (&str, &str), (by, before): (&str, &[String])) {
        self.reviewed.ends(folder, "Done").await;
        let plan = self.reviewed.plans_of(folder).await.remove(0);
        let [approval] = plan["status"]["approvals"].as_array().expect("a list").as_slice() else {
            panic!("{plan}")
        };
        let (who, record) = (&approval["by"], approval["record"].as_str().expect("a text"));
        assert_eq!(who, by, "{plan}");
        assert!(
            record.starts_with(&format!("pull request 1, commit {}, http", self.kept.head(1))),
            "{record}"
        );
        let program = &self.reviewed.stage.program;
        program.wait(async || self.kept.comments(1).iter().any(|text| text.contains("**Done**"))).await;
        program.wait(async || self.kept.statuses(commit).contains("apply\"")).await;
        let after = self.reviewed.vms().await;
        assert!(after.len() == before.len() && after.iter().all(|vm| !before.contains(vm)), "{after:?}");
        assert_eq!(self.kept.pulls(), 1);
        let comments = self.kept.comments(1);
        let told = format!("Approved by {} ({record})", by.replace('@', "&#64;"));
        assert!(comments.len() == 1 && comments[0].contains(&told), "{comments:#?}");
        self.kept.is_as_described();
    }
}

/// Amy approves a plan that keeps a node, Bob one that does not; what is merged does not.
async fn counts_what_was_approved_after_the_last_push(
    story: &Story,
    [amy, bob]: [&str; 2],
    needs: impl Fn(u32) -> Value,
) {
    let before = story.reviewed.fills(&["a", "b"]).await;
    let folder = story.proposes().await;
    story.pushes(
        "sed -i '0,/^- node/{/^- node/d}' nodeform/plans/*/*/destroy.txt\ngit commit -q -am 'Keep one'",
    );
    story.kept.approve(1, "amy");
    story.pushes("git revert --no-edit HEAD");
    story.kept.approve(1, "bob");
    story.kept.approve(1, "carol");
    story.reviewed.stage.forge.merge(REPLACE);
    let commit = story.head();
    story.kept.merged(1, &commit, "carol");
    let because = format!(
        "pull request 1 needs 2 approvals by {amy}, {bob} for replace, and has 1 (by {bob}); {amy} approved commit "
    );
    let refused = story.reviewed.waits_for_review(|review| says(review, &because)).await;
    assert!(says(&refused, ", which keeps 1 node that is deleted now; "), "{refused}");
    assert!(says(&refused, "is not among those whose approval counts"), "{refused}");
    assert_eq!((refused["state"].as_str(), story.reviewed.vms().await), (Some("Refused"), before.clone()));
    let fleet = json!({"spec": {"git": {"approvals": needs(1)}}});
    assert_eq!(story.reviewed.stage.program.patch(FLEET, &fleet).await.0, 200);
    story.is_done((&folder, &commit), (bob, &before)).await;
}

#[tokio::test]
async fn on_gitlab_an_approval_counts_for_what_it_was_given_for() {
    let needs = |count: u32| json!([{"classes": ["replace"], "count": count, "by": ["amy", "bob"]}]);
    let story = Story::start(GitLab::read(), needs(2)).await;
    counts_what_was_approved_after_the_last_push(&story, ["amy", "bob"], needs).await;
}

#[tokio::test]
async fn on_azure_devops_an_approval_counts_for_what_it_was_given_for_where_the_fleet_names_who_counts() {
    let Some(dialect) = AzureDevOps::read() else { return };
    let [amy, bob] = ["amy@acme.example", "bob@acme.example"];
    let needs = |count: u32| json!([{"classes": ["replace"], "count": count, "by": [amy, bob]}]);
    let story = Story::start(dialect, needs(2)).await;
    counts_what_was_approved_after_the_last_push(&story, [amy, bob], needs).await;
}

#[tokio::test]
async fn what_a_merge_queue_holds_is_applied_once_it_is_on_the_branch() {
    let Some(dialect) = GitHub::read() else { return };
    let story = Story::start(dialect, json!([{"classes": ["replace"], "count": 1}])).await;
    let before = story.reviewed.fills(&["a", "b"]).await;
    let folder = story.proposes().await;
    story.kept.approve(1, "amy");
    let git = &story.reviewed.stage.forge;
    let branch = git.proposed(REPLACE);
    let queue = format!("gh-readonly-queue/main/pr-1-{}", story.head());
    git.script(&format!(
        "git checkout -q -B queued main\ngit merge -q --no-ff -m 'Merge pull request #1' origin/{branch}
        git push -q origin queued:{queue}\ngit checkout -q main"
    ));
    story.works("c").await;
    assert_eq!((story.reviewed.vms().await, story.kept.pulls()), (before.clone(), 1));
    git.script(&format!("git merge -q --ff-only queued\ngit push -q origin main :{queue}"));
    let commit = story.head();
    story.kept.merged(1, &commit, "carol");
    story.is_done((&folder, &commit), ("amy", &before)).await;
}

#[tokio::test]
async fn what_people_abandon_on_azure_devops_is_not_proposed_again_that_day_though_lists_cut_descriptions() {
    let Some(dialect) = AzureDevOps::read() else { return };
    let mut story = Story::start(dialect, json!([])).await;
    let before = story.reviewed.fills(&["a", "b"]).await;
    story.proposes().await;
    story.kept.close(1);
    story.reviewed.waits_for_review(|review| says(review, "its pull request was closed")).await;
    let git = &story.reviewed.stage.forge;
    let branch = git.proposed(REPLACE);
    git.git(&["push", "--quiet", "--delete", "origin", &branch]);
    story.reviewed.controller.kill().await.expect("it runs");
    story.reviewed.controller = story.reviewed.stage.controls_with(&[("NODEFORM_GIT_TOKEN", TOKEN)]);
    story.works("c").await;
    story.works("d").await;
    assert_eq!((story.kept.pulls(), story.reviewed.vms().await), (1, before));
    assert!(!story.reviewed.stage.forge.branches().contains(REPLACE));
    story.kept.is_as_described();
}
