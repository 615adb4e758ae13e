//! Derives agent pools from existing Nodes, as far as Nodes describe them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::json;

use super::profile::{AgentPool, Cluster, Mode};
use super::read::Input;
use crate::manifests::{self, Source};
use crate::model::{LabelKey, Node, ResourceName, Taint, label};

/// The labels that name a node's agent pool.
const AGENT_POOL: [&str; 2] = ["agentpool", "kubernetes.azure.com/agentpool"];
/// Domains whose labels Kubernetes, AKS, or drivers write.
const WRITTEN_BY_OTHERS: [&str; 7] = [
    "kubernetes.io",
    "k8s.io",
    "kubernetes.azure.com",
    "karpenter.sh",
    "karpenter.azure.com",
    "csi.azure.com",
    "topology.disk.csi.azure.com",
];

/// Reads Nodes and groups them by agent pool. Skips nodes created by Karpenter.
pub(super) fn read(source: Source) -> Result<Input, Vec<String>> {
    // Objects that are not manifests are skipped here and reported below as "neither agent pools nor Nodes".
    let objects = manifests::read(vec![Source { is_walked: true, ..source }])
        .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    let mut pools: BTreeMap<&Arc<str>, Vec<&Node>> = BTreeMap::new();
    for node in objects.nodes.iter().filter(|node| node.pool.is_none()) {
        if let Some(name) = AGENT_POOL.into_iter().find_map(|key| node.labels.get(key)) {
            pools.entry(name).or_default().push(node);
        }
    }
    if pools.is_empty() {
        return Err(vec![
            "the file holds neither agent pools as `az aks nodepool list -o json` prints them, nor Nodes with the label `agentpool`".to_owned(),
        ]);
    }
    let mut cluster = Cluster::default();
    let regions: BTreeSet<&Arc<str>> =
        pools.values().flatten().filter_map(|node| node.labels.get(label::REGION)).collect();
    cluster.location = regions.first().map(|region| region.to_string());
    let pools = pools.into_iter().map(|(name, nodes)| agent_pool(name, &nodes)).collect();
    Ok(Input { pools, cluster, is_of_nodes: true })
}

fn agent_pool(name: &str, nodes: &[&Node]) -> AgentPool {
    let shared = |key: &str| {
        let values: BTreeSet<&str> =
            nodes.iter().filter_map(|node| node.labels.get(key)).map(|value| &**value).collect();
        values.first().filter(|_| values.len() == 1).map(|value| (*value).to_owned())
    };
    let is = |key: &str, value: &str| shared(key).is_some_and(|text| text == value);
    let number_of_zone = |node: &&Node| {
        let zone = node.labels.get(label::ZONE)?;
        zone.rsplit_once('-').map(|(_, number)| number.to_owned())
    };
    let mut pool = AgentPool {
        name: name.to_owned(),
        size: shared(label::INSTANCE_TYPE).unwrap_or_default(),
        mode: if is(label::AKS_MODE, "system") { Mode::System } else { Mode::User },
        is_windows: is(label::OS, "windows"),
        count: u64::try_from(nodes.len()).unwrap_or(u64::MAX),
        zones: nodes.iter().filter_map(number_of_zone).collect(),
        is_spot: is(label::AKS_SCALE_SET_PRIORITY, "spot"),
        labels: labels(nodes),
        taints: taints(nodes),
        ..AgentPool::default()
    };
    let family = if is("kubernetes.azure.com/os-sku", "AzureLinux") { "AzureLinux" } else { "Ubuntu" };
    pool.class.insert("imageFamily".to_owned(), json!(family));
    let pods: BTreeSet<i64> = nodes.iter().map(|node| node.capacity.get(&ResourceName::Pods)).collect();
    if let Some(most) = pods.last().filter(|most| (10..=250).contains(*most)) {
        pool.class.insert("maxPods".to_owned(), json!(most));
    }
    pool
}

/// Returns the user-defined labels that all nodes share.
fn labels(nodes: &[&Node]) -> BTreeMap<String, String> {
    let Some((first, rest)) = nodes.split_first() else { return BTreeMap::new() };
    let is_shared =
        |(key, value): &(&LabelKey, &Arc<str>)| rest.iter().all(|node| node.labels.get(*key) == Some(value));
    let is_of_user = |key: &str| {
        let domain = key.split_once('/').map_or("", |(domain, _)| domain);
        let is_of = |other: &str| domain == other || domain.ends_with(&format!(".{other}"));
        !AGENT_POOL.contains(&key)
            && !["storageprofile", "storagetier", "accelerator"].contains(&key)
            && !WRITTEN_BY_OTHERS.iter().any(|other| is_of(other))
    };
    let shared = first.labels.iter().filter(is_shared).filter(|(key, _)| is_of_user(key.as_str()));
    shared.map(|(key, value)| (key.to_string(), value.to_string())).collect()
}

/// Returns the taints that all nodes share, without node condition and startup taints.
fn taints(nodes: &[&Node]) -> Vec<String> {
    let Some((first, rest)) = nodes.split_first() else { return Vec::new() };
    let is_kept = |taint: &&Taint| {
        !taint.key.starts_with("node.kubernetes.io/")
            && !taint.key.starts_with("node.cloudprovider.kubernetes.io/")
            && rest.iter().all(|node| node.taints.contains(taint))
    };
    first.taints.iter().filter(is_kept).map(ToString::to_string).collect()
}
