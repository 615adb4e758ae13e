//! `nodeform.dev/v1alpha1` NodePlan: the history of planned and applied changes. NodePlanChunk: its texts.
//!
//! There is one NodePlan for each plan with effects, and a NodePlanChunk for each chunk of its text, because etcd holds
//! no object above 1.5 MiB. Must never hold a secret: plans have none.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::meta::{Condition, ObjectMeta};

/// The label of a chunk, and of nothing else: the name of its plan.
pub const PLAN_LABEL: &str = "nodeform.dev/plan";

/// The annotation of a plan that was merged in Git: its folder, as month and name.
pub const FOLDER_ANNOTATION: &str = "nodeform.dev/folder";

/// The annotation that says who has the plan carried out: [`BY_CONTROLLER`], or absent where a person does.
pub const BY_ANNOTATION: &str = "nodeform.dev/carried-out-by";

/// The controller, as [`BY_ANNOTATION`] has it.
pub const BY_CONTROLLER: &str = "controller";

/// How many bytes of a plan's text a chunk has at most.
pub const CHUNK_BYTES_MAX: usize = 256 << 10;

/// How many chunks a plan has at most: 32 MiB of text.
pub const CHUNKS_MAX: usize = 128;

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePlan {
    /// `nodeform.dev/v1alpha1`.
    pub api_version: String,
    /// `NodePlan`.
    pub kind: String,
    /// The name is the plan's id.
    pub metadata: ObjectMeta,
    /// What was planned; it never changes.
    pub spec: NodePlanSpec,
    /// What has become of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<NodePlanStatus>,
}

/// What was planned. It never changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [{"message": "spec is immutable", "rule": "self == oldSelf"}]))
)]
#[serde(rename_all = "camelCase")]
pub struct NodePlanSpec {
    /// The plan's digest: SHA-256 of the canonical JSON (RFC 8785) of what it holds.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 71, "pattern" = super::pattern::DIGEST)))]
    pub digest: String,
    /// The digest of the last plan with effects before this one; absent for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 71, "pattern" = super::pattern::DIGEST)))]
    pub parent: Option<String>,
    /// The cluster that it is for: the UID of its namespace `kube-system`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 64)))]
    pub cluster: Option<String>,
    /// The class that it is reviewed as, the weightiest of its changes: `create`, `remove-empty`, `move-pods`, `replace`,
    /// `update`, `delete-pool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 32)))]
    pub class: Option<String>,
    /// The folder in which it was merged, as month and name; absent where it was not reviewed in Git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 128)))]
    pub folder: Option<String>,
    /// By how much it changes what the fleet costs in a month of 730 hours, in dollars; negative where it saves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 32)))]
    pub monthly_delta: Option<String>,
    /// Until when it may begin, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time", "maxLength" = 64)))]
    pub expires_at: Option<String>,
    /// Whether it begins only once a NodePlanApproval approves it: so it is where people review what the controller plans, and
    /// the NodeFleet names no repository.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub needs_approval: bool,
    /// How much it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<PlannedChanges>,
    /// How many chunks its text has. Each is a NodePlanChunk, written before this.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 128)))]
    pub chunks: i32,
}

/// How much a plan changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlannedChanges {
    /// Nodes to add.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub add: i32,
    /// Nodes to change in place.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub change: i32,
    /// Nodes to destroy.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub destroy: i32,
    /// The three in one, as `+1 ~0 -3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 64)))]
    pub nodes: Option<String>,
    /// Changes by class: `create`, `remove-empty`, `move-pods`, `replace`, `update`, `adopt`, `forget`, `delete-pool`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxProperties" = 20)))]
    pub by_class: Option<BTreeMap<String, i32>>,
}

/// A chunk of a plan's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePlanChunk {
    /// `nodeform.dev/v1alpha1`.
    pub api_version: String,
    /// `NodePlanChunk`.
    pub kind: String,
    /// The name is the plan's with `-` and the chunk's number.
    pub metadata: ObjectMeta,
    /// The chunk; it never changes.
    pub spec: NodePlanChunkSpec,
}

/// One chunk of a plan's text. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [{"message": "spec is immutable", "rule": "self == oldSelf"}]))
)]
#[serde(rename_all = "camelCase")]
pub struct NodePlanChunkSpec {
    /// The digest of the plan.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 71, "pattern" = super::pattern::DIGEST)))]
    pub digest: String,
    /// Which, from 1 on.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 128)))]
    pub number: i32,
    /// How many there are.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 128)))]
    pub of: i32,
    /// The text: at most 256 KiB of canonical JSON.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 262_144)))]
    pub text: String,
}

