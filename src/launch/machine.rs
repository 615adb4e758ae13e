//! Builds the machine spec of a size from its class, the cluster and Azure's offer. Never drops a field of the class:
//! each is applied to the VM or its bootstrap configuration, or rejected by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cluster::{self, SubnetId, refusal};
use super::ground::Made;
use super::image::{self, Chosen, Wanted, definitions};
use super::node::node;
use crate::bootstrap::{Cluster, KubernetesVersion, Node, Refusal, Template};
use crate::catalog::size::Placement;
use crate::model::{Digest, InstanceType};
use crate::plan::execution::{DiskPlacement, KubeletSpec, Machine, NetworkSpec, OsDiskSpec, SecuritySpec};
use crate::policy::WholeClass;
use crate::snapshot::AzureFacts;

/// Maximum number of tags of an Azure resource; three more identify the change that created it.
const TAGS_MAX: usize = 50;
const TAGS_OF_CHANGE: usize = 3;

/// The bootstrap inputs of a machine's VM.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Start {
    pub(super) cluster: Cluster,
    pub(super) node: Node,
    pub(super) template: Template,
}

/// Returns the configuration that all choices of a machine share.
///
/// # Errors
/// Every unsupported setting, by name.
pub(super) fn start(made: &Made<'_>) -> Result<Start, Vec<Refusal>> {
    let subnet = subnet((made.whole, made.facts))?;
    let cluster = cluster::cluster(made.facts, &subnet)?;
    let node = node(made, &cluster.kubernetes_version, None);
    let template = Template::build(&cluster, &node, &made.whole.spec)?;
    Ok(Start { cluster, node, template })
}

/// Returns the machine.
///
/// # Errors
/// Every unsupported or unknown setting, by name.
pub(super) fn machine(made: &Made<'_>) -> Result<Machine, Vec<Refusal>> {
    let mut refusals = cluster::unsupported(&made.facts.cluster);
    let start = start(made).map_err(|found| refusals.extend(found)).ok();
    let (mut image, mut network) = (None, None);
    if let Some(start) = &start {
        image =
            self::image(made, &start.cluster.kubernetes_version).map_err(|found| refusals.push(found)).ok();
        network = self::network(made, start).map_err(|found| refusals.extend(found)).ok();
    }
    let tags = tags(made).map_err(|found| refusals.push(found)).ok();
    let ssh_key = made.facts.cluster.ssh_public_key.as_ref().map(|key| Digest::of_bytes(key.as_bytes()));
    if ssh_key.is_none() {
        refusals.push(refusal("SSH key", "the cluster names none for its nodes"));
    }
    let (Some(start), Some(image), Some(network), Some(tags), Some(ssh_key), true) =
        (start, image, network, tags, ssh_key, refusals.is_empty())
    else {
        return Err(refusals);
    };
    let mut identities = made.facts.cluster.identities.clone();
    identities.sort();
    Ok(Machine {
        image: image.id,
        generation: image.generation,
        os_disk: os_disk(made),
        network,
        identities,
        security: security(made),
        tags,
        ultra_ssd: made.ultra_ssd(),
        kubelet: kubelet(&start.node),
        admin_user: made.facts.cluster.admin_user.clone(),
        ssh_key,
        bootstrap: start.template.digest(),
    })
}

/// Returns the class's subnet, or the cluster's by default; one in another virtual network could not reach the cluster.
pub(super) fn subnet((whole, facts): (&WholeClass, &AzureFacts)) -> Result<Arc<str>, Vec<Refusal>> {
    let own = facts.cluster.subnet.clone();
    let Some(named) = whole.spec.vnet_subnet_id.as_deref() else {
        return own.ok_or_else(|| {
            vec![refusal("subnet", "is not known: agent pools name none, and that of AKS was not found")]
        });
    };
    let network = |id: &str| SubnetId::of(id).map(|parts| parts.network_id.to_ascii_lowercase());
    let is_other = own.as_deref().and_then(network).is_some_and(|own| Some(own) != network(named));
    if is_other {
        let why = format!("`{named}` is in another virtual network than the cluster's nodes");
        return Err(vec![refusal("spec.vnetSubnetID", why)]);
    }
    match facts.subnets.contains_key(named) {
        true => Ok(Arc::from(named)),
        false => Err(vec![refusal("spec.vnetSubnetID", format!("`{named}` could not be read"))]),
    }
}

fn image(made: &Made<'_>, version: &KubernetesVersion) -> Result<Chosen, Refusal> {
    image_of((made.whole, made.facts), made.kind, version)
}

