//! What is written to Kubernetes, against the simulated API server.

use std::collections::{BTreeMap, BTreeSet};

use nodeform::cluster::{
    Cluster, ClusterFailureKind, Deletion, Eviction, Preconditions, ThisPod, WriteGate, Writer,
};
use nodeform::ledger::{self, CHUNKS, Changes, Entry, Outcome, PLANS, Progress, Refused};
use nodeform::model::{Digest, Refusal, RefusedBecause, RefusedPlace, Secret, SecretJson, SkuName, Zone};
use serde_json::{Value, json};

use crate::program::Program;

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";

async fn writer(program: &Program) -> Writer {
    program.cluster().await.writing(&WriteGate::always_open())
}

fn claim(name: &str) -> Value {
    json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": name, "finalizers": ["karpenter.sh/termination"]},
        "spec": {"requirements": [], "nodeClassRef": {"group": "karpenter.azure.com", "kind": "AKSNodeClass", "name": "default"}},
    })
}

fn text<'a>(object: &'a Value, at: &str) -> &'a str {
    object.pointer(at).and_then(Value::as_str).expect("a text")
}

#[tokio::test]
async fn an_object_is_created_changed_and_deleted_and_no_other_is_taken_for_it() {
    let program = Program::start(&[]).await;
    let writer = writer(&program).await;
    let path = format!("{CLAIMS}/apps-1");
    assert_eq!(writer.cluster().get_optional(&path).await.expect("it answers"), None);
    let made = writer.create(CLAIMS, &claim("apps-1")).await.expect("it is created");
    let again = writer.create(CLAIMS, &claim("apps-1")).await.expect_err("it is there");
    assert_eq!(again.kind, ClusterFailureKind::Conflict);
    assert!(again.what.contains("\"apps-1\" already exists"), "{again}");

    let labelled = json!({"metadata": {"labels": {"a": "b"}}});
    let changed = writer.merge_patch(&path, &labelled).await.expect("it is changed");
    assert_eq!(text(&changed, "/metadata/labels/a"), "b");
    let stale = writer.replace(&path, &made).await.expect_err("somebody wrote since");
    assert_eq!(stale.kind, ClusterFailureKind::Conflict);
    let other_spec = writer.merge_patch(&path, &json!({"spec": {"expireAfter": "1h"}})).await;
    assert_eq!(other_spec.expect_err("a claim never changes").kind, ClusterFailureKind::Invalid);
    let launched = json!({"status": {"providerID": "azure:///x"}});
    let stored = writer.patch_status(&path, &launched).await.expect("it is changed");
    assert_eq!(text(&stored, "/status/providerID"), "azure:///x");
    assert_eq!(text(&stored, "/metadata/labels/a"), "b");

    let version = text(&made, "/metadata/resourceVersion").to_owned();
    let seen = Preconditions { uid: None, resource_version: Some(version) };
    let changed = writer.delete(&path, &seen, None).await.expect_err("it has changed");
    assert_eq!(changed.kind, ClusterFailureKind::Conflict);
    let other = Preconditions { uid: Some("another".to_owned()), resource_version: None };
    assert_eq!(writer.delete(&path, &other, None).await, Ok(Deletion::Gone), "the one that is meant is gone");
    let uid = Preconditions { uid: Some(text(&made, "/metadata/uid").to_owned()), resource_version: None };
    assert_eq!(writer.delete(&path, &uid, None).await, Ok(Deletion::Accepted));
    let leaving =
        writer.cluster().get_optional(&path).await.expect("it answers").expect("its finalizer keeps it");
    assert!(leaving.pointer("/metadata/deletionTimestamp").is_some());

    let wrong = [json!({"op": "test", "path": "/metadata/finalizers/0", "value": "x"})];
    assert_eq!(
        writer.json_patch(&path, &wrong).await.expect_err("the test fails").kind,
        ClusterFailureKind::Conflict
    );
    let off = [
        json!({"op": "test", "path": "/metadata/finalizers/0", "value": "karpenter.sh/termination"}),
        json!({"op": "remove", "path": "/metadata/finalizers/0"}),
    ];
    writer.json_patch(&path, &off).await.expect("the last finalizer goes");
    assert_eq!(writer.delete(&path, &uid, None).await, Ok(Deletion::Gone));
}

