//! Requests for a change of a live plan: a NodeClaim to Kubernetes, and a NIC, a VM and its billing extension to Azure.
//!
//! Built from the plan alone, except for data that it does not contain: the SSH key, of which it has the digest, and
//! customData with the bootstrap token. Must never decide: `apply` sends exactly these requests.

#[cfg(feature = "live")]
mod attempt;
mod claim;
#[cfg(feature = "live")]
mod machine;
#[cfg(feature = "live")]
mod show;
#[cfg(all(test, feature = "live"))]
mod tests;

#[cfg(feature = "live")]
pub use attempt::Attempt;
pub use claim::claim;
#[cfg(feature = "live")]
pub use machine::{Start, billing, nic, nic_id, vm, vm_id};
#[cfg(feature = "live")]
pub use show::requests_text;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::arm::{Request, ResourceIdFault, Tags, TagsFault};
use crate::plan::{ChangeId, ClaimSpec, Create, PlanSpec};

/// Why a request cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestFault {
    /// The plan is not live.
    #[error("the plan has no requests: only a plan of a live cluster has")]
    NotLive,
    /// The plan creates no such node.
    #[error("change `{0}` of the plan makes no node")]
    NoCreate(ChangeId),
    /// The claim has no such choice, or its machine is missing.
    #[error("change `{0}` has no choice {1}")]
    NoChoice(ChangeId, usize),
    /// An id in the plan is invalid.
    #[error(transparent)]
    Id(#[from] ResourceIdFault),
    /// Azure would refuse the tags.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Tags(Vec<TagsFault>),
}

/// Returns the request that sets tags of a resource; other tags stay.
///
/// # Errors
/// The id is invalid.
pub fn tags(id: &str, tags: &BTreeMap<Arc<str>, Arc<str>>) -> Result<Request, RequestFault> {
    let tags = tags.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Ok(Request::merge_tags(&id.parse()?, &Tags::of_answer(tags)))
}

/// Returns the create of a change and its NodeClaim spec.
fn created<'a>(spec: &'a PlanSpec, change: &ChangeId) -> Result<(&'a Create, &'a ClaimSpec), RequestFault> {
    let create = spec.changes.get(change).and_then(|planned| planned.change.create());
    let found = create.and_then(|create| Some((create, spec.claims.get(&create.spec)?)));
    found.ok_or_else(|| RequestFault::NoCreate(change.clone()))
}
