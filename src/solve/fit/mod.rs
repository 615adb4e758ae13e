//! Whether a pod may stand on a node: one rule a file, each with one function that says yes, or no and why.
//!
//! The rules, in the order in which they are asked: [`gates`], [`not_yet`], [`turns`], [`taints`], [`labels`] (zone and
//! capacity type are labels of an offering), [`ports`], [`resources`], [`mounts`] (where [`volumes`] are is a label), [`company`] ([`spread`], [`anti_affinity`] and
//! [`affinity`] on one node; other domains are given out by [`super::topology`]), [`variety`] and [`limits`]. They are the authority:
//! what the packing found is judged by them before it is reported.

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

/// A rule, by the name that people read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The node's taints are tolerated.
    Taints,
    /// The node selector and one term of the node affinity hold.
    NodeAffinity,
    /// What the pool itself asks for leaves it something.
    PoolRequirements,
    /// The zone is one that is asked for.
    Zone,
    /// It is bought as asked for.
    CapacityType,
    /// Burstable and HPC sizes are named by somebody.
    NamedFamily,
    /// The node's ports are free.
    HostPorts,
    /// This resource suffices.
    Resource(crate::model::ResourceName),
    /// Pods are spread over domains.
    TopologySpread,
    /// Pods that it has to stand beside are there.
    PodAffinity,
    /// Nobody there refuses it, and it refuses nobody.
    PodAntiAffinity,
    /// Its volumes are there, and the node takes them.
    Volumes,
    /// What it may become has as many values as the pool asks for.
    MinValues,
    /// Limits of the pool or the fleet leave room.
    Limits,
    /// There is something to be had at all.
    Offerings,
}

impl Rule {
    /// Returns how far a pod has come when it fails this rule: the larger, the nearer it was.
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

/// Why a pod may not stand somewhere.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Miss {
    /// The rule that says no.
    pub rule: Rule,
    /// What was wanted and what there is, for people.
    pub because: String,
    /// How far off it was, in parts of a million of what was wanted, where that can be said.
    pub short_by: i64,
}

impl Miss {
    /// Makes a miss without a measure.
    #[must_use]
    pub const fn new(rule: Rule, because: String) -> Self {
        Self { rule, because, short_by: 0 }
    }

    /// Returns what sorts the nearer miss first.
    #[must_use]
    pub fn distance(&self) -> (std::cmp::Reverse<u8>, i64) {
        (std::cmp::Reverse(self.rule.depth()), self.short_by)
    }
}

/// Names a domain in a reason: of hosts it is the node that is looked at.
fn domain_in_words(key: &str, domain: &str) -> String {
    match (key, domain) {
        (label::HOSTNAME, _) => "the node".to_owned(),
        (_, "") => format!("`{key}` with the empty value"),
        (_, _) => format!("`{key}` `{domain}`"),
    }
}
