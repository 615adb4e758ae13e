//! Converts AKS agent pools to initial NodePools, AKSNodeClasses and a NodeFleet, as YAML with comments.
//!
//! Text in, text out. Settings that cannot be carried over are listed, never dropped silently. Never decides anything
//! about nodes, and never reads from the cluster or Azure.

mod class;
mod nodes;
mod profile;
mod read;
mod requirements;
mod write;
mod yaml;

use crate::manifests::Source;
use crate::model::Region;

pub use profile::{AgentPool, Cluster, Mode};
pub use read::{Input, read};

/// Values given by the user. They override the file; the defaults apply if neither sets them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The cluster's name.
    pub cluster: Option<String>,
    /// The cluster's region.
    pub location: Option<Region>,
}

/// The generated manifests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The manifests.
    pub text: String,
    /// Number of NodePools in `text`.
    pub pools: usize,
    /// The region used in the manifests.
    pub region: Region,
    /// Source of the region.
    pub region_from: RegionFrom,
    /// Settings that could not be carried over or need a check, each with its pool.
    pub left_out: Vec<String>,
}

/// Source of the region in the generated manifests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionFrom {
    /// The user.
    User,
    /// The converted file.
    File,
    /// None: the default, [`REGION`], is a guess.
    Nobody,
}

/// Default region: the one in Azure's own price examples.
pub const REGION: &str = "eastus";

/// Converts a file: the output of `az aks nodepool list` or `az aks show`, or a dump of Nodes.
///
/// # Errors
/// The reason if the file is none of these.
pub fn start(source: Source, said: &Said) -> Result<Started, Vec<String>> {
    Ok(write::started(&read::read(source)?, said))
}

#[cfg(test)]
mod tests;
