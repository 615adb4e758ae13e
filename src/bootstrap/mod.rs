//! Bootstrap of a new VM: the customData with which its first start joins the cluster.
//!
//! ```text
//!  Cluster, Node, AKSNodeClass ─▶ Template (AKSNodeConfig, JSON; digest) ┐
//!  random bytes ─▶ BootstrapToken ─▶ Secret object for kube-system       ┴▶ customData (secret)
//! ```
//!
//! The plan shows a template's digest; the token is added when the plan is applied. Must never print a token or
//! customData, nor read a clock or a random source: both are arguments.

mod cluster;
mod custom_data;
mod downloads;
mod fields;
mod gpu;
mod kubelet;
mod labels;
mod linux_os;
mod local_dns;
mod node;
mod refusal;
mod template;
mod token;
mod version;

pub use cluster::{Cluster, Network, NetworkPlugin, Subnet};
pub use fields::{FIELDS, Field, Goes, refusals};
pub use node::{Arch, Gpu, Node};
pub use refusal::Refusal;
pub use template::Template;
pub use token::{BootstrapToken, NotEnoughRandomness, TOKEN_LIFETIME};
pub use version::KubernetesVersion;

#[cfg(test)]
mod schema;
#[cfg(test)]
mod tests;
