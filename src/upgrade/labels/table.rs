//! Table of labels: another cloud's key, the key on AKS, and the translation of its values.

use crate::model::label;

/// Translation of a label's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// They stay the same, in the same unit.
    Same,
    /// Each has one counterpart.
    Table(&'static [(&'static str, &'static str)]),
    /// They cannot be carried over.
    None,
}

/// Counterpart on AKS of a label of another cloud.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Foreign {
    /// The equivalent or nearest key on AKS.
    pub(crate) aks: Option<&'static str>,
    /// Translation of its values.
    pub(crate) values: Values,
    /// Advice for values that cannot be carried over.
    advice: &'static str,
}

impl Foreign {
    /// Returns the value on AKS.
    pub(crate) fn value(&self, value: &str) -> Option<String> {
        match self.values {
            Values::Same => Some(value.to_owned()),
            Values::Table(table) => {
                let lower = value.to_ascii_lowercase();
                table.iter().find(|(known, _)| *known == lower).map(|(_, aks)| (*aks).to_owned())
            }
            Values::None => None,
        }
    }

    /// Returns the message for values that cannot be carried over.
    pub(crate) fn said(&self, values: &[&str]) -> String {
        let values: Vec<String> = values.iter().take(5).map(|value| format!("`{value}`")).collect();
        match (self.aks, self.values) {
            (None, _) => "is another cloud's label and has no counterpart on AKS".to_owned(),
            (Some(aks), Values::Same | Values::None) => {
                format!("is another cloud's label; the nearest on AKS is `{aks}`")
            }
            (Some(aks), Values::Table(_)) => {
                format!(
                    "is another cloud's label, `{aks}` on AKS, where {} has no counterpart",
                    values.join(", ")
                )
            }
        }
    }

    /// Returns the advice.
    pub(crate) fn hint(&self) -> String {
        self.advice.to_owned()
    }
}

const fn same(aks: &'static str) -> Foreign {
    Foreign { aks: Some(aks), values: Values::Same, advice: "write AKS' label instead" }
}

const fn table(
    aks: &'static str,
    table: &'static [(&'static str, &'static str)],
    advice: &'static str,
) -> Foreign {
    Foreign { aks: Some(aks), values: Values::Table(table), advice }
}

const fn near(aks: &'static str, advice: &'static str) -> Foreign {
    Foreign { aks: Some(aks), values: Values::None, advice }
}

const fn none(advice: &'static str) -> Foreign {
    Foreign { aks: None, values: Values::None, advice }
}

const FAMILY: &str = "families on Azure are letters: `D` general, `E` memory, `F` compute, `L` storage, `N` GPU, `B` burstable; `nodeform catalog` lists them";

/// AWS instance categories and Azure's family letters: compute, general, memory, burstable, storage, GPU.
const CATEGORIES: &[(&str, &str)] = &[
    ("c", "F"),
    ("m", "D"),
    ("r", "E"),
    ("t", "B"),
    ("i", "L"),
    ("d", "L"),
    ("x", "M"),
    ("u", "M"),
    ("g", "N"),
    ("p", "N"),
    ("hpc", "H"),
];

/// vCPUs of AWS instance sizes, equal in every family except for the smallest sizes.
const SIZES: &[(&str, &str)] = &[
    ("large", "2"),
    ("xlarge", "4"),
    ("2xlarge", "8"),
    ("3xlarge", "12"),
    ("4xlarge", "16"),
    ("6xlarge", "24"),
    ("8xlarge", "32"),
    ("9xlarge", "36"),
    ("12xlarge", "48"),
    ("16xlarge", "64"),
    ("18xlarge", "72"),
    ("24xlarge", "96"),
    ("32xlarge", "128"),
    ("48xlarge", "192"),
];

const GPUS: &[(&str, &str)] = &[
    ("t4", "T4"),
    ("a100", "A100"),
    ("h100", "H100"),
    ("h200", "H200"),
    ("v100", "V100"),
    ("m60", "M60"),
    ("nvidia-tesla-t4", "T4"),
    ("nvidia-tesla-a100", "A100"),
    ("nvidia-a100-80gb", "A100"),
    ("nvidia-tesla-v100", "V100"),
    ("nvidia-h100-80gb", "H100"),
    ("nvidia-h100-mega-80gb", "H100"),
    ("nvidia-h200-141gb", "H200"),
];

