//! The last observed state of a fleet, and the changes in progress. Must never be used for decisions.

use serde::{Deserialize, Serialize};

use super::Mode;
use crate::api::meta::Condition;
use crate::api::text::ResourceMap;

/// What was last seen of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeFleetStatus {
    /// The `metadata.generation` that was last looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub observed_generation: Option<i64>,
    /// `Ready`, `Reconciling`, `Stalled`, as kstatus reads them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("x-kubernetes-list-map-keys" = ["type"], "x-kubernetes-list-type" = "map"))
    )]
    pub conditions: Option<Vec<Condition>>,
    /// The mode that the controller is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The last plan of the controller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<LastPlan>,
    /// The plans in progress, the oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 100, "x-kubernetes-list-type" = "atomic")))]
    pub in_flight: Option<Vec<PlanInFlight>>,
    /// What is due and held back, and what has begun and waits: for what, since when, until when.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 100, "x-kubernetes-list-type" = "atomic")))]
    pub holds: Option<Vec<FleetHold>>,
    /// Pods that get no node, and those that have not run for five minutes, by what they wait for; what most pods wait for
    /// first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 10, "x-kubernetes-list-type" = "atomic")))]
    pub waiting: Option<Vec<FleetWaiting>>,
    /// What nodes really had, by pool, size, image and `maxPods`: new ones are planned with no more. A row goes after seven
    /// days without such a node, or when the class changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 200, "x-kubernetes-list-type" = "atomic")))]
    pub learned: Option<Vec<LearnedNode>>,
    /// Nodes that run none of the pods that they were made for, the oldest first. After two of them no other is made for
    /// such pods within 24 hours.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 100, "x-kubernetes-list-type" = "atomic")))]
    pub tried: Option<Vec<TriedNode>>,
    /// Plans that are proposed, and those that are merged or approved and not settled: where each is, and what it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 50, "x-kubernetes-list-type" = "atomic")))]
    pub reviews: Option<Vec<FleetReview>>,
    /// Why nothing new begins, a line each.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 20, "x-kubernetes-list-type" = "atomic")))]
    pub stops: Option<Vec<String>>,
    /// The commit that was last carried out, as `branch@sha1:…`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_applied_revision: Option<String>,
    /// The value of the annotation `reconcile.fluxcd.io/requestedAt` that was last answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_handled_reconcile_at: Option<String>,
}

/// The last plan of the controller.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LastPlan {
    /// Its id; that of its NodePlan, if it has effects.
    pub id: String,
    /// When the cluster was first seen so that this plan came of it.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub seen_at: String,
    /// Nodes to add.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub add: i32,
    /// Nodes to change in place.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub change: i32,
    /// Nodes to destroy.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub destroy: i32,
    /// Pods that stay Pending.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub pending: i32,
    /// What the fleet costs in a month of 730 hours, in dollars.
    pub monthly_before: String,
    /// The same after the plan.
    pub monthly_after: String,
}

/// A plan in progress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanInFlight {
    /// The NodePlan.
    pub plan: String,
    /// How many of its changes have not ended.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub changes: i32,
    /// How many of these are nodes to add.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub add: i32,
    /// How many of these are nodes to change in place.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub change: i32,
    /// How many of these are nodes to destroy.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub destroy: i32,
}

/// What is due and held back, or has begun and waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FleetHold {
    /// The node.
    pub node: String,
    /// The class of the change.
    pub class: String,
    /// What holds it back.
    pub because: String,
    /// Since when; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub since: Option<String>,
    /// Until when; absent where nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub until: Option<String>,
}

/// A plan that is reviewed in Git.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FleetReview {
    /// Its folder: month, class and id.
    pub folder: String,
    /// Where it is.
    pub state: ReviewState,
    /// The branch that it is proposed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The page of its pull request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// What it waits for, or why it is not applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<String>,
}

/// Where a plan is that people review.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ReviewState {
    /// On a branch, for people to merge; without a repository a NodePlan, for people to approve.
    Proposed,
    /// Merged, and being applied or about to be.
    Merged,
    /// Approved by `nodeform approve`, and being applied or about to be.
    Approved,
    /// Merged or approved, and not applied.
    Refused,
}

/// Pods that do not run, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FleetWaiting {
    /// How many pods.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub pods: i32,
    /// One of them, as `namespace/name`.
    pub example: String,
    /// What they wait for.
    pub because: String,
    /// Since when the one that waits longest does; absent where nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub since: Option<String>,
}

/// A node that runs none of the pods that it was made for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct TriedNode {
    /// The node; it may be gone.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 253)))]
    pub node: String,
    /// Digests of owner and template of those pods, as its NodeClaim has them (`nodeform.dev/pods`).
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 256)))]
    pub pods: Vec<String>,
    /// Its NodePool.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 253)))]
    pub pool: String,
    /// Hashes of the NodePool and the AKSNodeClass that it was made from: of others it says nothing.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 253)))]
    pub made_from: String,
    /// When it joined, in RFC 3339.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub joined: String,
    /// Why they do not run there.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 512)))]
    pub because: String,
}

/// What nodes that are alike really had.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LearnedNode {
    /// Their NodePool.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 253)))]
    pub pool: String,
    /// Their VM size.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 128)))]
    pub size: String,
    /// The id of their image.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 1_024)))]
    pub image: String,
    /// The most pods that their kubelets take.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub max_pods: i32,
    /// The hash of their AKSNodeClass: of another one they say nothing.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 128)))]
    pub class_hash: String,
    /// The smallest amounts that pods could use of one.
    pub allocatable: ResourceMap,
    /// Taints that all of them had and that neither pool nor Kubernetes asks for, as `key=value:effect`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 64)))]
    pub taints: Vec<String>,
    /// When a node was last seen that had no more, in RFC 3339.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub seen: String,
}
