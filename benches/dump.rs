//! Makes the dump of a large cluster, as `kubectl get nodes,pods -A -o yaml` (or `-o json`) writes it: one List,
//! keys sorted, with all that a real object carries and a plan does not read.
//!
//! Nothing is random: the same numbers give the same bytes.

use std::io::{self, Write};

use serde_json::{Value, json};

/// How large the cluster is.
#[derive(Clone, Copy)]
pub(crate) struct Cluster {
    /// Nodes of agent pools and of Karpenter.
    pub(crate) nodes: usize,
    /// Pods that run, daemons included.
    pub(crate) running: usize,
    /// Pods that wait.
    pub(crate) waiting: usize,
}

/// Sizes of nodes: name, vCPUs, allocatable millicores, memory in KiB, allocatable memory in KiB.
const SIZES: [(&str, u32, u32, u32, u32); 3] = [
    ("Standard_D8s_v5", 8, 7820, 32_863_300, 28_450_120),
    ("Standard_D16s_v5", 16, 15_740, 65_848_220, 60_121_440),
    ("Standard_E8s_v5", 8, 7820, 65_848_220, 60_121_440),
];

/// What the workloads' pods ask for: millicores, MiB.
const REQUESTS: [(u32, u32); 6] = [(50, 64), (100, 256), (250, 512), (200, 384), (500, 1024), (150, 700)];

/// Pods of a workload.
const REPLICAS: usize = 12;

/// Writes the dump as kubectl writes YAML.
pub(crate) fn yaml(cluster: Cluster, out: &mut impl Write) -> io::Result<()> {
    out.write_all(b"apiVersion: v1\nitems:\n")?;
    for object in objects(cluster) {
        let text = serde_saphyr::to_string(&[object]).expect("a JSON value has a YAML form");
        out.write_all(text.as_bytes())?;
    }
    out.write_all(b"kind: List\nmetadata:\n  resourceVersion: \"\"\n")
}

/// Writes the dump as kubectl writes JSON.
pub(crate) fn json(cluster: Cluster, out: &mut impl Write) -> io::Result<()> {
    let items: Vec<Value> = objects(cluster).collect();
    let list =
        json!({"apiVersion": "v1", "items": items, "kind": "List", "metadata": {"resourceVersion": ""}});
    serde_json::to_writer_pretty(&mut *out, &list)?;
    out.write_all(b"\n")
}

fn objects(cluster: Cluster) -> impl Iterator<Item = Value> {
    let Cluster { nodes, running, waiting } = cluster;
    let running = (0..running).map(move |place| pod(place, Some(place % nodes)));
    let waiting = (0..waiting).map(move |place| pod(1_000_000 + place, None));
    (0..nodes).map(node).chain(running).chain(waiting)
}

fn node_name(place: usize) -> String {
    format!("aks-general-{:08}-vmss{place:06}", 31_415_926)
}

fn node(place: usize) -> Value {
    let (size, cores, cpu, memory, allocatable) = SIZES[place % SIZES.len()];
    let (name, zone) = (node_name(place), format!("westeurope-{}", place % 3 + 1));
    let condition = |kind: &str, status: &str| {
        json!({"lastHeartbeatTime": "2026-11-20T08:00:00Z", "lastTransitionTime": "2026-11-01T08:00:00Z",
            "message": format!("kubelet reports {kind}"), "reason": format!("Kubelet{kind}"),
            "status": status, "type": kind})
    };
    json!({"apiVersion": "v1", "kind": "Node",
        "metadata": {
            "annotations": {"node.alpha.kubernetes.io/ttl": "0", "volumes.kubernetes.io/controller-managed-attach-detach": "true"},
            "creationTimestamp": "2026-11-01T08:00:00Z",
            "labels": {
                "agentpool": "general", "beta.kubernetes.io/arch": "amd64", "kubernetes.azure.com/agentpool": "general",
                "kubernetes.azure.com/cluster": "MC_rg-prod_prod-weu_westeurope", "kubernetes.azure.com/mode": "user",
                "kubernetes.io/arch": "amd64", "kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                "node.kubernetes.io/instance-type": size, "topology.kubernetes.io/region": "westeurope",
                "topology.kubernetes.io/zone": zone},
            "name": name, "resourceVersion": format!("{}", 4_000_000 + place),
            "uid": uid(7_000_000 + place)},
        "spec": {"podCIDR": "10.244.0.0/24",
            "providerID": format!("azure:///subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/mc_rg-prod_prod-weu_westeurope/providers/Microsoft.Compute/virtualMachineScaleSets/aks-general-31415926-vmss/virtualMachines/{place}")},
        "status": {
            "addresses": [{"address": format!("10.0.{}.{}", place / 250, place % 250), "type": "InternalIP"}],
            "allocatable": {"cpu": format!("{cpu}m"), "ephemeral-storage": "119703055367", "memory": format!("{allocatable}Ki"), "pods": "110"},
            "capacity": {"cpu": cores.to_string(), "ephemeral-storage": "129886128Ki", "memory": format!("{memory}Ki"), "pods": "110"},
            "conditions": [condition("MemoryPressure", "False"), condition("DiskPressure", "False"), condition("Ready", "True")],
            "nodeInfo": {"architecture": "amd64", "kubeletVersion": "v1.34.2", "operatingSystem": "linux"}}})
}