const MAKERS: &[(&str, &str)] = &[("nvidia", "nvidia"), ("amd", "amd")];
const CAPACITY: &[(&str, &str)] =
    &[("on_demand", "on-demand"), ("spot", "spot"), ("on-demand", "on-demand"), ("standard", "on-demand")];
const SPOT: &[(&str, &str)] = &[("true", "spot")];
const POOL: &str =
    "name a NodePool with `karpenter.sh/nodepool`, or a label of your own that a pool's template sets";
const DISK: &str = "size the OS disk with `osDiskSizeGB` in the AKSNodeClass";
const GPU_NAMES: &str = "GPUs on Azure are `T4`, `A10`, `A100`, `H100`, `H200`, `V100` and others; `nodeform catalog --gpu` lists them";

/// Returns the counterpart on AKS of a label of AWS, GCP or an older Karpenter.
pub(crate) fn foreign(key: &str) -> Option<Foreign> {
    let (domain, name) = key.split_once('/')?;
    match domain {
        "karpenter.k8s.aws" | "eks.amazonaws.com" | "karpenter.k8s.gcp" => {
            size_label(name).or_else(|| cloud_label(domain, name))
        }
        "cloud.google.com" => Some(gke_label(name)),
        "k8s.io" if name.starts_with("cloud-provider-aws") => Some(none("leave it out")),
        "topology.ebs.csi.aws.com" | "topology.gke.io" if name == "zone" => Some(near(label::ZONE, ZONES)),
        "topology.k8s.aws" => Some(near(label::ZONE, ZONES)),
        "karpenter.sh" if name == "provisioner-name" => Some(same(label::NODE_POOL)),
        "karpenter.sh" if name == "managed-by" => Some(none("leave it out")),
        _ => None,
    }
}

const ZONES: &str = "zones are `REGION-1`, `REGION-2` and `REGION-3` of `topology.kubernetes.io/zone`, such as `westeurope-1`";

fn size_label(name: &str) -> Option<Foreign> {
    Some(match name {
        "instance-category" => table(label::SKU_FAMILY, CATEGORIES, FAMILY),
        "instance-family" => near(
            label::SKU_SERIES,
            "name series such as `Dds_v5`, or families with `karpenter.azure.com/sku-family`; `nodeform catalog` lists them",
        ),
        "instance-generation" => near(
            label::SKU_VERSION,
            "versions on Azure count differently: `karpenter.azure.com/sku-version` with `Gt` `[\"4\"]` asks for `v5` and newer",
        ),
        "instance-cpu" => same(label::SKU_CPU),
        "instance-memory" => same(label::SKU_MEMORY),
        "instance-size" => table(label::SKU_CPU, SIZES, "ask for vCPUs with `karpenter.azure.com/sku-cpu`"),
        "instance-gpu-name" => table(label::SKU_GPU_NAME, GPUS, GPU_NAMES),
        "instance-gpu-manufacturer" => {
            table(label::SKU_GPU_MANUFACTURER, MAKERS, "`nvidia` and `amd` are there")
        }
        "instance-gpu-count" => same(label::SKU_GPU_COUNT),
        "instance-gpu-memory" => near(label::SKU_GPU_NAME, GPU_NAMES),
        "instance-accelerator-name" | "instance-accelerator-manufacturer" | "instance-accelerator-count" => {
            near(label::SKU_GPU_NAME, GPU_NAMES)
        }
        "instance-cpu-manufacturer" => near(
            label::SKU_SERIES,
            "the series says it: an `a` is AMD, a `p` is Arm, such as `Das_v5`, `Dps_v5`",
        ),
        "instance-local-nvme" => near(
            "karpenter.azure.com/sku-storage-ephemeralos-maxsize",
            "it counts GB of the local disk that an OS disk may use",
        ),
        "instance-network-bandwidth" => near(
            "karpenter.azure.com/sku-networking-accelerated",
            "ask for `\"true\"`; sizes have no label for bandwidth",
        ),
        "instance-ebs-bandwidth" => near(
            "karpenter.azure.com/sku-storage-premium-capable",
            "ask for `\"true\"`; sizes have no label for bandwidth",
        ),
        "instance-hypervisor"
        | "instance-encryption-in-transit-supported"
        | "instance-capability-flex"
        | "instance-cpu-sustained-clock-speed-mhz"
        | "instance-tenancy" => none("leave it out: sizes on Azure have no such label"),
        _ => return None,
    })
}

