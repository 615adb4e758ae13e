//! The world, read once: the cluster's objects and its Azure resources, as the content of a snapshot's file.
//!
//! What could not be read to its end is absent and said; it is never taken for empty. Nothing is planned here, and nothing is
//! written anywhere.

mod azure;
mod classes;
mod images;
mod kinds;
mod locate;
mod network;

use std::collections::BTreeSet;

use crate::azure::Azure;
use crate::cluster::Cluster;
use crate::manifests::Source;
use crate::snapshot::{AzureFacts, Gap};

pub use locate::{Named, Place};

/// What was seen.
#[derive(Debug, Default)]
pub struct Observation {
    /// The objects, page by page.
    pub sources: Vec<Source>,
    /// The kinds that were listed, be it without an object, in kubectl's words.
    pub listed: BTreeSet<String>,
    /// What Azure said.
    pub azure: Option<AzureFacts>,
    /// What could not be read, and what follows for plans.
    pub gaps: Vec<Gap>,
    /// What the user has to know, a line each.
    pub warnings: Vec<String>,
}

/// Why nothing was seen: what happened, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ObserveFault {
    /// What happened, and to which object.
    pub what: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl ObserveFault {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: Some(hint.into()) }
    }
}

/// Reads the cluster, and then Azure.
///
/// # Errors
/// Nodes or pods cannot be listed, the managed cluster cannot be found or read, or it is another than the one whose objects
/// were read. All faults that are known at that point.
pub async fn observe(
    cluster: &Cluster,
    azure: &Azure,
    named: &Named,
) -> Result<Observation, Vec<ObserveFault>> {
    let mut seen = Observation::default();
    kinds::read(cluster, &mut seen).await.map_err(|fault| vec![fault])?;
    let place = locate::place(azure, named, &seen).await.map_err(|fault| vec![fault])?;
    let mut facts = azure::read(azure, &place, &mut seen).await?;
    facts.cluster.ca_certificate = cluster.ca_certificate().map(Into::into);
    seen.azure = Some(facts);
    Ok(seen)
}
