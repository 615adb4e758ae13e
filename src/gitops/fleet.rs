//! The NodeFleet of a cluster: its repository settings.

use std::collections::BTreeMap;

use serde_json::Value;

use super::fault::GitOpsFault;
use crate::api::node_fleet::{Git, NodeFleet};
use crate::cluster::{Cluster, ClusterFailureKind};

/// API path of NodeFleets.
pub const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";

/// The part of a cluster's NodeFleet that concerns the repository.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// Its name.
    pub name: String,
    /// Its repository settings.
    pub git: Option<Git>,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// Its resource version.
    pub version: Option<String>,
}

impl Fleet {
    /// Returns the API path of the NodeFleet.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{FLEETS}/{}", self.name)
    }
}

/// Returns the NodeFleet, if there is one.
///
/// # Errors
/// The API server refuses, or there are several.
pub async fn fleet(cluster: &Cluster) -> Result<Option<Fleet>, GitOpsFault> {
    let listed = match cluster.list(FLEETS, "").await {
        Ok(listed) => listed,
        Err(failure) if failure.kind == ClusterFailureKind::NotFound => return Ok(None),
        Err(failure) => return Err(GitOpsFault::default().and(&failure.what, Some(&failure.hint))),
    };
    let mut items = listed.items();
    match (items.pop(), items.is_empty()) {
        (Some(item), true) => read_fleet(item).map(Some),
        (None, _) => Ok(None),
        (Some(_), false) => Err(GitOpsFault::of(
            "the cluster has more than one NodeFleet, and it is not known which one counts",
        )
        .hint("leave one: `kubectl get nodefleets`")),
    }
}

/// Parses a NodeFleet of a list. An unreadable one is a fault, because it may name another repository.
///
/// # Errors
/// It cannot be parsed.
pub fn read_fleet(mut item: Value) -> Result<Fleet, GitOpsFault> {
    let version = item["metadata"]["resourceVersion"].as_str().map(str::to_owned);
    // List items contain neither kind nor version.
    item["apiVersion"] = "nodeform.dev/v1alpha1".into();
    item["kind"] = "NodeFleet".into();
    let name = item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    match serde_json::from_value::<NodeFleet>(item) {
        Ok(NodeFleet { metadata, spec, .. }) => Ok(Fleet {
            name,
            git: spec.and_then(|spec| spec.git),
            annotations: metadata.annotations.unwrap_or_default(),
            version,
        }),
        Err(error) => Err(GitOpsFault::of(format!(
            "NodeFleet `{name}` cannot be read, so which repository counts is not known: {error}"
        ))
        .hint(format!("correct it: `kubectl edit nodefleet {name}`"))),
    }
}
