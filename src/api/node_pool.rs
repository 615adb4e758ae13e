//! `karpenter.sh/v1` NodePool: the nodes that may be created for pods, and how they may be disrupted.
//!
//! Must match Karpenter's CRD field for field.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::meta::{Condition, ObjectMeta};
use super::template::{NodeClassRef, Requirement, Taint};
use super::text::{DurationText, ResourceMap};

/// A pool of nodes that are made when pods need them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePool {
    /// `karpenter.sh/v1`.
    pub api_version: String,
    /// `NodePool`.
    pub kind: String,
    /// Name, labels and annotations of the pool.
    pub metadata: ObjectMeta,
    /// What the user wants.
    pub spec: NodePoolSpec,
    /// What was last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<NodePoolStatus>,
}

/// What nodes a pool may have, how many, and when they may be disrupted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [
        {
            "message": "Cannot transition NodePool between static (replicas set) and dynamic (replicas unset) provisioning modes",
            "rule": "has(self.replicas) == has(oldSelf.replicas)",
        },
        {
            "message": "only 'limits.nodes' is supported on static NodePools",
            "rule": "!has(self.replicas) || (!has(self.limits) || size(self.limits) == 0 || (size(self.limits) == 1 && 'nodes' in self.limits))",
        },
        {
            "message": "'weight' is not supported on static NodePools",
            "rule": "!has(self.replicas) || !has(self.weight)",
        },
    ]))
)]
#[serde(rename_all = "camelCase")]
pub struct NodePoolSpec {
    /// The shape of the pool's nodes.
    pub template: NodeClaimTemplate,
    /// When and how fast nodes of the pool may be disrupted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = {"consolidateAfter": "0s"})))]
    pub disruption: Option<Disruption>,
    /// The most that the pool may have of each resource, and of `nodes`. With `replicas` only `nodes` is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<ResourceMap>,
    /// Pools with a higher weight are tried first; none counts as 0. Not allowed with `replicas`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 100)))]
    pub weight: Option<i32>,
    /// Keeps this number of nodes whatever the pods need. Consolidation settings have no effect then. Alpha in
    /// Karpenter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub replicas: Option<i64>,
}

/// The shape of the NodeClaims of a pool; each one is narrowed further by the pods it is made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeClaimTemplate {
    /// Labels and annotations that NodeClaims and nodes get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<TemplateMeta>,
    /// What the NodeClaims ask for.
    pub spec: NodeClaimTemplateSpec,
}

/// Labels and annotations that NodeClaims and nodes get.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TemplateMeta {
    /// Labels by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "additionalProperties" = {"type": "string", "maxLength": 63, "pattern": super::pattern::LABEL_VALUE},
            "maxProperties" = 100,
            "x-kubernetes-map-type" = "atomic",
            "x-kubernetes-validations" = [
                {
                    "message": "label domain \"karpenter.sh\" is restricted",
                    "rule": "self.all(x, x in [\"karpenter.sh/capacity-type\", \"karpenter.sh/nodepool\"] || !x.find(\"^([^/]+)\").endsWith(\"karpenter.sh\"))",
                },
                {
                    "message": "label \"karpenter.sh/nodepool\" is restricted",
                    "rule": "self.all(x, x != \"karpenter.sh/nodepool\")",
                },
                {
                    "message": "label \"kubernetes.io/hostname\" is restricted",
                    "rule": "self.all(x, x != \"kubernetes.io/hostname\")",
                },
            ]
        ))
    )]
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-kubernetes-map-type" = "granular")))]
    pub annotations: Option<BTreeMap<String, String>>,
}

