//! PodDisruptionBudgets: how many matching pods must stay available during evictions.

use std::sync::Arc;

use super::{LabelSelector, Namespace};

/// A count of pods, or a share of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PodShare {
    /// So many.
    Count(u32),
    /// So many of a hundred, rounded up.
    Percent(u32),
}

/// What a budget bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PodBound {
    /// At least so many stay.
    MinAvailable(PodShare),
    /// At most so many go.
    MaxUnavailable(PodShare),
}

/// Which pods that are not ready the budget lets go.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum UnhealthyPods {
    /// Only while enough others are healthy; the default.
    #[default]
    IfHealthyBudget,
    /// Always.
    AlwaysAllow,
}

/// What the cluster counted last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct BudgetCounts {
    /// How many more may go now.
    pub disruptions_allowed: u32,
    /// How many are healthy.
    pub current_healthy: u32,
    /// How many must be.
    pub desired_healthy: u32,
    /// How many there are.
    pub expected_pods: u32,
}

/// A PodDisruptionBudget.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct DisruptionBudget {
    /// The namespace.
    pub namespace: Namespace,
    /// The name.
    pub name: Arc<str>,
    /// Which pods of its namespace; an empty selector means all, `None` none.
    pub selector: Option<LabelSelector>,
    /// What it bounds; `None` lets nothing go, as nothing is counted then.
    pub bound: Option<PodBound>,
    /// Which pods that are not ready it lets go.
    pub unhealthy: UnhealthyPods,
    /// What the cluster counted last; `None` where it has not.
    pub counts: Option<BudgetCounts>,
}
