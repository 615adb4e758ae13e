//! An in-memory world: the result of a plan, and a simulated Azure with a small cluster to test nodeform against.
//!
//! ```text
//!  snapshot, plan ──▶ after      as if every step succeeded
//!  request ──▶ World ──┬─▶ azure    ARM: resources, operations, quota, tokens
//!                      └─▶ cluster  Kubernetes: objects, selectors, patches, evictions
//!  advance ──▶ agenda ──▶ play      kubelets, workload controllers, scheduler
//! ```
//!
//! Synchronous and seeded: the same seed and the same requests at the same times produce the same bytes. The simulation
//! reads raw JSON with its own types, so that it cannot share a mistake with the client's models. A node is derived
//! only from the VM as sent. It never reads a clock, a file or the network; `azure_sim` serves it over HTTP.

mod after;
mod agenda;
mod azure;
mod cluster;
mod documents;
mod draw;
mod faults;
mod http;
mod json;
mod load;
mod play;
mod possible;
mod reader;
mod record;
mod sensitive;
mod settings;
mod state;
mod unkind;
mod world;

pub use after::after;
pub use cluster::{Watch, WatchEvents};
pub use documents::WorldDocuments;
#[cfg(feature = "schema")]
pub use documents::schemas;
pub use faults::{FaultKind, FaultRule, FaultsFault, FaultsFile, When};
pub use http::{Answer, Request, Response};
pub use record::exchange;
pub use sensitive::Sensitive;
pub use settings::{
    AgentPool, Capacity, ClusterSettings, Durations, Image, ImageVersion, NetworkSettings, Seconds,
    SettingsFault, SimulatedAzure,
};
pub use world::{Credentials, Start, World};
