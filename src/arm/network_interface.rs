//! A NIC to be created.
//!
//! Must never choose an address, a pool or a group: those are in the plan.

#[cfg(feature = "live")]
pub use super::network_interface_body::build;
use super::{ResourceId, Tags};

/// The NIC of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkInterface {
    /// Its name, which is also the name of the VM and of its primary IP configuration.
    pub name: String,
    /// The Azure region.
    pub location: String,
    /// Tags of the NIC, equal to the VM's.
    pub tags: Tags,
    /// The subnet of all its addresses.
    pub subnet: ResourceId,
    /// The security group; `None` if AKS attaches it to the subnet itself.
    pub security_group: Option<ResourceId>,
    /// The load balancer backend pools that the node joins.
    pub backend_pools: Vec<BackendPool>,
    /// Whether accelerated networking is enabled; the size must support it.
    pub accelerated_networking: bool,
    /// Number of additional addresses, one per pod, if pods use addresses of the subnet (Azure CNI without overlay):
    /// `maxPods - 1`; 0 with an overlay.
    pub pod_addresses: u32,
}

/// A backend pool of a load balancer, by its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BackendPool(pub ResourceId);
