//! DaemonSets: what their pods take of every node that they may run on.
//!
//! On a new node all of them count that may run there; on a node that exists, those that have no
//! pod there yet. They are never placed themselves: they come with the node.

use std::collections::BTreeSet;

use crate::model::{HostPort, Namespace, Pod, Resources};
use crate::snapshot::{Daemon, Snapshot};

use super::demand::Ask;
use super::fit::{Site, labels, taints};

/// The daemonsets of the snapshot.
#[derive(Clone, Debug, Default)]
pub struct Daemons<'a> {
    /// What the pods of each ask for, in the order of the snapshot.
    pub asks: Vec<Ask>,
    daemons: &'a [Daemon],
}

/// What daemonsets take of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Their requests together.
    pub requests: Resources,
    /// Their host ports.
    pub ports: BTreeSet<HostPort>,
}

impl<'a> Daemons<'a> {
    /// Reads the daemonsets.
    #[must_use]
    pub fn of(snapshot: &'a Snapshot) -> Self {
        let daemons = snapshot.daemons.as_slice();
        Self { asks: daemons.iter().map(|daemon| Ask::of(&daemon.spec)).collect(), daemons }
    }

    /// Returns what those take that tolerate and select a node of these labels and taints. A node's labels
    /// that are still open count as if they were what the daemonset asks for: rather too much room is kept
    /// than too little.
    #[must_use]
    pub fn overhead(&self, site: &Site<'_>) -> Overhead {
        self.of_those(site, |_| true)
    }

    /// Returns what those take of a node that have no pod among the ones bound there. Pods of other
    /// daemonsets and static pods make no room for those that are still to come. An assumed daemonset stands
    /// for those of its namespace that were not read: where daemons of it run, nothing is assumed.
    #[must_use]
    pub fn to_come(&self, site: &Site<'_>, bound: &[&Pod]) -> Overhead {
        let running = bound.iter().filter(|pod| pod.is_daemon);
        let namespaces: BTreeSet<&Namespace> = running.map(|pod| &pod.key.namespace).collect();
        let workloads = bound.iter().filter_map(|pod| pod.workload.as_ref());
        let there: BTreeSet<(&Namespace, &str)> = workloads
            .filter(|workload| &*workload.kind == "DaemonSet")
            .map(|workload| (&workload.namespace, &*workload.name))
            .collect();
        self.of_those(site, |daemon| {
            let is_there = there.contains(&(&daemon.namespace, &*daemon.name))
                || (daemon.is_assumed && namespaces.contains(&daemon.namespace));
            !is_there
        })
    }

    fn of_those(&self, site: &Site<'_>, counts: impl Fn(&Daemon) -> bool) -> Overhead {
        let mut overhead = Overhead::default();
        for (ask, _) in self.asks.iter().zip(self.daemons).filter(|(_, daemon)| counts(daemon)) {
            let stands = taints::why(&site.taints, &ask.tolerations).is_ok();
            if stands && labels::why(&ask.alternatives, &site.labels, &site.undefined).is_ok() {
                overhead.requests.add(&ask.requests);
                overhead.ports.extend(ask.host_ports.iter().cloned());
            }
        }
        overhead
    }
}
