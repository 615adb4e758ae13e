//! Reads claims, volumes, storage classes, CSI drivers of nodes, and attachments.
//!
//! Only reads what scheduling needs: sizes only of available volumes and of claims that may bind to one; never
//! parameters or secrets.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::available_volume::{VolumeOffer, VolumeWish};
use crate::model::label;
use crate::model::storage::{
    AskedClass, BindingMode, ClaimPhase, CsiDriver, Storage, StorageClass, Volume, VolumeAttachment,
    VolumeClaim, VolumeClaimKey,
};
use crate::model::{LabelKey, Namespace, NodeName, Requirement, Requirements, ResourceName};

use super::cursor::{Amounts, Cursor};
use super::kind::StorageKind;
use super::meta::Meta;
use super::pod::selector::{self, About};

/// Reads a storage object.
pub fn read(storage: &mut Storage, object: Cursor<'_>, kind: StorageKind) {
    let Some(meta) = Meta::read(object) else { return };
    match kind {
        StorageKind::Claim => storage.claims.extend(claim(object, meta)),
        StorageKind::Volume => storage.volumes.extend(volume(object, meta)),
        StorageKind::Class => storage.classes.extend(class(object, meta)),
        StorageKind::CsiNode => {
            storage.drivers.insert(NodeName::new(&*meta.name), drivers(object));
        }
        StorageKind::Attachment => storage.attachments.extend(attachment(object, meta)),
    }
}

/// Sorts the objects.
#[must_use]
pub fn sorted(mut storage: Storage) -> Storage {
    storage.claims.sort();
    storage.volumes.sort();
    storage.classes.sort();
    storage.attachments.sort();
    storage
}

/// Deprecated annotations that fields have replaced.
const OLD_CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const DEFAULT_CLASS: [&str; 2] =
    ["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"];

fn needed<'a>(object: Cursor<'a>) -> Option<Cursor<'a>> {
    let spec = object.get("spec");
    if spec.is_none() {
        object.missing("spec", "the object says nothing without it");
    }
    spec
}

/// Reads the class of a claim's spec. An empty name means no class.
#[must_use]
pub fn asked_class(spec: Cursor<'_>, meta: Option<&Meta>) -> AskedClass {
    let old = meta.and_then(|meta| meta.annotations.get(OLD_CLASS));
    match spec.text("storageClassName").or(old) {
        None => AskedClass::Default,
        Some(name) if name.is_empty() => AskedClass::None,
        Some(name) => AskedClass::Named(Arc::clone(name)),
    }
}

fn claim(object: Cursor<'_>, meta: Meta) -> Option<VolumeClaim> {
    let spec = needed(object)?;
    let volume = spec.text("volumeName").filter(|name| !name.is_empty()).cloned();
    let phase = object.get("status").and_then(|status| status.choice("phase", &["Pending", "Bound", "Lost"]));
    let phase = match phase {
        Some(0) => ClaimPhase::Pending,
        Some(1) => ClaimPhase::Bound,
        Some(_) => ClaimPhase::Lost,
        None if volume.is_some() => ClaimPhase::Bound,
        None => ClaimPhase::Unseen,
    };
    let modes = modes(spec);
    let has_mode = |name: &str| modes.contains(name);
    Some(VolumeClaim {
        wish: volume.is_none().then(|| wish(spec, &modes)),
        volume,
        class: asked_class(spec, Some(&meta)),
        phase,
        is_deleting: meta.is_deleting,
        is_for_one_pod: has_mode("ReadWriteOncePod"),
        is_for_one_node: has_mode("ReadWriteOnce") && !has_mode("ReadWriteMany") && !has_mode("ReadOnlyMany"),
        key: VolumeClaimKey { namespace: meta.namespace, name: meta.name },
    })
}

fn modes(spec: Cursor<'_>) -> BTreeSet<Arc<str>> {
    spec.texts("accessModes").into_iter().cloned().collect()
}

fn is_block(spec: Cursor<'_>) -> bool {
    spec.text("volumeMode").is_some_and(|mode| &**mode == "Block")
}

fn bytes(parent: Option<Cursor<'_>>, key: &str) -> i64 {
    let size = parent.map(|parent| parent.resources(key, Amounts::Requests)).unwrap_or_default();
    size.get(&ResourceName::parse("storage"))
}

/// Reads the requirements of a claim on an existing volume.
fn wish(spec: Cursor<'_>, modes: &BTreeSet<Arc<str>>) -> VolumeWish {
    VolumeWish {
        bytes: bytes(spec.get("resources"), "requests"),
        modes: modes.clone(),
        is_block: is_block(spec),
        selector: selector::read(spec, "selector").unwrap_or_default(),
    }
}

/// In-tree volume types, and the drivers that replaced them.
const IN_TREE: [(&str, &str); 2] = [("azureDisk", "disk.csi.azure.com"), ("azureFile", "file.csi.azure.com")];

