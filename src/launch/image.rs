//! Maps a class and a Kubernetes version to the images that its nodes can use.
//!
//! The families and their order are those of Karpenter's Azure provider (v1beta1, August 2026), from AKS's community
//! galleries. Never chooses a version: Azure decides which is the newest.

use std::sync::Arc;

use crate::api::aks_node_class::{AksNodeClassSpec, ImageFamily, ImageRequirement, NodeImage};
use crate::bootstrap::KubernetesVersion;
use crate::model::{InstanceType, LabelKey, Operator, Requirement, Requirements, label};

/// The gallery of Ubuntu images.
const UBUNTU: &str = "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2";
/// The gallery of Azure Linux images.
const AZURE_LINUX: &str = "AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b";
/// Label of the hypervisor generations that a size supports and an image needs.
pub const GENERATION: &str = "karpenter.azure.com/sku-hyperv-generation";

/// An image definition in a community gallery, without a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Definition {
    /// The gallery's public name.
    pub gallery: &'static str,
    /// The image's name.
    pub name: &'static str,
    /// Its architecture in Kubernetes' notation.
    pub arch: &'static str,
    /// Hypervisor generation, `1` or `2`.
    pub generation: u8,
}

impl Definition {
    /// Returns its key among the images of a snapshot.
    #[must_use]
    pub fn key(&self) -> Arc<str> {
        Arc::from(format!("{}/{}", self.gallery, self.name))
    }

    /// Returns the id of one of its versions in Karpenter's format.
    #[must_use]
    pub fn version(&self, version: &str) -> Arc<str> {
        let Self { gallery, name, .. } = self;
        Arc::from(format!("/CommunityGalleries/{gallery}/images/{name}/versions/{version}"))
    }
}

/// The image requirements of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The family.
    pub family: ImageFamily,
    /// Whether the image must support Trusted Launch.
    pub trusted_launch: bool,
}

impl Wanted {
    /// Returns the image requirements of this class.
    #[must_use]
    pub fn of(class: &AksNodeClassSpec) -> Self {
        let trusted = class.security.as_ref().and_then(|security| security.trusted_launch.as_ref());
        let is_on =
            trusted.is_some_and(|launch| launch.vtpm == Some(true) || launch.secure_boot == Some(true));
        Self { family: class.image_family.unwrap_or(ImageFamily::Ubuntu), trusted_launch: is_on }
    }

    /// Returns the family that AKS selects, as in the label `os-sku-effective`.
    #[must_use]
    pub const fn effective(self, version: &KubernetesVersion) -> &'static str {
        match self.family {
            ImageFamily::Ubuntu2204 => "Ubuntu2204",
            ImageFamily::Ubuntu2404 => "Ubuntu2404",
            ImageFamily::Ubuntu if self.trusted_launch => "Ubuntu2204",
            ImageFamily::Ubuntu if version.is_at_least(34) => "Ubuntu2404",
            ImageFamily::Ubuntu => "Ubuntu2204",
            ImageFamily::AzureLinux if version.is_at_least(32) => "AzureLinux3",
            ImageFamily::AzureLinux => "AzureLinux2",
        }
    }
}

const fn image(gallery: &'static str, name: &'static str, arch: &'static str, generation: u8) -> Definition {
    Definition { gallery, name, arch, generation }
}

const UBUNTU_2204: &[Definition] = &[
    image(UBUNTU, "2204gen2containerd", "amd64", 2),
    image(UBUNTU, "2204containerd", "amd64", 1),
    image(UBUNTU, "2204gen2arm64containerd", "arm64", 2),
];
const UBUNTU_2204_TRUSTED: &[Definition] = &[image(UBUNTU, "2204gen2TLcontainerd", "amd64", 2)];
const UBUNTU_2404: &[Definition] = &[
    image(UBUNTU, "2404gen2containerd", "amd64", 2),
    image(UBUNTU, "2404containerd", "amd64", 1),
    image(UBUNTU, "2404gen2arm64containerd", "arm64", 2),
];
const UBUNTU_2404_TRUSTED: &[Definition] = &[image(UBUNTU, "2404gen2TLcontainerd", "amd64", 2)];
const AZURE_LINUX_2: &[Definition] = &[
    image(AZURE_LINUX, "V2gen2", "amd64", 2),
    image(AZURE_LINUX, "V2", "amd64", 1),
    image(AZURE_LINUX, "V2gen2arm64", "arm64", 2),
];
const AZURE_LINUX_2_TRUSTED: &[Definition] = &[image(AZURE_LINUX, "V2gen2TL", "amd64", 2)];
const AZURE_LINUX_3: &[Definition] = &[
    image(AZURE_LINUX, "V3gen2", "amd64", 2),
    image(AZURE_LINUX, "V3", "amd64", 1),
    image(AZURE_LINUX, "V3gen2arm64", "arm64", 2),
];
const AZURE_LINUX_3_TRUSTED: &[Definition] = &[image(AZURE_LINUX, "V3gen2TL", "amd64", 2)];

/// Returns the images that nodes of such a class can use, preferred ones first.
#[must_use]
pub fn definitions(wanted: Wanted, version: &KubernetesVersion) -> &'static [Definition] {
    match (wanted.effective(version), wanted.trusted_launch) {
        ("Ubuntu2204", false) => UBUNTU_2204,
        ("Ubuntu2204", true) => UBUNTU_2204_TRUSTED,
        ("Ubuntu2404", false) => UBUNTU_2404,
        ("Ubuntu2404", true) => UBUNTU_2404_TRUSTED,
        ("AzureLinux2", false) => AZURE_LINUX_2,
        ("AzureLinux2", true) => AZURE_LINUX_2_TRUSTED,
        (_, false) => AZURE_LINUX_3,
        (_, true) => AZURE_LINUX_3_TRUSTED,
    }
}

/// The image chosen for a VM of a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Its id.
    pub(super) id: Arc<str>,
    /// Hypervisor generation that it needs.
    pub(super) generation: u8,
}

/// Returns the first of a class's own images that a size can boot.
pub(super) fn of_class(images: &[NodeImage], kind: &InstanceType) -> Option<Chosen> {
    images.iter().find_map(|image| {
        let mut asked = Requirements::none();
        for ImageRequirement { key, operator, values } in &image.requirements {
            let operator = Operator::parse(operator)?;
            let values = values.iter().flatten();
            asked.add(LabelKey::new(label::normalized(key)), Requirement::new(operator, values));
        }
        let fits = asked.iter().all(|(key, asked)| {
            kind.requirements.get(key.as_str()).is_none_or(|there| there.intersects(asked))
        });
        let said = asked.get(GENERATION).and_then(Requirement::single).and_then(|one| one.parse().ok());
        let id: Arc<str> = Arc::from(image.id.as_str());
        let generation = said.unwrap_or_else(|| if is_second(&id) { 2 } else { 1 });
        fits.then_some(Chosen { id, generation })
    })
}

/// Returns whether the name of an AKS image indicates generation 2.
fn is_second(id: &str) -> bool {
    id.to_ascii_lowercase().contains("gen2")
}

/// Returns the most preferred definition that a size can boot.
pub(super) fn of_definitions(definitions: &[Definition], kind: &InstanceType) -> Option<Definition> {
    let accepts =
        |key: &str, value: &str| kind.requirements.get(key).is_none_or(|there| there.accepts(value));
    let starts = |definition: &&Definition| {
        accepts(label::ARCH, definition.arch) && accepts(GENERATION, &definition.generation.to_string())
    };
    definitions.iter().find(starts).copied()
}
