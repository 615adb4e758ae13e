//! `plan --live`, `apply`, `plan --live`: nodes come and go as planned, and nothing is left over.

use serde_json::{Value, json};

use crate::program::{Program, Ran};

const WORLD: &str = include_str!("world.yaml");
const INFLATE: &str = "/apis/apps/v1/namespaces/default/deployments/inflate";

/// A world that goes on sixty times as fast.
async fn started(record: &str) -> Program {
    Program::of(WORLD, &["--speed", "60", "--record", record]).await
}

async fn no_changes(program: &Program) {
    let ran = program.nodeform(&["plan", "--live"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.printed.starts_with("No changes."), "{}", ran.printed);
}

fn done(ran: &Ran) {
    assert_eq!(ran.code, Some(0), "{}\n{}", ran.printed, ran.said);
}

/// The names of what is there, by kind: claims, VMs, NICs, nodes of nodeform.
async fn there(program: &Program) -> Value {
    let (_, claims) = program.kube("GET", "/apis/karpenter.sh/v1/nodeclaims", &Value::Null).await;
    let (_, nodes) = program.kube("GET", "/api/v1/nodes", &Value::Null).await;
    let state = program.own("GET", "/sim/state", &Value::Null).await.1;
    let names = |items: &Value| -> Vec<String> {
        let items = items.as_array().expect("a list").iter();
        let names =
            items.map(|item| item["metadata"]["name"].as_str().or(item["name"].as_str()).expect("a name"));
        names
            .filter(|name| !name.contains("vmss"))
            .map(|name| name.trim_start_matches("aks-").to_owned())
            .collect()
    };
    json!({
        "claims": names(&claims["items"]), "nodes": names(&nodes["items"]),
        "vms": names(&state["virtualMachines"]), "nics": names(&state["networkInterfaces"]),
    })
}

/// A world whose node has come and runs its five pods, and what is recorded of it.
async fn with_a_node() -> (tempfile::NamedTempFile, Program) {
    let record = tempfile::NamedTempFile::new().expect("a file");
    let program = started(&record.path().display().to_string()).await;
    done(&program.nodeform(&["apply", "--auto-approve"], &[]).await);
    program.wait_for(|state| running(state) == 5).await;
    (record, program)
}

#[tokio::test]
async fn a_planned_node_comes_takes_its_pods_and_goes_without_a_trace() {
    let record = tempfile::NamedTempFile::new().expect("a file");
    let program = started(&record.path().display().to_string()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan.json").display().to_string();
    done(&program.nodeform(&["plan", "--live", "--out", &plan], &[]).await);
    let ran = program.nodeform(&["apply", &plan], &[]).await;
    done(&ran);
    assert!(
        ran.printed.ends_with("\nApply complete! Nodes: 1 added, 0 changed, 0 destroyed, 0 not done.\n"),
        "{}",
        ran.printed
    );
    let found = there(&program).await;
    assert_eq!(found["claims"].as_array().map(Vec::len), Some(1), "{found}");
    assert!(["nodes", "vms", "nics"].iter().all(|kind| found[*kind] == found["claims"]), "{found}");
    program.wait_for(|state| running(state) == 5).await;
    no_changes(&program).await;
    let spent = program.nodeform(&["apply", &plan], &[]).await;
    assert_eq!(spent.code, Some(3), "{spent:?}");
    assert!(spent.said.contains("was already applied"), "{}", spent.said);

    assert_eq!(program.patch(INFLATE, &json!({"spec": {"replicas": 0}})).await.0, 200);
    program.wait_for(|state| running(state) == 0).await;
    let ran = program.nodeform(&["apply", "--auto-approve"], &[]).await;
    done(&ran);
    assert!(ran.printed.contains("Plan: 0 to add, 0 to change, 1 to destroy."), "{}", ran.printed);
    assert!(
        ran.printed.ends_with("\nApply complete! Nodes: 0 added, 0 changed, 1 destroyed, 0 not done.\n"),
        "{}",
        ran.printed
    );
    assert_eq!(there(&program).await, json!({"claims": [], "nodes": [], "vms": [], "nics": []}));
    no_changes(&program).await;
    let (_, secrets) = program.kube("GET", "/api/v1/namespaces/kube-system/secrets", &Value::Null).await;
    assert!(!secrets.to_string().contains("bootstrap-token-"), "{secrets}");
    crate::specifications::judge(record.path());
}

fn running(state: &Value) -> usize {
    let pods = state["pods"].as_array().expect("a list").iter();
    pods.filter(|pod| {
        pod["phase"] == "Running" && pod["name"].as_str().is_some_and(|name| name.contains("inflate"))
    })
    .count()
}

#[tokio::test]
async fn a_node_that_somebody_deletes_where_no_controller_runs_goes_when_it_is_named() {
    let record = tempfile::NamedTempFile::new().expect("a file");
    let program = started(&record.path().display().to_string()).await;
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan.json").display().to_string();
    done(&program.nodeform(&["apply", "--auto-approve"], &[]).await);
    let node = there(&program).await["nodes"][0].as_str().map(|node| format!("aks-{node}")).expect("a node");
    assert_eq!(program.kube("DELETE", &format!("/api/v1/nodes/{node}"), &Value::Null).await.0, 200);
    let ran = program.nodeform(&["plan", "--live"], &[]).await;
    let way_out = format!("nodeform plan --live --destroy --target node/{node}");
    let line = ran.printed.lines().map(str::trim).collect::<Vec<_>>().join(" ");
    assert!(line.contains(&format!("1 node is leaving already: `{node}`")), "{}", ran.printed);
    assert!(line.contains(&way_out), "{}", ran.printed);
    let target = format!("node/{node}");
    let ran =
        program.nodeform(&["plan", "--live", "--destroy", "--target", &target, "--out", &plan], &[]).await;
    done(&ran);
    assert!(ran.printed.starts_with("Plan: 0 to add, 0 to change, 1 to destroy."), "{}", ran.printed);
    let ran = program.nodeform(&["apply", &plan], &[]).await;
    done(&ran);
    assert!(
        ran.printed.ends_with("Nodes: 0 added, 0 changed, 1 destroyed, 0 not done.\n"),
        "{}",
        ran.printed
    );
    assert_eq!(there(&program).await, json!({"claims": [], "nodes": [], "vms": [], "nics": []}));

    // The other way: apply makes the plan itself.
    done(&program.nodeform(&["apply", "--auto-approve"], &[]).await);
    let claim = there(&program).await["claims"][0].as_str().map(str::to_owned).expect("a claim");
    let path = format!("/apis/karpenter.sh/v1/nodeclaims/{claim}");
    assert_eq!(program.kube("DELETE", &path, &Value::Null).await.0, 200);
    let target = format!("node/aks-{claim}");
    done(&program.nodeform(&["apply", "--destroy", "--target", &target, "--auto-approve"], &[]).await);
    assert_eq!(there(&program).await, json!({"claims": [], "nodes": [], "vms": [], "nics": []}));
}

#[tokio::test]
async fn a_removal_whose_plan_is_gone_counts_for_nothing_and_apply_takes_its_traces_away() {
    let (record, program) = with_a_node().await;
    let (_, claims) = program.kube("GET", "/apis/karpenter.sh/v1/nodeclaims", &Value::Null).await;
    let claim = &claims["items"][0];
    program.begin_removal(claim).await;
    let ran = program.nodeform(&["plan", "--live"], &[]).await;
    done(&ran);
    assert!(ran.printed.starts_with("No changes."), "{}", ran.printed);
    let said = "is treated as any other node: plan `gonegonego` began to remove it, and its NodePlan is gone or has ended";
    let page = ran.printed.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(said), "{}", ran.printed);
    let ran = program.nodeform(&["apply", "--auto-approve"], &[]).await;
    done(&ran);
    assert!(ran.printed.starts_with("No changes."), "{}", ran.printed);
    assert_eq!(program.begun_removal(claim).await, [Value::Null, Value::Null, json!([])]);

    // The next plan decides afresh: the removal of this plan has its own time and its own checks.
    program.begin_removal(claim).await;
    assert_eq!(program.patch(INFLATE, &json!({"spec": {"replicas": 0}})).await.0, 200);
    program.wait_for(|state| running(state) == 0).await;
    let ran = program.nodeform(&["apply", "--auto-approve"], &[]).await;
    done(&ran);
    assert!(
        ran.printed
            .contains(&format!("- node `aks-{}`", claim["metadata"]["name"].as_str().expect("a name"))),
        "{}",
        ran.printed
    );
    assert_eq!(there(&program).await, json!({"claims": [], "nodes": [], "vms": [], "nics": []}));
    no_changes(&program).await;
    crate::specifications::judge(record.path());
}

#[tokio::test]
async fn a_removal_that_azure_refuses_ends_with_its_reason_and_is_gone_on_with() {
    let (record, program) = with_a_node().await;
    let faults = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "SimulatedFaults",
        "spec": {"faults": [{"kind": "Refused", "times": 8, "status": 409, "code": "ScopeLocked",
            "message": "The scope cannot perform delete operation because following scope(s) are locked",
            "when": {"method": "DELETE", "resource": "virtualMachines"}}]}});
    assert_eq!(program.own("POST", "/sim/faults", &faults).await.1, json!({"added": 1}));
    assert_eq!(program.patch(INFLATE, &json!({"spec": {"replicas": 0}})).await.0, 200);
    program.wait_for(|state| running(state) == 0).await;
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan.json").to_string_lossy().into_owned();
    done(&program.nodeform(&["plan", "--live", "--out", &plan], &[]).await);
    let ran = program.nodeform(&["apply", &plan, "--drain-timeout", "90s"], &[]).await;
    assert_eq!(ran.code, Some(5), "{}\n{}", ran.printed, ran.said);
    let page = ran.printed.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["deleting VM failed, trying again", "ScopeLocked", "Nothing has gone on for 1m 30s."] {
        assert!(page.contains(said), "{said}: {}", ran.printed);
    }
    assert_eq!(page.matches("deleting VM failed, trying again").count(), 1, "{page}");

    let ran = program.nodeform(&["apply", &plan], &[]).await;
    done(&ran);
    assert_eq!(there(&program).await, json!({"claims": [], "nodes": [], "vms": [], "nics": []}));
    no_changes(&program).await;
    crate::specifications::judge(record.path());
}