fn volume(object: Cursor<'_>, meta: Meta) -> Option<Volume> {
    let spec = needed(object)?;
    let driver = spec.get("csi").and_then(|csi| csi.text("driver").cloned());
    let in_tree = || {
        let (_, driver) = IN_TREE.iter().find(|(kind, _)| spec.get(kind).is_some())?;
        Some(Arc::from(*driver))
    };
    let claim = spec.get("claimRef").and_then(|claim| {
        let namespace = claim.text("namespace").filter(|namespace| !namespace.is_empty());
        let namespace = Namespace::new(namespace.map_or("default", |namespace| &**namespace));
        Some(VolumeClaimKey { namespace, name: Arc::clone(claim.text("name")?) })
    });
    let phase = object.get("status").and_then(|status| status.text("phase"));
    let is_available =
        !meta.is_deleting && phase.is_none_or(|phase| matches!(&**phase, "Available" | "Pending"));
    let offer = is_available.then(|| VolumeOffer {
        bytes: bytes(Some(spec), "capacity"),
        modes: modes(spec),
        is_block: is_block(spec),
        labels: meta.labels.clone(),
    });
    let required = spec.get("nodeAffinity").and_then(|affinity| affinity.get("required"));
    let old_class = meta.annotations.get(OLD_CLASS);
    Some(Volume {
        driver: driver.or_else(in_tree),
        node_affinity: required.map(|required| {
            let terms = required.items("nodeSelectorTerms").into_iter();
            let terms = terms.map(|term| selector::expressions(term, "matchExpressions", About::Nodes));
            asking(terms)
        }),
        claim,
        class: spec.text("storageClassName").or(old_class).filter(|class| !class.is_empty()).cloned(),
        is_local: spec.get("local").is_some() || spec.get("hostPath").is_some(),
        is_deleting: meta.is_deleting,
        offer,
        name: meta.name,
    })
}

fn class(object: Cursor<'_>, meta: Meta) -> Option<StorageClass> {
    let Some(provisioner) = object.text("provisioner") else {
        object.missing("provisioner", "a StorageClass names its provisioner, such as `disk.csi.azure.com`");
        return None;
    };
    let binding = match object.choice("volumeBindingMode", &["Immediate", "WaitForFirstConsumer"]) {
        Some(1) => BindingMode::WaitForFirstConsumer,
        Some(_) | None => BindingMode::Immediate,
    };
    let topologies = object.items("allowedTopologies");
    let topologies = (!topologies.is_empty()).then(|| asking(topologies.into_iter().map(topology)));
    let is_default =
        DEFAULT_CLASS.iter().any(|key| meta.annotations.get(*key).is_some_and(|value| &**value == "true"));
    Some(StorageClass {
        name: meta.name,
        provisioner: Arc::clone(provisioner),
        binding,
        topologies,
        is_default,
    })
}

/// Drops empty terms, which select nothing in Kubernetes.
fn asking(terms: impl Iterator<Item = Requirements>) -> Vec<Requirements> {
    terms.filter(|term| !term.is_empty()).collect()
}

fn topology(term: Cursor<'_>) -> Requirements {
    let mut requirements = Requirements::none();
    for expression in term.items("matchLabelExpressions") {
        let Some(key) = expression.text("key") else {
            expression.missing("key", "an expression needs `key` and `values`");
            continue;
        };
        let values = expression.texts("values");
        requirements
            .add(LabelKey::new(label::normalized(key)), Requirement::new(crate::model::Operator::In, values));
    }
    requirements
}

fn drivers(object: Cursor<'_>) -> BTreeMap<Arc<str>, CsiDriver> {
    let Some(spec) = needed(object) else { return BTreeMap::new() };
    let read = |driver: Cursor<'_>| {
        let name = driver.text("name")?;
        let count = driver.get("allocatable").and_then(|most| most.integer("count", 0..=2_147_483_647));
        let topology_keys =
            driver.texts("topologyKeys").into_iter().map(|key| LabelKey::new(&**key)).collect();
        let volumes_max = count.and_then(|count| u32::try_from(count).ok());
        Some((Arc::clone(name), CsiDriver { volumes_max, topology_keys }))
    };
    spec.items("drivers").into_iter().filter_map(read).collect()
}

fn attachment(object: Cursor<'_>, meta: Meta) -> Option<VolumeAttachment> {
    let spec = needed(object)?;
    for key in ["attacher", "nodeName"] {
        if spec.get(key).is_none() {
            spec.missing(key, "an attachment names its driver and its node");
        }
    }
    Some(VolumeAttachment {
        node: NodeName::new(&**spec.text("nodeName")?),
        volume: spec.get("source").and_then(|source| source.text("persistentVolumeName").cloned()),
        driver: Arc::clone(spec.text("attacher")?),
        is_attached: object.get("status").is_some_and(|status| status.flag("attached")),
        name: meta.name,
    })
}
