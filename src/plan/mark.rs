//! What says whose a node is, on everything that is made for it: cluster, change and plan. As annotations of objects and
//! labels the keys have a slash; Azure's tags have `_` for it.

use super::change::ChangeId;
use super::execution::Execution;

/// The identity of the cluster.
pub const CLUSTER: &str = crate::model::label::CLUSTER;
/// The change that made it.
pub const ITEM: &str = "nodeform.dev/item";
/// The plan of the change, by its id.
pub const PLAN: &str = "nodeform.dev/plan";

/// The tag in which Karpenter names the managed cluster of a VM.
pub const KARPENTER_CLUSTER_TAG: &str = "karpenter.azure.com_cluster";
pub use crate::snapshot::azure::KARPENTER_TAG as KARPENTER_POOL_TAG;

/// Returns the marks of what a change of a plan makes, by their keys.
#[must_use]
pub fn marks(execution: &Execution, change: &ChangeId, plan_id: &str) -> [(&'static str, String); 3] {
    [(CLUSTER, execution.cluster.uid.to_string()), (ITEM, change.to_string()), (PLAN, plan_id.to_owned())]
}

/// Returns the tag of a key: Azure takes no slash.
#[must_use]
pub fn tag(key: &str) -> String {
    key.replace('/', "_")
}