#[tokio::test]
async fn what_is_applied_is_created_or_changed_and_a_kind_that_is_missing_is_told() {
    let program = Program::start(&[]).await;
    let writer = writer(&program).await;
    let path = "/api/v1/namespaces/default/configmaps/a";
    for value in ["1", "2"] {
        let map =
            json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": value}});
        let stored = writer.apply(path, &map).await.expect("it is applied");
        assert_eq!(text(&stored, "/data/x"), value);
    }
    let missing = writer.create("/apis/example.com/v1/things", &json!({})).await.expect_err("no such kind");
    assert_eq!(missing.kind, ClusterFailureKind::NotFound);
    assert!(
        missing.what.starts_with("`POST /apis/example.com/v1/things`: the API server answers 404: "),
        "{missing}"
    );
}

#[tokio::test]
async fn a_secret_is_sent_and_never_told() {
    let program = Program::start(&[]).await;
    let writer = writer(&program).await;
    let list = "/api/v1/namespaces/kube-system/secrets";
    let coded = data_encoding::BASE64.encode(b"canary-0123456789");
    let of = |name: &str| {
        let object = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "data": {}});
        SecretJson::new(object).with_secret("/data/token", Secret::new(coded.clone()))
    };
    writer.create_secret(list, &of("token")).await.expect("it is created");
    let stored = writer.cluster().get_optional(&format!("{list}/token")).await.expect("it answers");
    assert_eq!(text(&stored.expect("it is there"), "/data/token"), coded);
    let refused = writer.create_secret(list, &of("no_name")).await.expect_err("it is no name");
    assert_eq!(refused.kind, ClusterFailureKind::Invalid);
    assert!(!format!("{refused} {refused:?}").contains(&coded), "{refused}");
}

/// A Deployment of two on a node, and a budget that lets none go.
const GUARDED: &str = "---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: web, image: web, resources: {requests: {cpu: 100m}}}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web-budget, namespace: default}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
";

#[tokio::test]
async fn an_eviction_is_blocked_by_its_budget_and_evicts_no_pod_of_the_same_name() {
    let world = format!("{}{GUARDED}", include_str!("world.yaml"));
    let program = Program::of(&world, &["--speed", "120"]).await;
    let is_ready = |pod: &Value| text(pod, "/name").starts_with("default/web-") && pod["ready"] == "True";
    let state = program
        .wait_for(|state| {
            state["pods"].as_array().is_some_and(|pods| pods.iter().filter(|pod| is_ready(pod)).count() == 2)
        })
        .await;
    let name = state["pods"].as_array().expect("pods").iter().find(|pod| is_ready(pod)).expect("one")["name"]
        .clone();
    let name = name.as_str().and_then(|name| name.strip_prefix("default/")).expect("a name");
    let writer = writer(&program).await;
    let path = format!("/api/v1/namespaces/default/pods/{name}");
    let pod = writer.cluster().get_optional(&path).await.expect("it answers").expect("it is there");
    let uid = text(&pod, "/metadata/uid").to_owned();
    let this = ThisPod { namespace: "default", name, uid: &uid };

    let started = std::time::Instant::now();
    let Ok(Eviction::Blocked { budget, why }) = writer.evict(this, Some(0)).await else {
        panic!("it is blocked")
    };
    assert_eq!(budget.as_deref(), Some("web-budget"));
    assert!(why.starts_with("The disruption budget web-budget "), "{why}");
    assert!(started.elapsed().as_secs() < 5, "a refusal is told at once, not tried again");
    let other = ThisPod { uid: "another", ..this };
    assert_eq!(writer.evict(other, None).await, Ok(Eviction::Gone));
    let missing = ThisPod { name: "nobody", ..this };
    assert_eq!(writer.evict(missing, None).await, Ok(Eviction::Gone));

    let budget = "/apis/policy/v1/namespaces/default/poddisruptionbudgets/web-budget";
    writer.merge_patch(budget, &json!({"spec": {"minAvailable": 1}})).await.expect("it is changed");
    let patience = std::time::Duration::from_secs(30);
    let accepted = tokio::time::timeout(patience, async {
        while writer.evict(this, Some(0)).await != Ok(Eviction::Accepted) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    });
    accepted.await.expect("the budget lets one go");
}

