//! Reads between rounds: the NodeFleets, and the pods that do not run.

use std::sync::Arc;

use serde_json::Value;

use crate::automatic::{self, Definition, Standing, WaitingPod};
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind};
use crate::model::{NodeName, PodKey};
use crate::plan::Plan;
use crate::render;

/// API path of NodeFleets.
pub(super) const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";

/// The mode, with the NodeFleet that sets it.
pub(super) struct FoundFleet {
    pub(super) standing: Standing,
    /// The objects, sorted by name.
    pub(super) objects: Vec<Value>,
}

/// Reads the mode. If the kind is not installed, there is no NodeFleet.
pub(super) async fn standing(cluster: &Cluster) -> Result<FoundFleet, ClusterFailure> {
    let mut fleets = match items(cluster, FLEETS, "").await {
        Ok(fleets) => fleets,
        Err(failure) if failure.kind == ClusterFailureKind::NotFound => Vec::new(),
        Err(failure) => return Err(failure),
    };
    fleets.sort_by_key(|fleet| fleet["metadata"]["name"].as_str().unwrap_or_default().to_owned());
    Ok(FoundFleet { standing: automatic::standing(&fleets), objects: fleets })
}

/// The kinds that the controller requires.
const NEEDED: [&str; 3] =
    ["aksnodeclasses.karpenter.azure.com", "nodeclaims.karpenter.sh", "nodepools.karpenter.sh"];

/// Returns the required kinds that the API server does not serve.
pub(super) async fn missing_kinds(cluster: &Cluster) -> Result<Vec<&'static str>, ClusterFailure> {
    let served = cluster.served(&["karpenter.sh", "karpenter.azure.com"]).await?;
    Ok(NEEDED.into_iter().filter(|kind| served.path(kind).is_none()).collect())
}

/// Returns the pods that do not run yet.
pub(super) async fn waiting(cluster: &Cluster) -> Result<Vec<WaitingPod>, ClusterFailure> {
    let pods = items(cluster, "/api/v1/pods", "fieldSelector=status.phase%3DPending").await?;
    Ok(pods.iter().filter_map(waiting_pod).collect())
}

fn waiting_pod(pod: &Value) -> Option<WaitingPod> {
    let (metadata, status) = (&pod["metadata"], &pod["status"]);
    if metadata["deletionTimestamp"].is_string() {
        return None;
    }
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let mut scheduled = conditions.filter(|condition| condition["type"] == "PodScheduled");
    let refused = scheduled.find(|condition| condition["status"] == "False");
    let node = pod["spec"]["nodeName"].as_str().filter(|node| !node.is_empty());
    let says = match node {
        Some(_) => started(status),
        None => refused.and_then(|refused| refused["message"].as_str()).map(Arc::from),
    };
    let text = |field: &str| metadata[field].as_str();
    Some(WaitingPod {
        uid: text("uid")?.into(),
        key: PodKey::new(text("namespace")?, text("name")?),
        created: text("creationTimestamp").and_then(|time| time.parse().ok()),
        is_unschedulable: node.is_none() && refused.is_some_and(|it| it["reason"] == "Unschedulable"),
        node: node.map(NodeName::new),
        says: says.filter(|says: &Arc<str>| !says.is_empty()),
    })
}

/// Returns the kubelet's reason why a container does not start.
fn started(status: &Value) -> Option<Arc<str>> {
    let of = |field: &str| status[field].as_array().into_iter().flatten();
    let mut waiting = of("initContainerStatuses").chain(of("containerStatuses")).filter_map(|container| {
        let waiting = &container["state"]["waiting"];
        Some((waiting["reason"].as_str()?, waiting["message"].as_str().unwrap_or_default()))
    });
    let (reason, message) = waiting.next()?;
    Some(if message.is_empty() { reason.into() } else { format!("{reason}: {message}").into() })
}

/// Returns the pods that stay Pending according to a plan, with the reasons of its page.
pub(super) fn without_node(plan: &Plan) -> Vec<(Vec<PodKey>, String)> {
    let found = render::without_node(plan).into_iter();
    found.map(|(pods, because)| (pods.into_iter().cloned().collect(), because)).collect()
}

/// Reads whether the kind NodeClaim is being deleted. Without a CRD, it counts as served.
pub(super) async fn definition(cluster: &Cluster) -> Definition {
    const PATH: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/nodeclaims.karpenter.sh";
    match cluster.get_optional(PATH).await {
        Ok(Some(found)) if found["metadata"]["deletionTimestamp"].is_string() => Definition::Going,
        Ok(_) => Definition::There,
        Err(failure) => Definition::Unknown(failure.what),
    }
}

/// Lists objects.
pub(super) async fn items(cluster: &Cluster, path: &str, query: &str) -> Result<Vec<Value>, ClusterFailure> {
    Ok(cluster.list(path, query).await?.items())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_that_does_not_run_says_what_kube_scheduler_or_its_kubelet_says_of_it() {
        let pod = |spec: Value, status: Value| {
            let metadata = json!({"name": "a", "namespace": "web", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z"});
            waiting_pod(&json!({"metadata": metadata, "spec": spec, "status": status})).expect("it waits")
        };
        let unplaced = json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
            "message": "0/3 nodes are available"}]});
        let found = pod(json!({}), unplaced);
        assert_eq!((found.is_unschedulable, found.says.as_deref()), (true, Some("0/3 nodes are available")));
        let pulling = json!({"containerStatuses": [{"state": {"running": {}}},
            {"state": {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}}]});
        let found = pod(json!({"nodeName": "n1"}), pulling);
        assert_eq!(found.node, Some(NodeName::new("n1")));
        assert_eq!(
            (found.is_unschedulable, found.says.as_deref()),
            (false, Some("ImagePullBackOff: no such image"))
        );
        let gated =
            json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "SchedulingGated"}]});
        assert!(!pod(json!({}), gated).is_unschedulable);
        let goes = json!({"metadata": {"name": "a", "namespace": "w", "uid": "u", "deletionTimestamp": "2026-01-01T00:00:00Z"}});
        assert_eq!(waiting_pod(&goes), None);
    }
}
