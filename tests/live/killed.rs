//! `apply` is killed at ten moments, each in a world of its own; run again, it comes to the same end, does nothing twice and
//! leaves nothing over.

use std::path::Path;

use serde_json::Value;
use tokio::task::{JoinSet, LocalSet};

use crate::program::Program;

const WORLD: &str = include_str!("world.yaml");

/// How many exchanges with Azure a recording holds.
fn exchanges(record: &Path) -> usize {
    std::fs::read_to_string(record).unwrap_or_default().lines().count()
}

/// Kills `apply` once it has exchanged this much with Azure, and runs it again.
async fn killed_after(number: usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record.jsonl");
    let plan = folder.path().join("plan.json").display().to_string();
    let arguments =
        ["--speed", "30", "--seed", &number.to_string(), "--record", &record.display().to_string()];
    let program = Program::of(WORLD, &arguments).await;
    let ran = program.nodeform(&["plan", "--live", "--out", &plan], &[]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.said);
    let until = exchanges(&record) + number;
    let mut applying = program.started(&["apply", &plan], &folder.path().join("said"));
    while applying.try_wait().expect("it can be asked").is_none() && exchanges(&record) < until {
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    applying.kill().await.expect("it can be killed");
    let ran = program.nodeform(&["apply", &plan], &[]).await;
    let is_spent = ran.code == Some(3) && ran.said.contains("spent");
    assert!(ran.code == Some(0) || is_spent, "after {number}: {}\n{}", ran.printed, ran.said);
    let running = |state: &Value| {
        let pods = state["pods"].as_array().expect("a list").iter();
        pods.filter(|pod| {
            pod["phase"] == "Running" && pod["name"].as_str().is_some_and(|it| it.contains("inflate"))
        })
        .count()
    };
    let state = program.wait_for(|state| running(state) == 5).await;
    let count = |list: &str| state[list].as_array().map_or(0, Vec::len);
    assert_eq!(
        (count("virtualMachines"), count("networkInterfaces"), count("disks")),
        (1, 1, 1),
        "after {number}: {state:#}"
    );
    let (_, claims) = program.kube("GET", "/apis/karpenter.sh/v1/nodeclaims", &Value::Null).await;
    assert_eq!(claims["items"].as_array().map(Vec::len), Some(1), "after {number}: {claims}");
    let again = program.nodeform(&["plan", "--live"], &[]).await;
    assert!(again.printed.starts_with("No changes."), "after {number}: {}", again.printed);
    let (_, secrets) = program.kube("GET", "/api/v1/namespaces/kube-system/secrets", &Value::Null).await;
    let tokens = secrets["items"].as_array().expect("a list").iter().filter(|secret| {
        secret["metadata"]["name"].as_str().is_some_and(|name| name.starts_with("bootstrap-token-"))
    });
    // The token of who was killed expires by itself.
    assert!(tokens.count() <= 1, "after {number}: the second run has removed its own");
    crate::specifications::judge(&record);
}

#[tokio::test]
async fn apply_that_is_killed_goes_on_where_it_was() {
    let all = LocalSet::new();
    all.run_until(async {
        let mut worlds = JoinSet::new();
        // From the first exchange of an observation to the last of a VM that is made.
        for number in [1, 8, 14, 16, 18, 20, 22, 25, 30, 40] {
            worlds.spawn_local(killed_after(number));
        }
        while let Some(ended) = worlds.join_next().await {
            ended.expect("every world comes to its end");
        }
    })
    .await;
}

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election";

/// How many writes to Azure a recording holds.
fn writes(record: &Path) -> usize {
    let text = std::fs::read_to_string(record).unwrap_or_default();
    let exchanges = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    exchanges.filter(|it| !["GET", "POST"].iter().any(|read| it["method"] == *read)).count()
}

#[tokio::test]
async fn who_loses_the_lease_writes_nothing_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("record.jsonl");
    let plan = folder.path().join("plan.json").display().to_string();
    let program = Program::of(WORLD, &["--speed", "4", "--record", &record.display().to_string()]).await;
    let ran = program.nodeform(&["plan", "--live", "--out", &plan], &[]).await;
    assert_eq!(ran.code, Some(0), "{}", ran.said);
    let said = folder.path().join("said");
    let mut applying = program.started(&["apply", &plan], &said);
    program.wait_for(|state| state["virtualMachines"].as_array().is_some_and(|vms| !vms.is_empty())).await;
    let thief = || {
        let now = nodeform::cluster::lease::micro_time(jiff::Timestamp::now());
        serde_json::json!({"spec": {"holderIdentity": "thief", "renewTime": now}})
    };
    assert_eq!(program.patch(LEASE, &thief()).await.0, 200);
    let ended = applying.wait().await.expect("it ends");
    let said = std::fs::read_to_string(said).expect("it was written");
    assert_eq!(ended.code(), Some(1), "{said}");
    assert!(
        said.contains("lost the Lease, stopped writing") && said.contains("hint: run the same command again"),
        "{said}"
    );
    let before = writes(&record);
    program.wait_for(|state| state["virtualMachines"][0]["state"] != "Creating").await;
    assert_eq!(writes(&record), before, "nothing was written by who had lost the Lease");
    let holding = async {
        loop {
            program.patch(LEASE, &thief()).await;
        }
    };
    let applied = ["apply", &plan];
    let ran = tokio::select! {
        ran = program.nodeform(&applied, &[]) => ran,
        () = holding => unreachable!("it is held for as long as that takes"),
    };
    assert_eq!(ran.code, Some(3), "{}", ran.said);
    assert!(ran.said.contains("`thief` holds Lease `kube-system/karpenter-leader-election`"), "{}", ran.said);
    let free = serde_json::json!({"spec": {"holderIdentity": ""}});
    assert_eq!(program.patch(LEASE, &free).await.0, 200);
    let ran = program.nodeform(&["apply", &plan], &[]).await;
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.printed, ran.said);
}
