//! The billing extension of AKS nodes.
//!
//! Must never carry protected settings: there is no secret in it.

use super::Tags;
#[cfg(feature = "live")]
pub use super::extension_body::build;

/// Name of the extension that bills a VM as an AKS node; it exists in the public, government and China clouds.
pub const BILLING_EXTENSION: &str = "computeAksLinuxBilling";

/// Returns the id of the billing extension of a VM.
#[must_use]
pub fn billing_id(vm: &str) -> String {
    format!("{vm}/extensions/{BILLING_EXTENSION}")
}

/// The extension with which Azure bills a VM as an AKS node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BillingExtension {
    /// The Azure region.
    pub location: String,
    /// Tags of the extension, equal to the VM's.
    pub tags: Tags,
}
