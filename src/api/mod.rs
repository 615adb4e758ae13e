//! Wire types in Karpenter's terms: what users write and what an API server stores.
//!
//! The types are the source of `crds/` and `schemas/`; a test keeps both current. Reading and writing an object
//! preserves what the user wrote. Must never validate values beyond their types: `policy` does that.

pub mod aks_node_class;
pub mod capacity_buffer;
#[cfg(feature = "schema")]
pub mod crd;
pub mod meta;
pub(crate) mod nearest;
pub mod node_claim;
pub mod node_class_hash;
pub mod node_fleet;
pub mod node_overlay;
pub mod node_plan;
pub mod node_plan_approval;
pub mod node_pool;
pub mod path;
pub mod pattern;
#[cfg(feature = "schema")]
mod rule;
#[cfg(feature = "schema")]
mod structural;
pub mod template;
pub mod text;
pub mod units;

/// The kinds that nodeform defines or shares: Karpenter's, CapacityBuffer, NodeFleet, NodePlan, its chunks and its
/// approvals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// `karpenter.azure.com` AKSNodeClass.
    AksNodeClass,
    /// `autoscaling.x-k8s.io` CapacityBuffer.
    CapacityBuffer,
    /// `karpenter.sh` NodeClaim.
    NodeClaim,
    /// `nodeform.dev` NodeFleet.
    NodeFleet,
    /// `karpenter.sh` NodeOverlay.
    NodeOverlay,
    /// `nodeform.dev` NodePlan.
    NodePlan,
    /// `nodeform.dev` NodePlanApproval.
    NodePlanApproval,
    /// `nodeform.dev` NodePlanChunk.
    NodePlanChunk,
    /// `karpenter.sh` NodePool.
    NodePool,
}

/// API server facts about a kind, and its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindFacts {
    /// API group.
    pub group: &'static str,
    /// The stored version, which nodeform writes.
    pub version: &'static str,
    /// An older version with the same fields, which is also accepted.
    pub version_deprecated: Option<&'static str>,
    /// An older version with the same fields, which is also accepted but not served by the CRD.
    pub version_unserved: Option<&'static str>,
    /// Whether objects are namespaced.
    pub is_namespaced: bool,
    /// Name of the kind, as in `kind:`.
    pub kind: &'static str,
    /// Name of the kind in addresses and in `kubectl get`.
    pub plural: &'static str,
    /// Name of one object in `kubectl get`.
    pub singular: &'static str,
    /// Abbreviations for `kubectl get`.
    pub short_names: &'static [&'static str],
    /// Groups of kinds for `kubectl get`.
    pub categories: &'static [&'static str],
    /// The OpenAPI schema of the object, as JSON.
    pub schema: &'static str,
    /// The CustomResourceDefinition, as YAML.
    pub crd: &'static str,
}

impl Kind {
    /// Every kind, by name.
    pub const ALL: [Self; 9] = [
        Self::AksNodeClass,
        Self::CapacityBuffer,
        Self::NodeClaim,
        Self::NodeFleet,
        Self::NodeOverlay,
        Self::NodePlan,
        Self::NodePlanApproval,
        Self::NodePlanChunk,
        Self::NodePool,
    ];

    /// Returns the API server facts about the kind.
    pub fn facts(self) -> &'static KindFacts {
        match self {
            Self::AksNodeClass => &AKS_NODE_CLASS,
            Self::CapacityBuffer => &CAPACITY_BUFFER,
            Self::NodeClaim => &NODE_CLAIM,
            Self::NodeFleet => &NODE_FLEET,
            Self::NodeOverlay => &NODE_OVERLAY,
            Self::NodePlan => &NODE_PLAN,
            Self::NodePlanApproval => &NODE_PLAN_APPROVAL,
            Self::NodePlanChunk => &NODE_PLAN_CHUNK,
            Self::NodePool => &NODE_POOL,
        }
    }

    /// Returns the kind of a document by its `apiVersion` and `kind`; `None` if it is not one of ours or has an
    /// unsupported version.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        let (group, version) = api_version.split_once('/')?;
        Self::ALL.into_iter().find(|candidate| {
            let facts = candidate.facts();
            facts.kind == kind
                && facts.group == group
                && (facts.version == version
                    || [facts.version_deprecated, facts.version_unserved].contains(&Some(version)))
        })
    }

    /// Returns the kind by its group and name, whatever the version: for messages about unsupported versions.
    pub fn of_group(group: &str, kind: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|candidate| candidate.facts().group == group && candidate.facts().kind == kind)
    }
}

