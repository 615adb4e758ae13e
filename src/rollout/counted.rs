//! The nodes that limits count: those that exist or are being created, with their capacity.
//!
//! As in Karpenter, a node counts until it is deleted. A node that has not joined counts with the capacity that this
//! plan expects or, if another plan created it, with the requests of its pods.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::ground::Ground;
use crate::model::{ClaimName, NodeName, Quantity, ResourceName, Resources};
use crate::plan::ChangeId;
use crate::review::{ApprovedPlan, Room};

/// Returns the capacity of a create's node.
pub(super) fn planned<'p>(plan: &'p ApprovedPlan, create: &ChangeId) -> Option<&'p Resources> {
    let spec = &plan.spec().changes.get(create)?.change.create()?.spec;
    plan.execution().launches.get(spec).map(|launch| &launch.capacity)
}

/// Returns the remaining limits after the nodes that exist or are being created.
pub(super) fn room(ground: Ground<'_>) -> Room<'_> {
    let Ground { plan, world, .. } = ground;
    let mut room = ground.brakes().room();
    let made: BTreeMap<&ClaimName, &ChangeId> =
        plan.spec().creates().map(|(id, create, _)| (&create.claim, id)).collect();
    let mut counted: BTreeSet<&NodeName> = BTreeSet::new();
    for (name, claim) in world.claims {
        let node = claim.node.as_ref().and_then(|name| world.nodes.get_key_value(name));
        counted.extend(node.map(|(name, _)| name));
        let promised = || planned(plan, made.get(name)?).cloned();
        let has = node.map(|(_, node)| amounts(&node.capacity)).or_else(promised);
        room.count(claim.pool.as_ref(), &has.unwrap_or_else(|| asked(&claim.promised)));
    }
    let others = world.nodes.iter().filter(|(name, _)| !counted.contains(name));
    others.for_each(|(_, node)| room.count(None, &amounts(&node.capacity)));
    room
}

fn asked(requests: &BTreeMap<Arc<str>, Value>) -> Resources {
    let mut sum = Resources::none();
    requests.iter().for_each(|(name, amount)| set(&mut sum, name, amount));
    sum
}

/// Parses a node's capacity. Amounts that cannot be parsed are ignored.
fn amounts(map: &Value) -> Resources {
    let mut sum = Resources::none();
    for (name, amount) in map.as_object().into_iter().flatten() {
        set(&mut sum, name, amount);
    }
    sum
}

fn set(sum: &mut Resources, name: &str, amount: &Value) {
    let text = amount.as_str().map(str::to_owned).unwrap_or_else(|| amount.to_string());
    let Some(quantity) = Quantity::parse(&text).filter(|quantity| !quantity.is_negative()) else { return };
    let resource = ResourceName::parse(name);
    let amount = resource.capacity(&quantity);
    sum.set(resource, amount);
}
