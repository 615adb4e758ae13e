//! StorageClasses that AKS creates in every cluster, for input that holds none of them.
//!
//! Facts: names, drivers and binding modes of AKS' built-in classes (learn.microsoft.com, "Storage options for
//! applications in AKS"). A class in the input is never replaced. If the input holds any of AKS' own classes, they were
//! listed from a cluster, and none is assumed.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Assumption;
use crate::model::Pod;
use crate::model::storage::{AskedClass, BindingMode, PodVolume, Storage, StorageClass};

const DISK: &str = "disk.csi.azure.com";
const FILE: &str = "file.csi.azure.com";
const BLOB: &str = "blob.csi.azure.com";

/// The class of claims that name none.
const DEFAULT: &str = "default";

const BUILT_IN: [(&str, &str, BindingMode); 11] = [
    (DEFAULT, DISK, BindingMode::WaitForFirstConsumer),
    ("managed", DISK, BindingMode::WaitForFirstConsumer),
    ("managed-csi", DISK, BindingMode::WaitForFirstConsumer),
    ("managed-csi-premium", DISK, BindingMode::WaitForFirstConsumer),
    ("managed-premium", DISK, BindingMode::WaitForFirstConsumer),
    ("azurefile", FILE, BindingMode::Immediate),
    ("azurefile-csi", FILE, BindingMode::Immediate),
    ("azurefile-csi-premium", FILE, BindingMode::Immediate),
    ("azurefile-premium", FILE, BindingMode::Immediate),
    ("azureblob-fuse-premium", BLOB, BindingMode::Immediate),
    ("azureblob-nfs-premium", BLOB, BindingMode::Immediate),
];

/// Returns the built-in classes that claims of these pods use, and the assumption to report; nothing if the input holds
/// any built-in class.
#[must_use]
pub fn assumed(storage: &Storage, pods: &[Pod]) -> (Vec<StorageClass>, Option<Assumption>) {
    let is_own = |class: &StorageClass| BUILT_IN.iter().any(|(name, _, _)| *name == &*class.name);
    if storage.classes.iter().any(is_own) {
        return (Vec::new(), None);
    }
    let has_default = storage.classes.iter().any(|class| class.is_default);
    let own = pods.iter().flat_map(|pod| pod.spec.volumes.iter()).filter_map(|volume| match volume {
        PodVolume::Ephemeral(own) | PodVolume::Template(own) => Some(&own.class),
        PodVolume::Claim(_) | PodVolume::Disk(_) => None,
    });
    let claims = storage.claims.iter().filter(|claim| claim.volume.is_none()).map(|claim| &claim.class);
    let asked: BTreeSet<&str> = own
        .chain(claims)
        .filter_map(|class| match class {
            AskedClass::Default => (!has_default).then_some(DEFAULT),
            AskedClass::None => None,
            AskedClass::Named(name) => Some(&**name),
        })
        .collect();
    let mut classes: Vec<StorageClass> = BUILT_IN
        .iter()
        .filter(|(name, _, _)| asked.contains(name))
        .map(|(name, provisioner, binding)| StorageClass {
            name: Arc::from(*name),
            provisioner: Arc::from(*provisioner),
            binding: *binding,
            topologies: None,
            is_default: *name == DEFAULT && !has_default,
        })
        .collect();
    classes.sort();
    let names: Vec<String> = classes.iter().map(|class| format!("`{}`", class.name)).collect();
    let assumption = (!classes.is_empty()).then(|| Assumption {
        what: format!("AKS' own StorageClass {}", names.join(", ")),
        why: "the input holds none: add the output of `kubectl get storageclasses -o yaml`".to_owned(),
    });
    (classes, assumption)
}
