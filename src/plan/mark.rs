//! Ownership marks on everything that is created for a node: cluster, change and plan. Annotation and label keys have a
//! slash; Azure tags have `_` instead.

use super::change::ChangeId;
use super::execution::Execution;

/// The identity of the cluster.
pub const CLUSTER: &str = crate::model::label::CLUSTER;
/// The change that created it.
pub const ITEM: &str = "nodeform.dev/item";
/// The plan of that change, by its id.
pub const PLAN: &str = "nodeform.dev/plan";

/// Karpenter's tag with the managed cluster of a VM.
pub const KARPENTER_CLUSTER_TAG: &str = "karpenter.azure.com_cluster";
pub use crate::snapshot::azure::KARPENTER_TAG as KARPENTER_POOL_TAG;

/// Returns the marks of objects that a change of a plan creates, by key.
#[must_use]
pub fn marks(execution: &Execution, change: &ChangeId, plan_id: &str) -> [(&'static str, String); 3] {
    [(CLUSTER, execution.cluster.uid.to_string()), (ITEM, change.to_string()), (PLAN, plan_id.to_owned())]
}

/// Returns the tag name of a key: Azure allows no slash.
#[must_use]
pub fn tag(key: &str) -> String {
    key.replace('/', "_")
}
