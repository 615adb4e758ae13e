//! `plan --live` and `snapshot --live`: what is read, and what is said where it cannot be.

use crate::program::Program;

/// A cluster with a system node, a pool and a Deployment that waits for nodes.
const WORLD: &str = include_str!("world.yaml");

async fn started(arguments: &[&str]) -> Program {
    Program::of(WORLD, arguments).await
}

#[tokio::test]
async fn a_live_cluster_is_planned_and_nothing_is_written() {
    let record = tempfile::NamedTempFile::new().expect("a file");
    let program = started(&["--record", &record.path().display().to_string()]).await;
    let ran = program.nodeform(&["plan", "--live"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.printed.starts_with("Plan: 1 to add, 0 to change, 0 to destroy.\n"), "{}", ran.printed);
    assert!(ran.printed.contains("for 5 Pending pods of Deployment default/inflate"), "{}", ran.printed);
    assert!(ran.printed.contains("region `westeurope`"), "{}", ran.printed);
    assert!(!ran.printed.contains("Assumed: Azure CNI"), "the network is known: {}", ran.printed);
    let recorded = std::fs::read_to_string(record.path()).expect("it was written");
    let writes: Vec<&str> = recorded
        .lines()
        .filter(|line| !line.contains("\"method\":\"GET\"") && !line.contains("oauth2"))
        .collect();
    assert_eq!(writes, Vec::<&str>::new());
    crate::specifications::judge(record.path());
}

#[tokio::test]
async fn a_saved_snapshot_is_planned_anywhere_as_it_was_live() {
    let program = started(&[]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("live.json").display().to_string();
    let ran = program.nodeform(&["snapshot", "--live", "--out", &file], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let unset = [("KUBECONFIG", ""), ("AZURE_ENVIRONMENT_FILEPATH", ""), ("AZURE_CLIENT_SECRET", "")];
    let plan = ["plan", "--snapshot", &file, "-o", "json"];
    let (here, elsewhere) = (program.nodeform(&plan, &[]).await, program.nodeform(&plan, &unset).await);
    assert_eq!((here.code, &here.said), (Some(0), &String::new()));
    assert_eq!(here.printed, elsewhere.printed);
    let text = std::fs::read_to_string(&file).expect("it was saved");
    assert!(text.contains("\"nodeResourceGroup\": \"MC_rg-demo_demo_westeurope\""), "{text}");
    for secret in program.secrets() {
        assert!(!text.contains(&secret), "a secret was saved");
    }
}

#[tokio::test]
async fn the_cluster_of_the_nodes_is_found_without_a_name() {
    let program = started(&[]).await;
    let unset = [("ARM_RESOURCE_GROUP", ""), ("CLUSTER_NAME", ""), ("AZURE_SUBSCRIPTION_ID", "")];
    let ran = program.nodeform(&["plan", "--live"], &unset).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.printed.starts_with("Plan: 1 to add"), "{}", ran.printed);
}

#[tokio::test]
async fn what_cannot_be_read_is_told_with_object_cause_and_next_step() {
    let program = started(&[]).await;
    let told: [(&[&str], &[(&str, &str)], &[&str]); 6] = [
        (
            &[],
            &[("AZURE_CLIENT_SECRET", "wrong")],
            &["managedClusters/demo", "AADSTS7000215", "hint: the client secret is wrong"],
        ),
        (&[], &[("CLUSTER_NAME", "other")], &["managedClusters/other", "404", "hint: "]),
        (&["--kubeconfig", "/nowhere"], &[], &["/nowhere", "hint: "]),
        (&["--context", "nope"], &[], &["nope", "hint: look at the kubeconfig"]),
        (
            &["--subscription", "11111111-0000-4333-8444-555555555555"],
            &[],
            &["11111111-0000-4333-8444-555555555555", "hint: "],
        ),
        (&["--snapshot", "x.json"], &[], &["a snapshot takes the place of a live cluster", "hint: "]),
    ];
    for (arguments, variables, expected) in told {
        let all: Vec<&str> = ["plan", "--live"].into_iter().chain(arguments.iter().copied()).collect();
        let ran = program.nodeform(&all, variables).await;
        assert_eq!(
            (ran.code, ran.printed.as_str()),
            (Some(1), ""),
            "{arguments:?} {variables:?}: {}",
            ran.said
        );
        for text in expected {
            assert!(ran.said.contains(text), "{arguments:?} {variables:?}: `{text}` is not in\n{}", ran.said);
        }
        for secret in program.secrets() {
            assert!(!ran.said.contains(&secret), "a secret was printed");
        }
    }
}

#[tokio::test]
async fn a_cluster_that_is_not_that_of_the_kubeconfig_is_refused() {
    let elsewhere = WORLD.replace("mc_rg-demo_demo_westeurope", "mc_other_cluster_westeurope");
    let program = Program::of(&elsewhere, &[]).await;
    let ran = program.nodeform(&["plan", "--live"], &[]).await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let said = "error: cluster `demo` has its nodes in resource group `MC_rg-demo_demo_westeurope`, and those that Kubernetes \
                lists are in `mc_other_cluster_westeurope`\nhint: ";
    assert!(ran.said.starts_with(said), "{}", ran.said);
}
