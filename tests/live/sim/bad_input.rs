//! Whatever is sent is answered, and the world goes on.

use nodeform::sim::{Request, Response};
use serde_json::{Value, json};

use crate::sim::bodies::{self, Vm};
use crate::sim::client::Client;

/// A number that follows from the one before; no clock, no system's randomness.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % end.max(1)
    }

    fn value(&mut self) -> Value {
        let values = [
            json!(null),
            json!(true),
            json!(-1),
            json!(i64::MAX),
            json!(u64::MAX),
            json!(1e300),
            json!(""),
            json!("\u{0}é%"),
            json!("9".repeat(60)),
            json!("900000000000000000%"),
            json!([]),
            json!({}),
            json!([[[null]]]),
            json!({"": {"a": []}}),
            json!("12E"),
            json!("-5Gi"),
            json!("*"),
            json!("../.."),
        ];
        values[self.below(values.len())].clone()
    }

    /// Puts something else in the place of a part of a value.
    fn spoil(&mut self, value: &mut Value) {
        let children = match &*value {
            Value::Object(members) => members.len(),
            Value::Array(items) => items.len(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
        };
        if children == 0 || self.below(6) == 0 {
            *value = self.value();
            return;
        }
        let at = self.below(children);
        match value {
            Value::Object(members) => {
                members.values_mut().nth(at).into_iter().for_each(|child| self.spoil(child));
            }
            Value::Array(items) => self.spoil(&mut items[at]),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}

fn bodies(client: &Client) -> Vec<(&'static str, String, Value)> {
    let workload = |kind: &str, api_version: &str| {
        json!({
            "apiVersion": api_version, "kind": kind, "metadata": {"name": "w", "namespace": "default", "labels": {"a": "b"}},
            "spec": {
                "replicas": 2, "completions": 2, "parallelism": 1, "selector": {"matchLabels": {"a": "b"}},
                "template": {"metadata": {"labels": {"a": "b"}}, "spec": {
                    "tolerations": [{"operator": "Exists"}], "priority": 3, "initContainers": [{"name": "i"}],
                    "containers": [{"name": "c", "resources": {"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}}}],
                }},
            },
        })
    };
    let node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": "n", "labels": {"x": "y"}},
        "spec": {"taints": [{"key": "k", "effect": "NoExecute"}]},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}, "conditions": [{"type": "Ready", "status": "True"}]},
    });
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b", "namespace": "default"},
        "spec": {"minAvailable": "50%", "selector": {"matchLabels": {"a": "b"}}},
    });
    let definition = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": {"plural": "things", "kind": "Thing"},
            "versions": [{"name": "v1", "served": true, "storage": true, "additionalPrinterColumns": [{"name": "A", "jsonPath": ".a"}]}]},
    });
    let in_default = |group: &str, plural: &str| format!("/{group}/namespaces/default/{plural}");
    let mut config = bodies::node_config(&client.world);
    config["gpuConfig"] = json!({"enableNvidia": true});
    let vm = Vm { config, is_spot: true, ..Vm::new(&client.world, "a") };
    vec![
        ("PUT", client.nic_path("a"), bodies::nic(&client.world, "a")),
        ("PUT", client.vm_path("a"), vm.body(&client.world)),
        (
            "PATCH",
            client.vm_path("a"),
            json!({"tags": {"a": "b"}, "identity": {"type": "UserAssigned", "userAssignedIdentities": {"x": null}}}),
        ),
        (
            "PUT",
            client.vm_path("a").replace('?', "/extensions/e?"),
            json!({"location": "x", "properties": {"publisher": "p", "type": "t", "typeHandlerVersion": "1"}}),
        ),
        ("POST", in_default("apis/apps/v1", "deployments"), workload("Deployment", "apps/v1")),
        ("POST", in_default("apis/apps/v1", "statefulsets"), workload("StatefulSet", "apps/v1")),
        ("POST", in_default("apis/apps/v1", "daemonsets"), workload("DaemonSet", "apps/v1")),
        ("POST", in_default("apis/batch/v1", "jobs"), workload("Job", "batch/v1")),
        ("POST", in_default("apis/policy/v1", "poddisruptionbudgets"), budget),
        ("POST", in_default("api/v1", "pods"), bodies::pod("p")),
        (
            "POST",
            in_default("api/v1", "pods/p/eviction"),
            json!({"metadata": {"name": "p"}, "deleteOptions": {"gracePeriodSeconds": 3, "preconditions": {"uid": "u"}}}),
        ),
        ("POST", in_default("api/v1", "pods/p/binding"), json!({"target": {"name": "n"}})),
        ("POST", "/api/v1/nodes".to_owned(), node.clone()),
        ("PATCH", "/api/v1/nodes/n".to_owned(), node),
        (
            "DELETE",
            in_default("api/v1", "pods/p"),
            json!({"gracePeriodSeconds": 5, "propagationPolicy": "Orphan"}),
        ),
        ("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions".to_owned(), definition),
        ("POST", "/api/v1/namespaces/kube-system/secrets".to_owned(), bodies::secret("2026-01-05T11:00:00Z")),
        (
            "POST",
            "/sim/faults".to_owned(),
            json!({"faults": [{"kind": "ZoneFull", "when": {"nth": 3}, "times": 1, "seconds": 4}]}),
        ),
    ]
}

