//! Host ports: each can be used once per node.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::case::{Case, Site};
use super::finding::{Finding, Rule};
use crate::model::{HostPort, Pod, Protocol};

/// Users of a port, by bind address; `None` is every address.
type Takers = Vec<(Option<Arc<str>>, String)>;

/// Returns the pods whose host port another pod or a daemonset of their node uses.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    case.sites.iter().filter(|site| takes_ports(&site.pods)).flat_map(of_site).collect()
}

fn takes_ports(pods: &[&Pod]) -> bool {
    pods.iter().any(|pod| !pod.spec.host_ports.is_empty())
}

/// Returns the placed pods of a node whose host port is already in use.
pub(super) fn of_site(site: &Site<'_>) -> Vec<Finding> {
    let mut taken: BTreeMap<(u16, Protocol), Takers> = BTreeMap::new();
    let mut take = |port: &HostPort, taker: String| -> Option<String> {
        let takers = taken.entry((port.port, port.protocol)).or_default();
        let other = takers
            .iter()
            .find(|(address, _)| address.is_none() || port.address.is_none() || *address == port.address)
            .map(|(_, other)| other.clone());
        takers.push((port.address.clone(), taker));
        other
    };
    // Conflicts between running pods and daemonsets are not the plan's: only placed pods are reported.
    for daemon in &site.daemons {
        for port in &daemon.spec.host_ports {
            take(port, format!("daemonset `{}/{}`", daemon.namespace, daemon.name));
        }
    }
    for pod in &site.running {
        for port in &pod.spec.host_ports {
            take(port, format!("pod `{}`", pod.key));
        }
    }
    let mut found = Vec::new();
    for pod in &site.pods {
        for port in &pod.spec.host_ports {
            if let Some(other) = take(port, format!("pod `{}`", pod.key)) {
                let message = format!("takes host port {port} of {}, which {other} takes", site.title);
                found.push(Finding::new(Rule::HostPorts, format!("pod `{}`", pod.key), message));
            }
        }
    }
    found
}
