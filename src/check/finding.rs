//! What the judge objects to.

use std::fmt;

/// The rule that a plan breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Every waiting pod is placed once, or accounted for; nothing else is placed.
    Pods,
    /// A pod that is gated, or that uses a rule which is not planned with, is not placed.
    HeldBack,
    /// Room for pods to come is kept from no pod, and said.
    Headroom,
    /// The requests of all pods and daemonsets fit on their node.
    Capacity,
    /// Pods tolerate the taints of their node.
    Taints,
    /// The labels of the node are those that its pods ask for.
    NodeAffinity,
    /// Required topology spread: an order exists in which Kubernetes binds the placed pods.
    Spread,
    /// Required pod affinity: every placed pod has the pods near it that it must be near.
    PodAffinity,
    /// Required pod anti-affinity: no placed pod shares a domain with one that it, or that keeps it, away.
    PodAntiAffinity,
    /// Of a gang at least so many pods are placed, or none, and so many go on running.
    Gangs,
    /// The volumes of every placed pod exist, or are made, where its node is.
    Volumes,
    /// No two pods of a node take the same port of it.
    HostPorts,
    /// The size can be had in that zone and capacity type, and is what the pool asks for.
    Offering,
    /// A claim lists as many distinct values as its pool asks for.
    MinValues,
    /// Prices are those of the catalogue and of the fleet; an unknown one is never a number.
    Price,
    /// A pool stays within its limits.
    PoolLimits,
    /// The cluster stays within the fleet's limits.
    FleetLimits,
    /// The subscription stays within its quotas.
    Quota,
    /// A node is made from a pool only for a pod that no heavier pool could take.
    PoolWeight,
    /// Only nodes that may go are removed.
    Removal,
    /// A pool that asks for a number of nodes comes to it.
    Replicas,
    /// No more nodes go at once than the pool's budgets let go.
    Budget,
    /// What the fleet freezes or puts on hold is not done.
    Hold,
    /// Names are valid, unique and derived from what they name.
    Names,
    /// Waves come in order, and what a change waits for exists.
    Order,
    /// Nothing that could not be read is decided about.
    Gaps,
    /// The totals, the digest and the provenance are those of the plan's content.
    Content,
    /// What is supposed and left out is said, and holds.
    Supposed,
    /// Who preempts others has no place without, and those who give way are of a lower priority and all needed.
    Preemption,
    /// A live plan is carried out as it says: by choices that its claims admit, on the nodes that were seen, in order.
    Execution,
    /// Soft preferences cost no more than they may, and what is said of them agrees.
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

    /// Returns the rule's name for people.
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

/// One thing that is wrong with a plan.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The rule that is broken.
    pub rule: Rule,
    /// What it is about, such as ``pod `web/front-1` ``.
    pub object: String,
    /// What is wrong, with what is wanted and what there is.
    pub message: String,
}

impl Finding {
    /// Makes a finding.
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