#[test]
fn spoilt_requests_are_answered() {
    const ROUNDS: usize = 3_000;
    const KINDS: [&str; 4] = [
        "application/json",
        "application/merge-patch+json",
        "application/strategic-merge-patch+json",
        "application/apply-patch+yaml",
    ];
    let mut numbers = Numbers(2);
    let mut client = Client::new();
    let all = bodies(&client);
    let cluster_token = client.world.credentials().cluster_token.reveal().to_owned();
    for round in 0..ROUNDS {
        let (method, target, mut body) = all[numbers.below(all.len())].clone();
        if numbers.below(3) > 0 {
            numbers.spoil(&mut body);
        }
        let mut request = client.signed(method, &target).json(&body);
        if !target.starts_with("/subscriptions") {
            request = request.header("authorization", &format!("Bearer {cluster_token}"));
        }
        if method == "PATCH" && !target.starts_with("/subscriptions") {
            request = request.header("content-type", KINDS[numbers.below(KINDS.len())]);
        }
        if numbers.below(12) == 0 {
            request.body.truncate(numbers.below(request.body.len()));
        }
        // A second one, that reads or removes what the first may have made.
        let (again, suffix) = [("GET", ""), ("GET", "&$skiptoken=x"), ("DELETE", "")][numbers.below(3)];
        for request in [
            request.clone(),
            Request {
                method: again.to_owned(),
                target: format!("{target}{suffix}"),
                body: Vec::new(),
                ..request
            },
        ] {
            match client.world.request(client.now, &request) {
                Response::Answer(answer) => assert!((200..600).contains(&answer.status)),
                Response::Lost | Response::Silent | Response::Late(..) | Response::Watch(_) => {}
            }
        }
        if round % 10 == 0 {
            client.pass(60);
        }
        if round % 500 == 0 {
            client.sign_in();
        }
    }
    assert!(client.world.state()["pods"].is_array());
    let health = Request::new("GET", "/healthz");
    assert_eq!(client.send(&health).status, 200);
}

#[test]
fn odd_paths_and_queries_are_answered() {
    let mut client = Client::new();
    for target in [
        "",
        "/",
        "//",
        "?",
        "/subscriptions",
        "/subscriptions/",
        "/subscriptions/11111111-2222-4333-8444-555555555555/providers",
        "/subscriptions/11111111-2222-4333-8444-555555555555/resourceGroups/x/providers?api-version=1",
        "/api",
        "/apis/",
        "/api/v1/",
        "/api/v1/namespaces/a/b/c/d/e/f",
        "/apis/apps/v1/namespaces//deployments",
        "/%",
        "/%zz%e2%82",
        "/sim/",
        "/sim/state/x",
        "/openapi/v3/none",
        "/api/v1/pods?limit=-1&labelSelector=((",
        "/api/v1/pods?watch=true&resourceVersion=x",
        "/api/v1/pods?continue=eyJ9",
        "/x/oauth2/v2.0/token",
    ] {
        for method in ["GET", "PUT", "BREW"] {
            let token = client.world.credentials().cluster_token.reveal().to_owned();
            for request in [
                client.signed(method, target),
                Request::new(method, target).header("authorization", &format!("Bearer {token}")),
            ] {
                let answered = client.world.request(client.now, &request);
                assert!(matches!(answered, Response::Answer(_)), "{method} {target}");
            }
        }
    }
}
