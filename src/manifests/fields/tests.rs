//! Unknown fields: which are reported, and how the table is generated.

use serde_json::json;

use super::{Shape, table, type_of};
use crate::manifests::{ReadOptions, Source, read_all};

/// Returns the remarks from reading these documents.
fn said(text: &str) -> Vec<String> {
    let (objects, _) = read_all(vec![Source::new("a.yaml", text)], &ReadOptions::default());
    let remarks = objects.said.remarks.into_iter();
    remarks
        .map(|remark| format!("{}: {}; {}", remark.object, remark.what, remark.hint.unwrap_or_default()))
        .collect()
}

const DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replica: 8
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: c, image: x, ressources: {requests: {cpu: 1}}, env: [{name: A, valeu: secret}]}
";

#[test]
fn an_unknown_field_is_told_with_its_place_and_the_nearest_name() {
    assert_eq!(
        said(DEPLOYMENT),
        [
            "`Deployment/shop/web` (a.yaml:11): unknown field \"spec.template.spec.containers[0].env[0].valeu\"; did \
             you mean `value`?",
            "`Deployment/shop/web` (a.yaml:11): unknown field \"spec.template.spec.containers[0].ressources\"; did you \
             mean `resources`?",
            "`Deployment/shop/web` (a.yaml:6): unknown field \"spec.replica\"; did you mean `replicas`?",
        ]
    );
}

#[test]
fn objects_with_the_same_unknown_field_are_told_together() {
    let second = DEPLOYMENT.replace("name: web", "name: web2");
    let told = said(&format!("{DEPLOYMENT}---\n{second}"));
    assert_eq!(told.len(), 3);
    assert!(told.iter().all(|line| line.contains(" and 1 more: ")), "{told:?}");
}

#[test]
fn what_may_be_anything_and_what_the_api_server_gave_out_is_not_looked_at() {
    let fine = "
{apiVersion: v1, kind: Pod, metadata: {name: p, labels: {any: x}, annotations: {any: x}}, spec: {nodeSelector: {any: x}, \
 containers: [{name: c, resources: {limits: {any: 1}}}], volumes: [{name: v, emptyDir: {}}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: n1, uid: u}, status: {ofALaterVersion: 1}}
---
{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {any: 1}}
";
    assert_eq!(said(fine), Vec::<String>::new());
    let strange = "{apiVersion: v1, kind: Node, metadata: {name: n1}, spec: {zzzzzz: 1}}";
    assert_eq!(
        said(strange),
        [
            "`Node/n1` (a.yaml:1): unknown field \"spec.zzzzzz\"; the API server does not know it: it has no effect on \
             the plan either"
        ]
    );
}

#[test]
fn a_field_of_a_pod_that_is_planned_with_is_one_fault_and_no_remark() {
    let text =
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {toleration: [], containers: [{name: c}]}}";
    let (objects, faults) = read_all(vec![Source::new("a.yaml", text)], &ReadOptions::default());
    assert_eq!((objects.said.remarks.len(), faults.len()), (0, 1));
}

#[test]
fn the_table_holds_the_fields_of_the_kinds_that_are_read() {
    let spec = type_of("apps.v1.DeploymentSpec").expect("is there");
    assert_eq!(spec.get("replicas"), Some(&Shape::Plain));
    assert_eq!(spec.get("template"), Some(&Shape::One("core.v1.PodTemplateSpec")));
    let pod = type_of(super::POD_SPEC).expect("is there");
    assert_eq!(pod.get("containers"), Some(&Shape::Each("core.v1.Container")));
    assert!(pod.values().all(|shape| match shape {
        Shape::Plain => true,
        Shape::One(of) | Shape::Each(of) | Shape::Values(of) => type_of(of).is_some(),
    }));
}

#[test]
fn the_table_is_made_of_the_documents_of_an_api_server() {
    let part = |of: &str| json!({"allOf": [{"$ref": format!("#/components/schemas/io.k8s.api.{of}")}]});
    let document = json!({"components": {"schemas": {
        "io.k8s.api.core.v1.Node": {
            "properties": {
                "kind": {"type": "string"},
                "spec": part("core.v1.NodeSpec"),
                "time": {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.Time"}]},
                "parts": {"type": "array", "items": part("core.v1.NodeSpec")},
                "named": {"additionalProperties": part("core.v1.NodeSpec")},
            },
            "x-kubernetes-group-version-kind": [{"group": "", "kind": "Node", "version": "v1"}],
        },
        "io.k8s.api.core.v1.NodeSpec": {"properties": {"providerID": {"type": "string"}}},
        "io.k8s.apimachinery.pkg.apis.meta.v1.Time": {"type": "string"},
        "io.k8s.api.core.v1.Secret": {
            "properties": {"data": {}},
            "x-kubernetes-group-version-kind": [{"group": "", "kind": "Secret", "version": "v1"}],
        },
    }}});
    let made = table(&[document], "v1.2.3");
    let rows: Vec<&str> = made.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(
        rows,
        [
            "kind v1 Node core.v1.Node",
            "type core.v1.Node kind named{}=core.v1.NodeSpec parts[]=core.v1.NodeSpec spec=core.v1.NodeSpec time",
            "type core.v1.NodeSpec providerID",
        ]
    );
    assert!(made.contains("# Kubernetes v1.2.3, "), "{made}");
}
