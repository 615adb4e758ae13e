//! Where the simulated scheduler places pods that ask something of each other's places, and what its API server refuses.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::sim::client::{Client, settings};

fn node(name: &str, zone: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone}},
        "status": {"allocatable": {"cpu": "16", "memory": "8Gi", "pods": "110"}},
    })
}

fn web(replicas: usize, more: &Value) -> Value {
    let mut spec =
        json!({"containers": [{"name": "c", "image": "x", "resources": {"requests": {"cpu": "1"}}}]});
    for (field, value) in more.as_object().expect("an object") {
        spec[field] = value.clone();
    }
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec},
        },
    })
}

/// How many pods are on each node; those that wait are under "".
fn places(client: &mut Client) -> BTreeMap<String, usize> {
    client.pass(30);
    let pods = client.kube("GET", "/api/v1/namespaces/shop/pods", None).value();
    let mut places = BTreeMap::new();
    for pod in pods["items"].as_array().expect("a list") {
        *places.entry(pod["spec"]["nodeName"].as_str().unwrap_or_default().to_owned()).or_default() += 1;
    }
    places
}

fn of(places: &[(&str, usize)]) -> BTreeMap<String, usize> {
    places.iter().map(|(node, pods)| ((*node).to_owned(), *pods)).collect()
}

fn apart(key: &str) -> Value {
    json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": key},
    ]}}})
}

fn spread(key: &str, skew: u8, when: &str) -> Value {
    json!({"topologySpreadConstraints": [{
        "labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": when,
    }]})
}

#[test]
fn pods_that_keep_apart_stand_on_nodes_of_their_own_and_one_waits_until_another_goes() {
    let nodes = [node("a", "1"), node("b", "2")];
    let world = [&nodes[..], &[web(3, &apart("kubernetes.io/hostname"))]].concat();
    let mut client = Client::with(settings(), world, Vec::new());
    assert_eq!(places(&mut client), of(&[("", 1), ("a", 1), ("b", 1)]));
    client.kube("POST", "/api/v1/nodes", Some(&node("c", "2")));
    assert_eq!(places(&mut client), of(&[("a", 1), ("b", 1), ("c", 1)]));
}

#[test]
fn pods_that_keep_apart_by_zone_take_one_node_of_each() {
    let nodes = [node("a", "1"), node("b", "1"), node("c", "2")];
    let world = [&nodes[..], &[web(3, &apart("topology.kubernetes.io/zone"))]].concat();
    let mut client = Client::with(settings(), world, Vec::new());
    assert_eq!(places(&mut client), of(&[("", 1), ("a", 1), ("c", 1)]));
}

#[test]
fn a_pod_that_others_keep_apart_from_goes_elsewhere_without_a_wish_of_its_own() {
    let mut guard = web(1, &apart("kubernetes.io/hostname"));
    guard["metadata"]["name"] = json!("a-guard");
    guard["spec"]["selector"] = json!({"matchLabels": {"app": "guard"}});
    guard["spec"]["template"]["metadata"]["labels"] = json!({"app": "guard"});
    let world = [node("a", "1"), node("b", "1"), guard];
    let mut client = Client::with(settings(), world.to_vec(), Vec::new());
    assert_eq!(places(&mut client), of(&[("a", 1)]));
    client.kube("POST", "/apis/apps/v1/namespaces/shop/deployments", Some(&web(2, &json!({}))));
    assert_eq!(places(&mut client), of(&[("a", 1), ("b", 2)]));
}

#[test]
fn spreads_that_must_hold_hold_and_others_are_wishes() {
    for (when, expected) in
        [("DoNotSchedule", of(&[("a", 2), ("c", 2)])), ("ScheduleAnyway", of(&[("a", 4)]))]
    {
        let nodes = [node("a", "1"), node("b", "1"), node("c", "2")];
        let world = [&nodes[..], &[web(4, &spread("topology.kubernetes.io/zone", 1, when))]].concat();
        let mut client = Client::with(settings(), world, Vec::new());
        assert_eq!(places(&mut client), expected, "{when}");
    }
}

#[test]
fn the_api_server_refuses_unknown_fields_long_labels_and_another_provider_id() {
    let mut client = Client::with(settings(), vec![node("a", "1")], Vec::new());
    let mut patch = |body: Value| {
        let answer = client.kube("PATCH", "/api/v1/nodes/a", Some(&body));
        (answer.status, answer.value()["message"].as_str().unwrap_or_default().to_owned())
    };
    assert_eq!(patch(json!({"spec": {"providerID": "azure:///a"}})).0, 200);
    let (status, said) = patch(json!({"spec": {"providerID": "azure:///b"}}));
    assert_eq!(status, 422);
    assert!(said.contains("may not change providerID"), "{said}");
    let (status, said) = patch(json!({"metadata": {"labels": {"team": "a".repeat(64)}}}));
    assert_eq!(status, 422);
    assert!(said.contains("must be no more than 63 bytes"), "{said}");
    let pool = json!({
        "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "p"},
        "spec": {"template": {"spec": {"requirement": []}}},
    });
    let answer = client.kube("POST", "/apis/karpenter.sh/v1/nodepools", Some(&pool));
    assert_eq!(answer.status, 400);
    let said = answer.value()["message"].to_string();
    assert!(said.contains(r#"unknown field \"spec.template.spec.requirement\""#), "{said}");
}
