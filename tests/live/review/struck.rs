//! A reviewer strikes some of a plan's removals on its branch, and merges it in each way that forges have.

use super::slots::SLOTS;
use super::{Stage, done};

const EMPTY: &str = "nodeform/demo/remove-empty";

#[tokio::test]
async fn two_of_five_removals_are_struck_on_the_branch_and_the_other_three_are_carried_out() {
    let stage = Stage::of_slots().await;
    stage.fill().await;
    for slot in SLOTS {
        stage.end_pod(&format!("big-{slot}")).await;
    }
    stage.runs(1).await;
    let folder = stage.propose(&["--class", "remove-empty"]).await;
    let list = format!("{folder}/destroy.txt");
    let branch = stage.forge.proposed(EMPTY);
    stage.forge.git(&["checkout", "--quiet", "-B", "review", &format!("origin/{branch}")]);
    let text = stage.forge.read(&list);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- node/")).collect();
    assert_eq!(lines.len(), 5, "{text}");
    let struck = [lines[1], lines[3]];
    let kept: String =
        text.lines().filter(|line| !struck.contains(line)).map(|line| format!("{line}\n")).collect();
    let at = stage.forge.path(&folder).display().to_string();
    let names = struck.map(|line| line.trim_start_matches("- ").split_whitespace().next().expect("a name"));
    let narrow = async |keep: [&str; 2]| {
        stage.program.nodeform(&["narrow", &at, "--keep", keep[0], "--keep", keep[1]], &[]).await
    };
    let refused = narrow([names[0], "node/elsewhere"]).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let because = "the plan does not delete node `elsewhere`";
    assert!(refused.said.contains(because) && refused.said.contains(names[1]), "{refused:?}");
    assert_eq!(stage.forge.read(&list), text, "nothing is struck");
    let narrowed = narrow(names).await;
    done(&narrowed);
    assert_eq!(narrowed.printed, format!("3 of 5 nodes are left to delete:\n{kept}"));
    assert_eq!(stage.forge.read(&list), kept);
    stage.forge.git(&["commit", "--quiet", "--all", "--message", "Keep two"]);
    stage.forge.git(&["push", "--quiet", "origin", &format!("review:{branch}")]);
    stage.forge.git(&["checkout", "--quiet", "main"]);
    stage.forge.rebase(EMPTY);
    stage.forge.git(&["push", "--quiet", "origin", "--delete", &branch]);
    let local = stage.forge.path(&folder).display().to_string();
    let verified = stage.program.nodeform(&["verify", &local], &[]).await;
    done(&verified);
    assert!(verified.printed.ends_with("2 of 5 removals struck.\n"), "{}", verified.printed);
    let applied = stage.apply().await;
    done(&applied);
    assert!(
        applied.printed.ends_with("Apply complete! Nodes: 0 added, 0 changed, 3 destroyed, 0 not done.\n"),
        "{}",
        applied.printed
    );
    assert_eq!(stage.machines().await, (3, 3));
    let (phase, counts) = stage.ledger().await;
    assert_eq!((phase.as_str(), &counts["struck"], &counts["noLongerHolds"]), ("Done", &2.into(), &0.into()));
    let told = stage.program.nodeform(&["status"], &[]).await;
    done(&told);
    for line in struck {
        let node = line.trim_start_matches("- node/").split_whitespace().next().expect("a name");
        let (status, _) =
            stage.program.kube("GET", &format!("/api/v1/nodes/{node}"), &serde_json::Value::Null).await;
        assert_eq!(status, 200, "{node} stays");
        for said in [&applied.printed, &told.printed] {
            assert!(said.contains(&format!("node `{node}`: struck in review")), "{said}");
        }
    }
    // As it goes, and in the table at the end.
    assert_eq!(applied.printed.matches("struck in review").count(), 4, "{}", applied.printed);

    // What was struck is proposed anew, and merged as one commit.
    stage.propose(&["--class", "remove-empty"]).await;
    stage.forge.squash(EMPTY);
    let applied = stage.apply().await;
    done(&applied);
    assert!(applied.printed.contains("Nodes: 0 added, 0 changed, 2 destroyed"), "{}", applied.printed);
    assert_eq!(stage.machines().await, (1, 1));
}
