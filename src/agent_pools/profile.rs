//! An AKS agent pool: only the settings that determine nodes, and notes about the rest.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Mode of an agent pool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Runs AKS system pods; kept as an agent pool.
    System,
    /// Runs workloads.
    #[default]
    User,
}

/// An agent pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentPool {
    /// Its name.
    pub name: String,
    /// Its VM size.
    pub size: String,
    /// Its mode.
    pub mode: Mode,
    /// Whether its nodes run Windows.
    pub is_windows: bool,
    /// Number of nodes.
    pub count: u64,
    /// Minimum and maximum number of nodes of the autoscaler; `None` if the number is fixed.
    pub autoscaled: Option<(u64, u64)>,
    /// Its zones, such as `1`.
    pub zones: BTreeSet<String>,
    /// Whether its nodes are spot VMs.
    pub is_spot: bool,
    /// User-defined labels of its nodes.
    pub labels: BTreeMap<String, String>,
    /// Its taints, as `key=value:Effect`.
    pub taints: Vec<String>,
    /// Its VM settings, as fields of an AKSNodeClass.
    pub class: BTreeMap<String, Value>,
    /// Requested size of the ephemeral OS disk, in GB.
    pub ephemeral_disk_gb: Option<u64>,
    /// Whether ultra disks can be attached.
    pub is_ultra_ssd: bool,
    /// Settings without a counterpart, as text for people.
    pub left_out: Vec<String>,
}

/// Known facts about the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: Option<String>,
    /// Its resource group.
    pub resource_group: Option<String>,
    /// Its region.
    pub location: Option<String>,
    /// Its network settings, as fields of a NodeFleet: plugin, mode, dataplane.
    pub network: Vec<(&'static str, String)>,
    /// Time that a node must be unneeded before the autoscaler removes it.
    pub unneeded_time: Option<String>,
    /// Settings without a counterpart, as text for people.
    pub left_out: Vec<String>,
}
