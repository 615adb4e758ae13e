//! Rules for node-local DNS in an AKSNodeClass. Must never resolve a name: zones are compared as text, as in the API
//! server.

use crate::policy::fault::Fault;
use crate::policy::place::Place;

/// Returns the faults of the DNS zones of a node class.
pub(super) fn faults(spec: &Place<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    for list in ["vnetDNSOverrides", "kubeDNSOverrides"] {
        let Some(overrides) = spec.at(&format!("localDNS.{list}")) else { continue };
        let zones = overrides.own_items();
        for needed in [".", "cluster.local"] {
            if !zones.iter().any(|zone| zone.text("zone") == Some(needed)) {
                faults.push(
                    overrides.fault(format!("the zone `{needed}` is missing")).hint("add it to the list"),
                );
            }
        }
        for zone in &zones {
            faults.extend(zone_faults(zone));
            if list == "vnetDNSOverrides" {
                faults.extend(vnet_fault(zone));
            }
        }
    }
    faults
}

fn zone_faults(zone: &Place<'_>) -> Vec<Fault> {
    let mut faults = Vec::new();
    let is_cluster = zone.text("zone").is_some_and(|name| name.ends_with("cluster.local"));
    if is_cluster && zone.text("forwardDestination") == Some("VnetDNS") {
        let fault = zone.fault_at("forwardDestination", "names of the cluster cannot be asked of `VnetDNS`");
        faults.push(fault.hint("use `ClusterCoreDNS`"));
    }
    if zone.text("serveStale") == Some("Verify") && zone.text("protocol") == Some("ForceTCP") {
        let fault = zone.fault_at("serveStale", "`Verify` cannot be used with protocol `ForceTCP`");
        faults.push(fault.hint("use `Immediate` or `Disable`, or protocol `PreferUDP`"));
    }
    faults
}

fn vnet_fault(zone: &Place<'_>) -> Option<Fault> {
    let name = zone.text("zone").filter(|name| !name.ends_with("cluster.local"))?;
    (zone.text("forwardDestination") == Some("ClusterCoreDNS")).then(|| {
        let message = format!("the zone `{name}` of `vnetDNSOverrides` cannot be asked of `ClusterCoreDNS`");
        zone.fault_at("forwardDestination", message).hint("use `VnetDNS`")
    })
}
