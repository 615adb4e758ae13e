//! Pods: their requirements on nodes, and the nodes that they run on.
//!
//! The scheduling-relevant content of a pod is its [`PodSpec`], shared by all replicas of a workload. Everything that
//! Kubernetes' scheduler reads is parsed, including fields that the solver does not act on yet: [`PodSpec::rules`]
//! lists the rules that a pod uses.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;

use super::storage::PodVolume;
use super::{
    LabelKey, LabelSelector, Namespace, NodeName, PodKey, Requirements, Resources, Stance, Toleration,
};

/// A transport protocol of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "UPPERCASE")]
pub enum Protocol {
    /// TCP, the default.
    Tcp,
    /// UDP.
    Udp,
    /// SCTP.
    Sctp,
}

/// A port of the node that a pod takes for itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct HostPort {
    /// The port.
    pub port: u16,
    /// The protocol.
    pub protocol: Protocol,
    /// The address it is taken on; `None` is every address.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub address: Option<Arc<str>>,
}

impl HostPort {
    /// Returns whether both cannot be taken on one node: same port and protocol, and the same address or
    /// every address.
    #[must_use]
    pub fn conflicts_with(&self, other: &Self) -> bool {
        self.port == other.port
            && self.protocol == other.protocol
            && (self.address.is_none() || other.address.is_none() || self.address == other.address)
    }
}

impl fmt::Display for HostPort {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { port, protocol, address } = self;
        let address = address.as_ref().map_or(String::new(), |address| format!("{address}:"));
        let protocol = match protocol {
            Protocol::Tcp => "TCP",
            Protocol::Udp => "UDP",
            Protocol::Sctp => "SCTP",
        };
        write!(formatter, "{address}{port}/{protocol}")
    }
}

/// Something that is wished for with a weight from 1 to 100.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preferred<T> {
    /// The weight.
    pub weight: u32,
    /// What is wished for.
    pub term: T,
}

/// What a pod asks of the labels of its node beyond its node selector.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeAffinity {
    /// Terms of which one must hold; `None` asks for nothing, an empty list can never be met. A term
    /// without requirements selects no node, as in Kubernetes, and is left out when read.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub required: Option<Vec<Requirements>>,
    /// What is wished for.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub preferred: Vec<Preferred<Requirements>>,
}

/// A term of pod affinity or anti-affinity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PodAffinityTerm {
    /// The label whose values are the domains.
    pub topology_key: LabelKey,
    /// Which pods are meant; `None` means none.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub selector: Option<LabelSelector>,
    /// In which namespaces, by name; the pod's own when both this and the selector are absent.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub namespaces: BTreeSet<Namespace>,
    /// In which namespaces, by label; an empty selector means all.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub namespace_selector: Option<LabelSelector>,
}

/// A topology spread constraint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SpreadConstraint {
    /// The label whose values are the domains.
    pub topology_key: LabelKey,
    /// How far the fullest domain may be ahead of the emptiest.
    pub max_skew: u32,
    /// Whether the constraint must hold (`DoNotSchedule`) or is wished for (`ScheduleAnyway`).
    pub strength: Strength,
    /// Which pods are counted; `None` counts none.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub selector: Option<LabelSelector>,
    /// How many domains there must be.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub min_domains: Option<u32>,
    /// `nodeAffinityPolicy: Honor` (the default): only nodes that the pod selects count as domains.
    pub honors_node_affinity: bool,
    /// `nodeTaintsPolicy: Honor` (not the default): only nodes that the pod tolerates count as domains.
    pub honors_node_taints: bool,
    /// The pod labels whose values join the selector.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub match_label_keys: Vec<LabelKey>,
}

/// Whether something must hold or is wished for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Strength {
    /// Must hold.
    Required,
    /// Wished for.
    Preferred,
}

/// A scheduling rule of Kubernetes that a pod may use, by the name that reports show.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum SchedulingRule {
    /// `topologySpreadConstraints`.
    TopologySpread,
    /// `affinity.podAffinity`.
    PodAffinity,
    /// `affinity.podAntiAffinity`, the pod's own or that of a running pod against it.
    PodAntiAffinity,
    /// A volume that may tie the pod to a zone or a node: a claim, an ephemeral or an attached volume.
    Volumes,
    /// `resourceClaims` (dynamic resource allocation).
    ResourceClaims,
    /// `matchFields` in node affinity.
    MatchFields,
    /// Preferred node affinity.
    PreferredNodeAffinity,
    /// A RuntimeClass, whose overhead and node selector are not known here.
    RuntimeClass,
}

