//! From a class and a version of Kubernetes to the images that its nodes can be made from.
//!
//! The families and their order are those of Karpenter's Azure provider (v1beta1, August 2026), of AKS's community
//! galleries. Must never choose a version: what is newest is for Azure to say.

use std::sync::Arc;

use crate::api::aks_node_class::{AksNodeClassSpec, ImageFamily, ImageRequirement, NodeImage};
use crate::bootstrap::KubernetesVersion;
use crate::model::{InstanceType, LabelKey, Operator, Requirement, Requirements, label};

/// The gallery of Ubuntu images.
const UBUNTU: &str = "AKSUbuntu-38d80f77-467a-481f-a8d4-09b6d4220bd2";
/// The gallery of Azure Linux images.
const AZURE_LINUX: &str = "AKSAzureLinux-f7c7cda5-1c9a-4bdc-a222-9614c968580b";
/// The label that says which generations of hypervisor a size has, and an image needs.
pub const GENERATION: &str = "karpenter.azure.com/sku-hyperv-generation";

/// An image of a community gallery, without a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Definition {
    /// The gallery's public name.
    pub gallery: &'static str,
    /// The image's name.
    pub name: &'static str,
    /// The architecture that it is for, as Kubernetes writes it.
    pub arch: &'static str,
    /// The generation of the hypervisor's interface, `1` or `2`.
    pub generation: u8,
}

impl Definition {
    /// What it is called among the images of a snapshot.
    #[must_use]
    pub fn key(&self) -> Arc<str> {
        Arc::from(format!("{}/{}", self.gallery, self.name))
    }

    /// The id of one of its versions, as Karpenter writes it.
    #[must_use]
    pub fn version(&self, version: &str) -> Arc<str> {
        let Self { gallery, name, .. } = self;
        Arc::from(format!("/CommunityGalleries/{gallery}/images/{name}/versions/{version}"))
    }
}

/// What a class asks of its images.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The family.
    pub family: ImageFamily,
    /// Whether the image has to be one for Trusted Launch.
    pub trusted_launch: bool,
}

impl Wanted {
    /// What this class asks for.
    #[must_use]
    pub fn of(class: &AksNodeClassSpec) -> Self {
        let trusted = class.security.as_ref().and_then(|security| security.trusted_launch.as_ref());
        let is_on =
            trusted.is_some_and(|launch| launch.vtpm == Some(true) || launch.secure_boot == Some(true));
        Self { family: class.image_family.unwrap_or(ImageFamily::Ubuntu), trusted_launch: is_on }
    }

    /// The family that AKS takes for it, as the label `os-sku-effective` names it.
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

/// Returns the images that nodes of such a class can need, those that are preferred first.
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

/// An image that a VM of a size is made from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Its id.
    pub(super) id: Arc<str>,
    /// The generation of the hypervisor's interface that it needs.
    pub(super) generation: u8,
}

/// Returns the first of a class's own images that a size can start.
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

/// Whether the name of an image of AKS says that it is of generation 2.
fn is_second(id: &str) -> bool {
    id.to_ascii_lowercase().contains("gen2")
}

/// Returns the definition that a size can start, the preferred one first.
pub(super) fn of_definitions(definitions: &[Definition], kind: &InstanceType) -> Option<Definition> {
    let accepts =
        |key: &str, value: &str| kind.requirements.get(key).is_none_or(|there| there.accepts(value));
    let starts = |definition: &&Definition| {
        accepts(label::ARCH, definition.arch) && accepts(GENERATION, &definition.generation.to_string())
    };
    definitions.iter().find(starts).copied()
}
