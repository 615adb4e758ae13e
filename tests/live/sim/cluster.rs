//! How the API server answers, and what plays in the cluster.

use nodeform::sim::{Answer, Request};
use serde_json::{Value, json};

use crate::sim::client::{Client, settings};

fn node(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
    })
}

fn workload(api_version: &str, kind: &str, spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": api_version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]},
            },
        },
    });
    for (field, value) in spec.as_object().expect("an object") {
        object["spec"][field] = value.clone();
    }
    object
}

fn budget(spec: Value) -> Value {
    let mut object = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop"}, "spec": spec,
    });
    object["spec"]["selector"] = json!({"matchLabels": {"app": "web"}});
    object
}

fn world(manifests: &[Value]) -> Client {
    let mut client = Client::with(settings(), manifests.to_vec(), Vec::new());
    client.pass(30);
    client
}

fn pods(client: &mut Client) -> Vec<Value> {
    client.kube("GET", "/api/v1/namespaces/shop/pods", None).value()["items"]
        .as_array()
        .expect("a list")
        .clone()
}

fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().expect("a name").to_owned()
}

fn evict(client: &mut Client, pod: &str) -> Answer {
    let body = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod, "namespace": "shop"}});
    client.kube("POST", &format!("/api/v1/namespaces/shop/pods/{pod}/eviction"), Some(&body))
}

const MAPS: &str = "/api/v1/namespaces/default/configmaps";

fn map(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "labels": {"n": name}}, "data": {"x": "1"}})
}

#[test]
fn a_write_on_an_older_version_is_a_conflict() {
    let mut client = world(&[]);
    let made = client.kube("POST", MAPS, Some(&map("a")));
    assert_eq!(made.status, 201);
    assert_eq!(client.kube("POST", MAPS, Some(&map("a"))).value()["reason"], "AlreadyExists");
    let mut first = made.value();
    first["data"]["x"] = json!("2");
    assert_eq!(client.kube("PUT", &format!("{MAPS}/a"), Some(&first)).status, 200);
    let again = client.kube("PUT", &format!("{MAPS}/a"), Some(&first));
    assert_eq!((again.status, &again.value()["reason"]), (409, &json!("Conflict")));
    let same = client.kube("GET", &format!("{MAPS}/a"), None).value();
    let unchanged = client.kube("PATCH", &format!("{MAPS}/a"), Some(&json!({"data": {"x": "2"}}))).value();
    assert_eq!(
        same["metadata"]["resourceVersion"], unchanged["metadata"]["resourceVersion"],
        "nothing has changed"
    );
}

#[test]
fn deletions_wait_for_finalizers_and_heed_preconditions() {
    let mut client = world(&[]);
    let claim = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": "a", "finalizers": ["karpenter.sh/termination"]}, "spec": {"expireAfter": "720h"}, "status": {"nodeName": "n"},
    });
    let claims = "/apis/karpenter.sh/v1/nodeclaims";
    let made = client.kube("POST", claims, Some(&claim)).value();
    assert_eq!(made.get("status"), None, "a status has a door of its own");
    let other = json!({"preconditions": {"uid": "another"}});
    assert_eq!(client.kube("DELETE", &format!("{claims}/a"), Some(&other)).status, 409);
    let marked = client.kube("DELETE", &format!("{claims}/a"), None);
    assert!(marked.value()["metadata"]["deletionTimestamp"].is_string());
    let adds = client.kube(
        "PATCH",
        &format!("{claims}/a"),
        Some(&json!({"metadata": {"finalizers": ["karpenter.sh/termination", "b"]}})),
    );
    assert_eq!(adds.status, 422);
    let token = client.world.credentials().cluster_token.reveal().to_owned();
    let patch = json!([
        {"op": "test", "path": "/metadata/finalizers/0", "value": "karpenter.sh/termination"},
        {"op": "remove", "path": "/metadata/finalizers/0"},
    ]);
    let request = Request::new("PATCH", &format!("{claims}/a"))
        .json(&patch)
        .header("authorization", &format!("Bearer {token}"))
        .header("content-type", "application/json-patch+json");
    assert_eq!(client.send(&request).status, 200);
    assert_eq!(client.kube("GET", &format!("{claims}/a"), None).value()["reason"], "NotFound");
}

