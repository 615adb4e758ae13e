//! Standing limits of a NodeFleet: changes within them need no review.
//!
//! Must only narrow: an allowance never permits what a NodePool forbids.

use serde::{Deserialize, Serialize};

use super::super::text::DurationText;
use super::approve::Decision;

/// One set of bounds inside of which changes need no review.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Allowance {
    /// What people call these bounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minLength" = 1, "maxLength" = 63)))]
    pub name: Option<String>,
    /// The one cluster that they are for, so that a copy in another one has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<ClusterIdentity>,
    /// Names of the NodePools that they are for. Absent: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 100, "x-kubernetes-list-type" = "set")))]
    pub pools: Option<Vec<String>>,
    /// Which new nodes need no review. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<AllowedCreate>,
    /// Which disruptions need no review. Absent: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disrupt: Option<AllowedDisrupt>,
    /// What may be created beyond the bounds when pods wait and nobody reviews.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub emergency: Option<Emergency>,
    /// Which images new nodes may have without a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<AllowedImages>,
    /// The last day, in UTC, on which they hold. Absent: no end.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::api::pattern::DAY)))]
    pub valid_until: Option<String>,
    /// What happens after that day.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "keep")))]
    pub on_expiry: Option<OnExpiry>,
}

/// Identifies one cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClusterIdentity {
    /// The uid of the namespace `kube-system`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minLength" = 1, "maxLength" = 64)))]
    pub uid: Option<String>,
    /// ARM id of the AKS cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 1024, "pattern" = crate::api::pattern::SUBSCRIPTION_ID)))]
    pub resource_id: Option<String>,
}

/// Which new nodes need no review.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AllowedCreate {
    /// Which sizes. Absent: all that the pools allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skus: Option<AllowedSizes>,
    /// Which zones, by their number or name. Absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 20, "x-kubernetes-list-type" = "set")))]
    pub zones: Option<Vec<String>>,
    /// Which capacity types, and how many nodes of each. Absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_types: Option<AllowedCapacity>,
    /// The most that the pools may have with the new nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<AllowedMax>,
    /// How fast nodes may be created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<AllowedRate>,
}

/// Which sizes new nodes may have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AllowedSizes {
    /// Families with their versions, for example `Dsv5`. Absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 200, "x-kubernetes-list-type" = "set")))]
    pub families: Option<Vec<String>>,
    /// The most vCPUs that one node may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub max_vcpu: Option<i32>,
}

/// Which capacity types new nodes may have; an absent one is not allowed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct AllowedCapacity {
    /// VMs that Azure may take back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spot: Option<CapacityBound>,
    /// VMs that stay.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_demand: Option<CapacityBound>,
}

/// A bound on the nodes of one capacity type.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityBound {
    /// Number of nodes. Absent: no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub max_nodes: Option<i32>,
}

/// The most that the pools may have with the new nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AllowedMax {
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub nodes: Option<i32>,
    /// Number of vCPUs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub vcpu: Option<i64>,
    /// Millionths of a US dollar per hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub micro_usd_per_hour: Option<i64>,
}

/// How fast nodes may be created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AllowedRate {
    /// Number of nodes in any 10 minutes.
    #[serde(skip_serializing_if = "Option::is_none", rename = "nodesPer10m")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1)))]
    pub nodes_per_10m: Option<i32>,
}

/// Which disruptions need no review.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AllowedDisrupt {
    /// Removing nodes without pods of workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "review")))]
    pub empty: Option<Decision>,
    /// Moving pods so that nodes can go or become cheaper. Absent: with a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consolidate: Option<AllowedConsolidation>,
    /// Replacing nodes that are no longer what their pool asks for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "review")))]
    pub drift: Option<Decision>,
}

/// How much may be moved to save money.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AllowedConsolidation {
    /// Number of nodes that may go on one day, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub max_nodes_per_day: Option<i32>,
    /// The least that one move must save, in millionths of a US dollar per hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub min_saving_micro_usd_per_hour: Option<i64>,
    /// When it may happen: a cron schedule, a slash, how long, and a time zone, as in `0 1 * * 1-5/4h UTC`. Absent:
    /// always.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "items" = {"type": "string", "maxLength": 200, "pattern": crate::api::pattern::WINDOW},
            "maxItems" = 50,
            "x-kubernetes-list-type" = "set"
        ))
    )]
    pub windows: Option<Vec<String>>,
}

/// What may be created beyond the bounds when pods wait and nobody reviews.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Emergency {
    /// Number of nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub max_nodes: Option<i32>,
    /// Millionths of a US dollar per hour of all of them together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub max_micro_usd_per_hour: Option<i64>,
    /// How long pods must have waited.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::api::pattern::DURATION)))]
    pub pending_after: Option<DurationText>,
    /// The lowest priority of a pod that counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_priority: Option<i32>,
    /// How often it may happen on one day, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub per_day: Option<i32>,
    /// How long the nodes may stay without a review.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::api::pattern::DURATION)))]
    pub ttl: Option<DurationText>,
}

/// Which images new nodes may have without a review.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AllowedImages {
    /// How far an image may be from the ones that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<WhichImages>,
    /// How old an image may be, in days, hours and minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = crate::api::pattern::DAYS_DURATION)))]
    pub max_age: Option<DurationText>,
}

/// How far an image may be from the ones that run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WhichImages {
    /// Only the same image.
    Same,
    /// Any image of the same major version.
    SameMajor,
    /// Any image.
    Any,
}

/// What happens when an allowance has run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum OnExpiry {
    /// It still holds, and an alert says so.
    Keep,
    /// It no longer holds.
    Freeze,
}
