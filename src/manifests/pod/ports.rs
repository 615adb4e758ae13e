//! Host ports of a pod.

use std::collections::BTreeSet;

use crate::model::{HostPort, Protocol};

use crate::manifests::cursor::Cursor;

use super::requests::is_sidecar;

const PROTOCOLS: [(&str, Protocol); 3] =
    [("TCP", Protocol::Tcp), ("UDP", Protocol::Udp), ("SCTP", Protocol::Sctp)];

/// Reads the host ports of containers and sidecars; with host networking, all ports of a pod.
#[must_use]
pub fn read(spec: Cursor<'_>) -> BTreeSet<HostPort> {
    let is_on_host = spec.flag("hostNetwork");
    let sidecars = spec.items("initContainers").into_iter().filter(|container| is_sidecar(*container));
    let beside = sidecars.flat_map(|container| container.items("ports"));
    let beside = beside.filter_map(|port| one(port, is_on_host));
    let containers = spec.items("containers").into_iter().flat_map(|container| container.items("ports"));
    let mut taken = BTreeSet::new();
    for port in containers {
        if let Some(taking) = one(port, is_on_host)
            && !taken.insert(taking)
        {
            port.fault(
                "takes a port of the node for the second time",
                Some("take each `hostPort` once in a pod"),
            );
        }
    }
    taken.extend(beside);
    taken
}

fn one(port: Cursor<'_>, is_on_host: bool) -> Option<HostPort> {
    let container_port = port.integer("containerPort", 1..=65_535);
    // Go writes an unset port as zero.
    let host_port = port.integer("hostPort", 0..=65_535).filter(|number| *number > 0);
    let number = host_port.or(container_port.filter(|_| is_on_host))?;
    let names = PROTOCOLS.map(|(name, _)| name);
    let protocol = port.choice("protocol", &names).map_or(Protocol::Tcp, |place| PROTOCOLS[place].1);
    let address = port.text("hostIP").filter(|address| !matches!(&***address, "" | "0.0.0.0" | "::"));
    Some(HostPort { port: u16::try_from(number).ok()?, protocol, address: address.cloned() })
}