#[test]
fn status_and_object_are_written_apart() {
    let mut client = world(&[]);
    let pools = "/apis/karpenter.sh/v1/nodepools";
    let pool = json!({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "a"}, "spec": {"weight": 1}});
    client.kube("POST", pools, Some(&pool));
    let both = json!({"spec": {"weight": 2}, "status": {"nodes": 3}});
    let by_status = client.kube("PATCH", &format!("{pools}/a/status"), Some(&both)).value();
    assert_eq!(
        (&by_status["spec"]["weight"], &by_status["status"]["nodes"], &by_status["metadata"]["generation"]),
        (&json!(1), &json!(3), &json!(1))
    );
    let both = json!({"spec": {"weight": 2}, "status": {"nodes": 4}});
    let by_object = client.kube("PATCH", &format!("{pools}/a"), Some(&both)).value();
    assert_eq!(
        (&by_object["spec"]["weight"], &by_object["status"]["nodes"], &by_object["metadata"]["generation"]),
        (&json!(2), &json!(3), &json!(2))
    );
}

#[test]
fn lists_are_selected_and_paged() {
    let mut client = world(&[]);
    for name in ["a", "b", "c"] {
        client.kube("POST", MAPS, Some(&map(name)));
    }
    let page = client.kube("GET", &format!("{MAPS}?limit=2"), None).value();
    let token = page["metadata"]["continue"].as_str().expect("there is more").to_owned();
    assert_eq!(
        (page["items"].as_array().map(Vec::len), &page["metadata"]["remainingItemCount"]),
        (Some(2), &json!(1))
    );
    let rest = client.kube("GET", &format!("{MAPS}?limit=2&continue={token}"), None).value();
    assert_eq!((name(&rest["items"][0]), rest["metadata"].get("continue")), ("c".to_owned(), None));
    assert_eq!(rest["metadata"]["resourceVersion"], page["metadata"]["resourceVersion"]);
    let labelled = client.kube("GET", &format!("{MAPS}?labelSelector=n%20in%20(a,c)"), None).value();
    assert_eq!(labelled["items"].as_array().map(Vec::len), Some(2));
    let named = client.kube("GET", "/api/v1/configmaps?fieldSelector=metadata.name=b", None).value();
    assert_eq!(named["items"].as_array().map(Vec::len), Some(1));
    assert_eq!(client.kube("GET", &format!("{MAPS}?continue=x"), None).status, 400);
    assert_eq!(client.kube("GET", &format!("{MAPS}?fieldSelector=data.x=1"), None).status, 400);
}

#[test]
fn names_are_made_and_checked_and_a_dry_run_leaves_nothing() {
    let mut client = world(&[]);
    let mut generated = map("x");
    generated["metadata"] = json!({"generateName": "made-"});
    let first = name(&client.kube("POST", MAPS, Some(&generated)).value());
    let second = name(&client.kube("POST", MAPS, Some(&generated)).value());
    assert!(first.starts_with("made-") && first != second);
    assert_eq!(client.kube("POST", MAPS, Some(&map("Not_A_Name"))).status, 422);
    assert_eq!(client.kube("POST", &format!("{MAPS}?dryRun=All"), Some(&map("dry"))).status, 201);
    assert_eq!(client.kube("GET", &format!("{MAPS}/dry"), None).status, 404);
    let elsewhere = client.kube("POST", "/api/v1/namespaces/nowhere/configmaps", Some(&map("a")));
    assert_eq!(
        (elsewhere.status, &elsewhere.value()["message"]),
        (404, &json!("namespaces \"nowhere\" not found"))
    );
    let secret =
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "stringData": {"a": "b"}});
    let stored = client.kube("POST", "/api/v1/namespaces/default/secrets", Some(&secret)).value();
    assert_eq!((&stored["data"], stored.get("stringData")), (&json!({"a": "Yg=="}), None));
}

#[test]
fn who_brings_no_token_gets_in_nowhere_but_health_and_version() {
    let mut client = world(&[]);
    assert_eq!(client.send(&Request::new("GET", MAPS)).value()["reason"], "Unauthorized");
    for open in ["/healthz", "/livez", "/readyz", "/version"] {
        assert_eq!(client.send(&Request::new("GET", open)).status, 200, "{open}");
    }
    assert_eq!(client.kube("GET", "/apis/none.example/v1/things", None).status, 404);
    assert_eq!(client.kube("GET", "/apis/apps/v1/pods", None).status, 404);
}

