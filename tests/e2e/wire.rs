//! Nodes and pods as the API server takes them.
//!
//! A node is what the plan says of it, with the labels that the kubelet, the cloud's controller and the disk driver
//! would add. A pod is what its manifest says; only what plans do not read and the API server asks for (images,
//! names of containers, sizes of volumes) is filled in.

use std::collections::BTreeMap;

use nodeform::model::{Node, Pod, Resources, Taint, label};
use serde_json::{Value, json};

use super::documents::Documents;

/// Labels of nodes that say the same as another one.
const ALIASES: [(&str, &str); 6] = [
    ("beta.kubernetes.io/arch", label::ARCH),
    ("beta.kubernetes.io/os", label::OS),
    ("beta.kubernetes.io/instance-type", label::INSTANCE_TYPE),
    ("failure-domain.beta.kubernetes.io/zone", label::ZONE),
    ("failure-domain.beta.kubernetes.io/region", label::REGION),
    ("topology.disk.csi.azure.com/zone", label::ZONE),
];

/// Returns a node.
pub(crate) fn node(node: &Node) -> Value {
    let mut labels: BTreeMap<&str, &str> =
        node.labels.iter().map(|(key, value)| (key.as_str(), &**value)).collect();
    labels.entry(label::HOSTNAME).or_insert(node.name.as_str());
    for (alias, key) in ALIASES {
        if let Some(value) = labels.get(key) {
            labels.insert(alias, value);
        }
    }
    let taint =
        |taint: &Taint| json!({"key": &*taint.key, "value": &*taint.value, "effect": taint.effect.as_str()});
    json!({
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": node.name.as_str(), "labels": labels},
        "spec": {
            "taints": node.taints.iter().map(taint).collect::<Vec<_>>(),
            "unschedulable": node.is_unschedulable,
        },
        "status": {"capacity": amounts(&node.capacity), "allocatable": amounts(&node.allocatable)},
    })
}

/// Returns amounts as quantities, to the last byte.
fn amounts(resources: &Resources) -> Value {
    let amount = |(name, amount): (&nodeform::model::ResourceName, i64)| {
        let unit = if name.as_str() == "cpu" { "m" } else { "" };
        (name.as_str().to_owned(), json!(format!("{amount}{unit}")))
    };
    Value::Object(resources.iter().map(amount).collect())
}

/// Returns a pod that is bound nowhere.
pub(crate) fn pod(pod: &Pod, documents: &Documents) -> Value {
    let written = documents.pod(&pod.key, pod.workload.as_ref());
    let mut spec = written.map_or_else(|| as_understood(pod), |written| written["spec"].clone());
    let fields = spec.as_object_mut().expect("a pod has a spec");
    for made_later in ["nodeName", "ephemeralContainers", "serviceAccountName", "serviceAccount"] {
        fields.remove(made_later);
    }
    fields.insert("priority".to_owned(), json!(pod.spec.priority));
    fields.entry("terminationGracePeriodSeconds").or_insert(json!(0));
    if pod
        .workload
        .as_ref()
        .is_some_and(|workload| matches!(&*workload.kind, "Job" | "CronJob" | "ScaledJob"))
    {
        fields.entry("restartPolicy").or_insert(json!("Never"));
    }
    for kind in ["containers", "initContainers"] {
        let containers = fields.get_mut(kind).and_then(Value::as_array_mut);
        for (index, container) in containers.into_iter().flatten().enumerate() {
            fill(container, "name", json!(format!("{}-{index}", kind.to_lowercase())));
            fill(container, "image", json!("example.com/image:1"));
        }
    }
    let templates = documents.claim_templates(pod.workload.as_ref()).iter();
    let volumes = templates.map(|template| {
        let claim = own_claim(template, &pod.key.name);
        json!({"name": template["metadata"]["name"], "persistentVolumeClaim": {"claimName": claim}})
    });
    let volumes: Vec<Value> = volumes.collect();
    if !volumes.is_empty() && pod.workload.as_ref().is_some() {
        let all = fields.entry("volumes").or_insert(json!([]));
        // A pod that exists names its claims itself.
        let all = all.as_array_mut().expect("a list of volumes");
        all.retain(|volume| volumes.iter().all(|made| made["name"] != volume["name"]));
        all.extend(volumes);
    }
    let mut labels: BTreeMap<String, Value> =
        pod.spec.labels.iter().map(|(key, value)| (key.as_str().to_owned(), json!(&**value))).collect();
    let said = written.and_then(|written| written["metadata"]["labels"].as_object());
    labels.extend(said.into_iter().flatten().map(|(key, value)| (key.clone(), value.clone())));
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": &*pod.key.name,
            "namespace": pod.key.namespace.as_str(),
            "labels": labels,
        },
        "spec": spec,
    })
}

/// Returns the name of the claim that a StatefulSet makes of a template for a pod.
pub(crate) fn own_claim(template: &Value, pod: &str) -> String {
    format!("{}-{pod}", template["metadata"]["name"].as_str().expect("a template has a name"))
}

/// What is known of a pod that stands in no manifest, such as those of the daemonsets of AKS.
fn as_understood(pod: &Pod) -> Value {
    let requests: Resources = pod
        .spec
        .requests
        .iter()
        .filter(|(name, _)| name.as_str() != "pods")
        .map(|(name, amount)| (name.clone(), amount))
        .collect();
    assert!(pod.is_daemon, "{} stands in no manifest", pod.key);
    json!({"containers": [{"resources": {"requests": amounts(&requests), "limits": {}}}]})
}

/// Says what an object leaves out.
pub(crate) fn fill(object: &mut Value, key: &str, value: Value) {
    if object[key].is_null() {
        object[key] = value;
    }
}
