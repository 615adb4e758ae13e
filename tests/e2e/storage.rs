//! What storage there is, and the part of the volume controllers: claims get their volumes.
//!
//! A volume of a class that waits for its first consumer is made where the scheduler wants it, as the disk driver
//! makes it: in the zone of that node.

use std::collections::BTreeMap;

use nodeform::model::storage::{AskedClass, BindingMode, PodVolume, StorageClass};
use nodeform::model::{Pod, label};
use serde_json::{Value, json};

use super::documents::namespace_of;
use super::http::Api;
use super::stage::Stage;
use super::stories::Planned;
use super::wire::{fill, own_claim};

const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";
const DISK_DRIVER: &str = "disk.csi.azure.com";

/// Returns the classes: those of the input, and those of AKS that the plan assumes.
pub(crate) fn classes(planned: &Planned) -> Vec<Value> {
    let mut classes: Vec<Value> = planned.documents.of_kind("StorageClass").cloned().collect();
    for class in &planned.before.storage.classes {
        if planned.documents.find("StorageClass", "default", &class.name).is_none() {
            classes.push(assumed(class));
        }
    }
    classes
}

fn assumed(class: &StorageClass) -> Value {
    let StorageClass { name, provisioner, binding, topologies, is_default } = class;
    assert!(topologies.is_none(), "class `{name}` of AKS serves every zone");
    let mode = match binding {
        BindingMode::Immediate => "Immediate",
        BindingMode::WaitForFirstConsumer => "WaitForFirstConsumer",
    };
    json!({
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": &**name,
            "annotations": {"storageclass.kubernetes.io/is-default-class": is_default.to_string()},
        },
        "provisioner": &**provisioner,
        "volumeBindingMode": mode,
    })
}

/// Returns the volumes, with what plans do not read filled in.
pub(crate) fn volumes(planned: &Planned) -> Vec<Value> {
    let mut volumes: Vec<Value> = planned.documents.of_kind("PersistentVolume").cloned().collect();
    for volume in &mut volumes {
        let name = volume["metadata"]["name"].clone();
        fill(&mut volume["spec"], "capacity", json!({"storage": "1Gi"}));
        fill(&mut volume["spec"], "accessModes", json!(["ReadWriteOnce"]));
        if volume["spec"]["csi"].is_object() {
            fill(&mut volume["spec"]["csi"], "volumeHandle", name);
        }
    }
    volumes
}

/// Returns the claims: those of the input, and those that StatefulSets make for their pods.
pub(crate) fn claims(planned: &Planned) -> Vec<Value> {
    let mut claims: Vec<Value> = planned.documents.of_kind("PersistentVolumeClaim").cloned().collect();
    for pod in &planned.after.pods {
        for template in planned.documents.claim_templates(pod.workload.as_ref()) {
            let name = own_claim(template, &pod.key.name);
            let namespace = pod.key.namespace.as_str();
            if planned.documents.find("PersistentVolumeClaim", namespace, &name).is_none() {
                let metadata = json!({"name": name, "namespace": namespace});
                claims.push(json!({
                    "apiVersion": "v1", "kind": "PersistentVolumeClaim",
                    "metadata": metadata, "spec": template["spec"],
                }));
            }
        }
    }
    for claim in &mut claims {
        fill(claim, "spec", json!({}));
        fill(&mut claim["spec"], "accessModes", json!(["ReadWriteOnce"]));
        fill(&mut claim["spec"], "resources", json!({"requests": {"storage": "1Gi"}}));
    }
    claims
}