#[test]
fn a_definition_makes_a_kind() {
    let mut client = world(&[]);
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true}],
        },
    });
    client.kube("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", Some(&definition));
    let thing = json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "anything": {"goes": true}});
    let made = client.kube("POST", "/apis/example.com/v1/namespaces/default/things", Some(&thing));
    assert_eq!((made.status, &made.value()["anything"]["goes"]), (201, &json!(true)));
    let resources = client.kube("GET", "/apis/example.com/v1", None).value();
    assert_eq!(resources["resources"][0]["kind"], "Thing");
}

#[test]
fn server_side_apply_makes_or_merges() {
    let mut client = world(&[]);
    let token = client.world.credentials().cluster_token.reveal().to_owned();
    let mut apply = |body: &str| {
        let mut request = Request::new("PATCH", &format!("{MAPS}/a?fieldManager=nodeform&force=true"))
            .header("authorization", &format!("Bearer {token}"))
            .header("content-type", "application/apply-patch+yaml");
        request.body = body.as_bytes().to_vec();
        client.send(&request)
    };
    let made = apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: \"1\"}\n");
    assert_eq!(made.status, 201);
    let merged = apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {y: \"2\"}\n");
    assert_eq!((merged.status, &merged.value()["data"]), (200, &json!({"x": "1", "y": "2"})));
}

#[test]
fn a_deployment_keeps_its_pods_and_takes_them_along() {
    let mut client = world(&[node("a"), workload("apps/v1", "Deployment", json!({"replicas": 3}))]);
    let before = pods(&mut client);
    assert_eq!(before.len(), 3);
    assert!(before.iter().all(|pod| pod["status"]["phase"] == "Running" && pod["spec"]["nodeName"] == "a"));
    let gone = name(&before[0]);
    client.kube("DELETE", &format!("/api/v1/namespaces/shop/pods/{gone}"), None);
    client.pass(30);
    let after = pods(&mut client);
    assert!(after.len() == 3 && after.iter().all(|pod| name(pod) != gone));
    let deployment = client.kube("GET", "/apis/apps/v1/namespaces/shop/deployments/web", None).value();
    assert_eq!(
        (&deployment["status"]["readyReplicas"], &deployment["status"]["observedGeneration"]),
        (&json!(3), &json!(1))
    );
    let changed = json!({"spec": {"template": {"metadata": {"labels": {"app": "web", "v": "2"}}}}});
    client.kube("PATCH", "/apis/apps/v1/namespaces/shop/deployments/web", Some(&changed));
    client.pass(60);
    assert!(pods(&mut client).iter().all(|pod| pod["metadata"]["labels"]["v"] == "2"));
    client.kube(
        "PATCH",
        "/apis/apps/v1/namespaces/shop/deployments/web/scale",
        Some(&json!({"spec": {"replicas": 1}})),
    );
    client.pass(30);
    assert_eq!(pods(&mut client).len(), 1);
    client.kube("DELETE", "/apis/apps/v1/namespaces/shop/deployments/web", None);
    client.pass(30);
    assert_eq!(pods(&mut client).len(), 0);
    assert_eq!(client.kube("GET", "/apis/apps/v1/replicasets", None).value()["items"], json!([]));
}

#[test]
fn a_stateful_set_makes_one_pod_after_the_other() {
    let set = workload("apps/v1", "StatefulSet", json!({"replicas": 2, "serviceName": "web"}));
    let mut client = Client::with(settings(), vec![node("a"), set], Vec::new());
    client.pass(1);
    assert_eq!(pods(&mut client).len(), 1);
    client.pass(30);
    let names: Vec<String> = pods(&mut client).iter().map(name).collect();
    assert_eq!(names, ["web-0", "web-1"]);
    client.kube("DELETE", "/api/v1/namespaces/shop/pods/web-0", None);
    client.pass(30);
    assert_eq!(
        pods(&mut client).iter().map(name).collect::<Vec<_>>(),
        ["web-0", "web-1"],
        "it comes again by its name"
    );
}

