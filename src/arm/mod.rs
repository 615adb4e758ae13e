//! Azure Resource Manager as values: ids, requests, bodies, answers, faults.
//!
//! ```text
//!  Machine, NetworkInterface, Extension ─▶ body (Azure's models) ─▶ complete ─▶ Body ─▶ Request ─▶ (azure sends)
//!  (azure received) ─▶ answer::… own small structs, unknown fields kept
//!                   └▶ fault::Fault: what was refused, what that blocks, until when
//! ```
//!
//! Bodies need Azure's models, which need feature `live`; everything else is always available.
//! Must never send, wait or read a clock. Only this module and `azure` use Azure's crates.

pub mod answer;
pub mod api_version;
pub mod bucket;
mod buckets;
#[cfg(feature = "live")]
pub mod complete;
pub mod extension;
#[cfg(feature = "live")]
mod extension_body;
pub mod fault;
pub mod machine;
#[cfg(feature = "live")]
pub mod machine_body;
pub mod network_interface;
#[cfg(feature = "live")]
mod network_interface_body;
pub mod permission;
pub mod request;
pub mod resource_id;
pub mod tags;

pub use crate::model::SecretJson as Body;
pub use api_version::Api;
pub use bucket::{Bucket, BucketKey};
pub use buckets::Buckets;
pub use extension::BillingExtension;
pub use fault::{Block, Blocked, Fault};
pub use machine::{BuyAs, Image, Machine, OsDisk, OsLogin, Placement, SecurityProfile};
pub use network_interface::{BackendPool, NetworkInterface};
pub use request::{Method, Request};
pub use resource_id::{ResourceId, ResourceIdFault};
pub use tags::{Tags, TagsFault};
