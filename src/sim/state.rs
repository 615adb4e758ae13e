//! Summary of the whole world, for people and tests.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::agenda::second;
use super::azure::Azure;
use super::cluster::{NODES, PODS, Store};
use super::json::{list, text, text_or_empty};
use super::play::{Play, condition};

pub(crate) fn of(azure: &Azure, store: &Store, play: &Play, now: Timestamp) -> Value {
    json!({
        "time": second(now),
        "virtualMachines": machines(azure, play),
        "networkInterfaces": azure.nics.values().map(|nic| json!({
            "name": nic.name, "state": nic.state(), "virtualMachine": nic.machine, "tags": nic.tags(),
            "reservedUntil": nic.reserved.as_ref().filter(|_| nic.is_reserved(now)).map(|kept| second(kept.until)),
        })).collect::<Vec<_>>(),
        "disks": azure.disks.values().map(|disk| json!({
            "name": disk.name, "virtualMachine": disk.machine, "sizeGB": disk.size_gb,
        })).collect::<Vec<_>>(),
        "operations": azure.running_operations(),
        "nodeClaims": store.list_of("NodeClaim").map(|claim| json!({
            "name": text(&claim, "/metadata/name"), "providerID": text(&claim, "/status/providerID"),
            "isDeleting": text(&claim, "/metadata/deletionTimestamp").is_some(),
        })).collect::<Vec<_>>(),
        "cluster": {"name": azure.settings.cluster.name, "fqdn": azure.settings.fqdn()},
        "nodes": nodes(store),
        "pods": pods(store),
        "notJoined": play.kubelets.values().filter_map(|kubelet| Some(json!({
            "virtualMachine": kubelet.machine, "because": kubelet.failure.as_ref()?, "attempts": kubelet.attempts,
        }))).collect::<Vec<_>>(),
    })
}

fn machines(azure: &Azure, play: &Play) -> Vec<Value> {
    azure
        .machines
        .values()
        .map(|machine| {
            json!({
                "name": machine.name, "vmId": machine.vm_id, "state": machine.state.text(), "size": machine.size,
                "zone": machine.zone, "isSpot": machine.is_spot, "tags": machine.body.get("tags"),
                "extensions": machine.extensions.values().map(|extension| &extension.name).collect::<Vec<_>>(),
                "node": play.kubelets.get(&machine.vm_id).and_then(|kubelet| kubelet.node.as_ref()),
            })
        })
        .collect()
}

fn nodes(store: &Store) -> Vec<Value> {
    store
        .list(NODES)
        .map(|(name, node)| {
            let taints: Vec<String> = list(node, "/spec/taints")
                .iter()
                .map(|taint| format!("{}:{}", text_or_empty(taint, "/key"), text_or_empty(taint, "/effect")))
                .collect();
            json!({
                "name": name.name, "providerID": text(node, "/spec/providerID"),
                "ready": condition(node, "Ready"), "taints": taints,
                "isDeleting": text(node, "/metadata/deletionTimestamp").is_some(),
            })
        })
        .collect()
}

fn pods(store: &Store) -> Vec<Value> {
    store
        .list(PODS)
        .map(|(name, pod)| {
            json!({
                "name": format!("{}/{}", name.namespace, name.name), "node": text(pod, "/spec/nodeName"),
                "phase": text(pod, "/status/phase"), "ready": condition(pod, "Ready"),
                "isDeleting": text(pod, "/metadata/deletionTimestamp").is_some(),
            })
        })
        .collect()
}
