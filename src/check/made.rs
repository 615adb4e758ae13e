//! New nodes of a plan, each in one value: the decision and the expected node.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{CapacityType, LabelKey, PodKey, PoolName, SkuName, Zone};
use crate::plan::{ChangeId, ClaimSpec, Create, NodeShape, Placement, Plan};

/// A node that the plan creates.
pub(super) struct Made<'a> {
    pub(super) id: &'a ChangeId,
    pub(super) create: &'a Create,
    pub(super) claim: &'a ClaimSpec,
    /// The expected node.
    pub(super) placement: &'a Placement,
    /// The expected shape, if the plan states it.
    pub(super) shape: Option<&'a NodeShape>,
    pub(super) pool: &'a PoolName,
    pub(super) size: &'a SkuName,
    pub(super) zone: &'a Zone,
    pub(super) capacity_type: CapacityType,
    /// Pods placed on it.
    pub(super) pods: &'a [PodKey],
    /// The pod for which it was opened; `None` if its pool has a fixed number of nodes.
    pub(super) opened_for: Option<&'a PodKey>,
}

impl Made<'_> {
    /// Returns the node's name in findings.
    pub(super) fn title(&self) -> String {
        format!("new node `{}`", self.create.claim)
    }

    /// Returns the labels that the claim settles: its labels, and its requirements with a single value.
    pub(super) fn choices(&self) -> BTreeMap<LabelKey, Arc<str>> {
        let single = |(key, requirement): (&LabelKey, &crate::model::Requirement)| {
            requirement.single().map(|value| (key.clone(), Arc::clone(value)))
        };
        let mut choices: BTreeMap<_, _> = self.claim.requirements.iter().filter_map(single).collect();
        choices.extend(self.claim.labels.iter().map(|(key, value)| (key.clone(), Arc::clone(value))));
        choices
    }
}

/// Returns the new nodes of a plan, by change id. A new node without a placement is omitted; the rule about content
/// reports it.
pub(super) fn made_nodes(plan: &Plan) -> Vec<Made<'_>> {
    plan.spec
        .creates()
        .filter_map(|(id, create, claim)| {
            let placement = plan.evidence.placements.get(id)?;
            Some(Made {
                id,
                create,
                claim,
                placement,
                shape: plan.evidence.shapes.get(placement.shape),
                pool: &claim.pool,
                size: &claim.primary.size,
                zone: &claim.primary.zone,
                capacity_type: claim.primary.capacity_type,
                pods: &placement.pods,
                opened_for: placement.opened_for.as_ref(),
            })
        })
        .collect()
}
