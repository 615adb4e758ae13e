//! NodeFleet: cluster-wide settings.

use std::sync::Arc;

use super::{ExtraCost, Holds, MicroUsd, MicroUsdPerHour, Region, Reviewed, SkuName};

/// How pods get their addresses, which decides how many fit on a node and which daemonsets AKS adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum NetworkSetup {
    /// Azure CNI with an overlay network (the default), without or with Cilium's dataplane.
    AzureOverlay {
        /// Whether Cilium carries the packets.
        is_cilium: bool,
    },
    /// Azure CNI with addresses of the virtual network.
    Azure {
        /// Whether Cilium carries the packets.
        is_cilium: bool,
    },
    /// The user's own network plugin.
    None,
}

/// The DaemonSets that AKS itself puts on nodes in `kube-system`, whatever the network set-up.
pub const AKS_DAEMONSETS: [&str; 7] = [
    "azure-cns",
    "azure-ip-masq-agent",
    "cilium",
    "cloud-node-manager",
    "csi-azuredisk-node",
    "csi-azurefile-node",
    "kube-proxy",
];

/// What nodes say in [`label::AKS_EBPF_DATAPLANE`](super::label::AKS_EBPF_DATAPLANE) where Cilium carries the packets.
pub const CILIUM: &str = "cilium";

impl NetworkSetup {
    /// Returns whether Cilium carries the packets.
    #[must_use]
    pub const fn is_cilium(self) -> bool {
        match self {
            Self::AzureOverlay { is_cilium } | Self::Azure { is_cilium } => is_cilium,
            Self::None => false,
        }
    }

    /// Returns the same set-up with Cilium; of a plugin of the user's own nothing changes.
    #[must_use]
    pub const fn with_cilium(self) -> Self {
        match self {
            Self::AzureOverlay { .. } => Self::AzureOverlay { is_cilium: true },
            Self::Azure { .. } => Self::Azure { is_cilium: true },
            Self::None => Self::None,
        }
    }

    /// Returns how many pods a node takes where its class does not say: 250 with an overlay or without a
    /// plugin, 30 with addresses of the virtual network (Azure provider's rules).
    #[must_use]
    pub const fn pods_per_node(self) -> u32 {
        match self {
            Self::AzureOverlay { .. } | Self::None => 250,
            Self::Azure { .. } => 30,
        }
    }
}

/// A discount on a family of sizes.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Discount {
    /// The series as in `karpenter.azure.com/sku-series` or its family letter, compared without `_` and
    /// letter case, so that `Dsv5`, `Ds_v5` mean the same.
    pub family: Arc<str>,
    /// Hundredths that are taken off on-demand prices.
    pub percent: u32,
}

/// Capacity that is paid for, used or not.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Commitment {
    /// The size.
    pub size: SkuName,
    /// How many VMs.
    pub count: u32,
    /// What each costs.
    pub price: MicroUsdPerHour,
}

/// How the user's prices differ from the list.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// What each node costs beside its VM and disk: licences, agents.
    pub cost_per_node: MicroUsdPerHour,
    /// Discounts.
    pub discounts: Vec<Discount>,
    /// Commitments.
    pub commitments: Vec<Commitment>,
}

/// Limits of the whole cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FleetLimits {
    /// The most nodes.
    #[serde(with = "super::written::optional_natural", default)]
    #[cfg_attr(feature = "schema", schemars(with = "Option<super::written::Integer>"))]
    pub nodes: Option<u64>,
    /// The most CPU, in thousandths of a core.
    #[cfg_attr(feature = "schema", schemars(with = "Option<super::written::Integer>"))]
    #[serde(with = "super::written::optional_integer", default)]
    pub cpu_milli: Option<i64>,
    /// The most memory, in bytes.
    #[cfg_attr(feature = "schema", schemars(with = "Option<super::written::Integer>"))]
    #[serde(with = "super::written::optional_integer", default)]
    pub memory_bytes: Option<i64>,
    /// The most money in a month of 730 hours.
    pub cost_per_month: Option<MicroUsd>,
}

/// What is made of `minValues` where fewer values can be had (`--min-values-policy` of Karpenter).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum MinValuesPolicy {
    /// No such node is made.
    #[default]
    Strict,
    /// It is made with as many values as can be had.
    BestEffort,
}

impl MinValuesPolicy {
    /// Returns whether this is the default; for formats that leave defaults out.
    #[must_use]
    pub fn is_strict(&self) -> bool {
        *self == Self::Strict
    }
}

/// What becomes of a plan that the controller makes. Plans that people make are none of its business.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Mode {
    /// It is shown.
    #[default]
    Observe,
    /// It is carried out at once, but for what [`Fleet::reviewed`] says.
    Auto,
    /// As `Auto`; more of it is reviewed.
    Review,
}

