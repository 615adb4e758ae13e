//! What a fault may happen to.

use serde_json::Value;

use crate::sim::azure::{Call, Machine};
use crate::sim::json::text;

/// The tag by which Karpenter and nodeform name a VM's pool.
const POOL_TAG: &str = "karpenter.sh_nodepool";

/// A request, or a moment in a VM's life.
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
    /// A request; size, zone and pool where its body has them.
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

    /// A moment in a VM's life.
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

    /// The deletion of a VM.
    pub(crate) fn of_delete(call: &Call<'_>, machine: &Machine) -> Self {
        Self { method: Some(call.method.to_owned()), ..Self::of_machine(machine) }
    }
}
