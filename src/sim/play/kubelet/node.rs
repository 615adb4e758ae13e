//! Node objects, built from a VM as sent.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::custom_data::NodeConfig;
use crate::sim::agenda::second;
use crate::sim::azure::{Azure, Machine, Sku};
use crate::sim::json::{number, object, set};
use crate::sim::play::quantity::milli;

/// Share of a VM's memory that the platform reserves, in thousandths: Karpenter's `vm-memory-overhead-percent`.
const OVERHEAD_MILLI: u128 = 75;

/// Returns the node as its kubelet registers it: not Ready, and not yet initialized by the cloud provider.
pub(crate) fn registered(azure: &Azure, machine: &Machine, config: &NodeConfig, now: Timestamp) -> Value {
    let name = machine.name.to_lowercase();
    let sku = azure.sku(&machine.size);
    let arch = if sku.is_some_and(|sku| sku.is_arm64) { "arm64" } else { "amd64" };
    let mut labels: BTreeMap<&str, &str> =
        config.labels.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
    labels.extend([
        ("kubernetes.io/hostname", name.as_str()),
        ("kubernetes.io/arch", arch),
        ("kubernetes.io/os", "linux"),
        ("beta.kubernetes.io/arch", arch),
        ("beta.kubernetes.io/os", "linux"),
    ]);
    let own = [
        json!({"key": "node.cloudprovider.kubernetes.io/uninitialized", "value": "true", "effect": "NoSchedule"}),
        json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}),
        json!({"key": "node.kubernetes.io/not-ready", "effect": "NoExecute", "timeAdded": second(now)}),
    ];
    let taints: Vec<Value> = config.taints.iter().cloned().chain(own).collect();
    let address =
        machine.nics.first().and_then(|(nic, _)| azure.nics.get(nic)).map(|nic| nic.primary_address());
    let (capacity, allocatable) = amounts(machine, sku, config);
    let version = if config.kubernetes_version.is_empty() {
        azure.settings.cluster.kubernetes_version.clone()
    } else {
        config.kubernetes_version.clone()
    };
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {
            "name": name, "labels": labels,
            "annotations": {"volumes.kubernetes.io/controller-managed-attach-detach": "true"},
        },
        "spec": {"taints": taints},
        "status": {
            "capacity": capacity, "allocatable": allocatable,
            "addresses": [
                {"type": "InternalIP", "address": address.unwrap_or_default()},
                {"type": "Hostname", "address": name},
            ],
            "conditions": conditions("False", "KubeletNotReady", now),
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "architecture": arch, "operatingSystem": "linux", "kubeletVersion": format!("v{version}"),
                "kubeProxyVersion": "", "containerRuntimeVersion": "containerd://2.0.0",
                "kernelVersion": "6.8.0-azure", "osImage": "Simulated Linux",
                "machineID": machine.vm_id.replace('-', ""), "systemUUID": machine.vm_id, "bootID": machine.vm_id,
            },
        },
    })
}

/// Adds the fields that the cloud provider sets once it has found the VM, and removes its taint.
pub(crate) fn initialized(azure: &Azure, machine: &Machine, node: &mut Value) {
    let settings = &azure.settings;
    // Azure spreads VMs without a zone over fault domains; Kubernetes uses the fault domain's number as the zone.
    let zone = machine.zone.as_ref().map_or_else(|| "0".to_owned(), |zone| settings.zone_label(zone));
    let labels = object_at(node, "labels");
    for (key, value) in [
        ("node.kubernetes.io/instance-type", machine.size.as_str()),
        ("beta.kubernetes.io/instance-type", &machine.size),
        ("topology.kubernetes.io/region", &settings.location),
        ("failure-domain.beta.kubernetes.io/region", &settings.location),
        ("topology.kubernetes.io/zone", &zone),
        ("failure-domain.beta.kubernetes.io/zone", &zone),
        ("topology.disk.csi.azure.com/zone", if machine.zone.is_some() { &zone } else { "" }),
    ] {
        labels.insert(key.to_owned(), json!(value));
    }
    set(node, &["spec", "providerID"], json!(provider_id(azure, machine)));
    without_taint(node, "node.cloudprovider.kubernetes.io/uninitialized");
}

/// Returns `azure://` and the VM's id, with its resource group in lower case.
pub(crate) fn provider_id(azure: &Azure, machine: &Machine) -> String {
    format!(
        "azure:///subscriptions/{}/resourceGroups/{}/providers/Microsoft.Compute/virtualMachines/{}",
        azure.settings.subscription,
        azure.settings.node_resource_group().to_lowercase(),
        machine.name
    )
}

