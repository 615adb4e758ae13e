//! Observation: reads the cluster's objects and its Azure resources once, as the content of a snapshot file.
//!
//! A list that could not be read completely is absent and reported; it is never treated as empty. This module never
//! plans and never writes.

mod ask;
mod azure;
mod classes;
mod images;
mod karpenter;
mod kinds;
mod ledger;
mod locate;
mod network;
mod obstacles;
mod remembered;
mod unread;

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::arm::ResourceId;
use crate::cluster::Cluster;
use crate::manifests::Source;
use crate::model::{Region, Usage};
use crate::offline::{self, Laid, Problem, Request};
use crate::snapshot::file::{self, SnapshotFile};
use crate::snapshot::{AzureFacts, Gap};

pub use ask::{Ask, AskFault};
pub use karpenter::KarpenterVariables;
pub use locate::Named;
pub use remembered::Remembered;
pub use unread::Unread;

/// Result of reading a cluster and its Azure resources.
#[derive(Debug, Default)]
pub struct Observation {
    /// The objects, page by page.
    pub sources: Vec<Source>,
    /// The kinds that were listed, even those without objects, by their kubectl names.
    pub listed: BTreeSet<String>,
    /// The kinds that applying plans writes and that the cluster does not serve, sorted.
    pub missing: Vec<&'static str>,
    /// Facts from Azure.
    pub azure: Option<AzureFacts>,
    /// The subscription's quota usage.
    pub usages: Option<Vec<Usage>>,
    /// What could not be read, and the consequence for plans.
    pub gaps: Vec<Gap>,
    /// The same by its source, with the cause and the next step.
    pub unread: Vec<Unread>,
    /// Warnings for the user, one line each.
    pub warnings: Vec<String>,
}

impl Observation {
    /// Returns a snapshot as of this time; `options` provides its other parts.
    ///
    /// # Errors
    /// Invalid objects.
    pub fn snapshot(self, options: Request, at: Timestamp) -> Result<SnapshotFile, Vec<Problem>> {
        let Self { sources, listed, azure, usages, gaps, missing: _, unread: _, warnings: _ } = self;
        let usages = options.usages.clone().or(usages);
        let seen = || azure.as_ref().map(|facts| Region::new(&*facts.cluster.location));
        let location = options.location.clone().or_else(seen);
        offline::snapshot(Request { sources, listed, azure, usages, gaps, location, at: Some(at), ..options })
    }

    /// Returns the same as planning input: every plan of a live cluster is made from its snapshot.
    ///
    /// # Errors
    /// As [`Observation::snapshot`].
    pub fn laid(self, options: Request, at: Timestamp) -> Result<Laid, Vec<Problem>> {
        Ok(laid(&self.snapshot(options, at)?))
    }
}

/// Returns a snapshot of a live cluster as planning input.
#[must_use]
pub fn laid(snapshot: &SnapshotFile) -> Laid {
    Laid { snapshot: Source::new("<live>", file::write(snapshot)), ..Laid::default() }
}

/// Location of a managed cluster in Azure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The managed cluster.
    pub id: ResourceId,
    /// The resource group of its nodes according to their `providerID`s, if AKS nodes exist.
    pub of_nodes: Option<ResourceId>,
}

/// Reason why the cluster could not be read, with the next step.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ObserveFault {
    /// What happened, and to which object.
    pub what: String,
    /// What to do next.
    pub hint: Option<String>,
    /// What could not be read, if that is the reason.
    pub unread: Option<Unread>,
}

impl ObserveFault {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: Some(hint.into()), unread: None }
    }
}

/// Reads only the cluster's objects that show which nodes exist, how full they are and what they cost.
///
/// # Errors
/// Nodes cannot be listed. Other lists that fail are in [`Observation::unread`].
pub async fn nodes(cluster: &Cluster) -> Result<Observation, ObserveFault> {
    let mut seen = Observation::default();
    kinds::look(cluster, &mut seen).await?;
    Ok(seen)
}

/// Reads the cluster, then Azure.
///
/// # Errors
/// Nodes or pods cannot be listed, the managed cluster cannot be found or read, or it is not the one whose objects were
/// read. All faults that are known at that point.
pub async fn observe(
    cluster: &Cluster,
    azure: &impl Ask,
    named: &Named,
) -> Result<Observation, Vec<ObserveFault>> {
    let mut seen = Observation::default();
    kinds::read(cluster, &mut seen).await.map_err(|fault| vec![fault])?;
    let place = locate::place(azure, named, &seen).await.map_err(|fault| vec![fault])?;
    let ledger = ledger::read(cluster, cluster.clock().now(), &mut seen).await;
    let mut facts = azure::read(azure, (&place, &named.karpenter), &mut seen).await?;
    facts.cluster.ca_certificate = cluster.ca_certificate().map(Into::into);
    facts.ledger = ledger;
    seen.azure = Some(facts);
    Ok(seen)
}
