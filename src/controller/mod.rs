//! The modes `auto` and `review` in the cluster: holds the Lease, looks, has rounds planned on a thread of their own, has what
//! `automatic` chooses and what people have merged carried out, has proposed what they review, and says how it is.
//!
//! ```text
//!  Lease ─▶ session ─▶ looks: pods that wait, NodeFleet ─▶ automatic::Rounds ─▶ round: observe, plan, judge (a thread)
//!              ▲                                                                      │
//!              ├── flights: one look for all plans that are in flight ◀── approve ◀───┤
//!              │                          ▲                                           ▼ where nothing begins by itself
//!              │                          └──────── a merged plan ◀── reviewing ◀── world
//!              └── desk: repository, pull requests ◀── proposing ◀── else ┘ ▲
//!                         └─────────────────────────────────────────────────┘
//! ```
//!
//! By [`Role`] one process does all of it, or two with rights of their own: the controller has the lines above without
//! `proposing`, and only reads Git and the forge; the proposer only reads Azure and the cluster:
//!
//! ```text
//!  Lease of its own ─▶ proposer: desk ─▶ round: observe ─▶ reviewing ─▶ proposing ─▶ repository, pull requests
//!                         └─▶ what hinders it, on that Lease ─▶ the controller's desk ─▶ NodeFleet's status
//! ```
//!
//! Must never decide what is to be done, nor write past the Lease's gate. A process that starts anew needs no memory: the
//! ledger and the claims hold all.

mod beside;
mod bulletin;
mod desk;
mod flights;
mod looks;
mod marks;
mod metrics;
mod once;
mod proposer;
mod proposing;
mod reports;
mod resume;
mod reviewing;
mod role;
mod round;
mod run;
mod serve;
mod session;
mod tell;
mod told;

pub use desk::Repository;
pub use metrics::Metrics;
pub use proposer::forge_account;
pub use role::Role;
pub use run::{Controller, run};
pub use serve::{Health, serve_health, serve_metrics};
