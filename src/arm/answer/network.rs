//! NICs, subnets and security groups as returned by Azure.
//!
//! Must never count a subnet's free addresses: only Azure knows them.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::reading::{Answer, Rest};
use crate::arm::{ResourceId, Tags};

/// A NIC.
#[derive(Clone, Debug, PartialEq)]
pub struct NetworkInterface {
    /// Its id.
    pub id: ResourceId,
    /// Its name.
    pub name: String,
    /// Its tags.
    pub tags: Tags,
    /// The VM that it is attached to; `None`: free, or reserved after a VM's creation failed.
    pub machine: Option<ResourceId>,
    /// The distinct subnets of its addresses, in their order.
    pub subnets: Vec<ResourceId>,
    /// Number of its addresses.
    pub addresses: usize,
    /// Its security group.
    pub security_group: Option<ResourceId>,
    /// The backend pools of its addresses.
    pub backend_pools: Vec<ResourceId>,
    /// Whether accelerated networking is enabled.
    pub accelerated_networking: Option<bool>,
    /// `Succeeded`, `Updating`, `Deleting`, `Failed`, or an unknown value.
    pub provisioning_state: Option<String>,
    /// All other properties.
    pub rest: BTreeMap<String, Value>,
}

/// A subnet.
#[derive(Clone, Debug, PartialEq)]
pub struct Subnet {
    /// Its id.
    pub id: ResourceId,
    /// Its address prefixes, such as `10.224.0.0/16`.
    pub prefixes: Vec<String>,
    /// Its security group.
    pub security_group: Option<ResourceId>,
    /// Its route table.
    pub route_table: Option<ResourceId>,
    /// `Succeeded` and so on.
    pub provisioning_state: Option<String>,
    /// All other properties.
    pub rest: BTreeMap<String, Value>,
}

/// A network security group.
#[derive(Clone, Debug, PartialEq)]
pub struct SecurityGroup {
    /// Its id.
    pub id: ResourceId,
    /// Its name.
    pub name: String,
    /// Its tags.
    pub tags: Tags,
    /// All other properties, including its rules.
    pub rest: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
pub struct Wire<P: Default> {
    id: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    tags: Option<BTreeMap<String, String>>,
    #[serde(default = "P::default")]
    properties: P,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct NicProperties {
    virtual_machine: Option<Reference>,
    ip_configurations: Vec<Configuration>,
    network_security_group: Option<Reference>,
    enable_accelerated_networking: Option<bool>,
    provisioning_state: Option<String>,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Deserialize)]
struct Configuration {
    #[serde(default)]
    properties: ConfigurationProperties,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct ConfigurationProperties {
    subnet: Option<Reference>,
    load_balancer_backend_address_pools: Vec<Reference>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
pub struct SubnetProperties {
    address_prefix: Option<String>,
    address_prefixes: Vec<String>,
    network_security_group: Option<Reference>,
    route_table: Option<Reference>,
    provisioning_state: Option<String>,
    #[serde(flatten)]
    rest: Rest,
}

#[derive(Deserialize, Default)]
pub struct GroupProperties {
    #[serde(flatten)]
    rest: Rest,
}

/// A reference to a resource by id.
#[derive(Deserialize)]
struct Reference {
    #[serde(default)]
    id: Option<String>,
}

fn id_of(reference: Reference) -> Option<ResourceId> {
    reference.id?.parse().ok()
}

fn own_id(id: &str) -> Result<ResourceId, String> {
    id.parse().map_err(|fault: crate::arm::ResourceIdFault| fault.to_string())
}

impl Answer for NetworkInterface {
    const WHAT: &'static str = "network interface";
    type Wire = Wire<NicProperties>;

    fn of(wire: Self::Wire) -> Result<Self, String> {
        let Wire { id, name, tags, properties } = wire;
        let NicProperties {
            virtual_machine,
            ip_configurations,
            network_security_group,
            enable_accelerated_networking,
            provisioning_state,
            rest,
        } = properties;
        let id = own_id(&id)?;
        let addresses = ip_configurations.len();
        let mut subnets = Vec::new();
        let mut backend_pools = Vec::new();
        for configuration in ip_configurations {
            let ConfigurationProperties { subnet, load_balancer_backend_address_pools } =
                configuration.properties;
            subnets.extend(subnet.and_then(id_of));
            backend_pools.extend(load_balancer_backend_address_pools.into_iter().filter_map(id_of));
        }
        subnets.dedup();
        Ok(Self {
            name: name.unwrap_or_else(|| id.name().to_owned()),
            id,
            tags: Tags::of_answer(tags.unwrap_or_default()),
            machine: virtual_machine.and_then(id_of),
            subnets,
            addresses,
            security_group: network_security_group.and_then(id_of),
            backend_pools,
            accelerated_networking: enable_accelerated_networking,
            provisioning_state,
            rest,
        })
    }
}

impl Answer for Subnet {
    const WHAT: &'static str = "subnet";
    type Wire = Wire<SubnetProperties>;

    fn of(wire: Self::Wire) -> Result<Self, String> {
        let SubnetProperties {
            address_prefix,
            address_prefixes,
            network_security_group,
            route_table,
            provisioning_state,
            rest,
        } = wire.properties;
        let prefixes =
            if address_prefixes.is_empty() { address_prefix.into_iter().collect() } else { address_prefixes };
        Ok(Self {
            id: own_id(&wire.id)?,
            prefixes,
            security_group: network_security_group.and_then(id_of),
            route_table: route_table.and_then(id_of),
            provisioning_state,
            rest,
        })
    }
}

impl Answer for SecurityGroup {
    const WHAT: &'static str = "network security group";
    type Wire = Wire<GroupProperties>;

    fn of(wire: Self::Wire) -> Result<Self, String> {
        let id = own_id(&wire.id)?;
        Ok(Self {
            name: wire.name.unwrap_or_else(|| id.name().to_owned()),
            id,
            tags: Tags::of_answer(wire.tags.unwrap_or_default()),
            rest: wire.properties.rest,
        })
    }
}
