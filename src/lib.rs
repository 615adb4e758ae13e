//! nodeform plans the nodes of a Kubernetes cluster on Azure.

pub mod catalog;
pub mod model;
pub mod policy;
pub mod snapshot;
pub mod solve;