impl SchedulingRule {
    /// Returns the rule's name for people: the field's own name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TopologySpread => "topologySpreadConstraints",
            Self::PodAffinity => "podAffinity",
            Self::PodAntiAffinity => "podAntiAffinity",
            Self::Volumes => "volumes",
            Self::ResourceClaims => "resourceClaims",
            Self::MatchFields => "nodeAffinity matchFields",
            Self::PreferredNodeAffinity => "preferred nodeAffinity",
            Self::RuntimeClass => "runtimeClassName",
        }
    }
}

/// What the scheduler reads of a pod; shared by the replicas of a workload.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PodSpec {
    /// What the pod asks for, counted as Kubernetes counts it, with `pods: 1`.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub requests: Resources,
    /// Whether no container of the pod says what it needs.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub is_without_requests: bool,
    /// The pod's labels.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub labels: BTreeMap<LabelKey, Arc<str>>,
    /// `nodeSelector`, with normalised keys.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub node_selector: Requirements,
    /// Node affinity, with normalised keys.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub node_affinity: NodeAffinity,
    /// Tolerations, sorted.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub tolerations: Vec<Toleration>,
    /// Whether taints that only discourage keep it away like others. No pod is written so: it is how a preference is
    /// taken for required, on a copy.
    #[serde(skip)]
    pub refuses_soft_taints: bool,
    /// Why no new node is made for it now, though Kubernetes schedules it. No pod is written so: it follows from what nodes
    /// that were made for such pods came to.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub withheld: Option<Arc<str>>,
    /// Host ports; all container ports where the pod uses the host's network.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub host_ports: BTreeSet<HostPort>,
    /// Priority, from the pod or its PriorityClass.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub priority: i32,
    /// Whether it takes no other pod's place (`preemptionPolicy: Never`), by its own word or its PriorityClass'.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub never_preempts: bool,
    /// Scheduling gates that hold the pod back.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub gates: BTreeSet<Arc<str>>,
    /// Spread constraints, in the order written.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub spread: Vec<SpreadConstraint>,
    /// Required pod affinity.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub affinity: Vec<PodAffinityTerm>,
    /// Required pod anti-affinity.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub anti_affinity: Vec<PodAffinityTerm>,
    /// Preferred pod affinity.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub preferred_affinity: Vec<Preferred<PodAffinityTerm>>,
    /// Preferred pod anti-affinity.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub preferred_anti_affinity: Vec<Preferred<PodAffinityTerm>>,
    /// Rules that are used and not held in the fields above: volumes, resource claims, match fields,
    /// a runtime class.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub other_rules: BTreeMap<SchedulingRule, Strength>,
    /// Volumes that may tie the pod to a zone or a node, sorted.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub volumes: Vec<PodVolume>,
    /// The scheduler that binds the pod; `None` is Kubernetes' own.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub scheduler: Option<Arc<str>>,
    /// The group that it says it is of, whose pods may be bound together or not at all.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub group: Option<super::GroupRef>,
    /// The operating system that it says it is for (`os.name`): the scheduler does not read it, the kubelet does.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub os: Option<Arc<str>>,
}

impl PodSpec {
    /// Returns how it stands to taints.
    #[must_use]
    pub fn stance(&self) -> Stance {
        // `tolerationSeconds` limits how long a pod may stay, not where it can be scheduled.
        let whenever =
            self.tolerations.iter().map(|toleration| Toleration { seconds: None, ..toleration.clone() });
        let mut tolerations: Vec<Toleration> = whenever.collect();
        tolerations.dedup();
        Stance { tolerations, refuses_soft: self.refuses_soft_taints }
    }

