//! NodeClaim of a create, as written to the cluster: Karpenter could launch it too, and it names its owner.

use serde_json::Value;

use super::{RequestFault, created};
use crate::model::{Purpose, label};
use crate::plan::{ChangeId, PlanSpec, mark};
use crate::render::claims;

/// Returns the NodeClaim of a create of a live plan; `plan` is the plan's id.
///
/// # Errors
/// The plan creates no such node, or is not live.
pub fn claim(spec: &PlanSpec, change: &ChangeId, plan: &str) -> Result<Value, RequestFault> {
    let execution = spec.execution.as_ref().ok_or(RequestFault::NotLive)?;
    let (create, asked) = created(spec, change)?;
    let launch = execution.launches.get(&create.spec);
    let launch = launch.ok_or_else(|| RequestFault::NoChoice(change.clone(), 0))?;
    let mut claim = claims::claim(create, asked);
    let annotations = claim.metadata.annotations.get_or_insert_default();
    annotations.extend(launch.annotations.iter().map(|(key, value)| (key.to_string(), value.to_string())));
    annotations.extend(mark::marks(execution, change, plan).map(|(key, value)| (key.to_owned(), value)));
    if let Some(made_for) = execution.made_for.get(change) {
        let purposes: Vec<&str> = made_for.iter().map(Purpose::as_str).collect();
        annotations.insert(label::MADE_FOR.to_owned(), purposes.join(","));
    }
    serde_json::to_value(claim).map_err(|_| RequestFault::NoCreate(change.clone()))
}
