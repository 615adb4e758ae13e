//! One row per node: its properties, the plan's action and its cost.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::monthly;
use crate::model::{
    CapacityType, ClaimName, DisruptionReason, Node, NodeName, PoolName, Price, SkuName, Zone, label,
};
use crate::plan::cost::Rates;
use crate::plan::{Change, ChangeId, ClaimSpec, Create, ExistingNode, Plan};
use crate::solve::price::bought_as;

/// What a plan does with a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NodeAction {
    /// Creates it.
    Create,
    /// Drains and deletes it.
    Delete,
    /// Updates it in place.
    Update,
    /// Gives it a NodeClaim.
    Adopt,
    /// Stops managing it; it keeps running.
    Forget,
    /// Nothing.
    NoOp,
    /// Nothing: it is being deleted already.
    Deleting,
    /// Nothing: the plan supposes that it does not exist.
    Absent,
}

/// A node as a script reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeFigures {
    /// Its name; of a node to create, the name of the first VM that is tried.
    pub name: Arc<str>,
    /// Its NodeClaim; absent where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claim: Option<ClaimName>,
    /// What the plan does with it.
    pub action: NodeAction,
    /// Why it is deleted; absent where it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<DisruptionReason>,
    /// Its NodePool; null where it has none.
    pub pool: Option<PoolName>,
    /// Its VM size; of a node to create, the first choice. Null where no label says it.
    pub size: Option<SkuName>,
    /// Its zone, likewise; `0` is Azure's "no zone".
    pub zone: Option<Zone>,
    /// How its VM is paid, likewise.
    pub capacity_type: Option<CapacityType>,
    /// Dollars a month of 730 hours: today of a node that exists, as planned of a node to create. Null where the price is
    /// unknown.
    pub monthly: Option<String>,
    /// Dollars a month if Azure launches the most expensive substitute; of nodes to create, and absent where a price is
    /// unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monthly_worst_case: Option<String>,
    /// Dollars a month that deleting it saves; of nodes to delete, and absent where the price is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monthly_saving: Option<String>,
    /// Whether the price is an estimate; absent where it is not.
    #[serde(default, skip_serializing_if = "crate::model::written::is_default")]
    pub is_estimate: bool,
}

/// Returns a row for each node, by name.
pub(super) fn nodes(plan: &Plan, rates: &Rates) -> Vec<NodeFigures> {
    let world = &plan.evidence.world;
    let mut touched: BTreeMap<&NodeName, (&Change, &ExistingNode)> = BTreeMap::new();
    for planned in plan.spec.changes.values() {
        touched.extend(planned.change.target().map(|target| (&target.node, (&planned.change, target))));
    }
    let price = |node: &Node| rates.today.get(&node.name).copied().unwrap_or(Price::Unknown);
    let mut rows: Vec<NodeFigures> = Vec::with_capacity(world.nodes.len());
    for node in &world.nodes {
        let change = touched.remove(&node.name).map(|(change, _)| change);
        rows.push(existing(node, action(node, change), change, price(node)));
    }
    let absent = world.absent.iter().map(|absent| &absent.node);
    rows.extend(absent.map(|node| existing(node, NodeAction::Absent, None, price(node))));
    rows.extend(touched.into_values().map(|(change, target)| unseen(change, target)));
    rows.extend(plan.spec.creates().map(|(id, create, claim)| new(plan, id, create, claim)));
    rows.sort_by(|one, other| (&one.name, one.action).cmp(&(&other.name, other.action)));
    rows
}

fn action(node: &Node, change: Option<&Change>) -> NodeAction {
    match change {
        Some(Change::Create(_)) => NodeAction::Create,
        Some(Change::Delete(_)) => NodeAction::Delete,
        Some(Change::Update(_)) => NodeAction::Update,
        Some(Change::Adopt(_)) => NodeAction::Adopt,
        Some(Change::Forget(_)) => NodeAction::Forget,
        Some(Change::NoOp(_)) | None if node.is_deleting => NodeAction::Deleting,
        Some(Change::NoOp(_)) | None => NodeAction::NoOp,
    }
}

fn existing(node: &Node, action: NodeAction, change: Option<&Change>, price: Price) -> NodeFigures {
    let bought = bought_as(node);
    let size = node.labels.get(label::INSTANCE_TYPE).map(SkuName::new);
    let monthly = price.known().map(monthly);
    let delete = change.and_then(Change::delete);
    NodeFigures {
        name: Arc::from(node.name.as_str()),
        claim: node.claim.clone(),
        action,
        reason: delete.map(|delete| delete.reason),
        pool: node.pool.clone(),
        size,
        zone: node.labels.get(label::ZONE).map(Zone::new),
        capacity_type: bought.map(|(_, capacity_type)| capacity_type),
        monthly_worst_case: None,
        monthly_saving: monthly.clone().filter(|_| delete.is_some()),
        monthly,
        is_estimate: price.is_estimate(),
    }
}

/// A node that the plan changes and that its world does not hold: nothing else is known of it.
fn unseen(change: &Change, target: &ExistingNode) -> NodeFigures {
    let action = match change {
        Change::Create(_) => NodeAction::Create,
        Change::Delete(_) => NodeAction::Delete,
        Change::Update(_) => NodeAction::Update,
        Change::Adopt(_) => NodeAction::Adopt,
        Change::Forget(_) => NodeAction::Forget,
        Change::NoOp(_) => NodeAction::NoOp,
    };
    NodeFigures {
        name: Arc::from(target.node.as_str()),
        claim: target.claim.clone(),
        action,
        reason: change.delete().map(|delete| delete.reason),
        pool: target.pool.clone(),
        size: None,
        zone: None,
        capacity_type: None,
        monthly: None,
        monthly_worst_case: None,
        monthly_saving: None,
        is_estimate: false,
    }
}

fn new(plan: &Plan, id: &ChangeId, create: &Create, claim: &ClaimSpec) -> NodeFigures {
    let placement = plan.evidence.placements.get(id);
    let price = placement.map_or(Price::Unknown, |placement| placement.effective_price);
    NodeFigures {
        name: create.vm.clone(),
        claim: Some(create.claim.clone()),
        action: NodeAction::Create,
        reason: None,
        pool: Some(claim.pool.clone()),
        size: Some(claim.primary.size.clone()),
        zone: Some(claim.primary.zone.clone()),
        capacity_type: Some(claim.primary.capacity_type),
        monthly: price.known().map(monthly),
        monthly_worst_case: claim.price_max.map(monthly),
        monthly_saving: None,
        is_estimate: price.is_estimate(),
    }
}
