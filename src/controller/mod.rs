//! The controller, for the modes `auto` and `review` in the cluster: holds the Lease, plans rounds on a separate thread,
//! applies what `automatic` chooses and what people have merged, proposes plans for review, and reports its state.
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
//! Depending on [`Role`], one process does everything, or two with separate permissions: the controller does the above
//! without `proposing`, and only reads Git and the forge; the proposer only reads Azure and the cluster:
//!
//! ```text
//!  Lease of its own ─▶ proposer: desk ─▶ round: observe ─▶ reviewing ─▶ proposing ─▶ repository, pull requests
//!                         └─▶ what hinders it, on that Lease ─▶ the controller's desk ─▶ NodeFleet's status
//! ```
//!
//! Must never decide what to do, nor write past the Lease's gate. A restarted process needs no memory: the ledger and the
//! claims hold all state.

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
