//! DaemonSets: what their pods take of every node that they may run on.
//!
//! On a new node all of them count that may run there; on a node that exists, what is expected less what
//! runs already. They are never placed themselves: they come with the node.

use std::collections::BTreeSet;

use crate::model::{HostPort, Resources};
use crate::snapshot::Snapshot;

use super::demand::Ask;
use super::fit::{Site, labels, taints};

/// The daemonsets of the snapshot.
#[derive(Clone, Debug, Default)]
pub struct Daemons {
    /// What the pods of each ask for, in the order of the snapshot.
    pub asks: Vec<Ask>,
}

/// What daemonsets take of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Their requests together.
    pub requests: Resources,
    /// Their host ports.
    pub ports: BTreeSet<HostPort>,
}

impl Daemons {
    /// Reads the daemonsets.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        Self { asks: snapshot.daemons.iter().map(|daemon| Ask::of(&daemon.spec)).collect() }
    }

    /// Returns what those take that tolerate and select a node of these labels and taints. A node's labels
    /// that are still open count as if they were what the daemonset asks for: rather too much room is kept
    /// than too little.
    #[must_use]
    pub fn overhead(&self, site: &Site<'_>) -> Overhead {
        let mut overhead = Overhead::default();
        for ask in &self.asks {
            let stands = taints::why(&site.taints, &ask.tolerations).is_ok();
            if stands && labels::why(&ask.alternatives, &site.labels, &site.undefined).is_ok() {
                overhead.requests.add(&ask.requests);
                overhead.ports.extend(ask.host_ports.iter().cloned());
            }
        }
        overhead
    }
}
