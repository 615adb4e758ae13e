//! `nodeform.dev/v1alpha1` NodeFleet: nodeform's settings for one cluster as a whole.
//!
//! All fields are optional; offline plans work without the object. Must never duplicate what a NodePool says.

mod allowance;
mod approvals;
mod approve;
mod bounds;
mod cluster;
mod status;

use serde::{Deserialize, Serialize};

pub use allowance::{
    Allowance, AllowedCapacity, AllowedConsolidation, AllowedCreate, AllowedDisrupt, AllowedImages,
    AllowedMax, AllowedRate, AllowedSizes, CapacityBound, ClusterIdentity, Emergency, OnExpiry, WhichImages,
};
pub use approvals::Approvals;
pub use approve::{Approve, ApproveClasses, Decision};
pub use bounds::{Commitment, Discount, FleetLimits, Freeze, Prices, Safety};
pub use cluster::{Cluster, Forge, Git, NetworkDataplane, NetworkPlugin, NetworkPluginMode};
pub use status::{
    FleetHold, FleetReview, FleetWaiting, LastPlan, LearnedNode, NodeFleetStatus, PlanInFlight, ReviewState,
    TriedNode,
};

use super::meta::ObjectMeta;
use super::text::NumberOrWord;

/// How nodeform treats one cluster as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeFleet {
    /// `nodeform.dev/v1alpha1`.
    pub api_version: String,
    /// `NodeFleet`.
    pub kind: String,
    /// Name, labels and annotations of the fleet.
    pub metadata: ObjectMeta,
    /// What the user wants; absent: every default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spec: Option<NodeFleetSpec>,
    /// What was last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<NodeFleetStatus>,
}

/// How nodeform treats one cluster as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [
        {
            "message": "mode 'review' needs git.repository",
            "rule": "!has(self.mode) || self.mode != 'review' || (has(self.git) && has(self.git.repository))",
        },
        {
            "message": "'allow' has a meaning only in mode 'review'",
            "rule": "!has(self.allow) || size(self.allow) == 0 || (has(self.mode) && self.mode == 'review')",
        },
    ]))
)]
#[serde(rename_all = "camelCase")]
pub struct NodeFleetSpec {
    /// The cluster that the nodes belong to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// What happens with a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "observe")))]
    pub mode: Option<Mode>,
    /// Exceptions to the mode by class of change, for all pools or for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approve: Option<Approve>,
    /// Stops everything but the finishing of what is lost already.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub suspend: Option<bool>,
    /// How nodes are chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "cheapest")))]
    pub strategy: Option<Strategy>,
    /// What decides between sizes, zones and ways to buy, with strategy `cheapest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "price")))]
    pub prefer: Option<Prefer>,
    /// What is made of `minValues` of NodePools where fewer values can be had.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "Strict")))]
    pub min_values_policy: Option<MinValuesPolicy>,
    /// What soft wishes of pods may cost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preferences: Option<Preferences>,
    /// Over how many hosts pods are spread that ask to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
    /// The most that the whole cluster may have, in every mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<FleetLimits>,
    /// What is paid beside or instead of Azure's list prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prices: Option<Prices>,
    /// Bounds inside of which changes need no review, in mode `review`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 50, "x-kubernetes-list-type" = "atomic")))]
    pub allow: Option<Vec<Allowance>>,
    /// Windows in which nothing is changed by choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "maxItems" = 50,
            "x-kubernetes-list-map-keys" = ["name"],
            "x-kubernetes-list-type" = "map",
            "x-kubernetes-validations" = [
                {"message": "'schedule' must be set with 'duration'", "rule": "self.all(x, has(x.schedule) == has(x.duration))"},
            ]
        ))
    )]
    pub freeze: Option<Vec<Freeze>>,
    /// How many nodes may be lost before everything stops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safety: Option<Safety>,
    /// Where plans are reviewed, in mode `review`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git: Option<Git>,
}

/// What happens with a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// It is shown.
    Observe,
    /// It is carried out at once.
    Auto,
    /// It is carried out when people have merged it.
    Review,
}

/// How nodes are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// By the price of all of them together.
    Cheapest,
    /// As Karpenter chooses them.
    Karpenter,
}

/// What decides between sizes, zones and ways to buy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Prefer {
    /// The price.
    Price,
    /// The price, with what Azure refused a short while ago and what is scarce counted as dearer.
    Availability,
}

/// What is made of `minValues` where fewer values can be had; the values are those of Karpenter's
/// `--min-values-policy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MinValuesPolicy {
    /// No such node is made.
    Strict,
    /// It is made with as many values as can be had.
    BestEffort,
}

/// What soft wishes of pods may cost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preferences {
    /// How much dearer, in percent, the fleet may become to meet pods' soft wishes: a whole number or `unlimited`; 0
    /// meets only what costs nothing. Absent: 5 with strategy `cheapest`, `unlimited` with `karpenter`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0, "maximum" = 10_000, "pattern" = super::pattern::UNLIMITED)))]
    pub max_extra_cost_percent: Option<NumberOrWord>,
}

/// Over how many hosts pods are spread whose topology spread constraint over `kubernetes.io/hostname` is required.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Spread {
    /// Over how many hosts at least, existing ones counted, where nodes are made for such pods, even if fewer would do for
    /// kube-scheduler: a whole number, or `each` for one host per `maxSkew` pods. Absent: 3 with strategy `cheapest`, `each`
    /// with `karpenter`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 1_000, "pattern" = super::pattern::EACH)))]
    pub min_hosts: Option<NumberOrWord>,
}
