//! A NIC as it is sent, and the body of its PUT by Azure's models.
//! Must never choose an address, a pool or a group: those are in the plan.

#[cfg(feature = "live")]
pub use super::network_interface_body::build;
use super::{ResourceId, Tags};

/// The NIC of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkInterface {
    /// Its name, the VM's, and that of its primary IP configuration.
    pub name: String,
    /// Azure's region.
    pub location: String,
    /// Tags of the NIC: the VM's.
    pub tags: Tags,
    /// The subnet of all its addresses.
    pub subnet: ResourceId,
    /// The security group; none where AKS attaches it to the subnet itself.
    pub security_group: Option<ResourceId>,
    /// The pools of the load balancers that the node answers for.
    pub backend_pools: Vec<BackendPool>,
    /// Whether packets go past the host's switch; the size must support it.
    pub accelerated_networking: bool,
    /// How many more addresses it has, one for each pod, where pods take addresses of the subnet (Azure CNI without
    /// overlay): `maxPods - 1`; with overlay 0.
    pub pod_addresses: u32,
}

/// A backend pool of a load balancer, by its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BackendPool(pub ResourceId);