/// Deletes the only VM, as somebody does who does not know nodeform, and waits until its node is on its way out.
async fn without_its_vm(program: &Program) {
    let (_, claims) = program.kube("GET", "/apis/karpenter.sh/v1/nodeclaims", &Value::Null).await;
    let vm = claims["items"][0]["status"]["providerID"].as_str().expect("an id");
    let vm = vm.trim_start_matches("azure://");
    let (status, answer) = program.arm("DELETE", &format!("{vm}?api-version=2024-07-01"), None).await;
    assert_eq!(status, 202, "{answer}");
    let leaves = |node: &Value| node["metadata"]["deletionTimestamp"] != Value::Null;
    program
        .wait(async || {
            let (_, nodes) = program.kube("GET", "/api/v1/nodes", &Value::Null).await;
            nodes["items"].as_array().is_some_and(|nodes| nodes.iter().any(leaves))
        })
        .await;
}

#[tokio::test]
async fn what_is_left_of_a_node_whose_vm_is_gone_goes_with_the_next_apply() {
    let (_record, program) = with_a_node().await;
    let before = there(&program).await["claims"][0].clone();
    without_its_vm(&program).await;
    let ran = program.nodeform(&["apply", "--auto-approve"], &[]).await;
    done(&ran);
    assert!(ran.printed.contains("Plan: 1 to add, 0 to change, 1 to destroy."), "{}", ran.printed);
    assert!(ran.printed.contains("its VM is gone"), "{}", ran.printed);
    assert!(
        ran.printed.ends_with("Nodes: 1 added, 0 changed, 1 destroyed, 0 not done.\n"),
        "{}",
        ran.printed
    );
    program.wait_for(|state| running(state) == 5).await;
    let found = there(&program).await;
    assert_eq!(found["claims"].as_array().map(Vec::len), Some(1), "{found}");
    assert_ne!(found["claims"][0], before);
    assert!(["nodes", "vms", "nics"].iter().all(|kind| found[*kind] == found["claims"]), "{found}");
    no_changes(&program).await;

    // By its name alone.
    assert_eq!(program.patch(INFLATE, &json!({"spec": {"replicas": 0}})).await.0, 200);
    program.wait_for(|state| running(state) == 0).await;
    let node = format!("node/aks-{}", found["claims"][0].as_str().expect("a name"));
    without_its_vm(&program).await;
    done(&program.nodeform(&["apply", "--destroy", "--target", &node, "--auto-approve"], &[]).await);
    assert_eq!(there(&program).await, json!({"claims": [], "nodes": [], "vms": [], "nics": []}));
    no_changes(&program).await;
}

