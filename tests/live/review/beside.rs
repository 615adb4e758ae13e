//! Plans beside each other: a node is in one of them, and what is merged is not proposed again.

use super::{Stage, done};

const EMPTY: &str = "nodeform/demo/remove-empty";

/// The nodes that a proposal deletes.
fn deletes(stage: &Stage, branch: &str, folder: &str) -> Vec<String> {
    let branch = stage.forge.proposed(branch);
    let text = stage.forge.git(&["show", &format!("origin/{branch}:{folder}/destroy.txt")]);
    text.lines().filter_map(|line| line.split([' ', ',']).nth(1)).map(str::to_owned).collect()
}

#[tokio::test]
async fn a_node_is_in_one_proposal_and_what_is_merged_and_not_applied_is_not_proposed_again() {
    let stage = Stage::of_slots().await;
    stage.fill_of(&["a", "b", "c"]).await;
    stage.end_pod("big-a").await;
    stage.runs(3).await;
    let first = stage.propose(&["--class", "remove-empty"]).await;
    let of_first = deletes(&stage, EMPTY, &first);
    assert_eq!(of_first.len(), 1, "{of_first:?}");

    // Another node is empty now, and the pod of a third fits elsewhere.
    stage.start_pod("filler", "1500m", &["k"]).await;
    stage.runs(4).await;
    stage.start_pod("small", "500m", &["c", "k"]).await;
    stage.runs(5).await;
    stage.end_pod("filler").await;
    stage.end_pod("big-b").await;
    stage.end_pod("big-c").await;
    stage.runs(2).await;
    let saved = stage.cache.path().join("saved.json").display().to_string();
    assert_eq!(stage.program.nodeform(&["plan", "--live", "--out", &saved], &[]).await.code, Some(0));
    let refused = stage.run(&["propose", &saved]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let why = format!("{} is deleted by plan `", of_first[0].replace('/', " `") + "`");
    let folder = first.trim_start_matches("nodeform/plans/");
    let why = format!("{why}{folder}`, which is proposed too");
    assert!(refused.said.contains(&why), "{why}\n{refused:?}");

    let second = stage.propose(&[]).await;
    let of_second = deletes(&stage, "nodeform/demo/move-pods", &second);
    assert!(of_second.len() == 2 && !of_second.contains(&of_first[0]), "{of_first:?} {of_second:?}");

    stage.forge.squash(EMPTY);
    let again = stage.run(&["propose", "--live", "--class", "remove-empty"]).await;
    done(&again);
    assert_eq!(again.printed, "No changes: nothing to propose.\n");
    let why = format!("Merged plan `{folder}` waits to be applied: its changes are not proposed again.");
    assert!(again.said.contains(&why), "{again:?}");
    done(&stage.apply().await);
    let after = stage.run(&["propose", "--live", "--class", "remove-empty"]).await;
    assert!(!after.said.contains("waits to be applied"), "{after:?}");
}
