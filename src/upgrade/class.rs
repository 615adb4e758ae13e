//! Converts node classes of AWS, GCP and older Azure versions to AKSNodeClasses, field by field.

use super::kubelet::{self, Kubelet};
use super::remark::{Job, Sort};
use super::spelling;
use super::syntax::{Entry, Node};
use crate::api::aks_node_class::{ONLY_IN_V1ALPHA2, V1ALPHA2};
use crate::model::Quantity;

const NONE: &str = "has no counterpart on AKS";

/// Rewrites a class. `wanted` holds the settings that pools require of it.
pub(super) fn class(root: &mut Node, wanted: &[&Kubelet], job: &mut Job<'_>) {
    const VERSION: &str = "karpenter.azure.com/v1beta1";
    let is_own = root.get("kind").and_then(Node::as_text) == Some("AKSNodeClass");
    if is_own {
        only_older(root, job);
        super::newer(root, VERSION, job);
        spelling::class(root, job);
    } else {
        super::head(root, VERSION, "AKSNodeClass");
        super::drop_status(root, job);
    }
    if root.get("spec").is_none() && wanted.is_empty() {
        return;
    }
    if root.get("spec").is_none() {
        root.put(Entry::new("spec", Node::map(Vec::new())));
    }
    root.edit_at("spec", |spec| {
        let mut kubelets = Vec::new();
        // An AKSNodeClass is not from another cloud: unknown fields are typos or intended, so they are never removed.
        let own = !is_own && fields(spec, &["spec"], &mut kubelets, job);
        for kubelet in kubelets.iter().chain(wanted.iter().copied()) {
            kubelet.give(spec);
        }
        own || !kubelets.is_empty() || !wanted.is_empty()
    });
}

/// Removes the fields that only exist in the older version of the class.
fn only_older(root: &mut Node, job: &mut Job<'_>) {
    if root.get("apiVersion").and_then(Node::as_text) != Some(V1ALPHA2) {
        return;
    }
    root.edit_at("spec", |spec| {
        let taken: Vec<Entry> = ONLY_IN_V1ALPHA2.iter().filter_map(|field| spec.take(field)).collect();
        for entry in &taken {
            let message = "has no counterpart in `v1beta1`".to_owned();
            let hint = no_counterpart(&entry.key).to_owned();
            job.say(Sort::Dropped, (entry.line, &["spec", &entry.key]), message, Some(hint));
        }
        !taken.is_empty()
    });
}

/// Builds the spec of a class from the inline `provider` of a Provisioner.
pub(super) fn inline(entry: Entry, job: &mut Job<'_>) -> Node {
    let mut spec = entry.value;
    fields(&mut spec, &["spec", "provider"], &mut Vec::new(), job);
    spec
}

