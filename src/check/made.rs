//! The nodes that a plan makes, each in one value: what is decided and what is expected of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{CapacityType, LabelKey, PodKey, PoolName, SkuName, Zone};
use crate::plan::{ChangeId, ClaimSpec, Create, NodeShape, Placement, Plan};

/// A node that a plan makes.
pub(super) struct Made<'a> {
    pub(super) id: &'a ChangeId,
    pub(super) create: &'a Create,
    pub(super) claim: &'a ClaimSpec,
    /// What is expected of it.
    pub(super) placement: &'a Placement,
    /// What is said that it will have, where the plan says it.
    pub(super) shape: Option<&'a NodeShape>,
    pub(super) pool: &'a PoolName,
    pub(super) size: &'a SkuName,
    pub(super) zone: &'a Zone,
    pub(super) capacity_type: CapacityType,
    /// The pods that are placed there.
    pub(super) pods: &'a [PodKey],
    /// The pod for which it was opened; none where its pool asks for a number of nodes.
    pub(super) opened_for: Option<&'a PodKey>,
}

impl Made<'_> {
    /// Returns the node as findings name it.
    pub(super) fn title(&self) -> String {
        format!("new node `{}`", self.create.claim)
    }

    /// Returns the labels that are settled by the claim: those it names, and requirements with one value.
    pub(super) fn choices(&self) -> BTreeMap<LabelKey, Arc<str>> {
        let single = |(key, requirement): (&LabelKey, &crate::model::Requirement)| {
            requirement.single().map(|value| (key.clone(), Arc::clone(value)))
        };
        let mut choices: BTreeMap<_, _> = self.claim.requirements.iter().filter_map(single).collect();
        choices.extend(self.claim.labels.iter().map(|(key, value)| (key.clone(), Arc::clone(value))));
        choices
    }
}

/// Returns the nodes that a plan makes, by the id of their change. One of which the plan does not say what
/// is expected is left out here, and a finding of the rule about content.
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
