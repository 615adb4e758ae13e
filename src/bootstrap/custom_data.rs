//! Renders a template and a token as customData: cloud-init writes the configuration before AKS's node controller
//! starts.
//!
//! Must never return the result as anything but a secret: it contains the token.

use data_encoding::BASE64;
use serde_json::Value;

use super::refusal::Refusal;
use super::template::Template;
use super::token::BootstrapToken;
use crate::model::Secret;

/// Path at which AKS's node controller reads its configuration.
const PATH: &str = "/opt/azure/containers/aks-node-controller-config.json";
/// Maximum size of customData in Azure, in bytes, before base64.
const BYTES_MAX: usize = 65_535;
/// A placeholder with the length of every token, for measuring.
const LONG_TOKEN: &str = "aaaaaa.aaaaaaaaaaaaaaaa";

impl Template {
    /// Returns the customData of a VM: the cloud-init document with the token, in base64.
    #[must_use]
    pub fn custom_data(&self, token: &BootstrapToken) -> Secret {
        Secret::new(BASE64.encode(document(&self.config, token.whole().reveal()).as_bytes()))
    }
}

/// Returns a refusal if Azure would reject the customData for its length.
pub(super) fn faults(template: &Template) -> Vec<Refusal> {
    let length = document(&template.config, LONG_TOKEN).len();
    if length <= BYTES_MAX {
        return Vec::new();
    }
    let why =
        format!("{length} bytes, more than the {BYTES_MAX} that Azure takes; shorten localDNS or the labels");
    vec![Refusal::new("customData", why)]
}

fn document(config: &Value, token: &str) -> String {
    let mut config = config.clone();
    if let Some(Value::Object(bootstrapping)) = config.pointer_mut("/bootstrappingConfig") {
        bootstrapping.insert("tlsBootstrappingToken".to_owned(), Value::String(token.to_owned()));
    }
    let content = BASE64.encode(config.to_string().as_bytes());
    format!(
        "#cloud-config\nwrite_files:\n- path: {PATH}\n  permissions: \"0755\"\n  owner: root\n  content: !!binary |\n    {content}\n"
    )
}