async fn deleted(program: &Program, path: &str) {
    let (status, answer) = program.kube("DELETE", path, &Value::Null).await;
    assert_eq!(status, 200, "{answer}");
}

#[tokio::test]
async fn nodes_of_a_pool_that_is_gone_are_destroyed_on_request() {
    let (_record, program) = with_a_node().await;
    deleted(&program, "/apis/karpenter.sh/v1/nodepools/general-purpose").await;
    no_changes_of_nodes(&program).await;
    let target = "nodepool/general-purpose";
    let ran = program.nodeform(&["apply", "--destroy", "--target", target, "--auto-approve"], &[]).await;
    done(&ran);
    assert!(
        ran.printed.ends_with("Nodes: 0 added, 0 changed, 1 destroyed, 0 not done.\n"),
        "{}",
        ran.printed
    );
    assert_eq!(there(&program).await, json!({"claims": [], "nodes": [], "vms": [], "nics": []}));
}

/// Nobody asked, and nothing goes.
async fn no_changes_of_nodes(program: &Program) {
    let ran = program.nodeform(&["plan", "--live", "--detailed-exitcode"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
}

#[tokio::test]
async fn a_target_that_names_nothing_is_refused_with_the_name_that_may_be_meant() {
    let program = Program::of(WORLD, &["--speed", "60"]).await;
    for arguments in [
        &["apply", "--auto-approve", "--target", "nodepool/general-purpos"][..],
        &["apply", "--auto-approve", "--destroy", "--target", "nodepool/general-purpos"],
        &["plan", "--live", "--target", "nodepool/general-purpos"],
    ] {
        let ran = program.nodeform(arguments, &[]).await;
        assert_eq!((ran.code, &*ran.printed), (Some(1), ""), "{ran:?}");
        assert!(
            ran.said.contains("`--target nodepool/general-purpos` is neither in the input nor in the plan"),
            "{}",
            ran.said
        );
        assert!(ran.said.contains("hint: did you mean `nodepool/general-purpose`?"), "{}", ran.said);
    }
    let node = ["apply", "--auto-approve", "--destroy", "--target", "node/aks-system-12345678-vmss000001"];
    let ran = program.nodeform(&node, &[]).await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.said.contains("did you mean `node/aks-system-12345678-vmss000000`?"), "{}", ran.said);
}

#[tokio::test]
async fn to_destroy_what_a_budget_keeps_is_done_in_part() {
    let (_record, program) = with_a_node().await;
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "default"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "inflate"}}},
    });
    assert_eq!(program.kube("POST", budgets, &budget).await.0, 201);
    let destroy = ["apply", "--destroy", "--auto-approve"];
    let ran = program.nodeform(&destroy, &[]).await;
    assert_eq!(ran.code, Some(5), "{ran:?}");
    assert!(ran.printed.contains("PodDisruptionBudget `default/web`"), "{}", ran.printed);
    deleted(&program, &format!("{budgets}/web")).await;
    done(&program.nodeform(&destroy, &[]).await);
    assert_eq!(there(&program).await, json!({"claims": [], "nodes": [], "vms": [], "nics": []}));
}

