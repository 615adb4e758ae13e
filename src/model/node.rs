//! Nodes that exist or are being created.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::{
    ClaimName, Claimed, ClassName, LabelKey, NodeName, Pool, PoolName, Resources, Taint, Trouble, label,
};

/// How far a node has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum NodeStage {
    /// A NodeClaim without a node yet: on its way.
    Launching,
    /// The node has joined and is not initialized: startup and ephemeral taints still count as leaving.
    Registered,
    /// The node carries pods; all its taints count.
    Initialized,
}

/// A node that exists or is on its way.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Node {
    /// The node's name; of a claim without a node, the claim's name.
    pub name: NodeName,
    /// Its NodeClaim, where one is known.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub claim: Option<ClaimName>,
    /// Its NodePool, from the label; `None` is a node that Karpenter does not manage.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub pool: Option<PoolName>,
    /// Its AKSNodeClass, from the claim or the label.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub class: Option<ClassName>,
    /// `providerID`, as it stands in the object.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub provider_id: Option<Arc<str>>,
    /// The Node's UID; `None` where there is no Node yet, or nobody says.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub uid: Option<Arc<str>>,
    /// The UID of its NodeClaim.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub claim_uid: Option<Arc<str>>,
    /// How far it has come.
    pub stage: NodeStage,
    /// Its labels, with normalised keys.
    pub labels: BTreeMap<LabelKey, Arc<str>>,
    /// Its taints; of a node that is not initialized, without startup and ephemeral ones.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub taints: Vec<Taint>,
    /// What it has in all.
    pub capacity: Resources,
    /// What pods may use.
    pub allocatable: Resources,
    /// Whether it is cordoned.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub is_unschedulable: bool,
    /// Whether it has `karpenter.sh/do-not-disrupt`, or is treated so.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub is_do_not_disrupt: bool,
    /// Why it is treated as if it asked not to be disrupted; none where it asks itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_because: Option<Arc<str>>,
    /// Whether it, or its claim, is being deleted.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub is_deleting: bool,
    /// When it was made.
    #[serde(with = "super::written::optional_text", default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub created: Option<Timestamp>,
    /// Since when its pods are unchanged: its claim's last pod event, else since it carries pods; `None` where
    /// nobody says.
    #[serde(with = "super::written::optional_text", default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub quiet_since: Option<Timestamp>,
    /// Whether its claim says that it has been quiet for as long as its pool asks (`Consolidatable`).
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub is_consolidatable: bool,
    /// What its claim says beyond this.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub claimed: Claimed,
    /// What is not as it is on a healthy node, sorted.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub troubles: Vec<Trouble>,
}

impl Node {
    /// Returns a node of a pool that has just joined with these labels, capacity and allocatable: healthy, quiet, and
    /// with all that the pool gives its nodes. Its claim has its name.
    #[must_use]
    pub fn joined(
        pool: &Pool,
        name: NodeName,
        labels: BTreeMap<LabelKey, Arc<str>>,
        (capacity, allocatable): (&Resources, &Resources),
        at: Option<Timestamp>,
    ) -> Self {
        Self {
            claim: Some(ClaimName::new(name.as_str())),
            pool: Some(pool.name.clone()),
            class: Some(pool.class.clone()),
            provider_id: None,
            uid: None,
            claim_uid: None,
            stage: NodeStage::Initialized,
            labels,
            taints: pool.taints.clone(),
            capacity: capacity.clone(),
            allocatable: allocatable.clone(),
            is_unschedulable: false,
            is_do_not_disrupt: pool
                .annotations
                .get(label::DO_NOT_DISRUPT)
                .is_some_and(|value| &**value == "true"),
            kept_because: None,
            is_deleting: false,
            created: at,
            quiet_since: at,
            is_consolidatable: false,
            claimed: Claimed {
                expire_after: Some(pool.expire_after),
                termination_grace_period: pool.termination_grace_period,
                ..Claimed::default()
            },
            troubles: Vec::new(),
            name,
        }
    }

    /// Returns whether its claim was made by nodeform from the pool's template as it is: what of it the node lacks, it has
    /// lost.
    #[must_use]
    pub fn is_of_template(&self, pool: &Pool) -> bool {
        self.claimed.pool_stamp.as_ref().is_some_and(|stamp| {
            &*stamp.version == Pool::TEMPLATE_HASH_VERSION && stamp.hash == pool.template_hash()
        })
    }

    /// Has it treated as if it asked not to be disrupted, for this reason. What it asks itself is the better reason.
    pub fn keep(&mut self, because: impl Into<Arc<str>>) {
        if !self.is_do_not_disrupt {
            self.kept_because = Some(because.into());
        }
        self.is_do_not_disrupt = true;
    }

    /// Returns why it may not be disrupted, if it may not.
    #[must_use]
    pub fn why_kept(&self) -> Option<&str> {
        const ASKS: &str = "it has `karpenter.sh/do-not-disrupt`";
        self.is_do_not_disrupt.then(|| self.kept_because.as_deref().unwrap_or(ASKS))
    }

    /// Returns whether the node says that it takes pods: it has no trouble with `Ready`.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        !self.troubles.iter().any(|trouble| &*trouble.kind == "Ready")
    }
}
