//! However a proposal is merged, and whatever is taken back then: the target gets the plan that its pull request showed, and
//! no other.

use serde_json::{Value, json};

use super::{CREATE, Stage, done};

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

const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";

/// What the NodeFleet says of the commit that plans were last applied from, and of a person's word.
async fn annotations(stage: &Stage) -> [Option<String>; 2] {
    let (_, fleet) = stage.program.kube("GET", &format!("{FLEETS}/demo"), &Value::Null).await;
    let annotation = |name: &str| fleet["metadata"]["annotations"][name].as_str().map(str::to_owned);
    [annotation("nodeform.dev/git-head"), annotation("nodeform.dev/resume")]
}

#[tokio::test]
async fn of_a_branch_that_was_rewritten_nothing_is_applied_until_a_person_lets_it_go_on() {
    let stage = Stage::start().await;
    let fleet = json!({
        "apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "demo"}, "spec": {},
    });
    assert_eq!(stage.program.kube("POST", FLEETS, &fleet).await.0, 201);
    stage.propose(&["--class", "create"]).await;
    stage.forge.merge(CREATE);
    done(&stage.apply().await);
    let head = || stage.forge.git(&["rev-parse", "HEAD"]).trim().to_owned();
    let merged = head();
    let noted = format!("{merged} {} main", stage.forge.url());
    assert_eq!(annotations(&stage).await, [Some(noted), None]);

    // Other people's commits, more than one fetch looks back, and a runner without our clone.
    stage.forge.script("for n in $(seq 150); do git commit --quiet --allow-empty --message $n; done; git push --quiet origin main");
    std::fs::remove_dir_all(stage.cache.path().join("nodeform")).expect("it is there");
    done(&stage.apply().await);
    let noted = Some(format!("{} {} main", head(), stage.forge.url()));
    assert_eq!(annotations(&stage).await, [noted.clone(), None]);

    // The history without the merge, and with another plan.
    stage.forge.git(&["reset", "--quiet", "--hard", &format!("{merged}~1")]);
    stage.forge.git(&["push", "--quiet", "--force", "origin", "main"]);
    stage.scale(9).await;
    stage.propose(&["--class", "create"]).await;
    stage.forge.merge(CREATE);
    let before = stage.machines().await;
    for _ in 0..2 {
        let stopped = stage.apply().await;
        assert_eq!(stopped.code, Some(3), "{stopped:?}");
        let why = "HistoryRewritten: branch `main` no longer contains commit";
        let next = "kubectl annotate nodefleet demo nodeform.dev/resume=HistoryRewritten";
        assert!(stopped.said.contains(why) && stopped.said.contains(next), "{stopped:?}");
        assert_eq!((stage.machines().await, annotations(&stage).await), (before, [noted.clone(), None]));
    }
    let resume = json!({"metadata": {"annotations": {"nodeform.dev/resume": "HistoryRewritten"}}});
    assert_eq!(stage.program.patch(&format!("{FLEETS}/demo"), &resume).await.0, 200);
    let applied = stage.apply().await;
    assert!(applied.printed.contains("Nodes: 1 added"), "{applied:?}");
    let noted = format!("{} {} main", head(), stage.forge.url());
    assert_eq!(annotations(&stage).await, [Some(noted), None]);
}
