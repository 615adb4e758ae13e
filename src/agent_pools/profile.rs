//! An agent pool as AKS describes it: only what nodes follow from, and what is to be told about the rest.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// What an agent pool is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// It carries what AKS needs itself; it stays an agent pool.
    System,
    /// It carries workloads.
    #[default]
    User,
}

/// An agent pool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentPool {
    /// Its name.
    pub name: String,
    /// The size of its VMs.
    pub size: String,
    /// What it is for.
    pub mode: Mode,
    /// Whether its nodes run Windows.
    pub is_windows: bool,
    /// How many nodes it has.
    pub count: u64,
    /// Between how many nodes the autoscaler moves it; `None` is a fixed number.
    pub autoscaled: Option<(u64, u64)>,
    /// Its zones, as `1`.
    pub zones: BTreeSet<String>,
    /// Whether it is bought as spot.
    pub is_spot: bool,
    /// Labels that the user gives to its nodes.
    pub labels: BTreeMap<String, String>,
    /// Its taints, as `key=value:Effect`.
    pub taints: Vec<String>,
    /// How its VMs are built, in the words of an AKSNodeClass.
    pub class: BTreeMap<String, Value>,
    /// The size that an ephemeral OS disk was asked to have, in GB.
    pub ephemeral_disk_gb: Option<u64>,
    /// Whether ultra disks can be attached.
    pub is_ultra_ssd: bool,
    /// What of it has no counterpart, for people.
    pub left_out: Vec<String>,
}

/// What is known about the cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: Option<String>,
    /// Its resource group.
    pub resource_group: Option<String>,
    /// Its region.
    pub location: Option<String>,
    /// Its network set-up, in the words of a NodeFleet: plugin, mode, dataplane.
    pub network: Vec<(&'static str, String)>,
    /// How long a node must be unneeded until the autoscaler removes it.
    pub unneeded_time: Option<String>,
    /// What of it has no counterpart, for people.
    pub left_out: Vec<String>,
}
