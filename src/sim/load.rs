//! Initial content of a world: manifests, and the VMs of those nodes that have one.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::agenda::second;
use super::azure::{Azure, Existing};
use super::cluster::{
    KindId, NAMESPACES, NODES, Name, PODS, Store, defaults, pod_defaults, usual_definitions,
};
use super::draw::Draw;
use super::json::{list, list_mut, object, set, text, text_or_empty};
use super::settings::{SettingsFault, SimulatedAzure};

const DEFINITION: &str = "CustomResourceDefinition";
const NAMESPACES_AT_START: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Stores manifests and returns their faults.
pub(crate) fn manifests(store: &mut Store, manifests: Vec<Value>, now: Timestamp) -> Vec<SettingsFault> {
    let mut all: Vec<Value> = manifests.into_iter().flat_map(flat).collect();
    all.retain(|object| !object.is_null());
    // CRDs first, then namespaces, so that the order of files does not matter.
    let (mut first, rest): (Vec<Value>, Vec<Value>) =
        all.into_iter().partition(|object| text(object, "/kind") == Some(DEFINITION));
    let named: Vec<String> = first.iter().map(|object| Name::of(object).name).collect();
    first.extend(usual_definitions().into_iter().filter(|usual| !named.contains(&Name::of(usual).name)));
    let (mut namespaces, others): (Vec<Value>, Vec<Value>) = rest.into_iter().partition(|object| {
        text(object, "/kind") == Some("Namespace") && text(object, "/apiVersion") == Some("v1")
    });
    let known: Vec<String> = namespaces.iter().map(|object| Name::of(object).name).collect();
    namespaces.extend(
        NAMESPACES_AT_START
            .iter()
            .filter(|name| !known.iter().any(|known| known == *name))
            .map(|name| namespace(name)),
    );
    let mut faults = Vec::new();
    for object in first.into_iter().chain(namespaces).chain(others) {
        if let Err(fault) = one(store, object, now) {
            faults.push(fault);
        }
    }
    faults
}

/// Returns the items of a List; anything else unchanged.
fn flat(object: Value) -> Vec<Value> {
    let is_list = text(&object, "/kind").is_some_and(|kind| kind.ends_with("List"));
    if is_list && let Some(Value::Array(items)) = object.get("items") { items.clone() } else { vec![object] }
}

fn namespace(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}}, "status": {"phase": "Active"},
    })
}

fn one(store: &mut Store, mut object: Value, now: Timestamp) -> Result<(), SettingsFault> {
    let name = Name::of(&object);
    let place = format!("{} {}", text(&object, "/kind").unwrap_or("object"), name.name);
    let fault = |message: String| Err(SettingsFault { path: place.clone(), message });
    let Some((kind, _)) = store.kinds.of_object(&object) else {
        let api_version = text_or_empty(&object, "/apiVersion");
        return fault(format!(
            "the simulated cluster has no such kind in `{api_version}`; add its CustomResourceDefinition to the world"
        ));
    };
    if name.name.is_empty() {
        return fault("metadata.name is missing".to_owned());
    }
    let is_namespaced = store.kinds.get(kind).is_namespaced;
    if is_namespaced && name.namespace.is_empty() {
        set(&mut object, &["metadata", "namespace"], json!("default"));
    }
    let name = Name::of(&object);
    if store.get(kind, &name).is_some() {
        return fault("the world has another object of this kind and name".to_owned());
    }
    if is_namespaced && store.get(NAMESPACES, &Name::new("", &name.namespace)).is_none() {
        store.create(NAMESPACES, namespace(&name.namespace), now);
    }
    prepare(kind, &mut object, now);
    store.create(kind, object, now);
    Ok(())
}

/// Adds the fields that the kind requires here. A node without conditions is Ready.
fn prepare(kind: KindId, new: &mut Value, now: Timestamp) {
    if kind == PODS {
        pod_defaults(new);
    } else {
        defaults(kind, new);
    }
    if kind == NODES && list(new, "/status/conditions").is_empty() {
        let ready = json!({
            "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "",
            "lastHeartbeatTime": second(now), "lastTransitionTime": second(now),
        });
        set(new, &["status", "conditions"], json!([ready]));
    }
    if let Some(metadata) = Some(object(new, "metadata")) {
        metadata.remove("resourceVersion");
        metadata.remove("managedFields");
    }
}

/// A VM that exists from the start, and its node.
#[derive(Clone, Debug)]
pub(crate) struct Joined {
    pub(crate) vm_id: String,
    pub(crate) name: String,
    pub(crate) node: String,
}

/// Creates the VMs of nodes whose provider ID names a VM, from the fields of the nodes.
pub(crate) fn machines(azure: &mut Azure, store: &Store, now: Timestamp, draw: Draw) -> Vec<Joined> {
    let nodes: Vec<(String, Value)> =
        store.list(NODES).map(|(name, node)| (name.name.clone(), Value::clone(node))).collect();
    nodes
        .into_iter()
        .filter_map(|(node, object)| {
            let provider = text(&object, "/spec/providerID")?;
            let (_, name) = provider.split_once("/providers/Microsoft.Compute/virtualMachines/")?;
            let claim =
                store.list_of("NodeClaim").find(|claim| text(claim, "/status/providerID") == Some(provider));
            let vm_id = draw.guid(&format!("vmId {name}"));
            let existing = Existing { name, node: &object, claim: claim.as_deref(), vm_id: &vm_id };
            azure.add_existing(&existing, now, draw);
            Some(Joined { vm_id, name: name.to_owned(), node })
        })
        .collect()
}

/// Rewrites a SKU list to the region of the world, so that a list of another region can be used. Zones are kept if the
/// region has them.
pub(crate) fn relocate(skus: &mut [Value], settings: &SimulatedAzure) {
    for sku in skus {
        set(sku, &["locations"], json!([settings.location]));
        for info in list_mut(sku, &["locationInfo"]).into_iter().flatten() {
            set(info, &["location"], json!(settings.location));
            if let Some(zones) = list_mut(info, &["zones"]) {
                zones.retain(|zone| settings.zones.iter().any(|known| zone.as_str() == Some(known)));
            }
        }
        for restriction in list_mut(sku, &["restrictions"]).into_iter().flatten() {
            if text(restriction, "/type") == Some("Location") {
                set(restriction, &["values"], json!([settings.location]));
            }
            set(restriction, &["restrictionInfo", "locations"], json!([settings.location]));
        }
    }
}
