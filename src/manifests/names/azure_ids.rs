//! Hides the subscription and the resource group in Azure IDs, because they are users' names. The rest names nodes,
//! sizes and zones and stays, so that a VM still matches its Node.

use crate::manifests::tree::{Tree, Value};

/// Prefixes of Azure IDs in lower case: as in Azure, and as in a Node.
const BEGINNINGS: [&str; 2] = ["/subscriptions/", "azure:///subscriptions/"];

/// The label in which AKS stores the resource group of a node.
const GROUP_LABEL: &str = "kubernetes.azure.com/cluster";

/// Segments of an ID that precede a hidden name.
const HIDDEN_AFTER: [&str; 2] = ["subscriptions", "resourcegroups"];

/// Returns an Azure ID with its subscription and resource group replaced by case-insensitive digests; `None` if the
/// text is not such an ID.
#[must_use]
pub fn azure_id(text: &str) -> Option<String> {
    let begins =
        |beginning: &str| text.get(..beginning.len()).is_some_and(|own| own.eq_ignore_ascii_case(beginning));
    BEGINNINGS.iter().find(|beginning| begins(beginning))?;
    let mut before = "";
    let segments = text.split('/').map(|segment| {
        let is_hidden = HIDDEN_AFTER.iter().any(|kind| before.eq_ignore_ascii_case(kind));
        before = segment;
        if is_hidden { azure_name(segment) } else { segment.to_owned() }
    });
    Some(segments.collect::<Vec<_>>().join("/"))
}

/// Returns the replacement for the name of a subscription or a resource group, within an ID or alone.
#[must_use]
pub fn azure_name(name: &str) -> String {
    super::digest(&name.to_ascii_lowercase())
}

/// Replaces every Azure ID in an object, and the resource group of nodes.
pub(super) fn replace(tree: &mut Tree) {
    match &mut tree.value {
        Value::Text(text) => {
            if let Some(hidden) = azure_id(text) {
                *text = hidden.into();
            }
        }
        Value::List(items) => items.iter_mut().for_each(replace),
        Value::Map(entries) => {
            for entry in entries {
                match &mut entry.value.value {
                    Value::Text(group) if &*entry.key == GROUP_LABEL => *group = azure_name(group).into(),
                    Value::Text(_)
                    | Value::List(_)
                    | Value::Map(_)
                    | Value::Null
                    | Value::Bool(_)
                    | Value::Integer(_)
                    | Value::Decimal(_) => replace(&mut entry.value),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::{azure_id, azure_name};

    #[test]
    fn a_vm_and_the_provider_id_of_its_node_stay_the_same_whatever_their_case() {
        let vm = azure_id(
            "/subscriptions/S-1/resourceGroups/MC_rg/providers/Microsoft.Compute/virtualMachines/aks-a",
        );
        let node = azure_id(
            "azure:///subscriptions/s-1/resourceGroups/mc_RG/providers/Microsoft.Compute/virtualMachines/aks-a",
        );
        let (vm, node) = (vm.expect("an id"), node.expect("an id"));
        assert_eq!(format!("azure://{vm}"), node);
        let (subscription, group) = (azure_name("s-1"), azure_name("mc_rg"));
        assert_eq!(
            vm,
            format!(
                "/subscriptions/{subscription}/resourceGroups/{group}/providers/Microsoft.Compute/virtualMachines/aks-a"
            )
        );
        assert_eq!(azure_id("/CommunityGalleries/g/images/i/versions/1"), None);
    }
}
