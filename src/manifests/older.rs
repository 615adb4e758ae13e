//! Kinds of older Karpenter versions and of its providers for other clouds, with their current replacements.
//!
//! They are only reported, never read: `upgrade` knows their fields.

use super::cursor::Cursor;
use super::kind::group_and_version;
use super::tree::shortened;

/// Returns the current kind and API version of objects with this API version and kind.
#[must_use]
pub fn present(api_version: &str, kind: &str) -> Option<(&'static str, &'static str)> {
    let (group, version) = group_and_version(api_version);
    Some(match (group, version, kind) {
        ("karpenter.sh", "v1alpha5", "Provisioner") | ("karpenter.sh", "v1beta1", "NodePool") => {
            ("NodePool", "karpenter.sh/v1")
        }
        ("karpenter.sh", "v1alpha5", "Machine") | ("karpenter.sh", "v1beta1", "NodeClaim") => {
            ("NodeClaim", "karpenter.sh/v1")
        }
        ("karpenter.k8s.aws", _, "AWSNodeTemplate" | "EC2NodeClass")
        | ("karpenter.k8s.gcp", _, "GCENodeClass")
        | ("karpenter.azure.com", "v1alpha1", "AzureNodeClass" | "NodeTemplate") => {
            ("AKSNodeClass", "karpenter.azure.com/v1beta1")
        }
        _ => return None,
    })
}

/// Returns the version without the group.
fn bare(api_version: &str) -> &str {
    api_version.rsplit_once('/').map_or(api_version, |(_, version)| version)
}

/// Adds a fault if the object is of such a kind, and returns whether it is.
pub fn is_named(object: Cursor<'_>, api_version: &str, kind: &str) -> bool {
    let Some((now, version)) = present(api_version, kind) else { return false };
    let file = match &**object.document.file {
        "<stdin>" => "-",
        file => file,
    };
    if let Some(place) = object.get("apiVersion") {
        let message = format!(
            "{} ({}) was replaced by {now} ({})",
            shortened(kind),
            shortened(bare(api_version)),
            bare(version)
        );
        let hint =
            format!("`nodeform validate --fix {file}` rewrites it and lists what cannot be carried over");
        place.fault(message, Some(&hint));
    }
    true
}
