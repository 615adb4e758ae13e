//! Evidence: what a plan was made from and why, for people and for the checker, outside the digest.
//!
//! Readers of plan files ignore unknown fields here. Nothing here is applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::beside::Beside;
use super::change::{ChangeId, NoOp};
use super::comparison::Comparison;
use super::reason::Reason;
use super::strategies::StrategyFleet;
use super::world::World;
use crate::model::{
    ChangeClass, DisruptionReason, LabelKey, NodeName, PodKey, PoolName, Price, Region, Resources,
};
use crate::solve::Report;

/// What a plan was made from and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// When the world was seen; null for manifests alone.
    #[serde(with = "crate::model::written::optional_text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub seen_at: Option<Timestamp>,
    /// Why each change is made.
    pub reasons: BTreeMap<ChangeId, Reason>,
    /// What the nodes to make will have; equal ones once.
    pub shapes: Vec<NodeShape>,
    /// What each create is expected to be: its shape, price and pods.
    pub placements: BTreeMap<ChangeId, Placement>,
    /// The waiting pods that go to existing nodes, sorted.
    pub kept: BTreeMap<NodeName, Vec<PodKey>>,
    /// How many nodes stay as they are, by pool.
    pub unchanged: Vec<NoOp>,
    /// Changes that stand in no wave, by node.
    pub held: Vec<HeldChange>,
    /// What solving says: cost, unplaced pods, warnings.
    pub report: Report,
    /// What was planned from, as far as the plan needs it.
    pub world: World,
    /// What the change of the input does that led here, where two inputs were planned side by side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison: Option<Comparison>,
    /// What other plans, proposed or merged, do to nodes that this one sends pods to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Beside>,
    /// What each strategy arrives at, where several were asked; the plan is that of the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strategies: Vec<StrategyFleet>,
}

impl Evidence {
    /// Returns the evidence of a plan of which nothing but its decisions is known.
    #[must_use]
    pub fn unseen(region: Region) -> Self {
        Self {
            seen_at: None,
            reasons: BTreeMap::new(),
            shapes: Vec::new(),
            placements: BTreeMap::new(),
            kept: BTreeMap::new(),
            unchanged: Vec::new(),
            held: Vec::new(),
            report: Report::default(),
            world: World::unseen(region),
            comparison: None,
            beside: Vec::new(),
            strategies: Vec::new(),
        }
    }
}

/// What a node to make will have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeShape {
    /// What it has in all.
    pub capacity: Resources,
    /// What pods and daemonsets may use.
    pub allocatable: Resources,
    /// What daemonsets ask for of it.
    pub daemon_requests: Resources,
    /// Its labels once it has joined.
    pub labels: BTreeMap<LabelKey, Arc<str>>,
    /// Whether shape or zones are estimated from the size's name.
    pub is_estimate: bool,
}

/// What a create is expected to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// Its shape: a place in [`Evidence::shapes`].
    pub shape: usize,
    /// What it costs by the list.
    pub list_price: Price,
    /// What it costs the user.
    pub effective_price: Price,
    /// Whether the claim's highest price is an estimate.
    #[serde(default)]
    pub is_price_max_estimate: bool,
    /// The pod for whose sake a node of this pool, and of no heavier one, was opened; none where the pool asks for a
    /// number of nodes whatever pods need.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_for: Option<PodKey>,
    /// The pods that go there, sorted.
    pub pods: Vec<PodKey>,
}

/// A change that stands in no wave, because budgets, a freeze or `approve` hold it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeldChange {
    /// The node.
    pub node: NodeName,
    /// Its pool.
    pub pool: Option<PoolName>,
    /// What would be done with it.
    pub class: ChangeClass,
    /// Why it would go; null where it stays in any case.
    pub reason: Option<DisruptionReason>,
    /// What holds it back, for people.
    pub because: String,
    /// Until when; null where nobody knows.
    #[serde(with = "crate::model::written::optional_text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub until: Option<Timestamp>,
}