fn cloud_label(domain: &str, name: &str) -> Option<Foreign> {
    Some(match name {
        "capacityType" => table(label::CAPACITY_TYPE, CAPACITY, "write `on-demand` or `spot`"),
        "nodegroup" => near(label::NODE_POOL, POOL),
        "ec2nodeclass" | "gcenodeclass" => same(label::NODE_CLASS),
        "capacity-reservation-id"
        | "capacity-reservation-type"
        | "compute-type"
        | "nodegroup-image"
        | "sourceLaunchTemplateId"
        | "sourceLaunchTemplateVersion" => none("leave it out: nothing on AKS sets it"),
        // IAM roles of service accounts use the same domain and are not node labels.
        _ if domain == "eks.amazonaws.com" => return None,
        _ => none("leave it out: nothing on AKS sets it"),
    })
}

fn gke_label(name: &str) -> Foreign {
    match name {
        "gke-spot" | "gke-preemptible" => table(label::CAPACITY_TYPE, SPOT, "write `spot` or `on-demand`"),
        "gke-provisioning" => table(label::CAPACITY_TYPE, CAPACITY, "write `spot` or `on-demand`"),
        "gke-accelerator" => table(label::SKU_GPU_NAME, GPUS, GPU_NAMES),
        "gke-accelerator-count" => same(label::SKU_GPU_COUNT),
        "gke-nodepool" | "compute-class" => near(label::NODE_POOL, POOL),
        "machine-family" => near(label::SKU_FAMILY, FAMILY),
        "gke-os-distribution" => near(
            "kubernetes.azure.com/os-sku",
            "`Ubuntu` and `AzureLinux` are there; `imageFamily` in the AKSNodeClass chooses",
        ),
        "gke-boot-disk" | "gke-local-nvme-ssd" | "gke-ephemeral-storage-local-ssd" => {
            near("karpenter.azure.com/sku-storage-ephemeralos-maxsize", DISK)
        }
        _ => none("leave it out: nothing on AKS sets it"),
    }
}

/// Returns whether the value of a label common to all clouds (zone, region or size) belongs to another cloud.
pub(crate) fn foreign_place(key: &str, value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_digit_at = |back: usize| bytes.len() > back && bytes[bytes.len() - 1 - back].is_ascii_digit();
    let parts: Vec<&str> = value.split('-').collect();
    match label::normalized(key) {
        // `us-east-1a`, `us-central1-a`; Azure zones end in a digit.
        label::ZONE => {
            let ends_in_letter = bytes.last().is_some_and(u8::is_ascii_lowercase);
            let is_google = bytes.len() > 2 && bytes[bytes.len() - 2] == b'-' && is_digit_at(2);
            parts.len() >= 3 && ends_in_letter && (is_digit_at(1) || is_google)
        }
        // `us-east-1`, `us-central1`; Azure regions have no hyphen.
        label::REGION => parts.len() >= 2 && is_digit_at(0),
        // `m5.large`, `n2-standard-4`; Azure sizes have an underscore.
        label::INSTANCE_TYPE => {
            let is_name = !value.contains('_') && bytes.first().is_some_and(u8::is_ascii_lowercase);
            is_name && (value.contains('.') || (parts.len() >= 3 && parts[0].len() <= 3))
        }
        _ => false,
    }
}

/// Returns the current name of an older Karpenter annotation.
pub(crate) fn annotation(key: &str) -> Option<&'static str> {
    matches!(key, "karpenter.sh/do-not-evict" | "karpenter.sh/do-not-consolidate")
        .then_some(label::DO_NOT_DISRUPT)
}