fn uid(number: usize) -> String {
    format!("{:08x}-1f2e-4d3c-8b7a-{:012x}", number.wrapping_mul(2_654_435_761) % (1 << 32), number)
}

fn pod(place: usize, node: Option<usize>) -> Value {
    let workload = place / REPLICAS;
    let (cpu, memory) = REQUESTS[workload % REQUESTS.len()];
    let name = format!("service-{workload:05}");
    let hash = format!("{:09x}", workload.wrapping_mul(40_503) % (1 << 36));
    let namespace = format!("team-{:02}", workload % 40);
    let mut spec = json!({
        "containers": [{
            "env": [{"name": "LOG_LEVEL", "value": "info"}, {"name": "TOKEN", "value": "not-for-anyone"}],
            "image": format!("registry.example.com/{name}:1.{}", workload % 7), "imagePullPolicy": "IfNotPresent",
            "name": "app", "ports": [{"containerPort": 8080, "name": "http", "protocol": "TCP"}],
            "resources": {"limits": {"memory": format!("{}Mi", memory * 2)},
                "requests": {"cpu": format!("{cpu}m"), "memory": format!("{memory}Mi")}},
            "terminationMessagePath": "/dev/termination-log",
            "volumeMounts": [{"mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "name": "kube-api-access", "readOnly": true}]}],
        "dnsPolicy": "ClusterFirst", "enableServiceLinks": true, "priority": 0, "restartPolicy": "Always",
        "schedulerName": "default-scheduler", "serviceAccountName": "default", "terminationGracePeriodSeconds": 30,
        "tolerations": [
            {"effect": "NoExecute", "key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300},
            {"effect": "NoExecute", "key": "node.kubernetes.io/unreachable", "operator": "Exists", "tolerationSeconds": 300}],
        "volumes": [{"name": "kube-api-access", "projected": {"defaultMode": 420, "sources": [{"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}]}}]});
    let mut status = json!({"phase": "Pending", "qosClass": "Burstable", "conditions": [
        {"lastTransitionTime": "2026-11-20T08:00:00Z", "reason": "Unschedulable", "status": "False", "type": "PodScheduled"}]});
    if let Some(node) = node {
        spec["nodeName"] = json!(node_name(node));
        status = json!({"phase": "Running", "podIP": format!("10.244.{}.{}", place / 250, place % 250), "qosClass": "Burstable",
            "conditions": [
                {"lastTransitionTime": "2026-11-19T08:00:00Z", "status": "True", "type": "Ready"},
                {"lastTransitionTime": "2026-11-19T08:00:00Z", "status": "True", "type": "PodScheduled"}],
            "containerStatuses": [{"name": "app", "ready": true, "restartCount": 0, "started": true}]});
    }
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "creationTimestamp": "2026-11-19T08:00:00Z", "generateName": format!("{name}-{hash}-"),
            "labels": {"app": name, "pod-template-hash": hash},
            "name": format!("{name}-{hash}-{place:07}"), "namespace": namespace,
            "ownerReferences": [{"apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": "ReplicaSet",
                "name": format!("{name}-{hash}"), "uid": uid(9_000_000 + workload)}],
            "resourceVersion": format!("{}", 5_000_000 + place), "uid": uid(place)},
        "spec": spec, "status": status})
}
