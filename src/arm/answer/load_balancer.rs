//! Load balancers as returned by Azure, and which of their pools a node joins.
//!
//! Must never join a pool by addresses: AKS manages those itself.

use serde::Deserialize;
use serde_json::Value;

use super::reading::Answer;
use crate::arm::{BackendPool, ResourceId};

/// AKS load balancers whose pools nodes join.
const NAMES: &[&str] = &["kubernetes", "kubernetes-internal"];
/// Pools of these that nodes do not join: IPv6 is not supported.
const PASSED_OVER: &[&str] = &["kubernetes-ipv6", "aksOutboundBackendPool-ipv6"];

/// A load balancer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadBalancer {
    /// Its id.
    pub id: ResourceId,
    /// Its name.
    pub name: String,
    /// Its backend pools.
    pub pools: Vec<Pool>,
}

/// A backend pool of a load balancer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its id.
    pub id: ResourceId,
    /// Whether its members are IP addresses (`loadBalancerBackendAddresses` without NICs) instead of NICs.
    pub is_by_address: bool,
}

impl LoadBalancer {
    /// Returns the pools that a node's NIC joins; empty if the load balancer is not AKS's.
    #[must_use]
    pub fn pools_of_nodes(&self) -> Vec<BackendPool> {
        if !NAMES.iter().any(|name| name.eq_ignore_ascii_case(&self.name)) {
            return Vec::new();
        }
        let passed_over =
            |pool: &Pool| PASSED_OVER.iter().any(|name| name.eq_ignore_ascii_case(pool.id.name()));
        self.pools
            .iter()
            .filter(|pool| !pool.is_by_address && !passed_over(pool))
            .map(|pool| BackendPool(pool.id.clone()))
            .collect()
    }
}

#[derive(Deserialize)]
pub struct Wire {
    id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    properties: WireProperties,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireProperties {
    backend_address_pools: Vec<WirePool>,
}

#[derive(Deserialize)]
struct WirePool {
    id: String,
    #[serde(default)]
    properties: WirePoolProperties,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WirePoolProperties {
    #[serde(rename = "backendIPConfigurations")]
    backend_ip_configurations: Vec<Value>,
    load_balancer_backend_addresses: Vec<WireAddress>,
}

#[derive(Deserialize)]
struct WireAddress {
    #[serde(default)]
    properties: WireAddressProperties,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct WireAddressProperties {
    ip_address: Option<String>,
    network_interface_ip_configuration: Option<Value>,
}

impl Answer for LoadBalancer {
    const WHAT: &'static str = "load balancer";
    type Wire = Wire;

    fn of(wire: Wire) -> Result<Self, String> {
        let id = |text: &str| -> Result<ResourceId, String> {
            text.parse().map_err(|fault: crate::arm::ResourceIdFault| fault.to_string())
        };
        let own = id(&wire.id)?;
        let pools = wire
            .properties
            .backend_address_pools
            .into_iter()
            .map(|pool| Ok(Pool { id: id(&pool.id)?, is_by_address: is_by_address(&pool.properties) }));
        let name = wire.name.unwrap_or_else(|| own.name().to_owned());
        Ok(Self { id: own, name, pools: pools.collect::<Result<_, String>>()? })
    }
}

/// Returns whether a pool's members are IP addresses. A pool of NICs lists the NICs' addresses too, but each with a
/// reference to its NIC.
fn is_by_address(pool: &WirePoolProperties) -> bool {
    pool.backend_ip_configurations.is_empty()
        && pool.load_balancer_backend_addresses.iter().any(|address| {
            address.properties.ip_address.is_some()
                && address.properties.network_interface_ip_configuration.is_none()
        })
}