async fn listed(cluster: &Cluster, path: &str, query: &str) -> Vec<Value> {
    let pages = cluster.list(path, query).await.expect("it answers").pages;
    let pages = pages.iter().map(|page| serde_json::from_slice::<Value>(page).expect("JSON"));
    pages.flat_map(|page| page["items"].as_array().expect("items").clone()).collect()
}

#[tokio::test]
#[expect(clippy::too_many_lines, reason = "one story of one plan")]
async fn a_plan_is_recorded_in_chunks_and_what_it_leaves_is_in_the_next_snapshot() {
    let program = Program::of(include_str!("world.yaml"), &[]).await;
    let writer = writer(&program).await;
    let content = json!({"changes": "é".repeat(400_000)});
    let entry = Entry {
        digest: Digest::of_json(&content).expect("JSON"),
        parent: None,
        cluster: Some("uid".to_owned()),
        class: Some("create".to_owned()),
        monthly_delta: Some("3.00".to_owned()),
        expires_at: None,
        folder: None,
        needs_approval: false,
        is_automatic: false,
        changes: Changes {
            add: 1,
            by_class: BTreeMap::from([("create".to_owned(), 1)]),
            ..Changes::default()
        },
        text: content.to_string(),
    };
    let objects = ledger::objects(&entry).expect("it fits");
    assert_eq!(objects.len(), 5);
    let name = ledger::name(&entry.digest);
    let (plan, chunks) = objects.split_last().expect("the plan is last");
    for chunk in chunks {
        writer.create(chunk.at, &chunk.object).await.expect("it is created");
    }
    let cluster = writer.cluster();
    assert_eq!(
        ledger::read(&listed(cluster, PLANS, "").await).plans,
        [],
        "it is not there before it is whole"
    );
    writer.create(plan.at, &plan.object).await.expect("it is created");

    let recorded = ledger::read(&listed(cluster, PLANS, "").await).plans.remove(0);
    assert_eq!((recorded.name.as_str(), recorded.chunks), (name.as_str(), 4));
    let parts = listed(cluster, CHUNKS, &ledger::chunks_of(&name)).await;
    assert_eq!(ledger::text(&recorded, &parts), Ok(entry.text));
    let changed = writer.merge_patch(&format!("{PLANS}/{name}"), &json!({"spec": {"chunks": 5}})).await;
    assert_eq!(changed.expect_err("a plan never changes").kind, ClusterFailureKind::Invalid);

    let refusal = Refusal {
        size: Some(SkuName::new("Standard_D4s_v5")),
        place: RefusedPlace::Zone(Zone::new("westeurope-1")),
        capacity_type: None,
        because: RefusedBecause::ZonalAllocationFailure,
        said: None,
        until: "2999-01-01T00:00:00Z".parse().expect("a time"),
    };
    let failed = Outcome::Failed { code: "ZonalAllocationFailed".to_owned(), why: "no room".to_owned() };
    let progress = Progress {
        started_at: "2026-01-01T00:00:00Z".parse().expect("a time"),
        outcomes: BTreeMap::from([("aaaaaaaaaa".to_owned(), failed)]),
        changes: std::collections::BTreeMap::new(),
        ahead: BTreeSet::new(),
        given_up: None,
        approvers: Vec::new(),
        refusals: vec![Refused { refusal, code: Some("ZonalAllocationFailed".to_owned()) }],
        never_joined: Vec::new(),
        lost: Vec::new(),
    };
    let patch = ledger::patch(&progress, None, progress.started_at);
    writer.patch_status(&format!("{PLANS}/{name}"), &patch).await.expect("it is changed");

    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("live.json").display().to_string();
    let ran = program.nodeform(&["snapshot", "--live", "--out", &file], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let saved: Value =
        serde_json::from_str(&std::fs::read_to_string(&file).expect("it was saved")).expect("JSON");
    assert_eq!(
        saved["azure"]["ledger"],
        json!({
            "parent": entry.digest.to_string(),
            // It is over: nobody goes on with what it has begun.
            "plans": [],
            "refusals": [{
                "because": "ZonalAllocationFailure", "place": {"zone": "westeurope-1"}, "size": "Standard_D4s_v5",
                "until": "2999-01-01T00:00:00Z",
            }],
        })
    );
    let ran = program.nodeform(&["plan", "--snapshot", &file, "-o", "json"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let planned: Value = serde_json::from_str(&ran.printed).expect("JSON");
    assert_eq!(planned["spec"]["parent"], entry.digest.to_string());
}
