//! The NodeClaim of a create, as it is written: Karpenter could launch it too, and it says whose it is.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{RequestFault, created};
use crate::plan::execution::Execution;
use crate::plan::{ChangeId, PlanSpec};
use crate::render::claims;

pub use crate::render::claims::FINALIZER;

/// The annotation with the identity of the cluster; the tag has `_` for the slash.
pub const CLUSTER: &str = "nodeform.dev/cluster";
/// The annotation with the change that made the node.
pub const ITEM: &str = "nodeform.dev/item";
/// The annotation with the plan's id.
pub const PLAN: &str = "nodeform.dev/plan";

/// What says whose a node is: cluster, change, plan.
pub(super) fn own_marks(execution: &Execution, change: &ChangeId, plan: &str) -> BTreeMap<String, String> {
    [(CLUSTER, execution.cluster.uid.to_string()), (ITEM, change.to_string()), (PLAN, plan.to_owned())]
        .map(|(key, value)| (key.to_owned(), value))
        .into()
}

/// Returns the NodeClaim of a create of a live plan; `plan` is the plan's id.
///
/// # Errors
/// The plan makes no such node, or is not of a live cluster.
pub fn claim(spec: &PlanSpec, change: &ChangeId, plan: &str) -> Result<Value, RequestFault> {
    let execution = spec.execution.as_ref().ok_or(RequestFault::NotLive)?;
    let (create, asked) = created(spec, change)?;
    let launch = execution.launches.get(&create.spec);
    let launch = launch.ok_or_else(|| RequestFault::NoChoice(change.clone(), 0))?;
    let mut claim = claims::claim(create, asked);
    let annotations = claim.metadata.annotations.get_or_insert_default();
    annotations.extend(launch.annotations.iter().map(|(key, value)| (key.to_string(), value.to_string())));
    annotations.extend(own_marks(execution, change, plan));
    serde_json::to_value(claim).map_err(|_| RequestFault::NoCreate(change.clone()))
}
