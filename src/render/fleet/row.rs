//! A node as one row: what it is, how full it is, what it costs, what becomes of it.

use jiff::Timestamp;

use crate::model::{CapacityType, Price};

/// A node as one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Its name; until it has joined, that of its NodeClaim or VM.
    pub name: String,
    /// Its NodePool, or its agent pool.
    pub pool: Option<String>,
    /// Its VM size.
    pub size: Option<String>,
    /// Its zone, as the label says it.
    pub zone: Option<String>,
    /// How its VM is paid; none where its size is not known either.
    pub bought: Option<CapacityType>,
    /// How far it has come.
    pub stage: Stage,
    /// CPU in thousandths.
    pub cpu: Use,
    /// Memory in bytes.
    pub memory: Use,
    /// Pods.
    pub pods: Use,
    /// What it costs the user by the hour.
    pub price: Price,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// What is planned with it and why, the most advanced first.
    pub planned: Vec<String>,
    /// What holds that.
    pub held: Vec<String>,
    /// What else is said of it: where it is explained.
    pub notes: Vec<String>,
    /// The pods on it, the largest first; none where pods could not be read.
    pub pod_list: Option<Vec<PodRow>>,
}

/// How far a node has come, in the order of its life.
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
    /// It is Ready and takes pods.
    Ready,
    /// It is Ready and takes no new pods.
    Cordoned,
    /// It is being drained.
    Draining,
    /// It, or its NodeClaim, is being deleted.
    Deleting,
    /// Its Node is gone and its NodeClaim is not.
    Lost,
}

impl Stage {
    /// Returns the word that people read.
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

/// What pods request of a resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// What is requested; none where pods could not be read.
    pub requested: Option<i64>,
    /// What is allocatable; none where nobody says it.
    pub of: Option<i64>,
}

/// A pod on a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRow {
    /// `namespace/name`.
    pub key: String,
    /// CPU that it requests, in thousandths.
    pub cpu: i64,
    /// Memory that it requests, in bytes.
    pub memory: i64,
    /// Whether it belongs to a DaemonSet or is a static pod.
    pub is_daemon: bool,
    /// Whether it has `karpenter.sh/do-not-disrupt`.
    pub is_protected: bool,
}
