//! Parses stored objects into the fields that a rollout uses. An object that cannot be parsed fails its whole list,
//! because the list would otherwise look complete without it. An unreadable pod only keeps its node from being removed;
//! everything else continues.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;

use super::Listing;
use super::seen::{SeenClaim, SeenNode, SeenPod};
use crate::model::{ClaimName, Effect, NodeName, PodKey, PoolName, Taint, label};

/// A missing or invalid field in a listed object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{object} cannot be read: {because}")]
pub struct ReadFault {
    /// The object, as far as its name is known.
    pub object: String,
    /// What is wrong.
    pub because: String,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Meta {
    name: String,
    namespace: Option<String>,
    uid: Arc<str>,
    resource_version: Arc<str>,
    labels: BTreeMap<Arc<str>, Arc<str>>,
    annotations: BTreeMap<Arc<str>, Arc<str>>,
    finalizers: Vec<Arc<str>>,
    owner_references: Vec<Owner>,
    #[serde(with = "crate::model::written::optional_text")]
    creation_timestamp: Option<Timestamp>,
    #[serde(with = "crate::model::written::optional_text")]
    deletion_timestamp: Option<Timestamp>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Owner {
    kind: String,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireTaint {
    key: Arc<str>,
    value: Arc<str>,
    effect: String,
}

#[derive(Deserialize)]
struct Claim {
    metadata: Meta,
    #[serde(default)]
    spec: ClaimSpec,
    #[serde(default)]
    status: ClaimStatus,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ClaimSpec {
    taints: Vec<WireTaint>,
    startup_taints: Vec<WireTaint>,
    resources: Requests,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Requests {
    requests: BTreeMap<Arc<str>, Value>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ClaimStatus {
    #[serde(rename = "providerID")]
    provider_id: Option<Arc<str>>,
    node_name: Option<String>,
    conditions: Vec<Value>,
}

#[derive(Deserialize)]
struct Node {
    metadata: Meta,
    #[serde(default)]
    spec: NodeSpec,
    #[serde(default)]
    status: NodeStatus,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct NodeSpec {
    #[serde(rename = "providerID")]
    provider_id: Option<Arc<str>>,
    taints: Vec<WireTaint>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct NodeStatus {
    capacity: Value,
    allocatable: Value,
    conditions: Vec<NodeCondition>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct NodeCondition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
}

#[derive(Deserialize)]
struct Pod {
    metadata: Meta,
    #[serde(default)]
    spec: PodSpec,
    #[serde(default)]
    status: PodStatus,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct PodSpec {
    node_name: Option<String>,
    priority_class_name: Option<String>,
    tolerations: Vec<WireToleration>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct WireToleration {
    key: Option<String>,
    operator: Option<String>,
    effect: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct PodStatus {
    phase: String,
}

fn parsed<'v, T: Deserialize<'v>>(kind: &str, object: &'v Value) -> Result<T, ReadFault> {
    T::deserialize(object).map_err(|error| ReadFault {
        object: format!("{kind} `{}`", object["metadata"]["name"].as_str().unwrap_or("?")),
        because: error.to_string(),
    })
}

fn taints(wire: Vec<WireTaint>) -> Vec<Taint> {
    let taint = |taint: WireTaint| {
        Some(Taint { effect: Effect::parse(&taint.effect)?, key: taint.key, value: taint.value })
    };
    wire.into_iter().filter_map(taint).collect()
}

/// Parses a NodeClaim.
///
/// # Errors
/// The missing or invalid field.
pub fn claim(object: &Value) -> Result<(ClaimName, SeenClaim), ReadFault> {
    let Claim { metadata, spec, status } = parsed("NodeClaim", object)?;
    let seen = SeenClaim {
        uid: metadata.uid,
        version: metadata.resource_version,
        pool: metadata.labels.get(label::NODE_POOL).map(|pool| PoolName::new(&**pool)),
        labels: metadata.labels,
        annotations: metadata.annotations,
        finalizers: metadata.finalizers,
        taints: taints(spec.taints),
        startup_taints: taints(spec.startup_taints),
        provider_id: status.provider_id.filter(|id| !id.is_empty()),
        node: status.node_name.filter(|name| !name.is_empty()).map(NodeName::new),
        conditions: status.conditions,
        promised: spec.resources.requests,
        created: metadata.creation_timestamp,
        deleting_since: metadata.deletion_timestamp,
    };
    Ok((ClaimName::new(metadata.name), seen))
}

/// Parses a Node.
///
/// # Errors
/// The missing or invalid field.
pub fn node(object: &Value) -> Result<(NodeName, SeenNode), ReadFault> {
    let Node { metadata, spec, status } = parsed("node", object)?;
    let ready = status.conditions.iter().find(|condition| condition.kind == "Ready");
    let seen = SeenNode {
        uid: metadata.uid,
        version: metadata.resource_version,
        provider_id: spec.provider_id.filter(|id| !id.is_empty()),
        labels: metadata.labels,
        annotations: metadata.annotations,
        finalizers: metadata.finalizers,
        taints: taints(spec.taints),
        is_ready: ready.is_some_and(|condition| condition.status == "True"),
        capacity: status.capacity,
        allocatable: status.allocatable,
        is_deleting: metadata.deletion_timestamp.is_some(),
    };
    Ok((NodeName::new(metadata.name), seen))
}

/// Parses a pod; `None` if it has no node.
///
/// # Errors
/// The missing or invalid field.
pub fn pod(object: &Value) -> Result<Option<SeenPod>, ReadFault> {
    const MIRROR: &str = "kubernetes.io/config.mirror";
    const CRITICAL: [&str; 2] = ["system-cluster-critical", "system-node-critical"];
    let Pod { metadata, spec, status } = parsed("pod", object)?;
    let Some(node) = spec.node_name.filter(|name| !name.is_empty()) else { return Ok(None) };
    let says = |key: &str| metadata.annotations.get(key).is_some_and(|value| &**value == "true");
    // As in Karpenter, a pod that tolerates the taint of a drained node stays until the VM is deleted.
    let stays = spec.tolerations.iter().any(|toleration| {
        let WireToleration { key, operator, effect } = toleration;
        let key_is = match (key.as_deref(), operator.as_deref()) {
            (None | Some(""), Some("Exists")) | (Some("karpenter.sh/disrupted"), _) => true,
            (None | Some(_), _) => false,
        };
        key_is && effect.as_deref().is_none_or(|effect| effect.is_empty() || effect == "NoSchedule")
    });
    Ok(Some(SeenPod {
        key: PodKey::new(metadata.namespace.as_deref().unwrap_or("default"), &metadata.name),
        uid: metadata.uid,
        node: NodeName::new(node),
        has_ended: matches!(status.phase.as_str(), "Succeeded" | "Failed"),
        is_of_daemon_set: metadata.owner_references.iter().any(|owner| owner.kind == "DaemonSet"),
        is_mirror: metadata.annotations.contains_key(MIRROR),
        is_critical: spec.priority_class_name.as_deref().is_some_and(|class| CRITICAL.contains(&class)),
        stays,
        is_do_not_disrupt: says(label::DO_NOT_DISRUPT),
        gone_by: metadata.deletion_timestamp,
    }))
}

/// The pods of a cluster.
#[derive(Clone, Debug, Default)]
pub struct Pods {
    /// Pods bound to a node, sorted.
    pub bound: Vec<SeenPod>,
    /// Pending pods without a node, with their UIDs.
    pub waiting: BTreeMap<PodKey, Arc<str>>,
}

impl Listing {
    fn read<T>(
        &self,
        kind: &str,
        of: impl Fn(&Value) -> Result<Option<T>, ReadFault>,
    ) -> Result<Vec<T>, ReadFault> {
        let mut found = Vec::new();
        for text in self.objects() {
            // The text was valid JSON when it was stored.
            let object: Value = serde_json::from_str(text)
                .map_err(|error| ReadFault { object: kind.to_owned(), because: error.to_string() })?;
            found.extend(of(&object)?);
        }
        Ok(found)
    }

    /// Parses NodeClaims.
    ///
    /// # Errors
    /// The first that cannot be parsed.
    pub fn claims(&self) -> Result<BTreeMap<ClaimName, SeenClaim>, ReadFault> {
        Ok(self.read("NodeClaim", |object| claim(object).map(Some))?.into_iter().collect())
    }

    /// Parses Nodes.
    ///
    /// # Errors
    /// The first that cannot be parsed.
    pub fn nodes(&self) -> Result<BTreeMap<NodeName, SeenNode>, ReadFault> {
        Ok(self.read("node", |object| node(object).map(Some))?.into_iter().collect())
    }

    /// Parses pods. A pod that cannot be parsed is replaced by a stand-in on its node.
    #[must_use]
    pub fn pods(&self) -> Pods {
        let mut pods = Pods::default();
        for text in self.objects() {
            let object: Value = serde_json::from_str(text).unwrap_or_default();
            pods.bound.extend(pod_or_stand_in(&object));
            pods.waiting.extend(waiting(&object));
        }
        pods.bound.sort();
        pods
    }

    /// Parses VolumeAttachments, grouped by node.
    ///
    /// # Errors
    /// The first that cannot be parsed.
    pub fn attached(&self) -> Result<BTreeMap<NodeName, BTreeSet<Arc<str>>>, ReadFault> {
        let mut by_node: BTreeMap<NodeName, BTreeSet<Arc<str>>> = BTreeMap::new();
        for (node, name) in self.read("VolumeAttachment", attachment)? {
            by_node.entry(node).or_default().insert(name);
        }
        Ok(by_node)
    }
}

/// Parses a pod like [`pod`]. One that cannot be parsed counts as a running pod that has to be drained: an unreadable
/// pod does not make its node empty.
#[must_use]
pub fn pod_or_stand_in(item: &Value) -> Option<SeenPod> {
    pod(item).unwrap_or_else(|_| unreadable(item))
}

fn unreadable(item: &Value) -> Option<SeenPod> {
    let text = |field: &str| item["metadata"][field].as_str().unwrap_or("?");
    Some(SeenPod {
        key: PodKey::new(text("namespace"), text("name")),
        uid: text("uid").into(),
        node: NodeName::new(item["spec"]["nodeName"].as_str().filter(|name| !name.is_empty())?),
        has_ended: false,
        is_of_daemon_set: false,
        is_mirror: false,
        is_critical: false,
        stays: false,
        is_do_not_disrupt: true,
        gone_by: None,
    })
}

/// Parses a pending pod without a node, with its UID; `None` if it has a node, has ended or is being deleted.
#[must_use]
pub fn waiting(object: &Value) -> Option<(PodKey, Arc<str>)> {
    let text = |part: &str, field: &str| object[part][field].as_str().filter(|text| !text.is_empty());
    let has_ended = matches!(text("status", "phase"), Some("Succeeded" | "Failed"));
    if has_ended || text("spec", "nodeName").is_some() || text("metadata", "deletionTimestamp").is_some() {
        return None;
    }
    let namespace = text("metadata", "namespace").unwrap_or("default");
    Some((PodKey::new(namespace, text("metadata", "name")?), text("metadata", "uid")?.into()))
}

/// Parses a VolumeAttachment into its node and its name.
///
/// # Errors
/// The missing or invalid field.
pub fn attachment(object: &Value) -> Result<Option<(NodeName, Arc<str>)>, ReadFault> {
    let name = object["metadata"]["name"].as_str().unwrap_or("?");
    let node = object["spec"]["nodeName"].as_str().ok_or_else(|| ReadFault {
        object: format!("VolumeAttachment `{name}`"),
        because: "it names no node".to_owned(),
    })?;
    Ok(Some((NodeName::new(node), name.into())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::pod_or_stand_in;

    #[test]
    fn a_pod_that_cannot_be_read_keeps_its_node_and_one_without_a_node_keeps_none() {
        let odd =
            json!({"metadata": {"name": "a", "namespace": "x", "labels": 7}, "spec": {"nodeName": "n"}});
        let seen = pod_or_stand_in(&odd).expect("it has a node");
        assert!(seen.is_of_workload() && seen.is_drained() && seen.is_do_not_disrupt, "{seen:?}");
        assert_eq!((seen.node.as_str(), &*seen.key.name), ("n", "a"));
        assert_eq!(pod_or_stand_in(&json!({"metadata": {"name": "b", "labels": 7}, "spec": {}})), None);
    }
}
