//! Findings: the checker's results.

use std::fmt;

/// The rule that a plan breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Every pending pod is placed once or reported; nothing else is placed.
    Pods,
    /// Pods that are gated or use an unsupported rule are not placed.
    HeldBack,
    /// Headroom is reported, and never takes capacity that a pod needs.
    Headroom,
    /// The requests of all pods and daemonsets fit on their node.
    Capacity,
    /// Pods tolerate the taints of their node.
    Taints,
    /// Nodes have the labels that their pods require.
    NodeAffinity,
    /// Required topology spread: Kubernetes can bind the placed pods in some order.
    Spread,
    /// Required pod affinity: every placed pod has the pods that it requires in its domain.
    PodAffinity,
    /// Required pod anti-affinity: no placed pod shares a domain with a pod that it repels or that repels it.
    PodAntiAffinity,
    /// The required minimum of a gang's pods is placed, or none, and no plan evicts it below that minimum.
    Gangs,
    /// The volumes of every placed pod exist, or can be created, where its node is.
    Volumes,
    /// No two pods of a node use the same host port.
    HostPorts,
    /// The size is available in that zone and capacity type, and the pool allows it.
    Offering,
    /// A claim lists as many distinct values as its pool requires.
    MinValues,
    /// Prices are those of the catalogue and the fleet; an unknown price is never a number.
    Price,
    /// A pool stays within its limits.
    PoolLimits,
    /// The cluster stays within the fleet's limits.
    FleetLimits,
    /// The subscription stays within its quotas.
    Quota,
    /// A node is created from a pool only if no heavier pool could take its pod.
    PoolWeight,
    /// Only nodes that may be disrupted are removed.
    Removal,
    /// A fixed pool ends up with its number of nodes.
    Replicas,
    /// No more nodes are removed at the same time than the pool's budgets allow.
    Budget,
    /// Nothing that the fleet freezes or holds is changed.
    Hold,
    /// Names are valid, unique and derived from the item that they name.
    Names,
    /// Waves are in order, and every change's dependencies exist.
    Order,
    /// No decision is based on data that could not be read.
    Gaps,
    /// Totals, digest and provenance match the plan's content.
    Content,
    /// Assumptions and omissions are stated and respected.
    Supposed,
    /// A preempting pod has no place otherwise, and its victims have lower priority and are all needed.
    Preemption,
    /// A live plan is applied as stated: choices that its claims admit, on the observed nodes, in order.
    Execution,
    /// Soft preferences stay within their cost limit, and the plan's statements about them agree.
    Preferences,
}

impl Rule {
    /// Every rule, in the order in which findings are listed.
    pub const ALL: [Self; 31] = [
        Self::Pods,
        Self::HeldBack,
        Self::Headroom,
        Self::Capacity,
        Self::Taints,
        Self::NodeAffinity,
        Self::Spread,
        Self::PodAffinity,
        Self::PodAntiAffinity,
        Self::Gangs,
        Self::Volumes,
        Self::HostPorts,
        Self::Offering,
        Self::MinValues,
        Self::Price,
        Self::PoolLimits,
        Self::FleetLimits,
        Self::Quota,
        Self::PoolWeight,
        Self::Removal,
        Self::Replicas,
        Self::Budget,
        Self::Hold,
        Self::Names,
        Self::Order,
        Self::Gaps,
        Self::Content,
        Self::Supposed,
        Self::Preemption,
        Self::Execution,
        Self::Preferences,
    ];

    /// Returns the rule's display name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pods => "pods",
            Self::HeldBack => "held-back pods",
            Self::Headroom => "headroom",
            Self::Capacity => "capacity",
            Self::Taints => "taints",
            Self::NodeAffinity => "node affinity",
            Self::Spread => "topology spread",
            Self::PodAffinity => "pod affinity",
            Self::PodAntiAffinity => "pod anti-affinity",
            Self::Gangs => "gangs",
            Self::Volumes => "volumes",
            Self::HostPorts => "host ports",
            Self::Offering => "offering",
            Self::MinValues => "minValues",
            Self::Price => "price",
            Self::PoolLimits => "pool limits",
            Self::FleetLimits => "fleet limits",
            Self::Quota => "quota",
            Self::PoolWeight => "pool weight",
            Self::Removal => "removal",
            Self::Replicas => "replicas",
            Self::Budget => "budget",
            Self::Hold => "hold",
            Self::Names => "names",
            Self::Order => "order",
            Self::Gaps => "gaps",
            Self::Content => "content",
            Self::Supposed => "what is supposed",
            Self::Preemption => "preemption",
            Self::Execution => "execution",
            Self::Preferences => "preferences",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A fault of a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The broken rule.
    pub rule: Rule,
    /// The object concerned, such as ``pod `web/front-1` ``.
    pub object: String,
    /// The fault, with expected and actual values.
    pub message: String,
}

impl Finding {
    /// Creates a finding.
    pub(super) fn new(rule: Rule, object: impl Into<String>, message: impl Into<String>) -> Self {
        Self { rule, object: object.into(), message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { rule, object, message } = self;
        write!(formatter, "{rule}: {object}: {message}")
    }
}
