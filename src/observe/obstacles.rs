//! Obstacles to applying plans, as reported by the cluster and Azure.
//!
//! Must never fail an observation: what is unknown is no obstacle.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;

use super::azure::Reader;
use super::{Ask, Observation};
use crate::arm::answer::{AgentPool, ManagedCluster, Permission};
use crate::arm::{Request, ResourceId, permission};
use crate::model::{Effect, LabelKey, Taint, label};
use crate::snapshot::obstacles::{Obstacles, OtherProvisioner, TAGS_WRITE};

/// Name that Karpenter's chart gives its objects, and a path segment of its image.
const KARPENTER: &str = "karpenter";
/// Label with the name of the chart.
const NAME_LABEL: &str = "app.kubernetes.io/name";

/// Reads the obstacles.
pub(super) async fn read(
    reader: &mut Reader<'_, impl Ask>,
    cluster: &ManagedCluster,
    group: &ResourceId,
) -> Obstacles {
    let request = Request::list_permissions(group);
    // Without permission to list permissions, Azure's refusals show what else is missing.
    let what = "permissions in the node resource group could not be read, so they are not checked before the first write";
    let permissions = reader.quietly::<Permission>(what, &request).await;
    let needed: Vec<&str> = permission::NEEDED.iter().copied().chain([TAGS_WRITE]).collect();
    let missing = permissions.map(|found| permission::missing(&found, &needed));
    let mut others = Vec::new();
    if cluster.node_provisioning_mode.as_deref().is_some_and(|mode| mode.eq_ignore_ascii_case("Auto")) {
        others.push(OtherProvisioner::NodeAutoProvisioning);
    }
    others.extend(karpenters(reader.seen()));
    others.extend(cluster.agent_pools.iter().filter(|pool| is_autoscaled(pool)).map(autoscaled));
    Obstacles {
        kinds: reader.seen().missing.iter().map(|kind| Arc::from(*kind)).collect(),
        actions: missing.unwrap_or_default().into_iter().map(Arc::from).collect(),
        others,
    }
}

fn is_autoscaled(pool: &AgentPool) -> bool {
    pool.enable_auto_scaling == Some(true)
}

fn autoscaled(pool: &AgentPool) -> OtherProvisioner {
    let mut labels: BTreeMap<LabelKey, Arc<str>> = BTreeMap::new();
    let mut add = |key: &str, value: &str| {
        labels.insert(label::normalized(key).into(), value.into());
    };
    add("kubernetes.azure.com/agentpool", &pool.name);
    add("kubernetes.io/os", "linux");
    if let Some(mode) = &pool.mode {
        add("kubernetes.azure.com/mode", &mode.to_ascii_lowercase());
    }
    if let Some(size) = &pool.vm_size {
        add("node.kubernetes.io/instance-type", size);
    }
    pool.node_labels.iter().flatten().for_each(|(key, value)| add(key, value));
    let taints = pool.node_taints.iter().flatten().filter_map(|text| taint(text)).collect();
    OtherProvisioner::ClusterAutoscaler { pool: pool.name.as_str().into(), labels, taints }
}

/// Parses a taint in AKS's format: `key=value:Effect`, or `key:Effect` without a value.
fn taint(text: &str) -> Option<Taint> {
    let (rest, effect) = text.rsplit_once(':')?;
    let (key, value) = rest.split_once('=').unwrap_or((rest, ""));
    Some(Taint::new(key, value, Effect::parse(effect)?))
}

#[derive(Deserialize)]
struct List {
    #[serde(default)]
    items: Vec<Deployment>,
}

#[derive(Deserialize)]
struct Deployment {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Deserialize)]
struct Metadata {
    name: String,
    #[serde(default)]
    namespace: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Spec {
    #[serde(default)]
    replicas: Option<i64>,
    template: Template,
}

#[derive(Deserialize)]
struct Template {
    spec: Pod,
}

#[derive(Deserialize)]
struct Pod {
    #[serde(default)]
    containers: Vec<Container>,
}

#[derive(Deserialize)]
struct Container {
    #[serde(default)]
    image: Option<String>,
}

/// Returns Karpenter's Deployments whose replicas are not 0.
fn karpenters(seen: &Observation) -> Vec<OtherProvisioner> {
    let lists = seen.sources.iter().filter(|source| source.name == "<deployments>");
    let lists = lists.filter_map(|source| serde_json::from_slice::<List>(&source.bytes).ok());
    let is_karpenter = |deployment: &Deployment| {
        let is_named = deployment.metadata.labels.get(NAME_LABEL).is_some_and(|name| name == KARPENTER);
        let mut images = deployment.spec.template.spec.containers.iter().filter_map(|it| it.image.as_deref());
        is_named || images.any(|image| path(image).any(|segment| segment == KARPENTER))
    };
    let up = |deployment: &Deployment| deployment.spec.replicas.unwrap_or(1) > 0;
    let found = lists.flat_map(|list| list.items).filter(|it| up(it) && is_karpenter(it));
    found
        .map(|Deployment { metadata: Metadata { name, namespace, .. }, .. }| OtherProvisioner::Karpenter {
            namespace: namespace.into(),
            name: name.into(),
        })
        .collect()
}

/// Returns the path segments of an image, without tag and digest.
fn path(image: &str) -> impl Iterator<Item = &str> {
    let image = image.split_once('@').map_or(image, |(image, _)| image);
    image.split('/').map(|segment| segment.split_once(':').map_or(segment, |(name, _)| name))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::manifests::Source;

    fn found(deployment: Value) -> usize {
        let bytes = json!({"items": [deployment]}).to_string().into_bytes();
        let seen =
            Observation { sources: vec![Source::new("<deployments>", bytes)], ..Observation::default() };
        karpenters(&seen).len()
    }

    fn deployment(label: &str, image: &str, replicas: Option<i64>) -> Value {
        json!({
            "metadata": {"name": "it", "namespace": "kube-system", "labels": {NAME_LABEL: label}},
            "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"image": image}]}}},
        })
    }

    #[test]
    fn karpenter_is_known_by_its_charts_label_or_its_image_and_counts_while_it_asks_for_replicas() {
        let image = "mcr.microsoft.com/aks/karpenter/controller:1.6.2@sha256:0";
        assert_eq!(found(deployment("karpenter", "example/it:1", None)), 1);
        assert_eq!(found(deployment("other", image, Some(2))), 1);
        assert_eq!(found(deployment("karpenter", image, Some(0))), 0);
        assert_eq!(found(deployment("nodeform", "example.com/not-karpenter:1", Some(2))), 0);
    }

    #[test]
    fn taints_of_agent_pools_are_read_with_and_without_a_value() {
        assert_eq!(taint("a=b:NoSchedule"), Some(Taint::new("a", "b", Effect::NoSchedule)));
        assert_eq!(
            taint("CriticalAddonsOnly:NoExecute"),
            Some(Taint::new("CriticalAddonsOnly", "", Effect::NoExecute))
        );
        assert_eq!(taint("nothing"), None);
    }
}
