//! The AKSNodeClasses among the objects, to find out which Azure resources they name.
//!
//! Classes that cannot be read are skipped here; planning reports their faults.

use serde::Deserialize;
use serde_json::Value;

use super::Observation;
use crate::api::aks_node_class::AksNodeClass;

/// Returns the classes.
pub(super) fn read(seen: &Observation) -> Vec<AksNodeClass> {
    #[derive(Deserialize)]
    struct List {
        #[serde(default)]
        items: Vec<Value>,
    }
    let pages = seen.sources.iter().filter(|source| source.name == "<aksnodeclasses>");
    let lists = pages.filter_map(|source| serde_json::from_slice::<List>(&source.bytes).ok());
    lists
        .flat_map(|list| list.items)
        .filter_map(|mut class| {
            // List items contain neither field.
            if let Some(object) = class.as_object_mut() {
                object.entry("apiVersion").or_insert_with(|| "karpenter.azure.com/v1beta1".into());
                object.entry("kind").or_insert_with(|| "AKSNodeClass".into());
            }
            serde_json::from_value(class).ok()
        })
        .collect()
}
