//! Azure's answers as small structs of our own.
//!
//! Each keeps unknown fields, so that a snapshot or a difference can show them. A field that Azure omitted is absent,
//! never a default. Must never fail because of an unknown field or value.

mod cluster;
mod image_version;
mod load_balancer;
mod machine;
mod network;
mod operation;
mod page;
mod permission;
mod reading;
mod usage;
mod virtual_network;

pub use cluster::{AgentPool, ClusterIdentity, ManagedCluster, NetworkProfile, PowerState};
pub use image_version::ImageVersion;
pub use load_balancer::LoadBalancer;
pub use machine::{Machine, OsDisk};
pub use network::{NetworkInterface, SecurityGroup, Subnet};
pub use operation::{OperationState, State};
pub use page::Page;
pub use permission::Permission;
pub use reading::{Answer, AnswerFault, read};
pub use usage::Usage;
pub use virtual_network::VirtualNetwork;
