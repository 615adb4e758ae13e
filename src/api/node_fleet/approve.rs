//! Exceptions to a NodeFleet's mode, by class of change.
//!
//! Must use exactly the class names of every output of nodeform.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Exceptions to the mode by class of change, for all pools or for one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Approve {
    /// The decision for each class, in all pools.
    #[serde(flatten)]
    pub classes: ApproveClasses,
    /// Decisions for single pools, by the name of the NodePool; they count before the ones for all pools.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxProperties" = 100)))]
    pub pools: Option<BTreeMap<String, ApproveClasses>>,
}

/// A decision for each class of change; an absent one follows the mode.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub struct ApproveClasses {
    /// New nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub create: Option<Decision>,
    /// Removing nodes without pods of workloads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remove_empty: Option<Decision>,
    /// Moving pods so that nodes can go or become cheaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub move_pods: Option<Decision>,
    /// Replacing nodes for drift, images, age or repair.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replace: Option<Decision>,
    /// Changes to running nodes in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update: Option<Decision>,
    /// Taking over VMs that exist.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adopt: Option<Decision>,
    /// Letting go of VMs without deleting them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forget: Option<Decision>,
    /// Removing a pool with all its nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delete_pool: Option<Decision>,
}

/// What happens with one class of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It is carried out at once.
    Auto,
    /// It is carried out when people have approved it: by merging its pull request, or with `nodeform approve` where the NodeFleet
    /// names no repository.
    Review,
    /// It is not carried out.
    Hold,
}