/// What has become of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodePlanStatus {
    /// The `metadata.generation` that was last looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub observed_generation: Option<i64>,
    /// How far it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// When it began, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub started_at: Option<String>,
    /// When it ended, in RFC 3339; absent while it goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub finished_at: Option<String>,
    /// How many changes have which outcome.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<OutcomeCounts>,
    /// What has become of each change, by its id in the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxProperties" = 20_000)))]
    pub outcomes: Option<BTreeMap<String, ChangeOutcome>>,
    /// Who approved it before it began, where people had to: each counted once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 100, "x-kubernetes-list-type" = "atomic")))]
    pub approvals: Option<Vec<PlanApprover>>,
    /// What Azure refused to sell. The next plans leave it alone until it is forgotten.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 1_000, "x-kubernetes-list-type" = "atomic")))]
    pub refusals: Option<Vec<PlanRefusal>>,
    /// VMs that came and did not join in time. No more of their like are made for a while.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 1_000, "x-kubernetes-list-type" = "atomic")))]
    pub never_joined: Option<Vec<SilentVm>>,
    /// Nodes with pods that it removes, or has removed, the last 1,000. No pool loses too many of them within ten minutes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 1_000, "x-kubernetes-list-type" = "atomic")))]
    pub lost: Option<Vec<LostNode>>,
    /// `Ready`, `Reconciling`, `Stalled`, as kstatus reads them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("x-kubernetes-list-map-keys" = ["type"], "x-kubernetes-list-type" = "map"))
    )]
    pub conditions: Option<Vec<Condition>>,
}

/// How far a plan is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Phase {
    /// It waits for an approval: `nodeform approve`.
    Proposed,
    /// It is being carried out, or was interrupted: what has begun is finished by `nodeform apply`.
    Applying,
    /// Every change is done, no longer needed, or was struck in review.
    Done,
    /// Some changes are done and some are not.
    Partial,
    /// No change is done.
    Failed,
    /// It was given up: what had begun is finished, and nothing else begins.
    Withdrawn,
    /// Its time was over before it began: nothing of it was done.
    Expired,
    /// Somebody rejected it before it began: nothing of it was done.
    Rejected,
}

/// How many changes have which outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OutcomeCounts {
    /// Done.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub done: i32,
    /// So already, without us.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub already_so: i32,
    /// Not done yet.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub waiting: i32,
    /// No longer needed.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub no_longer_needed: i32,
    /// Struck in review.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub struck: i32,
    /// Withheld: what it was planned on no longer holds.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub no_longer_holds: i32,
    /// Failed.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub failed: i32,
}

/// What has become of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ChangeOutcome {
    /// The outcome.
    pub outcome: OutcomeKind,
    /// Azure's code or a reason as one CamelCase word, where it failed or no longer holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 128)))]
    pub code: Option<String>,
    /// Why, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 512)))]
    pub message: Option<String>,
    /// What the change is, for people: why, which size in which zone at what price, which pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 512)))]
    pub change: Option<String>,
}

/// What has become of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum OutcomeKind {
    /// Done.
    Done,
    /// So already, without us.
    AlreadySo,
    /// Not done yet.
    Waiting,
    /// No longer needed.
    NoLongerNeeded,
    /// Struck in review.
    Struck,
    /// Withheld: what it was planned on no longer holds.
    NoLongerHolds,
    /// Failed.
    Failed,
}

/// Somebody whose approval counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanApprover {
    /// Who, as the forge or the cluster names them.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 512)))]
    pub by: String,
    /// What says so: the pull request with the commit that was approved, or the NodePlanApproval.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 1_024)))]
    pub record: String,
}

/// VMs that Azure refused to sell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PlanRefusal {
    /// The VM size; absent for all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 128)))]
    pub size: Option<String>,
    /// Where.
    pub place: RefusalPlace,
    /// The zone with place `Zone`, as nodes name it; `0` for none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 64)))]
    pub zone: Option<String>,
    /// `on-demand` or `spot`; absent for both.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 32)))]
    pub capacity_type: Option<String>,
    /// Why, in the words of Karpenter's Azure provider, such as `ZonalAllocationFailure`.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 128)))]
    pub reason: String,
    /// Azure's code, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 128)))]
    pub code: Option<String>,
    /// What Azure said beside its code: the policy, or the limit and what is used of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 512)))]
    pub message: Option<String>,
    /// When it is forgotten, in RFC 3339.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub until: String,
}

/// A VM that came and did not join in time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SilentVm {
    /// When that was clear, in RFC 3339.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub at: String,
    /// Its name.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 128)))]
    pub vm: String,
    /// Its NodePool.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 253)))]
    pub pool: String,
    /// Its VM size.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 128)))]
    pub size: String,
    /// The id of its image.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 1_024)))]
    pub image: String,
}

/// A node with pods that is removed, or was.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct LostNode {
    /// When its removal began, in RFC 3339.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub at: String,
    /// Its NodeClaim.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 253)))]
    pub node_claim: String,
    /// Its NodePool.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 253)))]
    pub pool: Option<String>,
}

/// Where Azure refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RefusalPlace {
    /// In every zone, and where no zone is asked for.
    Everywhere,
    /// In every zone.
    EveryZone,
    /// In one zone.
    Zone,
}
