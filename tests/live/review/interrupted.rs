//! `propose` and `apply --merged` are killed right after each of their writes that others see: a push, and each write of the
//! ledger. Run again, nothing happens twice and nothing is left out.

use nodeform::ledger::{CHUNKS, PLANS};
use serde_json::Value;
use tokio::task::{JoinSet, LocalSet};

use super::{CREATE, Stage, done, running};

#[tokio::test]
async fn killed_after_its_push_a_proposal_stands_once() {
    let stage = Stage::start().await;
    stage.forge.mute(true);
    let mut proposing = stage.started(&["propose", "--live", "--class", "create"]);
    stage.program.wait(async || stage.forge.branches().contains(CREATE)).await;
    proposing.kill().await.expect("it can be killed");
    stage.forge.mute(false);
    let before = stage.forge.branches();
    let again = stage.run(&["propose", "--live", "--class", "create"]).await;
    done(&again);
    assert!(again.printed.starts_with("Nothing to propose: "), "{again:?}");
    assert_eq!(stage.forge.branches(), before);
    stage.forge.merge(CREATE);
    done(&stage.apply().await);
    stage.program.wait_for(|state| running(state) == 5).await;
    assert_eq!(stage.machines().await, (1, 1));
}

/// How far the ledger of a plan is: nothing, its text, the plan, its first status, an outcome.
fn reached(plans: &[Value], chunks: &[Value]) -> usize {
    let Some(plan) = plans.first() else { return usize::from(!chunks.is_empty()) };
    match (&plan["status"]["phase"], &plan["status"]["counts"]["done"]) {
        (Value::Null, _) => 2,
        (_, done) if done.as_u64().unwrap_or(0) > 0 => 4,
        _ => 3,
    }
}

/// Kills `apply --merged` as soon as the ledger is so far, and runs it again.
async fn killed_at(point: usize) {
    let stage = Stage::start().await;
    stage.propose(&["--class", "create"]).await;
    stage.forge.merge(CREATE);
    let ledger = async || {
        let items = async |path| {
            let (_, listed) = stage.program.kube("GET", path, &Value::Null).await;
            listed["items"].as_array().cloned().unwrap_or_default()
        };
        reached(&items(PLANS).await, &items(CHUNKS).await)
    };
    let mut applying = stage.started(&["apply", "--merged"]);
    while ledger().await < point && applying.try_wait().expect("it can be asked").is_none() {}
    applying.kill().await.expect("it can be killed");
    let ran = stage.apply().await;
    done(&ran);
    stage.program.wait_for(|state| running(state) == 5).await;
    assert_eq!(stage.machines().await, (1, 1), "killed at {point}: {ran:?}");
    assert_eq!(ledger().await, 4, "killed at {point}: {ran:?}");
    let spent = stage.apply().await;
    done(&spent);
    assert!(spent.said.contains("applied before"), "killed at {point}: {spent:?}");
    assert_eq!(stage.machines().await, (1, 1), "killed at {point}");
}

#[tokio::test]
async fn killed_after_each_write_of_the_ledger_a_merged_plan_is_carried_out_once() {
    let all = LocalSet::new();
    all.run_until(async {
        let mut stages = JoinSet::new();
        for point in 1..=4 {
            stages.spawn_local(killed_at(point));
        }
        while let Some(ended) = stages.join_next().await {
            ended.expect("every plan comes to its end");
        }
    })
    .await;
}