#[test]
fn a_job_ends() {
    let job = workload("batch/v1", "Job", json!({"completions": 2, "parallelism": 1}));
    let mut client = world(&[node("a"), job]);
    assert_eq!(pods(&mut client).len(), 1);
    client.pass(400);
    let job = client.kube("GET", "/apis/batch/v1/namespaces/shop/jobs/web", None).value();
    assert_eq!(
        (&job["status"]["succeeded"], &job["status"]["conditions"][0]["type"]),
        (&json!(2), &json!("Complete"))
    );
    assert!(pods(&mut client).iter().all(|pod| pod["status"]["phase"] == "Succeeded"));
}

#[test]
fn daemons_run_on_every_node_that_they_tolerate() {
    let mut tainted = node("b");
    tainted["spec"] = json!({"taints": [{"key": "team", "value": "x", "effect": "NoSchedule"}]});
    let mut client = world(&[node("a"), tainted, workload("apps/v1", "DaemonSet", json!({}))]);
    let nodes: Vec<Value> = pods(&mut client).iter().map(|pod| pod["spec"]["nodeName"].clone()).collect();
    assert_eq!(nodes, ["a"]);
    client.kube("PATCH", "/api/v1/nodes/b", Some(&json!({"spec": {"taints": null}})));
    client.pass(20);
    assert_eq!(pods(&mut client).len(), 2);
    client.kube("PATCH", "/api/v1/nodes/a", Some(&json!({"spec": {"unschedulable": true}})));
    client.pass(20);
    assert_eq!(pods(&mut client).len(), 2, "daemons stay on a cordoned node");
}

#[test]
fn pods_that_fit_nowhere_say_why_and_bind_once_they_fit() {
    let mut wide = workload("apps/v1", "Deployment", json!({"replicas": 5}));
    wide["spec"]["template"]["spec"]["affinity"] = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["b", "c"]}]}],
    }}});
    let mut client = world(&[node("a"), node("b"), wide]);
    let waiting: Vec<Value> =
        pods(&mut client).into_iter().filter(|pod| pod["status"]["phase"] == "Pending").collect();
    assert_eq!(waiting.len(), 1, "four of them fill b");
    let condition = &waiting[0]["status"]["conditions"][0];
    assert_eq!(
        (&condition["type"], &condition["status"], &condition["reason"]),
        (&json!("PodScheduled"), &json!("False"), &json!("Unschedulable"))
    );
    assert_eq!(
        condition["message"],
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 Insufficient resources."
    );
    client.kube("POST", "/api/v1/nodes", Some(&node("c")));
    client.pass(20);
    assert!(pods(&mut client).iter().all(|pod| pod["spec"]["nodeName"].is_string()));
}

#[test]
fn room_that_is_promised_to_a_pod_is_kept_from_others_of_no_higher_priority() {
    let pod = |name: &str, cpu: &str| {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop"},
            "spec": {"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": cpu}}}]},
        })
    };
    let mut client = world(&[pod("b-promised", "3"), pod("c-never", "5")]);
    let promise = json!({"status": {"nominatedNodeName": "a"}});
    for name in ["b-promised", "c-never"] {
        let path = format!("/api/v1/namespaces/shop/pods/{name}/status");
        assert_eq!(client.kube("PATCH", &path, Some(&promise)).status, 200);
    }
    client.kube("POST", "/api/v1/namespaces/shop/pods", Some(&pod("a-first-by-name", "3")));
    client.pass(5);
    client.kube("POST", "/api/v1/nodes", Some(&node("a")));
    client.pass(20);
    let bound: Vec<String> =
        pods(&mut client).iter().filter(|pod| pod["spec"]["nodeName"] == "a").map(name).collect();
    assert_eq!(bound, ["b-promised"], "and what the node cannot hold keeps nothing from anybody");
}

