//! Whether a pod may run on a node: one rule per file, each with one function that allows it, or refuses it with the
//! reason.
//!
//! The rules, in the order of evaluation: [`gates`], [`not_yet`], [`turns`], [`taints`], [`labels`] (zone and capacity
//! type are labels of an offering), [`ports`], [`resources`], [`mounts`] (the location of [`volumes`] is a label),
//! [`company`] ([`spread`], [`anti_affinity`] and [`affinity`] on one node; other domains are assigned by
//! [`super::topology`]), [`variety`] and [`limits`]. They are the authority: the result of packing is checked by them
//! before it is reported.

pub mod affinity;
pub mod anti_affinity;
pub mod available;
pub mod claims;
pub mod company;
pub mod gates;
pub mod labels;
pub mod limits;
pub mod mounts;
pub mod not_yet;
pub mod ports;
pub mod resources;
pub mod site;
pub mod slots;
pub mod spread;
pub mod taints;
pub mod turns;
pub mod variety;
pub mod volumes;

use crate::model::label;
pub use site::{Site, Undefined};

/// A rule, by its display name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The node's taints are tolerated.
    Taints,
    /// The node selector and one term of the node affinity hold.
    NodeAffinity,
    /// The pool's own requirements leave it an offering.
    PoolRequirements,
    /// The zone is among the requested ones.
    Zone,
    /// The capacity type is a requested one.
    CapacityType,
    /// Burstable and HPC sizes are requested by name.
    NamedFamily,
    /// The node's ports are free.
    HostPorts,
    /// There is enough of this resource.
    Resource(crate::model::ResourceName),
    /// Pods are spread over domains.
    TopologySpread,
    /// Pods that it has to be next to are there.
    PodAffinity,
    /// No pod there refuses it, and it refuses none of them.
    PodAntiAffinity,
    /// Its volumes are available there, and the node can attach them.
    Volumes,
    /// The candidate offerings have as many distinct values as the pool requires.
    MinValues,
    /// Limits of the pool or the fleet are not reached.
    Limits,
    /// There is any offering at all.
    Offerings,
}

impl Rule {
    /// Returns how far a pod got before it failed this rule: the larger, the nearer it was.
    #[must_use]
    pub const fn depth(&self) -> u8 {
        match self {
            Self::Offerings => 0,
            Self::Taints => 1,
            Self::NodeAffinity => 2,
            Self::PoolRequirements => 3,
            Self::CapacityType => 4,
            Self::Zone => 5,
            Self::NamedFamily => 6,
            Self::HostPorts => 7,
            Self::Resource(_) => 8,
            Self::Volumes => 9,
            Self::PodAffinity => 9,
            Self::PodAntiAffinity => 10,
            Self::TopologySpread => 11,
            Self::MinValues => 11,
            Self::Limits => 12,
        }
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(match self {
            Self::Taints => "taints",
            Self::NodeAffinity => "node affinity",
            Self::PoolRequirements => "the pool's own requirements",
            Self::Zone => "zone",
            Self::CapacityType => "capacity type",
            Self::NamedFamily => "burstable and HPC sizes",
            Self::HostPorts => "host ports",
            Self::Resource(name) => name.as_str(),
            Self::TopologySpread => "topologySpreadConstraints",
            Self::PodAffinity => "podAffinity",
            Self::PodAntiAffinity => "podAntiAffinity",
            Self::Volumes => "volumes",
            Self::MinValues => "minValues",
            Self::Limits => "limits",
            Self::Offerings => "offerings",
        })
    }
}

/// Why a pod may not run somewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Miss {
    /// The rule that refuses it.
    pub rule: Rule,
    /// What was requested, and what is available, for people.
    pub because: String,
    /// Shortfall in millionths of the requested amount, if it can be measured.
    pub short_by: i64,
}

impl Miss {
    /// Creates a miss without a shortfall.
    #[must_use]
    pub const fn new(rule: Rule, because: String) -> Self {
        Self { rule, because, short_by: 0 }
    }

    /// Returns a sort key by which the nearer miss comes first.
    #[must_use]
    pub fn distance(&self) -> (std::cmp::Reverse<u8>, i64) {
        (std::cmp::Reverse(self.rule.depth()), self.short_by)
    }
}

/// Names a domain in a reason: for hosts, the node itself.
fn domain_in_words(key: &str, domain: &str) -> String {
    match (key, domain) {
        (label::HOSTNAME, _) => "the node".to_owned(),
        (_, "") => format!("`{key}` with the empty value"),
        (_, _) => format!("`{key}` `{domain}`"),
    }
}
