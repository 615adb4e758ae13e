//! The label and annotation keys with a defined meaning, in one place.
//!
//! Sources: Kubernetes' well-known labels; Karpenter core v1.14 (`karpenter.sh`); the Azure provider
//! (`karpenter.azure.com`, `kubernetes.azure.com`).

/// Karpenter's finalizer on NodeClaims and Nodes.
pub const FINALIZER: &str = "karpenter.sh/termination";
/// The NodePool that a node belongs to.
pub const NODE_POOL: &str = "karpenter.sh/nodepool";
/// The capacity type.
pub const CAPACITY_TYPE: &str = "karpenter.sh/capacity-type";
/// On a NodeClaim whose node nodeform is removing, whether or not deletion has started.
pub const REMOVAL: &str = "nodeform.dev/removal";
/// Taint key of a node that is drained for removal, as Karpenter sets it.
pub const DISRUPTED: &str = "karpenter.sh/disrupted";
/// Excludes a node from load balancers.
pub const NOT_BALANCED: &str = "node.kubernetes.io/exclude-from-external-load-balancers";
/// On a NodeClaim: the owners and templates of the pods that it was created for, as short comma-separated digests.
pub const MADE_FOR: &str = "nodeform.dev/pods";
/// On a NodeClaim: the hash of its NodePool's node requirements when it was created.
pub const REQUIREMENTS_HASH: &str = "nodeform.dev/requirements-hash";
/// On a NodeClaim whose Node had joined and is permanently gone: when it was first missing.
pub const NODE_LOST: &str = "nodeform.dev/node-lost-since";
/// On everything that nodeform creates: the identity of the cluster.
pub const CLUSTER: &str = "nodeform.dev/cluster";

/// Set by Karpenter once a node has joined.
pub const REGISTERED: &str = "karpenter.sh/registered";
/// Set by Karpenter once a node is ready for pods.
pub const INITIALIZED: &str = "karpenter.sh/initialized";
/// Protects a pod or a node from voluntary disruption.
pub const DO_NOT_DISRUPT: &str = "karpenter.sh/do-not-disrupt";
/// The size of the VM.
pub const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";
/// The processor's architecture.
pub const ARCH: &str = "kubernetes.io/arch";
/// The operating system.
pub const OS: &str = "kubernetes.io/os";
/// The node's hostname.
pub const HOSTNAME: &str = "kubernetes.io/hostname";
/// The availability zone.
pub const ZONE: &str = "topology.kubernetes.io/zone";
/// The region.
pub const REGION: &str = "topology.kubernetes.io/region";
/// The Windows build; never set on nodes planned here.
pub const WINDOWS_BUILD: &str = "node.kubernetes.io/windows-build";
/// Whether a node is zonal or regional.
pub const PLACEMENT_SCOPE: &str = "karpenter.azure.com/placement-scope";
/// The size's name; duplicates the instance type label.
pub const SKU_NAME: &str = "karpenter.azure.com/sku-name";
/// The size's family letter, such as `D`.
pub const SKU_FAMILY: &str = "karpenter.azure.com/sku-family";
/// The size's series, such as `Dds_v5`.
pub const SKU_SERIES: &str = "karpenter.azure.com/sku-series";
/// The size's version without its `v`.
pub const SKU_VERSION: &str = "karpenter.azure.com/sku-version";
/// Number of vCPUs.
pub const SKU_CPU: &str = "karpenter.azure.com/sku-cpu";
/// Memory in MiB.
pub const SKU_MEMORY: &str = "karpenter.azure.com/sku-memory";
/// The GPU's name.
pub const SKU_GPU_NAME: &str = "karpenter.azure.com/sku-gpu-name";
/// The GPU's manufacturer.
pub const SKU_GPU_MANUFACTURER: &str = "karpenter.azure.com/sku-gpu-manufacturer";
/// Number of GPUs.
pub const SKU_GPU_COUNT: &str = "karpenter.azure.com/sku-gpu-count";
/// Whether ultra disks can be attached.
pub const ULTRA_SSD: &str = "karpenter.azure.com/sku-storage-ultra-ssd";
/// The capacity reservation that a node was launched from, unless a list of sizes names another label.
pub const RESERVATION_ID: &str = "karpenter.azure.com/capacity-reservation-id";
/// The AKSNodeClass that a node was created with.
pub const NODE_CLASS: &str = "karpenter.azure.com/aksnodeclass";
/// AKS' node mode: `system` or `user`.
pub const AKS_MODE: &str = "kubernetes.azure.com/mode";
/// The eBPF dataplane for pod traffic: `cilium` if Cilium provides it.
pub const AKS_EBPF_DATAPLANE: &str = "kubernetes.azure.com/ebpf-dataplane";
/// The node's image family: `Ubuntu` or `AzureLinux`.
pub const OS_SKU: &str = "kubernetes.azure.com/os-sku";
/// The vCPUs of a size, under AKS' own name.
pub const AKS_SKU_CPU: &str = "kubernetes.azure.com/sku-cpu";
/// The memory of a size in MiB, under AKS' own name.
pub const AKS_SKU_MEMORY: &str = "kubernetes.azure.com/sku-memory";
/// Whether the node's image is a FIPS image: `true`, else absent.
pub const AKS_FIPS_ENABLED: &str = "kubernetes.azure.com/fips_enabled";
/// Whether a node has the Kata runtime: `true`, else absent.
pub const AKS_KATA: &str = "kubernetes.azure.com/kata-vm-isolation";
/// The older name of [`AKS_KATA`].
pub const AKS_KATA_MSHV: &str = "kubernetes.azure.com/kata-mshv-vm-isolation";
/// AKS' name for the capacity type: `spot` or `regular`.
pub const AKS_SCALE_SET_PRIORITY: &str = "kubernetes.azure.com/scalesetpriority";

