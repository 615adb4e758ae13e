//! Builds the PUT body of the billing extension with Azure's models.
//!
//! Must never carry protected settings: there is no secret in it.

use azure_mgmt_compute::models as wire;
use serde_json::json;

use super::{BillingExtension, Body, complete};

/// Builds the body that creates the extension.
#[must_use]
pub fn build(extension: &BillingExtension) -> Body {
    let BillingExtension { location, tags } = extension;
    let mut properties = wire::VirtualMachineExtensionProperties::new();
    properties.publisher = Some("Microsoft.AKS".to_owned());
    properties.type_ = Some("Compute.AKS.Linux.Billing".to_owned());
    properties.type_handler_version = Some("1.0".to_owned());
    properties.auto_upgrade_minor_version = Some(true);
    properties.settings = Some(json!({}));
    let mut model = wire::VirtualMachineExtension::new();
    model.resource_with_optional_location.location = Some(location.clone());
    model.resource_with_optional_location.tags = Some(complete::tags(tags));
    model.properties = Some(properties);
    complete::extension(&model)
}