/// Rewrites the fields of a class. Returns whether anything changed.
fn fields(spec: &mut Node, path: &[&'static str], kubelets: &mut Vec<Kubelet>, job: &mut Job<'_>) -> bool {
    let known = |key: &str| {
        matches!(
            key,
            "vnetSubnetID"
                | "osDiskSizeGB"
                | "imageFamily"
                | "fipsMode"
                | "tags"
                | "maxPods"
                | "security"
                | "localDNS"
                | "gpu"
                | "artifactStreaming"
                | "linuxOSConfig"
                | "workloadRuntime"
        )
    };
    let is_foreign_kubelet = spec.get("kubelet").is_some_and(|kubelet| {
        let aws = [
            "clusterDNS",
            "maxPods",
            "podsPerCore",
            "kubeReserved",
            "systemReserved",
            "evictionHard",
            "evictionSoft",
        ];
        kubelet.entries().iter().any(|entry| aws.contains(&&*entry.key))
    });
    let stays = |entry: &Entry| {
        let is_ubuntu_or_other = entry.value.as_text() != Some("ContainerOptimizedOS");
        (known(&entry.key) && is_ubuntu_or_other) || (&*entry.key == "kubelet" && !is_foreign_kubelet)
    };
    if spec.entries().iter().all(stays) {
        return false;
    }
    for entry in std::mem::take(spec.parts_mut().unwrap_or(&mut Vec::new())) {
        if stays(&entry) {
            spec.put(entry);
            continue;
        }
        match &*entry.key {
            "kubelet" | "kubeletConfiguration" => {
                let path: Vec<&'static str> = [path, &["kubelet"]].concat();
                kubelets.push(kubelet::read(entry, &path, job));
            }
            "amiFamily" | "imageFamily" => image_family(spec, entry, path, job),
            "blockDeviceMappings" | "disks" => disks(spec, &entry, path, job),
            _ => lost(&entry, path, job),
        }
    }
    true
}

fn image_family(spec: &mut Node, entry: Entry, path: &[&str], job: &mut Job<'_>) {
    let at = [path, &[&entry.key]].concat();
    if entry.value.as_text() == Some("Ubuntu") {
        job.moved((entry.line, &at), "`spec.imageFamily: Ubuntu`");
        spec.put(entry.renamed("imageFamily"));
        return;
    }
    let family = entry.value.scalar().unwrap_or_default();
    let hint = if family.starts_with("Windows") {
        "Karpenter makes no Windows nodes on AKS: keep them in an agent pool"
    } else {
        "`spec.imageFamily` is `Ubuntu` (the default) or `AzureLinux`"
    };
    job.lost((entry.line, &at), &format!("`{family}` {NONE}"), hint);
}

/// OS disk sizes that an AKSNodeClass accepts, in GB.
const DISK_GB: std::ops::RangeInclusive<i64> = 30..=2048;

/// Carries over the size of the root disk and reports all other disk settings.
fn disks(spec: &mut Node, entry: &Entry, path: &[&str], job: &mut Job<'_>) {
    let items = entry.value.items();
    let is_root = |item: &Node| {
        ["rootVolume", "boot"]
            .iter()
            .any(|key| item.get(key).and_then(Node::scalar).as_deref() == Some("true"))
    };
    let root = items.iter().position(|item| is_root(&item.value)).unwrap_or(0);
    for (place, item) in items.iter().enumerate() {
        let index = format!("[{place}]");
        let at = [path, &[&*entry.key, &index]].concat();
        if place != root {
            job.lost((item.line, &at), NONE, "a node has its OS disk alone: use volumes for data");
            continue;
        }
        let (key, disk) = match item.value.get("ebs") {
            Some(ebs) => ("volumeSize", ebs),
            None => ("sizeGiB", &item.value),
        };
        for part in disk.entries() {
            let mut at = at.clone();
            at.extend(item.value.get("ebs").map(|_| "ebs"));
            at.push(&part.key);
            if &*part.key == key {
                os_disk(spec, part, &at, job);
            } else {
                disk_setting(part, &at, job);
            }
        }
    }
}

fn os_disk(spec: &mut Node, part: &Entry, at: &[&str], job: &mut Job<'_>) {
    let text = part.value.scalar().unwrap_or_default();
    // Azure disks are sold by the GiB, and the field is in GiB: `100Gi` is 100.
    let gib = if &*part.key == "sizeGiB" { Some(format!("{text}Gi")) } else { Some(text.clone()) };
    let bytes = gib.and_then(|text| Quantity::parse(&text)).map(|quantity| quantity.units_up());
    let unit = if text.ends_with('G') || text.ends_with('T') { 1_000_000_000 } else { 1 << 30 };
    let size = bytes.map(|bytes| bytes.saturating_add(unit - 1) / unit).filter(|size| DISK_GB.contains(size));
    let Some(size) = size else {
        job.lost(
            (part.line, at),
            &format!("`{text}` is no size that an AKSNodeClass takes"),
            "`spec.osDiskSizeGB` is from 30 to 2048",
        );
        return;
    };
    job.moved((part.line, at), &format!("`spec.osDiskSizeGB: {size}`"));
    spec.put(part.clone().renamed("osDiskSizeGB").with(Node::integer(size)));
}

fn disk_setting(part: &Entry, at: &[&str], job: &mut Job<'_>) {
    let hint = match &*part.key {
        "deleteOnTermination" | "boot" | "rootVolume" => return,
        "encrypted" => {
            "disks on Azure are always encrypted at rest; `spec.security.encryptionAtHost: true` adds the host"
        }
        "kmsKeyID" => "own keys are set for the whole cluster, by its disk encryption set",
        _ => "the OS disk is ephemeral where the size has room for it, else Premium SSD",
    };
    job.lost((part.line, at), NONE, hint);
}

fn lost(entry: &Entry, path: &[&str], job: &mut Job<'_>) {
    let at = [path, &[&entry.key]].concat();
    job.lost((entry.line, &at), NONE, no_counterpart(&entry.key));
}

/// Returns the advice for a field that has no counterpart.
fn no_counterpart(field: &str) -> &'static str {
    match field {
        "subnetSelector" | "subnetSelectorTerms" | "networkConfig" => {
            "nodes join the cluster's subnet; `spec.vnetSubnetID` names another by its ARM id"
        }
        "securityGroupSelector" | "securityGroupSelectorTerms" | "networkTags" => {
            "the subnet's network security group applies"
        }
        "role" | "instanceProfile" | "serviceAccount" | "managedIdentities" => {
            "nodes have the cluster's kubelet identity; pods use workload identity"
        }
        "amiSelector" | "amiSelectorTerms" | "imageSelectorTerms" | "imageID" | "imageVersion" => {
            "AKS chooses the image's version; `spec.imageFamily` is `Ubuntu` (the default) or `AzureLinux`"
        }
        "userData" | "startupScript" | "metadata" => {
            "AKS sets nodes up; `spec.kubelet` and `spec.linuxOSConfig` take settings, a DaemonSet does the rest"
        }
        "launchTemplate" => "the AKSNodeClass itself says how VMs are made",
        "metadataOptions" => {
            "access to the metadata service is restricted for the whole cluster (`az aks update --enable-imds-restriction`)"
        }
        "detailedMonitoring" => "Azure Monitor is set up for the whole cluster",
        "instanceStorePolicy" => "the OS disk is put on the local disk wherever it fits",
        "associatePublicIPAddress" => "nodes of Karpenter have no public addresses on AKS",
        "capacityReservationSelectorTerms" | "capacityReservationGroupID" => {
            "commitments are priced with `spec.prices.commitments` of the NodeFleet"
        }
        "shieldedInstanceConfig" => "`spec.security.trustedLaunch` is the counterpart",
        "linuxNodeConfig" => "`spec.linuxOSConfig` takes swap, huge pages and kernel settings",
        "labels" => "set labels in the template of the NodePool",
        _ => "leave it out",
    }
}