fn object_at<'a>(node: &'a mut Value, name: &str) -> &'a mut serde_json::Map<String, Value> {
    object(node, "metadata");
    object(&mut node["metadata"], name)
}

/// Removes the taints with a key.
pub(crate) fn without_taint(node: &mut Value, key: &str) {
    if let Some(taints) = crate::sim::json::list_mut(node, &["spec", "taints"]) {
        taints.retain(|taint| taint.get("key").and_then(Value::as_str) != Some(key));
    }
}

/// Returns the conditions of a node, with this status of `Ready`.
pub(crate) fn conditions(ready: &str, reason: &str, now: Timestamp) -> Value {
    let calm = if ready == "Unknown" { "Unknown" } else { "False" };
    let one = |kind: &str, status: &str, reason: &str| {
        json!({
            "type": kind, "status": status, "reason": reason, "message": "",
            "lastHeartbeatTime": second(now), "lastTransitionTime": second(now),
        })
    };
    json!([
        one("MemoryPressure", calm, "KubeletHasSufficientMemory"),
        one("DiskPressure", calm, "KubeletHasNoDiskPressure"),
        one("PIDPressure", calm, "KubeletHasSufficientPID"),
        one("Ready", ready, reason),
    ])
}

/// Returns capacity and allocatable.
fn amounts(machine: &Machine, sku: Option<&Sku>, config: &NodeConfig) -> (Value, Value) {
    const GB: i64 = 1_000_000_000;
    let disk_gb = number(&machine.body, "/properties/storageProfile/osDisk/diskSizeGB").unwrap_or(30);
    let memory = sku.map_or(0, |sku| memory_bytes(sku.memory_mib));
    let cpu = i128::from(sku.map_or(0, |sku| sku.vcpus)) * 1_000;
    let disk = i128::from(disk_gb) * i128::from(GB);
    let kept = |reserved: &BTreeMap<String, String>, name: &str| {
        reserved.get(name).map_or(0, |amount| milli(&json!(amount)))
    };
    let reserved = |name: &str| kept(&config.kube_reserved, name) + kept(&config.system_reserved, name);
    let evicted = |signal: &str, all: i128| {
        config.eviction_hard.get(signal).map_or(0, |amount| match amount.strip_suffix('%') {
            Some(percent) => all.saturating_mul(percent.parse().unwrap_or(0)) / 100,
            None => milli(&json!(amount)) / 1_000,
        })
    };
    let left_memory = (memory - reserved("memory") / 1_000 - evicted("memory.available", memory)).max(0);
    let left_disk = (disk - reserved("ephemeral-storage") / 1_000 - evicted("nodefs.available", disk)).max(0);
    let left_cpu = (cpu - reserved("cpu")).max(0);
    let mut capacity = json!({
        "cpu": format!("{}", cpu / 1_000), "memory": format!("{memory}"), "ephemeral-storage": format!("{disk}"),
        "pods": config.max_pods.to_string(), "hugepages-1Gi": "0", "hugepages-2Mi": "0",
    });
    let mut allocatable = json!({
        "cpu": format!("{left_cpu}m"), "memory": format!("{left_memory}"), "ephemeral-storage": format!("{left_disk}"),
        "pods": config.max_pods.to_string(), "hugepages-1Gi": "0", "hugepages-2Mi": "0",
    });
    if let Some(sku) = sku.filter(|sku| sku.gpus > 0 && config.has_gpu_driver) {
        let name = if sku.name.contains("MI25") || sku.family.contains("NVv4") {
            "amd.com/gpu"
        } else {
            "nvidia.com/gpu"
        };
        capacity[name] = json!(sku.gpus.to_string());
        allocatable[name] = json!(sku.gpus.to_string());
    }
    (capacity, allocatable)
}

/// Returns the memory in whole GiB, minus the platform's share, which is rounded up; in bytes.
fn memory_bytes(mib: u64) -> i128 {
    let bytes = u128::from(mib / 1024) << 30;
    let kept = (bytes * OVERHEAD_MILLI).div_ceil(1_000);
    i128::try_from(bytes - kept).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_what_karpenter_counts_with() {
        assert_eq!(memory_bytes(8 * 1024), 7_945_689_497);
        assert_eq!(memory_bytes(16 * 1024), 15_891_378_995);
        assert_eq!(memory_bytes(3_584), memory_bytes(3 * 1024), "a fraction of a GiB does not count");
    }
}
