//! What is sent for a change of a live plan: to Kubernetes a NodeClaim, to Azure a NIC, a VM and its billing extension.
//!
//! Made of the plan alone, but for what is no part of it: the SSH key, of which the plan has the digest, and customData,
//! which holds the bootstrap token. Must never decide: `apply` sends exactly this.

mod claim;
mod machine;
mod show;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use claim::{CLUSTER, FINALIZER, ITEM, PLAN, claim};
pub use machine::{Start, billing, nic, nic_id, vm, vm_id};
pub use show::requests_text;

use crate::arm::{ResourceId, ResourceIdFault, Tags, TagsFault};
use crate::plan::execution::{Execution, LaunchChoice, Machine};
use crate::plan::{ChangeId, ClaimSpec, Create, PlanSpec};

/// A try to make the node of a create.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The plan.
    pub spec: &'a PlanSpec,
    /// The plan's id: ten characters of its digest.
    pub plan: &'a str,
    /// The create.
    pub change: &'a ChangeId,
    /// Which of the claim's choices, from 0.
    pub choice: usize,
    /// The attempt, from 1: each later one has a VM of its own name.
    pub number: u8,
}

/// Why a request cannot be built.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestFault {
    /// The plan is not of a live cluster.
    #[error("the plan does not say how it is carried out: only a plan of a live cluster does")]
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

/// What an attempt is made of.
#[derive(Clone, Copy, Debug)]
struct Made<'a> {
    execution: &'a Execution,
    choice: &'a LaunchChoice,
    machine: &'a Machine,
}

/// The create of a change, and what its NodeClaim asks for.
fn created<'a>(spec: &'a PlanSpec, change: &ChangeId) -> Result<(&'a Create, &'a ClaimSpec), RequestFault> {
    let create = spec.changes.get(change).and_then(|planned| planned.change.create());
    let found = create.and_then(|create| Some((create, spec.claims.get(&create.spec)?)));
    found.ok_or_else(|| RequestFault::NoCreate(change.clone()))
}

impl<'a> Attempt<'a> {
    fn made(&self) -> Result<Made<'a>, RequestFault> {
        let execution = self.spec.execution.as_ref().ok_or(RequestFault::NotLive)?;
        let (create, _) = created(self.spec, self.change)?;
        let choice = execution.choices(&create.spec).get(self.choice);
        let machine = choice.and_then(|choice| execution.machines.get(&choice.machine));
        let none = || RequestFault::NoChoice(self.change.clone(), self.choice);
        Ok(Made { execution, choice: choice.ok_or_else(none)?, machine: machine.ok_or_else(none)? })
    }

    /// Returns the name of VM, NIC, disk and computer: `aks-<claim>`, and of a later attempt with its number.
    ///
    /// # Errors
    /// The plan makes no such node.
    pub fn name(&self) -> Result<Arc<str>, RequestFault> {
        let (create, _) = created(self.spec, self.change)?;
        Ok(match self.number {
            0 | 1 => create.vm.clone(),
            later => Arc::from(format!("{}-{later}", create.vm)),
        })
    }

    /// The machine's tags, and those that say which change of which plan made it.
    fn tags(&self, made: &Made<'_>) -> Result<Tags, RequestFault> {
        let machine: BTreeMap<String, String> =
            made.machine.tags.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let own = claim::own_marks(made.execution, self.change, self.plan);
        let own = own.into_iter().map(|(key, value)| (key.replace('/', "_"), value)).collect();
        Tags::layered(&[&machine, &own]).map_err(RequestFault::Tags)
    }
}

/// The resource group of the cluster's nodes.
fn group(execution: &Execution) -> Result<ResourceId, RequestFault> {
    let cluster: ResourceId = execution.cluster.id.parse()?;
    Ok(ResourceId::of_group(cluster.subscription(), &execution.cluster.node_resource_group)?)
}
