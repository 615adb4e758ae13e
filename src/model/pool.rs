//! NodePools: which nodes may be created, from which sizes, and how many.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::SignedDuration;

use super::{ClassName, Digest, Disruption, LabelKey, PoolName, Requirements, Resources, Taint};

/// When a node is replaced for its age.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ExpireAfter {
    /// At this age.
    Age(
        #[serde(with = "super::written::text")]
        #[cfg_attr(feature = "schema", schemars(with = "String"))]
        SignedDuration,
    ),
    /// Never.
    Never,
}

/// A NodePool as the solver reads it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Pool {
    /// Its name.
    pub name: PoolName,
    /// Its weight; the heavier pool is tried first. Absent is 0.
    pub weight: u32,
    /// The AKSNodeClass that its nodes are made with.
    pub class: ClassName,
    /// Labels that its nodes get.
    pub labels: BTreeMap<LabelKey, Arc<str>>,
    /// Annotations that its claims get.
    pub annotations: BTreeMap<Arc<str>, Arc<str>>,
    /// Taints that its nodes keep.
    pub taints: Vec<Taint>,
    /// Taints that its nodes lose while starting.
    pub startup_taints: Vec<Taint>,
    /// What its nodes must be, with normalised keys; labels and the pool's own label are not among them.
    pub requirements: Requirements,
    /// The most that all its nodes may have; a resource that is not named is not limited.
    pub limits: Resources,
    /// The most nodes it may have (`limits.nodes`).
    #[serde(with = "super::written::optional_natural", default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<super::written::Integer>"))]
    pub nodes_max: Option<u64>,
    /// A fixed number of nodes (`replicas`), where the pool is static.
    #[serde(with = "super::written::optional_natural", default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<super::written::Integer>"))]
    pub replicas: Option<u64>,
    /// How its nodes may be disrupted.
    pub disruption: Disruption,
    /// When its nodes are replaced for their age.
    pub expire_after: ExpireAfter,
    /// How long a node may drain at most.
    #[serde(with = "super::written::optional_text", default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub termination_grace_period: Option<SignedDuration>,
    /// Whether the pool is being deleted: nothing new is made from it.
    pub is_deleting: bool,
}

impl Pool {
    /// The version of [`Pool::template_hash`]: Karpenter compares none of another version than its own.
    pub const TEMPLATE_HASH_VERSION: &str = "nodeform-1";

    /// Returns the hash of what a claim takes from the pool and its node is not compared by otherwise: all of the
    /// template but requirements.
    #[must_use]
    pub fn template_hash(&self) -> Arc<str> {
        /// How many characters of the digest it has.
        const LENGTH: usize = 20;
        let template = serde_json::json!({
            "labels": self.labels,
            "annotations": self.annotations,
            "taints": self.taints,
            "startupTaints": self.startup_taints,
            "class": self.class,
            "expireAfter": self.expire_after,
            "terminationGracePeriod": self.termination_grace_period.map(|period| period.as_secs()),
        });
        let digest = Digest::of_json(&template);
        let digest = digest.unwrap_or_else(|_| Digest::of_bytes(template.to_string().as_bytes()));
        Arc::from(digest.base32(LENGTH))
    }

    /// Returns the hash of what the pool asks of its nodes: by it a claim tells whether the next would be made alike.
    #[must_use]
    pub fn requirements_hash(&self) -> Arc<str> {
        /// How many characters of the digest it has.
        const LENGTH: usize = 10;
        let digest = Digest::of_json(&self.requirements);
        let digest =
            digest.unwrap_or_else(|_| Digest::of_bytes(format!("{:?}", self.requirements).as_bytes()));
        Arc::from(digest.base32(LENGTH))
    }

    /// Returns what a new node of this pool is, before a size is chosen: the requirements, the labels, and
    /// the labels that name pool and class.
    #[must_use]
    pub fn node_requirements(&self) -> Requirements {
        let mut requirements = self.requirements.clone();
        let labels = self.labels.iter().map(|(key, value)| (key.as_str(), &**value));
        requirements.add_all(&Requirements::of_labels(labels));
        let own = [
            (super::label::NODE_POOL, self.name.as_str()),
            (super::label::NODE_CLASS, self.class.as_str()),
            (super::label::REGISTERED, "true"),
            (super::label::INITIALIZED, "true"),
        ];
        requirements.add_all(&Requirements::of_labels(own));
        requirements
    }
}