/// Labels that a pod may require with any value, even if the NodePool does not name them (Karpenter core's own; a
/// provider adds its own).
pub const WELL_KNOWN: [&str; 8] =
    [NODE_POOL, CAPACITY_TYPE, ZONE, REGION, INSTANCE_TYPE, ARCH, OS, WINDOWS_BUILD];

/// The Azure provider's additions to [`WELL_KNOWN`].
pub const WELL_KNOWN_AZURE: [&str; 26] = [
    PLACEMENT_SCOPE,
    SKU_NAME,
    SKU_FAMILY,
    SKU_SERIES,
    SKU_VERSION,
    SKU_CPU,
    SKU_MEMORY,
    "karpenter.azure.com/sku-networking-accelerated",
    "karpenter.azure.com/sku-storage-premium-capable",
    "karpenter.azure.com/sku-storage-ephemeralos-maxsize",
    "karpenter.azure.com/sku-storage-ultra-ssd",
    SKU_GPU_NAME,
    SKU_GPU_MANUFACTURER,
    SKU_GPU_COUNT,
    "karpenter.azure.com/sku-hyperv-generation",
    NODE_CLASS,
    "kubernetes.azure.com/cluster",
    AKS_MODE,
    AKS_SCALE_SET_PRIORITY,
    "kubernetes.azure.com/priority",
    OS_SKU,
    AKS_FIPS_ENABLED,
    AKS_KATA,
    AKS_KATA_MSHV,
    AKS_SKU_CPU,
    AKS_SKU_MEMORY,
];

/// AKS labels that the provider's CRDs allow in a pool's labels and requirements and that do not depend on the size:
/// nodes have the value of their pool, and a pod may require one only if its pool names it.
pub const ADMITTED_AZURE: [&str; 4] = [
    AKS_EBPF_DATAPLANE,
    "kubernetes.azure.com/ebpf-host-routing",
    "kubernetes.azure.com/network-policy",
    "kubernetes.azure.com/hostedvm",
];

/// Returns the canonical key that Karpenter uses for this one: maps old beta names and the CSI driver's zone to the
/// stable names.
#[must_use]
pub fn normalized(key: &str) -> &str {
    match key {
        "failure-domain.beta.kubernetes.io/zone" | "topology.disk.csi.azure.com/zone" => ZONE,
        "failure-domain.beta.kubernetes.io/region" => REGION,
        "beta.kubernetes.io/arch" => ARCH,
        "beta.kubernetes.io/os" => OS,
        "beta.kubernetes.io/instance-type" => INSTANCE_TYPE,
        other => other,
    }
}