static AKS_NODE_CLASS: KindFacts = KindFacts {
    group: "karpenter.azure.com",
    version: "v1beta1",
    version_deprecated: Some("v1alpha2"),
    version_unserved: None,
    is_namespaced: false,
    kind: "AKSNodeClass",
    plural: "aksnodeclasses",
    singular: "aksnodeclass",
    short_names: &["aksnc", "aksncs"],
    categories: &["karpenter", "nap"],
    schema: include_str!("../../schemas/aksnodeclass.json"),
    crd: include_str!("../../crds/karpenter.azure.com_aksnodeclasses.yaml"),
};

static CAPACITY_BUFFER: KindFacts = KindFacts {
    group: "autoscaling.x-k8s.io",
    version: "v1beta1",
    version_deprecated: None,
    version_unserved: Some("v1alpha1"),
    is_namespaced: true,
    kind: "CapacityBuffer",
    plural: "capacitybuffers",
    singular: "capacitybuffer",
    short_names: &["cb"],
    categories: &["autoscaling"],
    schema: include_str!("../../schemas/capacitybuffer.json"),
    crd: include_str!("../../crds/autoscaling.x-k8s.io_capacitybuffers.yaml"),
};

static NODE_CLAIM: KindFacts = KindFacts {
    group: "karpenter.sh",
    version: "v1",
    version_deprecated: None,
    version_unserved: None,
    is_namespaced: false,
    kind: "NodeClaim",
    plural: "nodeclaims",
    singular: "nodeclaim",
    short_names: &[],
    categories: &["karpenter"],
    schema: include_str!("../../schemas/nodeclaim.json"),
    crd: include_str!("../../crds/karpenter.sh_nodeclaims.yaml"),
};

static NODE_FLEET: KindFacts = KindFacts {
    group: "nodeform.dev",
    version: "v1alpha1",
    version_deprecated: None,
    version_unserved: None,
    is_namespaced: false,
    kind: "NodeFleet",
    plural: "nodefleets",
    singular: "nodefleet",
    short_names: &["nf"],
    categories: &["nodeform"],
    schema: include_str!("../../schemas/nodefleet.json"),
    crd: include_str!("../../crds/nodeform.dev_nodefleets.yaml"),
};

static NODE_OVERLAY: KindFacts = KindFacts {
    group: "karpenter.sh",
    version: "v1alpha1",
    version_deprecated: None,
    version_unserved: None,
    is_namespaced: false,
    kind: "NodeOverlay",
    plural: "nodeoverlays",
    singular: "nodeoverlay",
    short_names: &["overlays"],
    categories: &["karpenter"],
    schema: include_str!("../../schemas/nodeoverlay.json"),
    crd: include_str!("../../crds/karpenter.sh_nodeoverlays.yaml"),
};

static NODE_PLAN: KindFacts = KindFacts {
    group: "nodeform.dev",
    version: "v1alpha1",
    version_deprecated: None,
    version_unserved: None,
    is_namespaced: false,
    kind: "NodePlan",
    plural: "nodeplans",
    singular: "nodeplan",
    short_names: &["np"],
    categories: &["nodeform"],
    schema: include_str!("../../schemas/nodeplan.json"),
    crd: include_str!("../../crds/nodeform.dev_nodeplans.yaml"),
};

static NODE_PLAN_APPROVAL: KindFacts = KindFacts {
    group: "nodeform.dev",
    version: "v1alpha1",
    version_deprecated: None,
    version_unserved: None,
    is_namespaced: false,
    kind: "NodePlanApproval",
    plural: "nodeplanapprovals",
    singular: "nodeplanapproval",
    short_names: &["npa"],
    categories: &["nodeform"],
    schema: include_str!("../../schemas/nodeplanapproval.json"),
    crd: include_str!("../../crds/nodeform.dev_nodeplanapprovals.yaml"),
};

static NODE_PLAN_CHUNK: KindFacts = KindFacts {
    group: "nodeform.dev",
    version: "v1alpha1",
    version_deprecated: None,
    version_unserved: None,
    is_namespaced: false,
    kind: "NodePlanChunk",
    plural: "nodeplanchunks",
    singular: "nodeplanchunk",
    short_names: &[],
    // `kubectl get nodeform` shows only kinds that users ask for.
    categories: &[],
    schema: include_str!("../../schemas/nodeplanchunk.json"),
    crd: include_str!("../../crds/nodeform.dev_nodeplanchunks.yaml"),
};

static NODE_POOL: KindFacts = KindFacts {
    group: "karpenter.sh",
    version: "v1",
    version_deprecated: None,
    version_unserved: None,
    is_namespaced: false,
    kind: "NodePool",
    plural: "nodepools",
    singular: "nodepool",
    short_names: &[],
    categories: &["karpenter"],
    schema: include_str!("../../schemas/nodepool.json"),
    crd: include_str!("../../crds/karpenter.sh_nodepools.yaml"),
};
