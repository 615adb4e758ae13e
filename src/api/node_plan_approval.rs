//! `nodeform.dev/v1alpha1` NodePlanApproval: one person's decision on one plan, if plans are reviewed without Git.
//!
//! There is one object for each person, plan and decision, so that everyone can stop a plan, even one that they
//! approved themselves. Must never change: to change a decision, delete its object.

use serde::{Deserialize, Serialize};

use super::meta::ObjectMeta;

/// What one person decided about one plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodePlanApproval {
    /// `nodeform.dev/v1alpha1`.
    pub api_version: String,
    /// `NodePlanApproval`.
    pub kind: String,
    /// The name is the plan's with `-approve-` or `-reject-` and a digest of the person's.
    pub metadata: ObjectMeta,
    /// What was decided; it never changes.
    pub spec: NodePlanApprovalSpec,
}

/// What was decided. It never changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [{"message": "spec is immutable", "rule": "self == oldSelf"}]))
)]
#[serde(rename_all = "camelCase")]
pub struct NodePlanApprovalSpec {
    /// The name of the NodePlan.
    #[cfg_attr(feature = "schema", schemars(extend("minLength" = 1, "maxLength" = 253)))]
    pub plan: String,
    /// The digest of the plan that the person saw. One of another plan counts for nothing.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 71, "pattern" = super::pattern::DIGEST)))]
    pub digest: String,
    /// What the person decided.
    pub decision: ApprovalDecision,
    /// Who decided: the name by which the API server knows the caller. The chart's admission policy lets nobody write another.
    #[cfg_attr(feature = "schema", schemars(extend("minLength" = 1, "maxLength" = 512)))]
    pub approver: String,
    /// Why, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 512)))]
    pub reason: Option<String>,
    /// Nodes that stay though the plan removes them, by name. What anybody keeps, stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "items" = {"type": "string", "minLength": 1, "maxLength": 253},
            "maxItems" = 5_000,
            "x-kubernetes-list-type" = "set"
        ))
    )]
    pub keep: Option<Vec<String>>,
}

/// What a person decided about a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ApprovalDecision {
    /// It may be applied.
    Approve,
    /// It is not applied, whoever else approved it. nodeform does not propose the same changes for 24 hours.
    Reject,
}
