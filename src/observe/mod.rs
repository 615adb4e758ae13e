//! The world, read once: the cluster's objects and its Azure resources, as the content of a snapshot's file.
//!
//! What could not be read to its end is absent and said; it is never taken for empty. Nothing is planned here, and nothing is
//! written anywhere.

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

/// What was seen.
#[derive(Debug, Default)]
pub struct Observation {
    /// The objects, page by page.
    pub sources: Vec<Source>,
    /// The kinds that were listed, be it without an object, in kubectl's words.
    pub listed: BTreeSet<String>,
    /// The kinds that carrying plans out writes and that the cluster does not serve, sorted.
    pub missing: Vec<&'static str>,
    /// What Azure said.
    pub azure: Option<AzureFacts>,
    /// What the subscription uses of its quotas.
    pub usages: Option<Vec<Usage>>,
    /// What could not be read, and what follows for plans.
    pub gaps: Vec<Gap>,
    /// The same by its source, with the cause and the next step.
    pub unread: Vec<Unread>,
    /// What the user has to know, a line each.
    pub warnings: Vec<String>,
}

impl Observation {
    /// Returns what was seen as a snapshot of this time; `options` say what else it holds.
    ///
    /// # Errors
    /// Objects that are faulty.
    pub fn snapshot(self, options: Request, at: Timestamp) -> Result<SnapshotFile, Vec<Problem>> {
        let Self { sources, listed, azure, usages, gaps, missing: _, unread: _, warnings: _ } = self;
        let usages = options.usages.clone().or(usages);
        let seen = || azure.as_ref().map(|facts| Region::new(&*facts.cluster.location));
        let location = options.location.clone().or_else(seen);
        offline::snapshot(Request { sources, listed, azure, usages, gaps, location, at: Some(at), ..options })
    }

    /// Returns the same as something to plan from: every plan of a live cluster is one of its snapshot.
    ///
    /// # Errors
    /// As [`Observation::snapshot`].
    pub fn laid(self, options: Request, at: Timestamp) -> Result<Laid, Vec<Problem>> {
        Ok(laid(&self.snapshot(options, at)?))
    }
}

/// Returns a snapshot of a live cluster as something to plan from.
#[must_use]
pub fn laid(snapshot: &SnapshotFile) -> Laid {
    Laid { snapshot: Source::new("<live>", file::write(snapshot)), ..Laid::default() }
}

/// A managed cluster's place in Azure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The managed cluster.
    pub id: ResourceId,
    /// The resource group of its nodes as their `providerID`s say it, where there are nodes of AKS.
    pub of_nodes: Option<ResourceId>,
}

/// Why nothing was seen: what happened, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct ObserveFault {
    /// What happened, and to which object.
    pub what: String,
    /// What to do next.
    pub hint: Option<String>,
    /// What could not be read, where that is why.
    pub unread: Option<Unread>,
}

impl ObserveFault {
    fn new(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), hint: Some(hint.into()), unread: None }
    }
}

/// Reads the cluster alone, and of it what says which nodes there are, how full they are and what they cost.
///
/// # Errors
/// Nodes cannot be listed. What else cannot is in [`Observation::unread`].
pub async fn nodes(cluster: &Cluster) -> Result<Observation, ObserveFault> {
    let mut seen = Observation::default();
    kinds::look(cluster, &mut seen).await?;
    Ok(seen)
}

/// Reads the cluster, and then Azure.
///
/// # Errors
/// Nodes or pods cannot be listed, the managed cluster cannot be found or read, or it is another than the one whose objects
/// were read. All faults that are known at that point.
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