/// What the NodeClaims of a pool ask for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeClaimTemplateSpec {
    /// The node class that says how the VMs are made. Its group and kind cannot change later, its name can.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("x-kubernetes-validations" = [
            {"message": "nodeClassRef.group is immutable", "rule": "self.group == oldSelf.group"},
            {"message": "nodeClassRef.kind is immutable", "rule": "self.kind == oldSelf.kind"},
        ]))
    )]
    pub node_class_ref: NodeClassRef,
    /// What the labels of the nodes must be: sizes, zones, capacity types, architectures, and labels of one's own.
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 100, "x-kubernetes-list-type" = "atomic", "x-kubernetes-validations" = super::rule::requirements()), transform = super::rule::forbid_pool_key))]
    pub requirements: Vec<Requirement>,
    /// Taints that the nodes keep.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-kubernetes-list-type" = "atomic")))]
    pub taints: Option<Vec<Taint>>,
    /// Taints that the nodes start with and that something else removes soon; pods need not tolerate them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-kubernetes-list-type" = "atomic")))]
    pub startup_taints: Option<Vec<Taint>>,
    /// How old a node may become before it is replaced, or `Never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("default" = "720h", "pattern" = super::pattern::DURATION_OR_NEVER))
    )]
    pub expire_after: Option<DurationText>,
    /// How long a node may drain before its pods are deleted by force, whatever budgets and annotations say. Absent: as
    /// long as it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = super::pattern::DURATION)))]
    pub termination_grace_period: Option<DurationText>,
}

/// When and how fast nodes of a pool may be disrupted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Disruption {
    /// How long a node's pods must be unchanged before the node may be emptied or removed, or `Never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("default" = "0s", "pattern" = super::pattern::DURATION_OR_NEVER))
    )]
    pub consolidate_after: Option<DurationText>,
    /// Which nodes may be removed or replaced to save money.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "WhenEmptyOrUnderutilized")))]
    pub consolidation_policy: Option<ConsolidationPolicy>,
    /// How many nodes may go at the same time. Of several that apply, the smallest counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "default" = [{"nodes": "10%"}],
            "maxItems" = 50,
            "x-kubernetes-list-type" = "atomic",
            "x-kubernetes-validations" = [
                {"message": "'schedule' must be set with 'duration'", "rule": "self.all(x, has(x.schedule) == has(x.duration))"},
            ]
        ))
    )]
    pub budgets: Option<Vec<Budget>>,
}

/// Which nodes may be removed or replaced to save money.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ConsolidationPolicy {
    /// Only nodes without pods of workloads.
    WhenEmpty,
    /// Also nodes whose pods fit elsewhere or on something cheaper.
    WhenEmptyOrUnderutilized,
    /// As `WhenEmptyOrUnderutilized`, where the saving outweighs the pods that must move.
    Balanced,
}

/// How many nodes of a pool may go at the same time, always or in a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Budget {
    /// A count of nodes such as `5`, or a percentage of the pool's nodes such as `10%`.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("default" = "10%", "pattern" = super::pattern::NODES_OR_PERCENT))
    )]
    pub nodes: String,
    /// When the window opens, as a cron schedule in UTC; needs `duration`. Absent: the budget always applies.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = super::pattern::SCHEDULE)))]
    pub schedule: Option<String>,
    /// How long the window stays open, in hours and minutes; needs `schedule`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = super::pattern::WINDOW_DURATION)))]
    pub duration: Option<DurationText>,
    /// The reasons that the budget applies to. Absent: all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 50, "x-kubernetes-list-type" = "set")))]
    pub reasons: Option<Vec<DisruptionReason>>,
}

/// Why a node is disrupted by choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DisruptionReason {
    /// Its pods fit elsewhere or on something cheaper.
    Underutilized,
    /// It has no pods of workloads.
    Empty,
    /// It is no longer what its pool or its node class asks for.
    Drifted,
}

/// What was last seen of a pool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodePoolStatus {
    /// Sum of what the pool's nodes have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourceMap>,
    /// Number of the pool's nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 0)))]
    pub nodes: Option<i64>,
    /// The version of the node class that was last seen; a newer one forgets failed registrations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_class_observed_generation: Option<i64>,
    /// `Ready`, `ValidationSucceeded`, `NodeClassReady`, `NodeRegistrationHealthy`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("x-kubernetes-list-map-keys" = ["type"], "x-kubernetes-list-type" = "map"))
    )]
    pub conditions: Option<Vec<Condition>>,
}
