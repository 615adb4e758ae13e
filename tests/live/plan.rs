//! `plan --live` and `snapshot --live`: what is read, and what is said where it cannot be.

use serde_json::Value;

use crate::program::Program;

/// A cluster with a system node, a pool and a Deployment that waits for nodes.
const WORLD: &str = include_str!("world.yaml");

async fn started(arguments: &[&str]) -> Program {
    started_in(WORLD, arguments).await
}

async fn started_in(world: &str, arguments: &[&str]) -> Program {
    let program = Program::of(world, arguments).await;
    // Its Deployment has made its pods: two looks at the world see the same.
    program.wait_for(|state| state["pods"].as_array().is_some_and(|pods| pods.len() >= 5)).await;
    program
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
async fn the_quotas_of_the_subscription_limit_a_live_plan() {
    let limited =
        WORLD.replacen("  location: westeurope\n", "  location: westeurope\n  quotas: {cores: 0}\n", 1);
    let program = started_in(&limited, &[]).await;
    let ran = program.nodeform(&["plan", "--live"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.printed.starts_with("No node changes possible"), "{}", ran.printed);
    assert!(ran.printed.contains("quota `cores` is 0 vCPUs, 0 used, and a node needs"), "{}", ran.printed);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("usage.json").display().to_string();
    std::fs::write(&file, r#"[{"name": {"value": "cores"}, "currentValue": "0", "limit": "100"}]"#)
        .expect("saved");
    let ran = program.nodeform(&["plan", "--live", "--usage", &file], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        !ran.printed.starts_with("No node changes possible"),
        "a file replaces what Azure says: {}",
        ran.printed
    );
    // What may not be read is unknown: nothing is limited, and it is said.
    let program = started_in(&crate::program::without_usages(&limited), &[]).await;
    let ran = program.nodeform(&["plan", "--live"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.printed.starts_with("No node changes possible"), "{}", ran.printed);
    let said = "Assumed: no quota of the subscription limits new nodes";
    assert_eq!(ran.printed.matches(said).count(), 1, "{}", ran.printed);
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

/// Arguments, variables, and what is said of them.
type Told<'t> = (&'t [&'t str], &'t [(&'t str, &'t str)], &'t [&'t str]);

/// A subscription that is not that of the cluster.
const OTHER: &str = "11111111-0000-4333-8444-555555555555";

#[tokio::test]
async fn what_cannot_be_read_is_told_with_object_cause_and_next_step() {
    let program = started(&[]).await;
    let told: [Told<'_>; 4] = [
        (&["--kubeconfig", "/nowhere"], &[], &["/nowhere", "hint: "]),
        (&["--context", "nope"], &[], &["nope", "hint: look at the kubeconfig"]),
        (&["--subscription", OTHER], &[], &[OTHER, "hint: "]),
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

#[tokio::test]
async fn what_the_cluster_does_not_say_karpenters_variables_say() {
    const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEtleU9mVGhlVmFyaWFibGU azureuser";
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("live.json").display().to_string();
    let silent = WORLD.replacen("westeurope\n", "westeurope\n  cluster: {sshPublicKey: \"\"}\n", 1);
    // What the cluster says itself is not asked of the variables: here they are of another.
    let variables =
        [("SSH_PUBLIC_KEY", KEY), ("NODE_IDENTITIES", "of another"), ("DNS_SERVICE_IP", "1.2.3.4")];
    for (world, variables, expected) in [
        (silent.as_str(), &variables[..], Some(KEY)),
        (silent.as_str(), &[], None),
        (
            WORLD,
            &variables[..],
            Some("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFNpbXVsYXRlZEtleU9mTm9kZXNJblRoaXNXb3JsZDAwMDAw demo"),
        ),
    ] {
        let program = Program::of(world, &[]).await;
        let ran = program.nodeform(&["snapshot", "--live", "--out", &file], variables).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let snapshot = std::fs::read_to_string(&file).expect("it was saved");
        let snapshot: Value = serde_json::from_str(&snapshot).expect("JSON");
        let cluster = &snapshot["azure"]["cluster"];
        assert_eq!(cluster["sshPublicKey"].as_str(), expected);
        assert_eq!(cluster["network"]["dnsServiceIp"], "10.0.0.10", "{cluster:#}");
    }
}

/// The plan of a live cluster as its file, and where that is.
async fn saved_plan(program: &Program, folder: &std::path::Path, arguments: &[&str]) -> (String, Value) {
    let file = folder.join("plan.json").display().to_string();
    let all: Vec<&str> =
        ["plan", "--live", "--out", &file].into_iter().chain(arguments.iter().copied()).collect();
    let ran = program.nodeform(&all, &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = std::fs::read_to_string(&file).expect("it was saved");
    (file, serde_json::from_str(&text).expect("JSON"))
}

#[tokio::test]
async fn a_live_plan_says_all_that_is_done() {
    let record = tempfile::NamedTempFile::new().expect("a file");
    let program = started(&["--record", &record.path().display().to_string()]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let (file, plan) = saved_plan(&program, folder.path(), &[]).await;
    let spec = &plan["spec"];
    let execution = &spec["execution"];
    let group = "MC_rg-demo_demo_westeurope";
    assert_eq!(execution["cluster"]["nodeResourceGroup"], group);
    let seen: jiff::Timestamp = plan["evidence"]["seenAt"].as_str().expect("a time").parse().expect("a time");
    let expires: jiff::Timestamp = spec["expiresAt"].as_str().expect("a time").parse().expect("a time");
    assert_eq!(expires.duration_since(seen), jiff::SignedDuration::from_hours(4));
    let launch = execution["launches"].as_object().expect("an object").values().next().expect("a launch");
    let choices = launch["choices"].as_array().expect("a list");
    assert!((1..=20).contains(&choices.len()), "{launch:#}");
    let primary = spec["claims"].as_object().expect("an object").values().next().expect("a claim");
    for field in ["size", "zone", "capacityType"] {
        assert_eq!(choices[0][field], primary["primary"][field], "the primary comes first");
    }
    assert_eq!(launch["annotations"]["karpenter.sh/nodepool-hash-version"], "nodeform-1");
    let machine = &execution["machines"][choices[0]["machine"].as_str().expect("an id")];
    assert!(
        machine["image"].as_str().expect("an id").contains("/images/2404gen2containerd/versions/"),
        "{machine:#}"
    );
    let subnet = machine["network"]["subnet"].as_str().expect("an id");
    assert!(subnet.contains(group) && subnet.ends_with("/subnets/aks-subnet"), "{subnet}");
    assert_eq!(machine["network"]["securityGroup"], Value::Null, "AKS attaches it to its own subnet");
    let waiting: usize = execution["nominations"]
        .as_object()
        .expect("an object")
        .values()
        .map(|pods| pods.as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!(waiting, 5, "{:#}", execution["nominations"]);
    crate::specifications::judge(record.path());

    let ran = program.nodeform(&["show", &file, "--requests"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let expected = [
        "POST /apis/karpenter.sh/v1/nodeclaims\n",
        "PUT /subscriptions/",
        "If-None-Match: *",
        "\"customData\": \"(sensitive value)\"",
        "computeAksLinuxBilling",
        "\"karpenter.sh/termination\"",
        "\"nodeform.dev_item\": ",
    ];
    for text in expected {
        assert!(ran.printed.contains(text), "`{text}` is not in\n{}", ran.printed);
    }
    let verified = program.nodeform(&["verify", &file], &[]).await;
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[tokio::test]
async fn a_plan_of_a_saved_snapshot_has_the_same_bytes_as_the_live_one() {
    let program = started(&[]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("live.json").display().to_string();
    let ran = program.nodeform(&["snapshot", "--live", "--out", &file], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = program.nodeform(&["plan", "--snapshot", &file, "-o", "json"], &[]).await;
    let plan: Value = serde_json::from_str(&text.printed).expect("JSON");
    assert!(plan["spec"]["execution"].is_object(), "{}", text.printed);
    let (_, mut live) = saved_plan(&program, folder.path(), &[]).await;
    // Both were seen at their own times.
    let mut saved = plan;
    for plan in [&mut live, &mut saved] {
        for pointer in
            ["/spec/expiresAt", "/spec/execution/seenAt", "/evidence/seenAt", "/digest", "/evidenceDigest"]
        {
            *plan.pointer_mut(pointer).expect("it is there") = Value::Null;
        }
    }
    assert_eq!(live, saved);
}

#[tokio::test]
async fn what_a_class_asks_for_and_nobody_can_carry_out_is_withheld_by_name() {
    let world = WORLD.replace("imageFamily: Ubuntu", "imageFamily: AzureLinux\n  fipsMode: FIPS");
    let program = Program::of(&world, &[]).await;
    let ran = program.nodeform(&["plan", "--live", "--valid-for", "30m"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.printed.starts_with("No node changes possible: 5 of 5 pods stay Pending.\n"),
        "{}",
        ran.printed
    );
    let said: Vec<&str> = ran.printed.split_whitespace().collect();
    let why =
        "AKSNodeClass `default`: `spec.fipsMode`: FIPS needs images that are only in galleries within AKS";
    assert!(said.join(" ").contains(why), "{}", ran.printed);
}
