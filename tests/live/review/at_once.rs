//! Two runs of the same pipeline at once: one applies a merged plan, and both end well.

use super::{CREATE, Stage, running};

#[tokio::test]
async fn of_two_runs_at_once_one_applies_a_merged_plan_and_both_end_well() {
    let stage = Stage::start().await;
    stage.propose(&["--class", "create"]).await;
    stage.forge.merge(CREATE);
    // As a `git` leaves it that was killed.
    let clones = std::fs::read_dir(stage.cache.path().join("nodeform/git")).expect("a folder");
    for clone in clones {
        let lock = clone.expect("it can be read").path().join("shallow.lock");
        std::fs::write(lock, "").expect("it is written");
    }
    // They share a cache, as jobs of one runner do.
    let (one, other) = tokio::join!(stage.apply(), stage.apply());
    assert_eq!((one.code, other.code), (Some(0), Some(0)), "{one:?}\n{other:?}");
    let applied = [&one, &other].into_iter().filter(|ran| ran.printed.contains("Nodes: 1 added")).count();
    assert_eq!(applied, 1, "{one:?}\n{other:?}");
    let told = format!("{}{}", one.said, other.said);
    // The second begins while the first is at it, or finds that it was.
    let ends = ["was applied by another run: it ended as Done.", "1 plan, applied before"];
    assert!(ends.iter().any(|end| told.contains(end)), "{one:?}\n{other:?}");
    stage.program.wait_for(|state| running(state) == 5).await;
    assert_eq!(stage.machines().await, (1, 1));
}
