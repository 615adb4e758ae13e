//! Obstacles to applying plans in a cluster: missing CRDs, missing permissions, and other provisioners that create and
//! delete nodes.
//!
//! Raw facts. Unreadable facts are omitted: Azure and the API server report the problem when the plan is applied.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{LabelKey, Taint};

/// Azure's action for changing tags in place; nothing but such changes waits for it.
pub const TAGS_WRITE: &str = "Microsoft.Resources/tags/write";

/// What stands in the way of carrying plans out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Obstacles {
    /// Kinds that the cluster does not serve and that are written, as `nodeplans.nodeform.dev`, sorted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<Arc<str>>,
    /// Azure's actions that the caller may not do in the resource group of the nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub actions: Vec<Arc<str>>,
    /// Who else makes and removes nodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<OtherProvisioner>,
}

/// Who else makes and removes nodes of the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum OtherProvisioner {
    /// AKS itself, by Karpenter: node auto-provisioning (`nodeProvisioningProfile.mode: Auto`).
    NodeAutoProvisioning,
    /// Karpenter, by a Deployment that asks for replicas.
    Karpenter {
        /// The Deployment's namespace.
        namespace: Arc<str>,
        /// The Deployment's name.
        name: Arc<str>,
    },
    /// The cluster autoscaler of AKS, for one agent pool.
    ClusterAutoscaler {
        /// The agent pool.
        pool: Arc<str>,
        /// Labels of its nodes, as far as the managed cluster says them.
        labels: BTreeMap<LabelKey, Arc<str>>,
        /// Taints of its nodes.
        taints: Vec<Taint>,
    },
}
