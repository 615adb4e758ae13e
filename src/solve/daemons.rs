//! DaemonSet overhead: what DaemonSet pods use of every node that they may run on.
//!
//! A new node counts all DaemonSets that may run there, an existing node those that do not run there yet. Never places
//! their pods: they come with the node.

use std::collections::BTreeSet;

use crate::model::{Effect, HostPort, LabelKey, Namespace, Node, Pod, Resources, Taint};
use crate::snapshot::{Daemon, Snapshot};

use super::demand::Ask;
use super::fit::company::Company;
use super::fit::{Site, Undefined, labels, taints};
use super::replicas;
use super::topology::Topology;

/// Taints that the DaemonSet controller makes its pods tolerate, whatever their template says.
const ALWAYS_TOLERATED: [(&str, Effect); 7] = [
    ("node.kubernetes.io/not-ready", Effect::NoExecute),
    ("node.kubernetes.io/unreachable", Effect::NoExecute),
    ("node.kubernetes.io/disk-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/memory-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/pid-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/unschedulable", Effect::NoSchedule),
    ("node.kubernetes.io/network-unavailable", Effect::NoSchedule),
];

/// DaemonSets of the snapshot.
#[derive(Clone, Debug, Default)]
pub struct Daemons<'a> {
    daemons: Vec<(&'a Daemon, Ask)>,
    /// Labels that they require and that a new node may get.
    well_known: BTreeSet<LabelKey>,
}

/// DaemonSet overhead of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overhead {
    /// Sum of their requests.
    pub requests: Resources,
    /// Their host ports.
    pub ports: BTreeSet<HostPort>,
    /// Roles of their pods in rules between pods.
    pub company: Company,
}

impl Overhead {
    /// Adds a DaemonSet's pod.
    pub fn add(&mut self, ask: &Ask) {
        self.requests.add(&ask.requests);
        self.ports.extend(ask.host_ports.iter().cloned());
        self.company.put(&ask.company, 1);
    }
}

impl<'a> Daemons<'a> {
    /// Reads the DaemonSets.
    #[must_use]
    pub fn of(snapshot: &'a Snapshot, topology: &Topology) -> Self {
        let ask = |daemon: &'a Daemon| {
            let roles = topology.roles_of(&daemon.spec, &daemon.namespace);
            (daemon, Ask { company: topology.on_hosts(roles), ..Ask::of(&daemon.spec) })
        };
        let daemons: Vec<(&Daemon, Ask)> = snapshot.daemons.iter().map(ask).collect();
        let alternatives = daemons.iter().flat_map(|(_, ask)| &ask.alternatives);
        let keys = alternatives.flat_map(|wanted| wanted.iter().map(|(key, _)| key));
        let well_known = keys.filter(|key| snapshot.catalog.is_well_known(key)).cloned().collect();
        Self { daemons, well_known }
    }

    /// Returns each DaemonSet with its pods' requirements.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Daemon, &Ask)> {
        self.daemons.iter().map(|(daemon, ask)| (*daemon, ask))
    }

    /// Returns the requirements of the pods of each DaemonSet that tolerates these taints.
    #[must_use]
    pub fn standing(&self, taints: &[Taint]) -> Vec<&Ask> {
        self.daemons.iter().map(|(_, ask)| ask).filter(|ask| stands(taints, ask)).collect()
    }

    /// Returns the overhead of DaemonSets that may run on an existing node and do not yet, read or assumed.
    #[must_use]
    pub fn to_come(&self, node: &Node, site: &Site<'_>, running: &[&Pod]) -> Overhead {
        let mut overhead = Overhead::default();
        for (_, ask) in self.coming(node, site, running) {
            overhead.add(ask);
        }
        overhead
    }

    /// Returns the DaemonSets that may run on an existing node and do not yet. A node that is yet to be created for its
    /// pool's `replicas` may get labels that it does not name.
    pub(super) fn coming(&self, node: &Node, site: &Site<'_>, running: &[&Pod]) -> Vec<(&Daemon, &Ask)> {
        let open = Undefined::Open(&self.well_known);
        let undefined = if replicas::is_by_number(&node.name) { &open } else { &site.undefined };
        let there: BTreeSet<(&Namespace, &str)> = running
            .iter()
            .filter_map(|pod| pod.workload.as_ref())
            .filter(|workload| &*workload.kind == "DaemonSet")
            .map(|workload| (&workload.namespace, &*workload.name))
            .collect();
        let comes = |(daemon, ask): &(&Daemon, &Ask)| {
            !there.contains(&(&daemon.namespace, &*daemon.name))
                && stands(&node.taints, ask)
                && labels::are_met(&ask.alternatives, &site.labels, undefined)
        };
        self.iter().filter(comes).collect()
    }
}

fn stands(taints: &[Taint], ask: &Ask) -> bool {
    let is_always_tolerated = |taint: &Taint| {
        ALWAYS_TOLERATED.iter().any(|(key, effect)| *key == &*taint.key && *effect == taint.effect)
    };
    let others: Vec<Taint> = taints.iter().filter(|taint| !is_always_tolerated(taint)).cloned().collect();
    taints::are_stood(&others, &ask.stance)
}