#[tokio::test]
async fn how_long_a_plan_is_good_may_be_days_and_no_years() {
    let program = Program::of(WORLD, &["--speed", "60"]).await;
    let good_for =
        async |valid_for: &str| program.nodeform(&["plan", "--live", "--valid-for", valid_for], &[]).await;
    for good in ["7d", "7 days", "30d", "90m"] {
        done(&good_for(good).await);
    }
    for long in ["80000000h", "400d", "31d", "720h 1s"] {
        let ran = good_for(long).await;
        assert_eq!(ran.code, Some(1), "{ran:?}");
        let said = format!("error: `--valid-for {long}` is longer than 30 days\nhint: write it as `30m`");
        assert!(ran.said.contains(&said), "{}", ran.said);
    }
    for wrong in ["soon", "0s", "-1h", "2 years"] {
        let ran = program.nodeform(&["plan", "--live", &format!("--valid-for={wrong}")], &[]).await;
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.said.contains("is no duration\nhint: write it as `30m`"), "{}", ran.said);
    }
}

#[tokio::test]
async fn what_azure_refused_is_not_planned_again_until_that_is_over() {
    let world = crate::program::without_usages(WORLD)
        .replacen("  location: westeurope\n", "  location: westeurope\n  quotas: {lowPriorityCores: 0}\n", 1)
        .replace("values: [on-demand]", "values: [spot, on-demand]");
    let program = Program::of(&world, &["--speed", "60"]).await;
    let ran = program.nodeform(&["apply", "--auto-approve"], &[]).await;
    let unread = "quotas of the subscription could not be read (`Microsoft.Compute/locations/usages/read`)";
    assert_eq!(ran.said.matches(unread).count(), 1, "{}", ran.said);
    assert_eq!(ran.code, Some(5), "the cheapest twenty choices are spot: {ran:?}");
    let ran = program.nodeform(&["plan", "--live"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = format!("{}{}", ran.printed, ran.said);
    assert!(text.contains("every spot offering: not used until"), "{text}");
    assert!(text.contains("Azure refused it\n      (SubscriptionQuotaReached: limit 0, 0 in use)"), "{text}");
    done(&program.nodeform(&["apply", "--auto-approve"], &[]).await);
    program.wait_for(|state| running(state) == 5).await;
}

#[tokio::test]
async fn a_snapshot_of_hidden_names_gives_the_plan_of_the_cluster_itself() {
    let (_record, program) = with_a_node().await;
    assert_eq!(program.patch(INFLATE, &json!({"spec": {"replicas": 0}})).await.0, 200);
    program.wait_for(|state| running(state) == 0).await;
    let folder = tempfile::tempdir().expect("a folder");
    let mut heads = Vec::new();
    for names in ["show", "hash", "omit"] {
        let file = folder.path().join(names).display().to_string();
        done(&program.nodeform(&["snapshot", "--live", "--names", names, "--out", &file], &[]).await);
        let text = std::fs::read_to_string(&file).expect("it was saved");
        let told: Vec<&str> = ["11111111-2222-4333-8444-555555555555", "MC_rg-demo", "mc_rg-demo"]
            .into_iter()
            .filter_map(|name| text.get(text.find(name)?.saturating_sub(80)..)?.get(..160))
            .collect();
        assert_eq!(told.is_empty(), names != "show", "{names}: {told:?}");
        let ran = program.nodeform(&["plan", "--snapshot", &file], &[]).await;
        done(&ran);
        assert!(!ran.said.contains("was not among those that Azure listed"), "{}", ran.said);
        heads.push(ran.printed.lines().take(2).collect::<Vec<_>>().join("\n"));
    }
    assert!(heads[0].starts_with("Plan: 0 to add, 0 to change, 1 to destroy."), "{heads:?}");
    assert!(heads.iter().all(|head| *head == heads[0]), "{heads:?}");
}

#[tokio::test]
async fn tags_of_a_class_come_to_vms_that_run_and_those_of_others_stay() {
    let (record, program) = with_a_node().await;
    let before = there(&program).await;
    let (_, claims) = program.kube("GET", "/apis/karpenter.sh/v1/nodeclaims", &Value::Null).await;
    let vm = claims["items"][0]["status"]["providerID"].as_str().expect("an id");
    let vm = vm.trim_start_matches("azure://").to_owned();
    let nic = vm.replace("Microsoft.Compute/virtualMachines", "Microsoft.Network/networkInterfaces");
    let tags_of =
        |id: &str| format!("{id}/providers/Microsoft.Resources/tags/default?api-version=2024-07-01");
    let foreign = json!({"operation": "Merge", "properties": {"tags": {"costs": "42", "Team": "old"}}});
    assert_eq!(program.arm("PATCH", &tags_of(&vm), Some(&foreign)).await.0, 200);
    no_changes(&program).await;
    let class = "/apis/karpenter.azure.com/v1beta1/aksnodeclasses/default";
    let tags = json!({"spec": {"tags": {"team": "web", "example.com/stage": "live"}}});
    assert_eq!(program.patch(class, &tags).await.0, 200);

    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan.json").display().to_string();
    let ran = program.nodeform(&["plan", "--live", "--out", &plan], &[]).await;
    done(&ran);
    assert!(ran.printed.starts_with("Plan: 0 to add, 1 to change, 0 to destroy."), "{}", ran.printed);
    let shown = program.nodeform(&["show", &plan, "--requests"], &[]).await;
    done(&shown);
    assert_eq!(shown.printed.matches("PATCH /subscriptions/").count(), 4, "{}", shown.printed);
    assert!(shown.printed.contains("\"example.com_stage\": \"live\""), "{}", shown.printed);
    let whole = program.nodeform(&["show", &plan, "--all"], &[]).await;
    assert!(whole.printed.contains("~ tag `Team`: `old` → `web`"), "{}", whole.printed);
    let ran = program.nodeform(&["apply", &plan], &[]).await;
    done(&ran);
    assert!(
        ran.printed.ends_with("Nodes: 0 added, 1 changed, 0 destroyed, 0 not done.\n"),
        "{}",
        ran.printed
    );
    assert_eq!(there(&program).await, before);
    for id in [&vm, &nic] {
        let (_, found) = program.arm("GET", &tags_of(id), None).await;
        let tags = &found["properties"]["tags"];
        let team = tags.get("Team").or(tags.get("team"));
        assert_eq!((team, &tags["example.com_stage"]), (Some(&json!("web")), &json!("live")), "{found}");
    }
    let (_, found) = program.arm("GET", &tags_of(&vm), None).await;
    assert_eq!(found["properties"]["tags"]["costs"], "42", "{found}");
    no_changes(&program).await;
    crate::specifications::judge(record.path());
}
