//! A node as one row: properties, utilization, price and planned changes.

use jiff::Timestamp;

use crate::model::{CapacityType, Price};

/// A node as one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name; before it joins, that of its NodeClaim or VM.
    pub name: String,
    /// Its NodePool, or its agent pool.
    pub pool: Option<String>,
    /// Its VM size.
    pub size: Option<String>,
    /// Its zone, as in the label.
    pub zone: Option<String>,
    /// Its capacity type; `None` if its size is unknown too.
    pub bought: Option<CapacityType>,
    /// Its stage.
    pub stage: Stage,
    /// CPU in millicores.
    pub cpu: Use,
    /// Memory in bytes.
    pub memory: Use,
    /// Pods.
    pub pods: Use,
    /// Hourly effective price.
    pub price: Price,
    /// Creation time.
    pub created: Option<Timestamp>,
    /// Planned changes and their reasons, the most advanced first.
    pub planned: Vec<String>,
    /// What holds them.
    pub held: Vec<String>,
    /// Other notes, shown in the details.
    pub notes: Vec<String>,
    /// Its pods, the largest first; `None` if pods could not be read.
    pub pod_list: Option<Vec<PodRow>>,
}

/// Stage of a node, in the order of its life cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// A plan creates it; it has no NodeClaim yet.
    Planned,
    /// It has a NodeClaim and no Node yet.
    Launching,
    /// Its Node has joined and is not initialized.
    Registered,
    /// Its Node is not Ready.
    NotReady,
    /// It is Ready and accepts pods.
    Ready,
    /// It is Ready and accepts no new pods.
    Cordoned,
    /// It is being drained.
    Draining,
    /// It, or its NodeClaim, is being deleted.
    Deleting,
    /// Its Node is gone and its NodeClaim is not.
    Lost,
}

impl Stage {
    /// Returns its display name.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Planned => "planned",
            Self::Launching => "launching",
            Self::Registered => "registered",
            Self::NotReady => "not ready",
            Self::Ready => "ready",
            Self::Cordoned => "cordoned",
            Self::Draining => "draining",
            Self::Deleting => "deleting",
            Self::Lost => "lost",
        }
    }

    /// Returns whether there is a Node whose requests and capacity count.
    #[must_use]
    pub const fn has_node(self) -> bool {
        match self {
            Self::Planned | Self::Launching | Self::Lost => false,
            Self::Registered
            | Self::NotReady
            | Self::Ready
            | Self::Cordoned
            | Self::Draining
            | Self::Deleting => true,
        }
    }
}

/// Requests of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Requested amount; `None` if pods could not be read.
    pub requested: Option<i64>,
    /// Allocatable amount; `None` if unknown.
    pub of: Option<i64>,
}

/// A pod on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRow {
    /// `namespace/name`.
    pub key: String,
    /// Requested CPU in millicores.
    pub cpu: i64,
    /// Requested memory in bytes.
    pub memory: i64,
    /// Whether it belongs to a DaemonSet or is a static pod.
    pub is_daemon: bool,
    /// Whether it has `karpenter.sh/do-not-disrupt`.
    pub is_protected: bool,
}
