//! An attempt to create the VM of a create: its name, tags and machine.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{RequestFault, created};
use crate::arm::{ResourceId, Tags};
use crate::plan::execution::{Execution, LaunchChoice, Machine};
use crate::plan::{ChangeId, PlanSpec, mark};

/// An attempt to create the node of a create.
#[derive(Clone, Copy, Debug)]
pub struct Attempt<'a> {
    /// The plan.
    pub spec: &'a PlanSpec,
    /// The plan's id: ten characters of its digest.
    pub plan: &'a str,
    /// The create.
    pub change: &'a ChangeId,
    /// Index of the claim's choice.
    pub choice: usize,
    /// Number of the attempt, from 1: each later one has a VM with its own name.
    pub number: u32,
}

/// The parts of an attempt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made<'a> {
    pub(super) execution: &'a Execution,
    pub(super) choice: &'a LaunchChoice,
    pub(super) machine: &'a Machine,
}

impl<'a> Attempt<'a> {
    pub(super) fn made(&self) -> Result<Made<'a>, RequestFault> {
        let execution = self.spec.execution.as_ref().ok_or(RequestFault::NotLive)?;
        let (create, _) = created(self.spec, self.change)?;
        let choice = execution.choices(&create.spec).get(self.choice);
        let machine = choice.and_then(|choice| execution.machines.get(&choice.machine));
        let none = || RequestFault::NoChoice(self.change.clone(), self.choice);
        Ok(Made { execution, choice: choice.ok_or_else(none)?, machine: machine.ok_or_else(none)? })
    }

    /// Returns the name of VM, NIC, disk and computer: `aks-<claim>`, with the number for later attempts.
    ///
    /// # Errors
    /// The plan creates no such node.
    pub fn name(&self) -> Result<Arc<str>, RequestFault> {
        let (create, _) = created(self.spec, self.change)?;
        Ok(match self.number {
            0 | 1 => create.vm.clone(),
            later => Arc::from(format!("{}-{later}", create.vm)),
        })
    }

    /// Returns the machine's tags, and those with the plan and change that created it.
    pub(super) fn tags(&self, made: &Made<'_>) -> Result<Tags, RequestFault> {
        let machine: BTreeMap<String, String> =
            made.machine.tags.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect();
        let own = mark::marks(made.execution, self.change, self.plan);
        let own = own.into_iter().map(|(key, value)| (mark::tag(key), value)).collect();
        Tags::layered(&[&machine, &own]).map_err(RequestFault::Tags)
    }
}

/// Returns the resource group of the cluster's nodes.
pub(super) fn group(execution: &Execution) -> Result<ResourceId, RequestFault> {
    let cluster: ResourceId = execution.cluster.id.parse()?;
    Ok(ResourceId::of_group(cluster.subscription(), &execution.cluster.node_resource_group)?)
}
