//! Volumes, volume claims and their binding, limited to the fields that scheduling reads.
//!
//! A volume's size does not affect where a pod may run; it is kept only while a claim can still bind to the volume.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::available_volume::{VolumeOffer, VolumeWish};
use super::{LabelKey, Namespace, NodeName, Requirements};

/// A PersistentVolumeClaim's namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct VolumeClaimKey {
    /// The namespace.
    pub namespace: Namespace,
    /// The name.
    pub name: Arc<str>,
}

impl fmt::Display for VolumeClaimKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

/// A volume that a pod names and that may tie it to a zone or a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum PodVolume {
    /// The claim of this name.
    Claim(Arc<str>),
    /// A claim that is made for the pod and goes with it, named after pod and volume.
    Ephemeral(OwnClaim),
    /// A claim that a StatefulSet makes for the pod and that stays, named after template and pod.
    Template(OwnClaim),
    /// An Azure disk, by its name.
    Disk(Arc<str>),
}

/// A claim that a pod brings with it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OwnClaim {
    /// The name of the volume, or of the template.
    pub name: Arc<str>,
    /// The class that the claim asks for.
    pub class: AskedClass,
}

/// Which StorageClass a claim asks for.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum AskedClass {
    /// The cluster's default class.
    #[default]
    Default,
    /// None: a volume without a class is bound to it.
    None,
    /// This one.
    Named(Arc<str>),
}

/// How far a claim is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum ClaimPhase {
    /// No controller has seen it yet: it is a manifest. A class that binds at once has bound it before its pods are
    /// looked at.
    Unseen,
    /// The cluster has it, without a volume.
    Pending,
    /// It has its volume.
    Bound,
    /// Its volume is gone.
    Lost,
}

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct VolumeClaim {
    /// Namespace and name.
    pub key: VolumeClaimKey,
    /// The volume that it names.
    pub volume: Option<Arc<str>>,
    /// The class that it asks for.
    pub class: AskedClass,
    /// How far it is: as its status says; without a status, by whether it names a volume.
    pub phase: ClaimPhase,
    /// Whether it is being deleted.
    pub is_deleting: bool,
    /// Whether only one pod at a time may use it (`ReadWriteOncePod`).
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub is_for_one_pod: bool,
    /// Whether only one node at a time may have its volume (`ReadWriteOnce`, and no other way).
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub is_for_one_node: bool,
    /// What it asks of a volume that is there already; `None` where it has one.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub wish: Option<VolumeWish>,
}

/// A PersistentVolume.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Volume {
    /// The name.
    pub name: Arc<str>,
    /// The CSI driver that mounts it, in-tree kinds by the driver that took their place; `None` for the rest.
    pub driver: Option<Arc<str>>,
    /// What a node must be, with normalised keys: one of these must hold, so that an empty list is
    /// met nowhere; `None` asks for nothing.
    pub node_affinity: Option<Vec<Requirements>>,
    /// The claim that it is kept for.
    pub claim: Option<VolumeClaimKey>,
    /// Its class.
    pub class: Option<Arc<str>>,
    /// Whether it lies on one node (`local`, `hostPath`).
    pub is_local: bool,
    /// Whether it is being deleted.
    pub is_deleting: bool,
    /// What it offers, where it is bound to no claim and was to none: to all claims, or to the one that it is kept for.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub offer: Option<VolumeOffer>,
}

/// When claims of a class get their volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BindingMode {
    /// At once, wherever that is.
    Immediate,
    /// Where the first pod that uses it runs.
    WaitForFirstConsumer,
}

/// A StorageClass.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct StorageClass {
    /// The name.
    pub name: Arc<str>,
    /// Who makes its volumes.
    pub provisioner: Arc<str>,
    /// When.
    pub binding: BindingMode,
    /// Where it may make them, with normalised keys: one of these must hold, so that an empty list
    /// is met nowhere; `None` asks for nothing.
    pub topologies: Option<Vec<Requirements>>,
    /// Whether claims that name no class are of it.
    pub is_default: bool,
}

/// What one driver says of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CsiDriver {
    /// The most volumes of the driver that the node takes; `None` is no limit that is known.
    pub volumes_max: Option<u32>,
    /// The labels that say where the node is to the driver.
    pub topology_keys: Vec<LabelKey>,
}

/// A VolumeAttachment: a volume that is, or is to be, attached to a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct VolumeAttachment {
    /// The node.
    pub node: NodeName,
    /// The volume; `None` for one that stands in the attachment itself.
    pub volume: Option<Arc<str>>,
    /// The driver.
    pub driver: Arc<str>,
    /// Whether it is attached.
    pub is_attached: bool,
    /// The object's name, the last key of the order.
    pub name: Arc<str>,
}

/// The provisioner of classes whose volumes somebody makes by hand (`StorageClass.provisioner`, Kubernetes).
pub const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";

/// The driver of Azure disks, also of those that pods name.
pub const DISKS: &str = "disk.csi.azure.com";

/// Provisioners of Kubernetes' own, and the drivers that took their place (CSI migration).
const IN_TREE: [(&str, &str); 2] =
    [("kubernetes.io/azure-disk", DISKS), ("kubernetes.io/azure-file", "file.csi.azure.com")];

/// Returns the driver that attaches the volumes of a provisioner.
#[must_use]
pub fn driver_of(provisioner: &Arc<str>) -> Arc<str> {
    let in_tree = IN_TREE.iter().find(|(old, _)| *old == &**provisioner);
    in_tree.map_or_else(|| Arc::clone(provisioner), |(_, driver)| Arc::from(*driver))
}

/// Everything that was seen of storage.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Storage {
    /// Claims, sorted by key.
    pub claims: Vec<VolumeClaim>,
    /// Volumes, sorted by name.
    pub volumes: Vec<Volume>,
    /// Classes, sorted by name.
    pub classes: Vec<StorageClass>,
    /// What drivers say of nodes.
    pub drivers: BTreeMap<NodeName, BTreeMap<Arc<str>, CsiDriver>>,
    /// Attachments, sorted by node and volume.
    pub attachments: Vec<VolumeAttachment>,
}

impl Storage {
    /// Returns the claim of this key.
    #[must_use]
    pub fn claim(&self, key: &VolumeClaimKey) -> Option<&VolumeClaim> {
        self.claims.binary_search_by(|claim| claim.key.cmp(key)).ok().and_then(|place| self.claims.get(place))
    }

    /// Returns the volume of this name.
    #[must_use]
    pub fn volume(&self, name: &str) -> Option<&Volume> {
        let place = self.volumes.binary_search_by(|volume| (*volume.name).cmp(name)).ok()?;
        self.volumes.get(place)
    }

    /// Returns the class that a claim asks for, where the input holds it. Of several defaults the first by name
    /// is taken.
    #[must_use]
    pub fn class(&self, asked: &AskedClass) -> Option<&StorageClass> {
        match asked {
            AskedClass::Default => self.classes.iter().find(|class| class.is_default),
            AskedClass::None => None,
            AskedClass::Named(name) => self.classes.iter().find(|class| class.name == *name),
        }
    }
}

impl PodVolume {
    /// Returns the name of the claim that a pod of this name uses; `None` for a disk by its name.
    #[must_use]
    pub fn claim_of(&self, pod: &str) -> Option<Arc<str>> {
        match self {
            Self::Claim(name) => Some(Arc::clone(name)),
            Self::Ephemeral(own) => Some(Arc::from(format!("{pod}-{}", own.name))),
            Self::Template(own) => Some(Arc::from(format!("{}-{pod}", own.name))),
            Self::Disk(_) => None,
        }
    }
}