#[test]
fn a_budget_allows_one_eviction_at_a_time() {
    let mut client = world(&[
        node("a"),
        workload("apps/v1", "Deployment", json!({"replicas": 3})),
        budget(json!({"maxUnavailable": 1})),
    ]);
    let names: Vec<String> = pods(&mut client).iter().map(name).collect();
    assert_eq!(evict(&mut client, &names[0]).status, 201);
    let refused = evict(&mut client, &names[1]);
    assert_eq!((refused.status, &refused.value()["reason"]), (429, &json!("TooManyRequests")));
    let cause = &refused.value()["details"]["causes"][0];
    assert_eq!(cause["reason"], "DisruptionBudget");
    assert_eq!(cause["message"], "The disruption budget web needs 2 healthy pods and has 3 currently");
    client.pass(30);
    assert_eq!(evict(&mut client, &names[1]).status, 201, "another pod is ready instead");
    let other = json!({
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": names[2], "namespace": "shop"},
        "deleteOptions": {"preconditions": {"uid": "another"}},
    });
    let path = format!("/api/v1/namespaces/shop/pods/{}/eviction", names[2]);
    assert_eq!(client.kube("POST", &path, Some(&other)).status, 429, "the budget is asked before the UID");
    client.pass(30);
    assert_eq!(client.kube("POST", &path, Some(&other)).status, 409);
}

#[test]
fn a_budget_in_percent_is_rounded_up_and_holds_for_ever() {
    let mut client = world(&[
        node("a"),
        workload("apps/v1", "Deployment", json!({"replicas": 3})),
        budget(json!({"minAvailable": "90%"})),
    ]);
    let status = client.kube("GET", "/apis/policy/v1/namespaces/shop/poddisruptionbudgets/web", None).value()
        ["status"]
        .clone();
    assert_eq!(
        (&status["desiredHealthy"], &status["disruptionsAllowed"], &status["expectedPods"]),
        (&json!(3), &json!(0), &json!(3))
    );
    let pod = name(&pods(&mut client)[0]);
    client.pass(3600);
    assert_eq!(evict(&mut client, &pod).status, 429);
}

#[test]
fn a_taint_that_repels_ends_pods_and_a_node_that_goes_takes_them_along() {
    let mut client = world(&[node("a"), workload("apps/v1", "Deployment", json!({"replicas": 2}))]);
    let taint = json!({"spec": {"taints": [{"key": "k", "effect": "NoExecute"}]}});
    client.kube("PATCH", "/api/v1/nodes/a", Some(&taint));
    client.pass(30);
    assert!(pods(&mut client).iter().all(|pod| pod["spec"].get("nodeName").is_none()));
    client.kube("PATCH", "/api/v1/nodes/a", Some(&json!({"spec": {"taints": null}})));
    client.pass(30);
    let before: Vec<String> = pods(&mut client).iter().map(name).collect();
    client.kube("DELETE", "/api/v1/nodes/a", None);
    client.pass(5);
    let after = pods(&mut client);
    assert!(
        after.len() == 2
            && after.iter().all(|pod| !before.contains(&name(pod)) && pod["status"]["phase"] == "Pending")
    );
}

#[test]
fn a_pod_gets_its_grace_and_a_bound_one_no_second_node() {
    let mut client =
        world(&[node("a"), node("b"), workload("apps/v1", "Deployment", json!({"replicas": 1}))]);
    let pod = name(&pods(&mut client)[0]);
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": pod}, "target": {"kind": "Node", "name": "b"}});
    assert_eq!(
        client.kube("POST", &format!("/api/v1/namespaces/shop/pods/{pod}/binding"), Some(&binding)).status,
        409
    );
    let path = format!("/api/v1/namespaces/shop/pods/{pod}");
    let marked = client.kube("DELETE", &path, None).value();
    assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 30);
    assert_eq!(client.kube("GET", &path, None).status, 200, "its containers still end");
    client.pass(6);
    assert_eq!(client.kube("GET", &path, None).status, 404);
    client.pass(20);
    let next = name(&pods(&mut client)[0]);
    client.kube(
        "DELETE",
        &format!("/api/v1/namespaces/shop/pods/{next}"),
        Some(&json!({"gracePeriodSeconds": 0})),
    );
    assert_eq!(client.kube("GET", &format!("/api/v1/namespaces/shop/pods/{next}"), None).status, 404);
}

#[test]
fn a_namespace_goes_with_all_that_is_in_it() {
    let mut client = world(&[node("a"), workload("apps/v1", "Deployment", json!({"replicas": 1}))]);
    client.kube("DELETE", "/api/v1/namespaces/shop", None);
    client.pass(30);
    assert_eq!(pods(&mut client).len(), 0);
    assert_eq!(client.kube("GET", "/api/v1/namespaces/shop", None).status, 404);
}
