//! Reasons why a pod may not join: data while pods are tried, text only at the end.
//!
//! Never decides anything.

use crate::model::{LabelKey, ResourceName};

use super::topology::{Constraint, Topology};

/// Name of the rule for limits.
pub(super) const LIMITS: &str = "limits";

/// Reason why a pod may not join.
#[derive(Clone, Debug)]
pub(super) enum No {
    /// A taint is not tolerated.
    Taints,
    /// Labels do not match the requirements.
    Labels,
    /// A host port is in use.
    Ports,
    /// Its volumes are elsewhere, or the node attaches no more.
    Volumes,
    /// A constraint leaves no domain.
    Topology(Constraint),
    /// Several constraints choose domains that do not agree.
    TopologyDisagrees,
    /// There is not enough free capacity.
    Room,
    /// No size is left.
    Sizes {
        /// Whether some size has the labels.
        has_labels: bool,
        /// Whether some size with the labels is available.
        has_offering: bool,
        /// Whether some size has enough capacity.
        has_room: bool,
        /// Whether DaemonSets leave the host ports free on some size.
        has_ports: bool,
    },
    /// Too few distinct values of labels are left.
    Variety(Vec<(LabelKey, u32)>),
    /// Limits allow no size, or none that could hold the pod.
    Limits(Vec<Exceeded>),
    /// The limit on nodes, with this value, is reached.
    NodesLimit(u64),
    /// Other claims hold the reserved capacity; a later pass may succeed.
    Reserved,
}

/// A limit that sizes exceed.
#[derive(Clone, Debug)]
pub(super) struct Exceeded {
    /// The limited resource.
    pub(super) name: ResourceName,
    /// Remainder of the limit.
    pub(super) left: i64,
    /// Minimum that any of the sizes would take, if it exceeds the remainder.
    pub(super) least: Option<i64>,
}

impl No {
    /// Returns whether the same claim always refuses the same pod. `is_alone` tells that the pod's placement does not
    /// depend on other pods.
    pub(super) const fn is_lasting(&self, is_alone: bool) -> bool {
        match self {
            Self::Taints | Self::Labels | Self::Ports | Self::Room => true,
            Self::Sizes { .. } | Self::Variety(_) | Self::Limits(_) | Self::NodesLimit(_) => is_alone,
            Self::Volumes | Self::Topology(_) | Self::TopologyDisagrees | Self::Reserved => false,
        }
    }

    /// Returns the name that users see of the rule that refuses.
    pub(super) const fn rule(&self) -> &'static str {
        match self {
            Self::Taints => "taints",
            Self::Labels => "node affinity",
            Self::Ports => "host ports",
            Self::Volumes => "volumes",
            Self::Topology(_) | Self::TopologyDisagrees => "topology",
            Self::Room => "resources",
            Self::Sizes { has_ports: false, .. } => "host ports",
            Self::Sizes { has_room: false, .. } => "resources",
            Self::Sizes { .. } => "offerings",
            Self::Variety(_) => "minValues",
            Self::Limits(_) | Self::NodesLimit(_) => LIMITS,
            Self::Reserved => "reserved capacity",
        }
    }

    /// Returns the reason as text.
    pub(super) fn said(&self, topology: &Topology<'_>) -> String {
        match self {
            Self::Taints => "a taint is not tolerated".to_owned(),
            Self::Labels => "its labels do not match the requirements".to_owned(),
            Self::Ports => "a host port is taken".to_owned(),
            Self::Volumes => "the volumes do not let it be there".to_owned(),
            Self::Topology(constraint) => topology.said(*constraint),
            Self::TopologyDisagrees => "several constraints choose domains that do not agree".to_owned(),
            Self::Room => "there is not enough room".to_owned(),
            Self::Sizes { has_labels, has_offering, has_room, has_ports } => {
                sizes([*has_labels, *has_offering, *has_room, *has_ports])
            }
            Self::Variety(lacking) => {
                let keys = lacking.iter().map(|(key, count)| format!("`{key}` has {count}"));
                let keys: Vec<String> = keys.collect();
                format!(
                    "the sizes that are left offer fewer values than `minValues` asks for: {}",
                    keys.join(", ")
                )
            }
            Self::Limits(exceeded) => beyond(exceeded),
            Self::NodesLimit(most) => format!("it is at its node limit of {most} (`spec.limits.nodes`)"),
            Self::Reserved => "reserved capacity is held by other nodes; retrying".to_owned(),
        }
    }
}

fn beyond(limits: &[Exceeded]) -> String {
    let said = limits.iter().map(|Exceeded { name, left, least }| {
        let takes = least.map_or(String::new(), |least| format!(", a node takes {}", name.show(least)));
        format!("its `{name}` limit leaves {}{takes}", name.show(*left))
    });
    let said = said.collect::<Vec<String>>().join("; ");
    let is_each_enough = limits.iter().all(|limit| limit.least.is_none());
    if is_each_enough {
        format!("{said}: too little together for every size that could hold it")
    } else {
        said
    }
}

fn sizes(has: [bool; 4]) -> String {
    const LACKS: [&str; 4] = [
        "no size has the required labels",
        "no size with the required labels is available now",
        "no size has the room",
        "daemonsets take the host ports on every size",
    ];
    let lacks: Vec<&str> = LACKS.iter().zip(has).filter(|(_, has)| !has).map(|(lack, _)| *lack).collect();
    match lacks.as_slice() {
        [] => "no size has labels, capacity and offering together".to_owned(),
        lacks => lacks.join("; "),
    }
}
