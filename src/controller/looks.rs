//! What is looked at between rounds: the NodeFleets, and the pods that wait.

use jiff::Timestamp;
use serde_json::Value;

use crate::api::node_fleet::FleetWaiting;
use crate::automatic::{self, Definition, Standing, WaitingPod};
use crate::cluster::{Cluster, ClusterFailure, ClusterFailureKind};
use crate::model::PodKey;
use crate::plan::{self, Plan};
use crate::render;

/// Where NodeFleets are.
pub(super) const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";

/// The mode, with the NodeFleet that says it.
pub(super) struct FoundFleet {
    pub(super) standing: Standing,
    /// The object, where there is one.
    pub(super) object: Value,
}

/// Reads the mode. Where the kind is not installed there is no NodeFleet.
pub(super) async fn standing(cluster: &Cluster) -> Result<FoundFleet, ClusterFailure> {
    let fleets = match items(cluster, FLEETS, "").await {
        Ok(fleets) => fleets,
        Err(failure) if failure.kind == ClusterFailureKind::NotFound => Vec::new(),
        Err(failure) => return Err(failure),
    };
    let standing = automatic::standing(&fleets);
    Ok(FoundFleet { standing, object: fleets.into_iter().next().unwrap_or_default() })
}

/// The kinds that the controller cannot do without.
const NEEDED: [&str; 3] =
    ["aksnodeclasses.karpenter.azure.com", "nodeclaims.karpenter.sh", "nodepools.karpenter.sh"];

/// Returns which of the needed kinds the API server does not serve.
pub(super) async fn missing_kinds(cluster: &Cluster) -> Result<Vec<&'static str>, ClusterFailure> {
    let served = cluster.served(&["karpenter.sh", "karpenter.azure.com"]).await?;
    Ok(NEEDED.into_iter().filter(|kind| served.path(kind).is_none()).collect())
}

/// Returns the pods that kube-scheduler could not place.
pub(super) async fn waiting(cluster: &Cluster) -> Result<Vec<WaitingPod>, ClusterFailure> {
    let pods = items(cluster, "/api/v1/pods", "fieldSelector=spec.nodeName%3D").await?;
    let waits = |pod: &&Value| {
        let conditions = pod["status"]["conditions"].as_array().into_iter().flatten();
        let mut conditions = conditions.filter(|condition| condition["type"] == "PodScheduled");
        conditions.any(|condition| condition["status"] == "False" && condition["reason"] == "Unschedulable")
    };
    let waiting = pods.iter().filter(waits).filter_map(|pod| {
        let text = |field: &str| pod["metadata"][field].as_str();
        Some(WaitingPod {
            uid: text("uid")?.into(),
            key: PodKey::new(text("namespace")?, text("name")?),
            created: text("creationTimestamp").and_then(|time| time.parse().ok()),
        })
    });
    Ok(waiting.collect())
}

/// Returns the pods that wait for a node which should have been initialized by now, with what it lacks.
pub(super) fn awaited(plan: &Plan, at: Timestamp, clock_speed: u32) -> Vec<FleetWaiting> {
    let speed = i32::try_from(clock_speed).unwrap_or(i32::MAX);
    let late = plan::awaited::awaited(plan).into_iter().filter(|awaited| awaited.is_late(at, speed));
    let waiting = late.filter_map(|awaited| {
        Some(FleetWaiting {
            pods: i32::try_from(awaited.pods.len()).unwrap_or(i32::MAX),
            example: awaited.pods.first()?.to_string(),
            because: format!("{}; {}", awaited.because(), awaited.hint()),
        })
    });
    waiting.collect()
}

/// Returns the pods that stay Pending by a plan, in the words of its page.
pub(super) fn without_node(plan: &Plan) -> Vec<FleetWaiting> {
    let waiting = render::without_node(plan).into_iter().filter_map(|(pods, because)| {
        let example = pods.first()?.to_string();
        Some(FleetWaiting { pods: i32::try_from(pods.len()).unwrap_or(i32::MAX), example, because })
    });
    waiting.collect()
}

/// Reads whether the kind NodeClaim stays. Where its definition is not to be found it is served all the same.
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
    let listed = cluster.list(path, query).await?;
    let mut items = Vec::new();
    for page in &listed.pages {
        // `list` has read each page as a list already.
        let page: Value = serde_json::from_slice(page).unwrap_or_default();
        items.extend(page["items"].as_array().cloned().unwrap_or_default());
    }
    Ok(items)
}
