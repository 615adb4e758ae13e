//! Reads the brakes, which hold back changes that have not started: the current NodeFleet, NodePools and classes.
//!
//! They are read after the world and before each start, so no change starts on brakes that are older than the world
//! that was read. If they cannot be read, no change starts.

use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use tokio::sync::OnceCell;

use crate::cluster::{Cluster, ClusterFailure};
use crate::manifests::Source;
use crate::offline;
use crate::review::Brakes;

/// The kinds that hold the brakes.
const KINDS: [&str; 3] =
    ["nodepools.karpenter.sh", "aksnodeclasses.karpenter.azure.com", "nodefleets.nodeform.dev"];

/// Reads the brakes of a cluster.
pub struct BrakeReader {
    cluster: Cluster,
    /// Whether changes start in mode `auto` only.
    is_automatic: bool,
    /// API paths of the kinds; one that is not installed sets no brakes.
    paths: OnceCell<Vec<String>>,
    /// Result of the last read.
    last: Mutex<Option<Last>>,
}

/// Parsed brakes, valid for these versions of the objects.
struct Last {
    versions: Vec<Version>,
    brakes: Brakes,
}

/// Version of an object.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    uid: String,
    resource_version: String,
}

#[derive(Deserialize)]
struct Page {
    items: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    metadata: Version,
}

impl BrakeReader {
    /// Returns a reader for approved plans.
    #[must_use]
    pub fn new(cluster: Cluster) -> Self {
        Self { cluster, is_automatic: false, paths: OnceCell::new(), last: Mutex::default() }
    }

    /// Returns a reader for plans that start in mode `auto` only.
    #[must_use]
    pub fn automatic(cluster: Cluster) -> Self {
        Self { is_automatic: true, ..Self::new(cluster) }
    }

    /// Reads the current brakes.
    pub async fn read(&self) -> Brakes {
        let sources = self.sources().await.map_err(|failure| failure.what);
        let brakes = sources.and_then(|sources| self.parsed(sources)).unwrap_or_else(Brakes::unread);
        if self.is_automatic { brakes.automatic() } else { brakes }
    }

    async fn sources(&self) -> Result<Vec<Source>, ClusterFailure> {
        let paths = self.paths.get_or_try_init(|| self.served()).await?;
        let mut sources = Vec::new();
        for path in paths {
            let listed = self.cluster.list(path, "").await?;
            sources.extend(listed.pages.into_iter().map(|page| Source::new(format!("<{path}>"), page)));
        }
        Ok(sources)
    }

    /// Parses the brakes if they changed since the last read: they are read every second.
    fn parsed(&self, sources: Vec<Source>) -> Result<Brakes, String> {
        let versions = versions(&sources);
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |last: &&Last| versions.as_ref() == Some(&last.versions);
        if let Some(Last { brakes, .. }) = last.as_ref().filter(is_same) {
            return Ok(brakes.clone());
        }
        let brakes = parsed(sources)?;
        *last = versions.map(|versions| Last { versions, brakes: brakes.clone() });
        Ok(brakes)
    }

    async fn served(&self) -> Result<Vec<String>, ClusterFailure> {
        let groups = KINDS.map(|kind| kind.split_once('.').map_or("", |(_, group)| group));
        let served = self.cluster.served(&groups).await?;
        Ok(KINDS.iter().filter_map(|kind| served.path(kind)).map(str::to_owned).collect())
    }
}

/// Returns the versions of all objects; `None` if one has no version.
fn versions(sources: &[Source]) -> Option<Vec<Version>> {
    let pages = sources.iter().map(|source| serde_json::from_slice::<Page>(&source.bytes).ok());
    let pages: Vec<Page> = pages.collect::<Option<_>>()?;
    Some(pages.into_iter().flat_map(|page| page.items).map(|item| item.metadata).collect())
}

fn parsed(sources: Vec<Source>) -> Result<Brakes, String> {
    match offline::said_of_nodes(sources) {
        Ok(policy) => Ok(Brakes::of(&policy)),
        Err(faults) => Err(faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")),
    }
}
