//! A VNet as returned by Azure.
//!
//! Must never choose a subnet: the class or the agent pools name it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::Subnet;
use super::reading::{Answer, Rest, read};
use crate::arm::{ResourceId, ResourceIdFault};

/// A VNet.
#[derive(Clone, Debug, PartialEq)]
pub struct VirtualNetwork {
    /// Its id.
    pub id: ResourceId,
    /// Its name; if AKS created it, `aks-vnet-` and eight digits.
    pub name: String,
    /// The GUID that nodes have as a label if pods use an overlay.
    pub resource_guid: Option<String>,
    /// Its subnets.
    pub subnets: Vec<Subnet>,
    /// All other properties.
    pub rest: BTreeMap<String, Value>,
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
    resource_guid: Option<String>,
    subnets: Vec<Value>,
    #[serde(flatten)]
    rest: Rest,
}

impl Answer for VirtualNetwork {
    const WHAT: &'static str = "virtual network";
    type Wire = Wire;

    fn of(wire: Wire) -> Result<Self, String> {
        let Wire { id, name, properties } = wire;
        let WireProperties { resource_guid, subnets, rest } = properties;
        let id: ResourceId = id.parse().map_err(|fault: ResourceIdFault| fault.to_string())?;
        let subnets: Result<Vec<Subnet>, _> = subnets.into_iter().map(read).collect();
        Ok(Self {
            name: name.unwrap_or_else(|| id.name().to_owned()),
            id,
            resource_guid,
            subnets: subnets.map_err(|fault| fault.to_string())?,
            rest,
        })
    }
}