    /// Returns every selector of namespaces of its affinity and anti-affinity.
    pub fn namespace_selectors(&self) -> impl Iterator<Item = &LabelSelector> {
        let preferred = self.preferred_affinity.iter().chain(&self.preferred_anti_affinity);
        let required = self.affinity.iter().chain(&self.anti_affinity);
        required.chain(preferred.map(|term| &term.term)).filter_map(|term| term.namespace_selector.as_ref())
    }

    /// Returns every rule beyond resources, selectors, taints and ports that the pod uses, each with the
    /// stronger of its uses.
    #[must_use]
    pub fn rules(&self) -> BTreeMap<SchedulingRule, Strength> {
        let mut rules = self.other_rules.clone();
        let mut used = |rule, strength: Strength| {
            rules.entry(rule).and_modify(|present| *present = (*present).min(strength)).or_insert(strength);
        };
        for constraint in &self.spread {
            used(SchedulingRule::TopologySpread, constraint.strength);
        }
        if !self.affinity.is_empty() {
            used(SchedulingRule::PodAffinity, Strength::Required);
        }
        if !self.anti_affinity.is_empty() {
            used(SchedulingRule::PodAntiAffinity, Strength::Required);
        }
        if !self.preferred_affinity.is_empty() {
            used(SchedulingRule::PodAffinity, Strength::Preferred);
        }
        if !self.preferred_anti_affinity.is_empty() {
            used(SchedulingRule::PodAntiAffinity, Strength::Preferred);
        }
        if !self.node_affinity.preferred.is_empty() {
            used(SchedulingRule::PreferredNodeAffinity, Strength::Preferred);
        }
        rules
    }
}

/// The workload that a pod belongs to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Workload {
    /// The kind, such as `Deployment`.
    pub kind: Arc<str>,
    /// The namespace.
    pub namespace: Namespace,
    /// The name.
    pub name: Arc<str>,
}

impl fmt::Display for Workload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{} in {}", self.kind, self.name, self.namespace)
    }
}

/// Where a pod is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PodPlace {
    /// It waits for a node, or does not exist yet.
    Waiting,
    /// It is bound to this node.
    Bound(NodeName),
}

/// A pod that runs or should run. Pods that have finished are left out when read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pod {
    /// Namespace and name.
    pub key: PodKey,
    /// The workload that made it, if one did.
    pub workload: Option<Workload>,
    /// What the scheduler reads of it.
    pub spec: Arc<PodSpec>,
    /// Where it is.
    pub place: PodPlace,
    /// Whether it belongs to a DaemonSet or is a static pod of its node: it leaves with the node.
    pub is_daemon: bool,
    /// Whether it has `karpenter.sh/do-not-disrupt`.
    pub is_do_not_disrupt: bool,
    /// Whether it is being deleted.
    pub is_terminating: bool,
    /// What else matters before it is evicted.
    pub state: PodState,
}

/// What a pod that exists says of itself that matters before it is evicted.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct PodState {
    /// When its wish not to be disrupted ends; `None` is never, or nobody knows since when it runs.
    #[serde(with = "super::written::optional_text", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub protected_until: Option<Timestamp>,
    /// `controller.kubernetes.io/pod-deletion-cost`: how dear it is beside others of its workload.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub deletion_cost: i32,
    /// Whether it says that it is not ready.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub is_unready: bool,
    /// `status.nominatedNodeName`: the node that kube-scheduler has promised it, whose pods it preempted, or that nodeform
    /// means it for; none once it is bound.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub nominated: Option<NodeName>,
    /// Whether nodeform wrote that: the node was made for pods of its owner and template.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub is_meant: bool,
    /// The UID of a pod that nobody owns: one made later under its name is another. Whoever has an owner is known by that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<Arc<str>>,
}

impl Pod {
    /// Returns the node that it is promised or meant for, where it is about to come to.
    #[must_use]
    pub fn promised(&self) -> Option<&NodeName> {
        self.state.nominated.as_ref().filter(|node| self.place == PodPlace::Bound((*node).clone()))
    }

    /// Returns whether the pod keeps disruption away at this time; where no time is known, as long as it ever does.
    #[must_use]
    pub fn is_protected(&self, at: Option<Timestamp>) -> bool {
        let is_over = self.state.protected_until.zip(at).is_some_and(|(until, at)| at >= until);
        self.is_do_not_disrupt && !is_over
    }
}
