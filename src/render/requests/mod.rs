//! What is sent for a change of a live plan: to Kubernetes a NodeClaim, to Azure a NIC, a VM and its billing extension.
//!
//! Made of the plan alone, but for what is no part of it: the SSH key, of which the plan has the digest, and customData,
//! which holds the bootstrap token. Must never decide: `apply` sends exactly this.

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
    /// The plan is not of a live cluster.
    #[error("the plan has no requests: only a plan of a live cluster has")]
    NotLive,
    /// The plan makes no such node.
    #[error("change `{0}` of the plan makes no node")]
    NoCreate(ChangeId),
    /// The claim has no such choice, or its machine is missing.
    #[error("change `{0}` has no choice {1}")]
    NoChoice(ChangeId, usize),
    /// An id in the plan is none.
    #[error(transparent)]
    Id(#[from] ResourceIdFault),
    /// Azure would refuse the tags.
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Tags(Vec<TagsFault>),
}

/// Returns the request by which a resource gets tags; those that are not named stay.
///
/// # Errors
/// The id is none.
pub fn tags(id: &str, tags: &BTreeMap<Arc<str>, Arc<str>>) -> Result<Request, RequestFault> {
    let tags = tags.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
    Ok(Request::merge_tags(&id.parse()?, &Tags::of_answer(tags)))
}

/// The create of a change, and what its NodeClaim asks for.
fn created<'a>(spec: &'a PlanSpec, change: &ChangeId) -> Result<(&'a Create, &'a ClaimSpec), RequestFault> {
    let create = spec.changes.get(change).and_then(|planned| planned.change.create());
    let found = create.and_then(|create| Some((create, spec.claims.get(&create.spec)?)));
    found.ok_or_else(|| RequestFault::NoCreate(change.clone()))
}