/// Returns the claims that are made for a pod and go with it; they name the pod that was created.
pub(crate) fn ephemeral_claims(pod: &Pod, created: &Value) -> Vec<Value> {
    let claim = |volume: &PodVolume| {
        let PodVolume::Ephemeral(own) = volume else { return None };
        let owner = json!([{
            "apiVersion": "v1", "kind": "Pod", "name": &*pod.key.name,
            "uid": created["metadata"]["uid"], "controller": true,
        }]);
        let mut spec =
            json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        match &own.class {
            AskedClass::Default => {}
            AskedClass::None => spec["storageClassName"] = json!(""),
            AskedClass::Named(name) => spec["storageClassName"] = json!(&**name),
        }
        let name = volume.claim_of(&pod.key.name)?;
        Some(json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": spec,
            "metadata": {
                "name": &*name, "namespace": pod.key.namespace.as_str(), "ownerReferences": owner,
            },
        }))
    };
    pod.spec.volumes.iter().filter_map(claim).collect()
}

/// Does what the volume controllers would have to do now; without claims there is nothing.
pub(crate) fn bind_claims(stage: &Stage<'_>) {
    let api = stage.api;
    let claims = api.get("/api/v1/persistentvolumeclaims");
    let open = |claim: &&Value| claim["metadata"]["annotations"][BIND_COMPLETED].is_null();
    let open: Vec<&Value> = claims["items"].as_array().into_iter().flatten().filter(open).collect();
    if open.is_empty() {
        return;
    }
    let volumes = api.get("/api/v1/persistentvolumes");
    let claimed: BTreeMap<(&str, &str), &str> = volumes["items"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|volume| {
            let reference = &volume["spec"]["claimRef"];
            let key = (reference["namespace"].as_str()?, reference["name"].as_str()?);
            Some((key, volume["metadata"]["name"].as_str()?))
        })
        .collect();
    for claim in open {
        let key = (namespace_of(claim), claim["metadata"]["name"].as_str().unwrap_or_default());
        let named = claim["spec"]["volumeName"].as_str().or_else(|| claimed.get(&key).copied());
        match (named, claim["metadata"]["annotations"][SELECTED_NODE].as_str()) {
            (Some(volume), _) => complete(api, claim, volume),
            (None, Some(node)) => complete(api, claim, &provision(stage, claim, node)),
            (None, None) => {}
        }
    }
}

/// Makes the volume of a claim where a node can use it. It goes with all else: a claim of the same name would find it.
fn provision(stage: &Stage<'_>, claim: &Value, node: &str) -> String {
    let node = stage.api.get(&format!("/api/v1/nodes/{node}"));
    let name = format!("pvc-{}", claim["metadata"]["uid"].as_str().expect("the API server gives it"));
    let zone = &node["metadata"]["labels"][label::ZONE];
    let term = json!({"key": label::ZONE, "operator": "In", "values": [zone]});
    let affinity = match zone.is_string() {
        true => json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [term]}]}}),
        false => Value::Null,
    };
    let volume = json!({
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": claim["spec"]["accessModes"],
            "storageClassName": claim["spec"]["storageClassName"],
            "csi": {"driver": DISK_DRIVER, "volumeHandle": name}, "nodeAffinity": affinity,
        },
    });
    let made = stage.create("/api/v1/persistentvolumes", &volume);
    assert!(made.is_done(), "{}", made.why());
    name
}

/// Says on both sides that a claim has its volume.
fn complete(api: &Api, claim: &Value, volume: &str) {
    let (namespace, name) = (namespace_of(claim), &claim["metadata"]["name"]);
    let volume_path = format!("/api/v1/persistentvolumes/{volume}");
    // Of a claim that names a volume which is not there, nobody can say more.
    if api.ask("GET", &volume_path, None).is_ok_and(|answer| answer.status == 404) {
        return;
    }
    let reference = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": name,
        "uid": claim["metadata"]["uid"],
    });
    api.merge(&volume_path, &json!({"spec": {"claimRef": reference}}));
    let path =
        format!("/api/v1/namespaces/{namespace}/persistentvolumeclaims/{}", name.as_str().unwrap_or(""));
    let bound = json!({"metadata": {"annotations": {BIND_COMPLETED: "yes"}}, "spec": {"volumeName": volume}});
    api.merge(&path, &bound);
    api.merge(&format!("{path}/status"), &json!({"status": {"phase": "Bound"}}));
}
