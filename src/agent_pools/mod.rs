//! Agent pools of AKS -> NodePools, AKSNodeClasses and a NodeFleet to start from, as text with comments.
//!
//! Text in, text out. What cannot be carried over is listed and never dropped in silence; nothing is decided
//! about nodes, and nothing is read from the world.

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

/// What the user says beside the file, and what is taken where neither says it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// The cluster's name.
    pub cluster: Option<String>,
    /// The cluster's region.
    pub location: Option<Region>,
}

/// Manifests to start from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// The manifests.
    pub text: String,
    /// How many NodePools they hold.
    pub pools: usize,
    /// The region that they name.
    pub region: Region,
    /// Who said so.
    pub region_from: RegionFrom,
    /// What could not be carried over, or must be looked at, each with its pool.
    pub left_out: Vec<String>,
}

/// Who said which region manifests are to start with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionFrom {
    /// The user.
    User,
    /// The file that is converted.
    File,
    /// Nobody: it is a guess.
    Nobody,
}

/// The region where nobody says one: that of Azure's own price examples.
pub const REGION: &str = "eastus";

/// Converts a file: the output of `az aks nodepool list` or `az aks show`, or a dump of Nodes.
///
/// # Errors
/// Why the file is none of these.
pub fn start(source: Source, said: &Said) -> Result<Started, Vec<String>> {
    Ok(write::started(&read::read(source)?, said))
}

#[cfg(test)]
mod tests;