/// Returns the image that VMs of a size boot in this class.
///
/// # Errors
/// There is none, or it could not be read.
pub(super) fn image_of(
    (whole, facts): (&WholeClass, &AzureFacts),
    kind: &InstanceType,
    version: &KubernetesVersion,
) -> Result<Chosen, Refusal> {
    let size = &kind.name;
    if !whole.images.is_empty() {
        return image::of_class(&whole.images, kind)
            .ok_or_else(|| refusal("status.images", format!("has no image that `{size}` starts")));
    }
    let all = definitions(Wanted::of(&whole.spec), version);
    let definition = image::of_definitions(all, kind)
        .ok_or_else(|| refusal("spec.imageFamily", format!("has no image that `{size}` starts")))?;
    let id = facts.images.get(&definition.key()).cloned().ok_or_else(|| {
        refusal("spec.imageFamily", format!("the versions of image `{}` could not be read", definition.name))
    })?;
    Ok(Chosen { id, generation: definition.generation })
}

fn network(made: &Made<'_>, start: &Start) -> Result<NetworkSpec, Vec<Refusal>> {
    use crate::bootstrap::NetworkPlugin::{Azure, AzureOverlay, None as OwnPlugin};
    let subnet = subnet((made.whole, made.facts))?;
    let unread = |field: &str| vec![refusal(field, "could not be read")];
    let facts = made.facts.subnets.get(&subnet).ok_or_else(|| unread("subnet"))?;
    let backend_pools = made.facts.backend_pools.clone().ok_or_else(|| unread("load balancers"))?;
    let security_group = match facts.is_managed {
        // AKS attaches it to its own subnet.
        true => None,
        false => Some(cluster::security_group(made.facts).map_err(|found| vec![found])?),
    };
    let pod_addresses = match start.cluster.network.plugin {
        Azure => start.node.max_pods.saturating_sub(1),
        AzureOverlay | OwnPlugin => 0,
    };
    // Azure refuses accelerated networking on a size that lacks it.
    let accelerated_networking = made.size.capabilities.accelerated_networking.unwrap_or(false);
    Ok(NetworkSpec { subnet, security_group, backend_pools, accelerated_networking, pod_addresses })
}

fn os_disk(made: &Made<'_>) -> OsDiskSpec {
    let size_gb = made.class.os_disk_gb;
    let room = made.size.capabilities.ephemeral.filter(|room| room.size_gb >= size_gb);
    let placement = match room.map(|room| room.placement) {
        None => DiskPlacement::Managed,
        Some(Placement::CacheDisk) => DiskPlacement::CacheDisk,
        Some(Placement::ResourceDisk) => DiskPlacement::ResourceDisk,
        Some(Placement::NvmeDisk) => DiskPlacement::NvmeDisk,
    };
    OsDiskSpec { size_gb, placement }
}

fn security(made: &Made<'_>) -> SecuritySpec {
    let Some(security) = &made.whole.spec.security else { return SecuritySpec::default() };
    let trusted = security.trusted_launch.as_ref();
    SecuritySpec {
        encryption_at_host: security.encryption_at_host,
        secure_boot: trusted.and_then(|launch| launch.secure_boot),
        vtpm: trusted.and_then(|launch| launch.vtpm),
    }
}

fn kubelet(node: &Node) -> KubeletSpec {
    let amounts = |amounts: &BTreeMap<String, String>| {
        amounts.iter().map(|(name, amount)| (Arc::from(name.as_str()), Arc::from(amount.as_str()))).collect()
    };
    KubeletSpec {
        max_pods: node.max_pods,
        kube_reserved: amounts(&node.kube_reserved),
        system_reserved: amounts(&node.system_reserved),
        eviction_hard: amounts(&node.eviction_hard),
    }
}

/// Returns the class's tags, overridden by those that Karpenter and Azure billing use to identify a node. A `/` becomes
/// `_`, and tag names ignore case: no spelling of a user's tag replaces one of these.
fn tags(made: &Made<'_>) -> Result<BTreeMap<Arc<str>, Arc<str>>, Refusal> {
    let own = [
        ("karpenter.azure.com_cluster", made.facts.cluster.name.clone()),
        ("karpenter.sh_nodepool", Arc::from(made.claim.pool.as_str())),
        ("compute.aks.billing", Arc::from("linux")),
    ];
    let own = own.map(|(name, value)| (Arc::<str>::from(name), value));
    let class =
        made.class.tags.iter().map(|(name, value)| (Arc::<str>::from(name.replace('/', "_")), value.clone()));
    let mut tags: BTreeMap<String, (Arc<str>, Arc<str>)> = BTreeMap::new();
    for (name, value) in class.chain(own) {
        tags.insert(name.to_ascii_lowercase(), (name, value));
    }
    if let Some((_, (name, _))) = tags.iter().find(|(name, _)| name.starts_with("nodeform.dev_")) {
        return Err(refusal("spec.tags", format!("`{name}`: tags of nodeform are its own")));
    }
    if tags.len() > TAGS_MAX - TAGS_OF_CHANGE {
        let most = TAGS_MAX - TAGS_OF_CHANGE;
        return Err(refusal(
            "spec.tags",
            format!("with nodeform's there are more than {TAGS_MAX}; keep to {}", most - 3),
        ));
    }
    Ok(tags.into_values().collect())
}
