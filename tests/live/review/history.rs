//! However a proposal is merged, and whatever is taken back then: the target gets the plan that its pull request showed, and
//! no other.

use super::{CREATE, Stage};

/// The folders of plans that a commit holds.
fn plans(stage: &Stage, commit: &str) -> Vec<String> {
    let files = stage.forge.git(&["ls-tree", "-r", "--name-only", commit, "nodeform/plans"]);
    files.lines().filter_map(|file| file.strip_suffix("/PLAN.md")).map(str::to_owned).collect()
}

/// The folders of plans that the pull request of a branch shows.
fn shown(stage: &Stage, branch: &str) -> Vec<String> {
    let range = format!("main...origin/{branch}");
    let files = stage.forge.git(&["diff", "--name-only", "--diff-filter=A", &range]);
    files.lines().filter_map(|file| file.strip_suffix("/PLAN.md")).map(str::to_owned).collect()
}

/// A way of merging.
type Way = (&'static str, fn(&Stage));

fn moves_on(stage: &Stage) {
    let text = format!("{}More\n", stage.forge.read("README.md"));
    stage.forge.write("README.md", &text);
    stage.forge.commit("Something else");
}

const WAYS: [Way; 6] = [
    ("merge commit", |stage| stage.forge.merge(CREATE)),
    ("squash", |stage| stage.forge.squash(CREATE)),
    ("fast-forward", |stage| stage.forge.forward(CREATE)),
    ("rebase", |stage| stage.forge.rebase(CREATE)),
    ("rebase of a stale branch", |stage| {
        moves_on(stage);
        stage.forge.rebase(CREATE);
    }),
    ("merge commit of a stale branch", |stage| {
        moves_on(stage);
        stage.forge.merge(CREATE);
    }),
];

#[tokio::test]
async fn whichever_way_a_proposal_is_merged_the_target_gets_what_its_pull_request_shows() {
    let stage = Stage::start().await;
    let mut faults = Vec::new();
    for (way, merge) in WAYS {
        stage.scale(5).await;
        let first = stage.propose(&["--class", "create"]).await;
        stage.scale(9).await;
        let second = stage.propose(&["--class", "create"]).await;
        // One branch of the class is left: that of the second plan.
        let branch = stage.forge.proposed(CREATE);
        let shown = shown(&stage, &branch);
        if shown != [second.clone()] {
            faults.push(format!("{way}: the pull request shows {shown:?} and not {second}"));
        }
        merge(&stage);
        let merged = plans(&stage, "main");
        if merged != shown {
            faults.push(format!("{way}: the pull request shows {shown:?}, the target has {merged:?}"));
        }
        let parents = stage.forge.git(&["log", "-1", "--format=%P"]);
        let of_merge: &[&str] = if parents.split_whitespace().count() > 1 { &["-m", "1"] } else { &[] };
        stage.forge.git(&[&["revert", "--no-edit"], of_merge, &["HEAD"]].concat());
        let reverted = plans(&stage, "main");
        if !reverted.is_empty() {
            let first = if reverted == [first] { "the replaced one" } else { "another" };
            faults.push(format!("{way}: after the revert the target has {reverted:?}, {first}"));
            stage.forge.git(&["rm", "-r", "--quiet", "nodeform/plans"]);
            stage.forge.git(&["commit", "--quiet", "--message", "Clean"]);
        }
        stage.forge.git(&["push", "--quiet", "origin", "main"]);
        stage.forge.git(&["push", "--quiet", "origin", "--delete", &branch]);
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test]
async fn a_proposal_is_one_commit_and_another_plan_gets_another_branch() {
    let stage = Stage::start().await;
    stage.forge.says("Create a pull request for 'x' on Forge by visiting:", "/platform/nodes/pull/new/x");
    let ran = stage.run(&["propose", "--live", "--class", "create"]).await;
    let told = format!(
        "The server says: Create a pull request for 'x' on Forge by visiting: {}",
        stage.forge.host()
    );
    assert!(ran.said.contains(&format!("{told}/platform/nodes/pull/new/x\n")), "{ran:?}");
    let first = stage.forge.proposed(CREATE);
    let commits = stage.forge.git(&["rev-list", "--count", &format!("main..origin/{first}")]);
    assert_eq!(commits.trim(), "1");
    let attributes = stage.forge.git(&["show", &format!("origin/{first}:nodeform/plans/.gitattributes")]);
    assert_eq!(attributes, "plan.jsonc linguist-generated=true -diff\n");
    stage.scale(9).await;
    let ran = stage.run(&["propose", "--live", "--class", "create"]).await;
    let second = stage.forge.proposed(CREATE);
    assert_ne!(first, second);
    assert!(ran.said.contains(&format!("Deleted branch `{first}`: replaced by `{second}`")), "{ran:?}");
    // Git folds the plan's file as forges do.
    stage.forge.squash(CREATE);
    let shown = stage.forge.git(&["show", "--stat", "HEAD"]);
    assert!(shown.contains("plan.jsonc") && shown.contains("Bin "), "{shown}");
}
