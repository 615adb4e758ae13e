//! The one place that completes and repairs what Azure's models write.
//!
//! The models are of 2024: a VM's user-assigned identities are an empty type there, and `timeCreated`, which only
//! answers have, is sent as null. Must never read an answer: unknown fields vanish in the models.

use azure_mgmt_compute::models as compute;
use azure_mgmt_network::models as network;
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::request::user_assigned;
use super::{Body, ResourceId, Tags};
use crate::model::secret_json::drop_nulls;

/// A VM's model to its body.
pub(super) fn machine(model: &compute::VirtualMachine, identities: &[ResourceId]) -> Body {
    let mut json = tidy(model);
    if let (Some(object), false) = (json.as_object_mut(), identities.is_empty()) {
        object.insert("identity".to_owned(), user_assigned(identities));
    }
    Body::new(json)
}

/// A NIC's model to its body.
pub(super) fn network_interface(model: &network::NetworkInterface) -> Body {
    Body::new(tidy(model))
}

/// An extension's model to its body.
pub(super) fn extension(model: &compute::VirtualMachineExtension) -> Body {
    Body::new(tidy(model))
}

/// Tags as the models take them.
pub(super) fn tags(tags: &Tags) -> Value {
    tags.as_map().iter().map(|(name, value)| (name.clone(), json!(value))).collect::<Map<_, _>>().into()
}

/// Serialises a model without its nulls, which Azure would take for a wish to clear. The models have no type that JSON
/// cannot write; should that change, the body is null and Azure refuses it.
fn tidy(model: &impl Serialize) -> Value {
    let mut json = serde_json::to_value(model).unwrap_or_default();
    drop_nulls(&mut json);
    json
}
