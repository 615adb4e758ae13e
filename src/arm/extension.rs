//! The billing extension of AKS nodes, and the body of its PUT by Azure's models.
//! Must never carry protected settings: there is no secret in it.

use super::Tags;
#[cfg(feature = "live")]
pub use super::extension_body::build;

/// Name of the extension that bills a VM as an AKS node; public, government and China clouds have it.
pub const BILLING_EXTENSION: &str = "computeAksLinuxBilling";

/// Returns the id of the billing extension of a VM.
#[must_use]
pub fn billing_id(vm: &str) -> String {
    format!("{vm}/extensions/{BILLING_EXTENSION}")
}

/// The extension by which Azure bills a VM as an AKS node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BillingExtension {
    /// Azure's region.
    pub location: String,
    /// Tags of the extension: the VM's.
    pub tags: Tags,
}
