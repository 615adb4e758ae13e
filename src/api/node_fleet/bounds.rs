//! Limits, prices, freezes and safety of a NodeFleet.
//!
//! Must keep money as the text that was written; `policy` converts it to millionths of a dollar.

use serde::{Deserialize, Serialize};

use super::super::node_pool::DisruptionReason;
use super::super::text::{DurationText, Quantity};

/// The most that the whole cluster may have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FleetLimits {
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Quantity>,
    /// CPUs of all nodes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Quantity>,
    /// Memory of all nodes together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Quantity>,
    /// US dollars per month of 730 hours, as a decimal string.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 16, "pattern" = crate::api::pattern::DOLLARS)))]
    pub cost_per_month: Option<String>,
}

/// What is paid beside or instead of Azure's list prices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// What every node costs beside its VM and its disk, in US dollars per hour, as a decimal string.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 16, "pattern" = crate::api::pattern::DOLLARS)))]
    pub cost_per_node: Option<String>,
    /// Percentages off the list price, by family of sizes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "maxItems" = 200,
            "x-kubernetes-list-map-keys" = ["family"],
            "x-kubernetes-list-type" = "map"
        ))
    )]
    pub discounts: Option<Vec<Discount>>,
    /// VMs that are paid for whether they run or not: reservations and savings plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("maxItems" = 200, "x-kubernetes-list-map-keys" = ["size"], "x-kubernetes-list-type" = "map"))
    )]
    pub commitments: Option<Vec<Commitment>>,
}

/// A percentage off the list price of a family of sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Discount {
    /// The family with its version, for example `Dsv5`.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 63, "pattern" = crate::api::pattern::FAMILY)))]
    pub family: String,
    /// The whole percentage that is taken off.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 100)))]
    pub percent: i32,
}

/// A number of VMs of one size that are paid for whether they run or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Commitment {
    /// The size, for example `Standard_D4s_v5`.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 63, "pattern" = crate::api::pattern::SIZE)))]
    pub size: String,
    /// How many VMs.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub count: i32,
    /// US dollars per hour for each of them, as a decimal string.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 16, "pattern" = crate::api::pattern::DOLLARS)))]
    pub price_per_hour: String,
}

/// A window in which nothing is changed by choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Freeze {
    /// What people call the window.
    #[cfg_attr(feature = "schema", schemars(extend("minLength" = 1, "maxLength" = 63)))]
    pub name: String,
    /// When the window opens, as a cron schedule; needs `duration`. Absent: it is always open.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::api::pattern::SCHEDULE)))]
    pub schedule: Option<String>,
    /// How long the window stays open, in hours and minutes; needs `schedule`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::api::pattern::WINDOW_DURATION)))]
    pub duration: Option<DurationText>,
    /// The time zone of the schedule, by its IANA name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("default" = "UTC", "maxLength" = 64, "pattern" = crate::api::pattern::TIME_ZONE))
    )]
    pub time_zone: Option<String>,
    /// Names of the NodePools that it is for. Absent: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 100, "x-kubernetes-list-type" = "set")))]
    pub pools: Option<Vec<String>>,
    /// The reasons that it is for. Absent: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 50, "x-kubernetes-list-type" = "set")))]
    pub reasons: Option<Vec<DisruptionReason>>,
}

/// How many nodes with running pods a pool, and the whole cluster once more, may lose in 10 minutes: the larger of the two.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Safety {
    /// Percentage of the nodes with running pods, of the pool and of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 20, "minimum" = 0, "maximum" = 100)))]
    pub max_loss_percent: Option<i32>,
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 10, "minimum" = 0)))]
    pub max_loss_nodes: Option<i32>,
}
