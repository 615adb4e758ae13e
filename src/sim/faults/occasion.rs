//! Occasions to which a fault can apply.

use serde_json::Value;

use crate::sim::azure::{Call, Machine};
use crate::sim::http::Request;
use crate::sim::json::text;

/// The tag in which Karpenter and nodeform store a VM's pool.
const POOL_TAG: &str = "karpenter.sh_nodepool";

/// A request, or an event in a VM's life.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Occasion {
    pub(crate) method: Option<String>,
    pub(crate) resource: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) size: Option<String>,
    pub(crate) zone: Option<String>,
    pub(crate) pool: Option<String>,
}

impl Occasion {
    /// Returns the occasion of a request, with size, zone and pool if its body has them.
    pub(crate) fn of(call: &Call<'_>) -> Self {
        let body: Value = serde_json::from_slice(&call.request.body).unwrap_or(Value::Null);
        let owned = |pointer: &str| text(&body, pointer).map(str::to_owned);
        Self {
            method: Some(call.method.to_owned()),
            resource: Some(call.resource_type().leaf),
            name: Some(call.segment(7).to_owned()).filter(|name| !name.is_empty()),
            size: owned("/properties/hardwareProfile/vmSize"),
            zone: owned("/zones/0"),
            pool: owned(&format!("/tags/{POOL_TAG}")),
        }
    }

    /// Returns the occasion of a request to the API server.
    pub(crate) fn of_cluster(request: &Request) -> Self {
        let path = request.path();
        let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
        let rest = match parts.as_slice() {
            ["api", _, rest @ ..] | ["apis", _, _, rest @ ..] => rest,
            _ => &[],
        };
        let rest = match rest {
            ["namespaces", _, rest @ ..] if !rest.is_empty() => rest,
            rest => rest,
        };
        let (plural, name, subresource) = match rest {
            [] => (None, None, None),
            [plural] => (Some(*plural), None, None),
            [plural, name] => (Some(*plural), Some(*name), None),
            [plural, name, subresource, ..] => (Some(*plural), Some(*name), Some(*subresource)),
        };
        let resource = plural.map(|plural| match subresource {
            Some(subresource) => format!("{plural}/{subresource}"),
            None => plural.to_owned(),
        });
        let method = Some(request.method.clone());
        Self { method, resource, name: name.map(str::to_owned), ..Self::default() }
    }

    /// Returns the list occasion for a single item.
    pub(crate) fn of_item(&self, name: &str) -> Self {
        Self { name: Some(name.to_owned()), ..self.clone() }
    }

    /// Returns the occasion of an event in a VM's life.
    pub(crate) fn of_machine(machine: &Machine) -> Self {
        Self {
            method: None,
            resource: Some("virtualMachines".to_owned()),
            name: Some(machine.name.clone()),
            size: Some(machine.size.clone()),
            zone: machine.zone.clone(),
            pool: text(&machine.body, &format!("/tags/{POOL_TAG}")).map(str::to_owned),
        }
    }

    /// Returns the occasion of a VM's deletion.
    pub(crate) fn of_delete(call: &Call<'_>, machine: &Machine) -> Self {
        Self { method: Some(call.method.to_owned()), ..Self::of_machine(machine) }
    }
}
