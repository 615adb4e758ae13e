//! The only place that completes and corrects the output of Azure's models.
//!
//! The models are from 2024: they represent a VM's user-assigned identities as an empty type, and send `timeCreated`,
//! which is read-only, as null. Must never read an answer: the models drop unknown fields.

use azure_mgmt_compute::models as compute;
use azure_mgmt_network::models as network;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::request::user_assigned;
use super::{Body, ResourceId, Tags};
use crate::model::secret_json::drop_nulls;

/// Converts a VM model to a body.
pub(super) fn machine(model: &compute::VirtualMachine, identities: &[ResourceId]) -> Body {
    let mut json = tidy(model);
    if let (Some(object), false) = (json.as_object_mut(), identities.is_empty()) {
        object.insert("identity".to_owned(), user_assigned(identities));
    }
    Body::new(json)
}

/// Converts a NIC model to a body.
pub(super) fn network_interface(model: &network::NetworkInterface) -> Body {
    Body::new(tidy(model))
}

/// Converts an extension model to a body.
pub(super) fn extension(model: &compute::VirtualMachineExtension) -> Body {
    Body::new(tidy(model))
}

/// Converts tags for the models.
pub(super) fn tags(tags: &Tags) -> Value {
    tags.as_map().iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>().into()
}

/// Serializes a model without its nulls, which Azure would interpret as clearing a field. Serialization of the models
/// cannot fail; should that change, the body is null and Azure rejects it.
fn tidy(model: &impl Serialize) -> Value {
    let mut json = serde_json::to_value(model).unwrap_or_default();
    drop_nulls(&mut json);
    json
}
