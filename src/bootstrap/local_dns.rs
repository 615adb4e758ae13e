//! DNS on the node (LocalDNS), in the format of AKS's node controller.
//!
//! Must never decide whether it is enabled: the plan has resolved the class's mode.

use serde_json::{Map, Value, json};

use super::node::Node;
use super::refusal::Refusal;
use crate::api::aks_node_class::{AksNodeClassSpec, ZoneOverride};
use crate::api::text::DurationText;

const NANOSECONDS: i64 = 1_000_000_000;

/// Returns `localDnsProfile`; null if LocalDNS is disabled.
pub(super) fn config(node: &Node, class: &AksNodeClassSpec, refusals: &mut Vec<Refusal>) -> Value {
    if !node.has_local_dns {
        return Value::Null;
    }
    let dns = class.local_dns.clone().unwrap_or_default();
    let mut of = |list: Option<Vec<ZoneOverride>>, field| zones(&list.unwrap_or_default(), field, refusals);
    json!({
        "enableLocalDns": true,
        "vnetDnsOverrides": of(dns.vnet_dns_overrides, "spec.localDNS.vnetDNSOverrides"),
        "kubeDnsOverrides": of(dns.kube_dns_overrides, "spec.localDNS.kubeDNSOverrides"),
    })
}

fn zones(list: &[ZoneOverride], field: &str, refusals: &mut Vec<Refusal>) -> Value {
    let mut zones = Map::new();
    for (number, zone) in list.iter().enumerate() {
        let Some(name) = zone.zone.as_deref().filter(|name| is_zone(name)) else {
            refusals.push(Refusal::new(format!("{field}[{number}].zone"), "is no DNS zone"));
            continue;
        };
        let mut seconds = |key: &str, time: &Option<DurationText>| {
            let time = time.as_ref()?;
            let seconds =
                time.nanoseconds().map(|time| time / NANOSECONDS).and_then(|time| i32::try_from(time).ok());
            if seconds.is_none() {
                let why = format!("`{}` is no duration (as `1h30m`)", time.0.escape_default());
                refusals.push(Refusal::new(format!("{field}[{number}].{key}"), why));
            }
            seconds
        };
        let zone = json!({
            "queryLogging": zone.query_logging,
            "protocol": zone.protocol,
            "forwardDestination": zone.forward_destination,
            "forwardPolicy": zone.forward_policy,
            "maxConcurrent": zone.max_concurrent,
            "cacheDurationInSeconds": seconds("cacheDuration", &zone.cache_duration),
            "serveStaleDurationInSeconds": seconds("serveStaleDuration", &zone.serve_stale_duration),
            "serveStale": zone.serve_stale,
        });
        zones.insert(name.to_owned(), zone);
    }
    Value::Object(zones)
}

/// Returns whether the string is a plain DNS zone name. It is written into a Corefile, so nothing else is allowed.
fn is_zone(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    !name.is_empty() && name.len() <= 254 && name.chars().all(is_plain)
}