impl Mode {
    /// Returns whether anything is done.
    #[must_use]
    pub const fn acts(self) -> bool {
        match self {
            Self::Observe => false,
            Self::Auto | Self::Review => true,
        }
    }

    /// Returns the word for it in a NodeFleet.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Observe => "observe",
            Self::Auto => "auto",
            Self::Review => "review",
        }
    }
}

/// How the fleet is worked out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Strategy {
    /// nodeform's own: the cheapest fleet that holds the pods.
    #[default]
    Cheapest,
    /// Karpenter's, by its defaults.
    Karpenter,
}

/// What decides between sizes, zones and ways to buy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Prefer {
    /// The price alone.
    #[default]
    Price,
    /// The price, with what was refused or is scarce counted as dearer.
    Availability,
}

/// Over how many hosts pods are spread whose constraint asks for that, where nodes are made for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum SpreadHosts {
    /// Over so many at least, if there are enough pods.
    AtLeast(u32),
    /// One for every `maxSkew` of them, as Karpenter does.
    Each,
}

/// So that a workload which is spread over hosts outlives two of them.
const SPREAD_HOSTS: u32 = 3;

impl Default for SpreadHosts {
    fn default() -> Self {
        Self::AtLeast(SPREAD_HOSTS)
    }
}

/// The breaker: how many nodes with running pods a pool, and the whole cluster once more, may lose in 10 minutes. The larger
/// of the two counts, so that a small pool can lose more than a share of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Safety {
    /// Hundredths of the nodes with running pods.
    pub max_loss_percent: u32,
    /// Nodes.
    pub max_loss_nodes: u32,
}

impl Default for Safety {
    fn default() -> Self {
        Self { max_loss_percent: 20, max_loss_nodes: 10 }
    }
}

impl Safety {
    /// Returns how many of so many nodes a pool may lose; a part of a node counts as none.
    #[must_use]
    pub fn max_loss(&self, pool_nodes: usize) -> usize {
        let share = (pool_nodes as u128 * u128::from(self.max_loss_percent) / 100).min(pool_nodes as u128);
        let share = usize::try_from(share).unwrap_or(pool_nodes);
        share.max(usize::try_from(self.max_loss_nodes).unwrap_or(usize::MAX))
    }
}

/// What a NodeFleet says, or its defaults where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Fleet {
    /// The NodeFleet's name; `None` where there is none.
    pub name: Option<Arc<str>>,
    /// The cluster's name.
    pub cluster: Option<Arc<str>>,
    /// The cluster's region.
    pub region: Option<Region>,
    /// The network set-up; `None` where it is not said.
    pub network: Option<NetworkSetup>,
    /// Whether it is said what carries the packets of pods: else nodes and pools may tell.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub names_dataplane: bool,
    /// The user's prices.
    pub prices: Prices,
    /// Limits of the whole cluster.
    pub limits: FleetLimits,
    /// What is made of `minValues` where fewer values can be had.
    #[serde(default, skip_serializing_if = "MinValuesPolicy::is_strict")]
    pub min_values_policy: MinValuesPolicy,
    /// What is kept back: freezes, and classes of change on hold.
    #[serde(default, skip_serializing_if = "Holds::is_none")]
    pub holds: Holds,
    /// How the fleet is worked out, where a command does not say otherwise.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub strategy: Strategy,
    /// What decides between sizes, zones and ways to buy.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub prefer: Prefer,
    /// What soft preferences of pods may cost.
    #[serde(default, skip_serializing_if = "ExtraCost::is_default")]
    pub extra_cost: ExtraCost,
    /// Over how many hosts pods are spread that ask to be.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub spread_hosts: SpreadHosts,
    /// How many nodes a pool may lose before carrying out stops.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub safety: Safety,
    /// Whether nothing is begun; what has begun is finished.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub is_suspended: bool,
    /// What becomes of a plan that the controller makes.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub mode: Mode,
    /// What of such a plan people review before it happens.
    #[serde(default, skip_serializing_if = "Reviewed::is_nothing")]
    pub reviewed: Reviewed,
}

#[cfg(test)]
mod tests {
    use super::Safety;

    #[test]
    fn the_larger_of_share_and_number_may_be_lost() {
        let safety = Safety::default();
        assert_eq!([0, 10, 50, 51, 99, 1_000].map(|nodes| safety.max_loss(nodes)), [10, 10, 10, 10, 19, 200]);
        let none = Safety { max_loss_percent: 0, max_loss_nodes: 0 };
        assert_eq!(none.max_loss(usize::MAX), 0);
    }
}
