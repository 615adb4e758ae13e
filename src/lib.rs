//! nodeform plans the nodes of a Kubernetes cluster on Azure: overview of the crate.
//!
//! ```text
//!  manifests, dumps ──▶ manifests ──▶ snapshot ─┐                            ┌─ render ──▶ terminal, files
//!  price and size lists ─▶ catalog ─────────────┼─▶ solve ──▶ plan ──▶ check ┤
//!  NodePool, AKSNodeClass, NodeFleet ─▶ policy ─┘     └─ report (why)        └─ review ──▶ CheckedPlan
//! ```
//!
//! # Modules, in reading order
//!
//! | module | what it is |
//! | --- | --- |
//! | [`model`] | domain types: values that are valid by construction |
//! | [`api`] | wire types in Karpenter's terms; the source of `crds/` and `schemas/` |
//! | [`policy`] | NodePools, classes and the fleet: wire types to values, reporting all faults together |
//! | [`manifests`] | YAML and JSON documents to pods and nodes |
//! | [`upgrade`] | older manifests, and manifests for other clouds, to the form that AKS accepts |
//! | [`catalog`] | Azure's VM sizes and prices, as instance types |
//! | [`snapshot`] | one observation of a cluster, with its gaps and assumptions |
//! | [`solve`] | which nodes should exist, where each pod would run, and why |
//! | [`plan`] | current to desired state: changes, reasons, preconditions, waves; the plan file |
//! | [`check`] | the checker: verifies a plan independently of the solver |
//! | [`review`] | the stages that a plan passes, what a second plan covers of it, and the plan folder for review |
//! | [`world`] | the last seen objects of a cluster: one store for planning and for applying plans |
//! | [`rollout`] | applying an approved plan: the next actions, and the outcome of each change |
//! | [`ledger`] | history of plans with effects and their outcomes, as NodePlan objects |
//! | [`render`] | values to text |
//! | [`sim`] | the cluster after a plan, in memory; a simulated Azure with a small cluster |
//! | [`agent_pools`] | AKS agent pools to initial NodePools, classes and a fleet |
//! | [`offline`] | from files to a checked plan: the steps in order |
//! | [`automatic`] | the controller's rounds: when one starts, which of its plans' changes may start, and the outcome of proposals |
//! | `arm` | Azure requests and answers as values: built and read, not sent; bodies with feature `live` |
//! | `bootstrap` | what a new VM needs in order to join, with secrets that cannot be printed |
//! | [`launch`] | how the VMs of a live plan are configured, and which nodes it refers to |
//! | `clock` | the current time for the live side; tests can pause and advance it (feature `live`) |
//! | `azure` | signing in, and sending the requests of `arm` (feature `live`) |
//! | `cluster` | the Kubernetes client (feature `live`) |
//! | `observe` | reads a cluster and its Azure resources once, into a snapshot (feature `live`) |
//! | `apply` | applies an approved plan: observes, asks `rollout`, acts, observes again (feature `live`) |
//! | `controller` | the modes `auto` and `review` in the cluster: Lease, rounds, plans in progress, proposed and merged plans, status; in one process or two (feature `live`) |
//! | `azure_sim` | the simulated Azure over HTTPS on loopback, and in memory (feature `sim-server`) |
//! | `git` | manifests of a Git revision, from the object database; plans on branches of a server (feature `git`) |
//! | `forge` | pull requests of Gitea, GitHub, GitLab and Azure DevOps: upkeep, reviews, statuses (feature `live`) |
//! | `gitops` | plans through a repository: proposed on branches, merged, planned again before they are applied (feature `live`) |
//! | `cli` | one file for each command; the only place that reads files and prints (feature `cli`) |
//!
//! All modules except `git`, `forge`, `gitops`, `cli`, `clock`, `azure`, `cluster`, `observe`, `apply`, `controller` and
//! `azure_sim` are pure: no files, no clock, no environment, no randomness, the same order in every run.
//! `tests/core/architecture.rs` enforces that, and which module may use which.
//!
//! # Invariants, and the test that enforces each
//!
//! 1. Pure modules have no effects: `architecture.rs`.
//! 2. The same input gives the same bytes, whatever the order of documents: `tests/properties`.
//! 3. Pure stages cannot fail; they explain. What does not fit is a value with a reason: `tests/properties`.
//! 4. The checker is independent, and checks every plan that a command or a test makes: `architecture.rs` enforces
//!    both, and names the four places that make plans; each passes them to the checker.
//! 5. Plans are stable: planning the planned fleet again gives no changes: `tests/properties`.
//! 6. Unknown is not empty: data that could not be read never causes a deletion: `tests/judge`.
//! 7. Every format has a version; schemas and CRDs are generated from the types: `generated.rs`.
//! 8. Running pods are moved only for a reason that the plan names, and within every budget: `tests/judge`.
//!
//! # Glossary
//!
//! - **plan**: the changes to make. **hold**: a waiting change and its condition. **approve**: allow a change.
//! - **size**: an Azure VM size. **pool**: a NodePool. **class**: an AKSNodeClass.
//! - **offering**: a size in a zone with one purchase option. **shape**: pods that the scheduler cannot tell apart.
//! - **headroom**: capacity that CapacityBuffers reserve for future pods. **slack**: free capacity in a small fleet for a
//!   scheduler that does not know the plan.
//! - **estimate**: a value from a documented rule, marked `~` in every output (`docs/reference/estimates.md`).

pub mod agent_pools;
pub mod api;
#[cfg(feature = "live")]
pub mod apply;
pub mod arm;
pub mod automatic;
#[cfg(feature = "live")]
pub mod azure;
#[cfg(feature = "sim-server")]
pub mod azure_sim;
pub mod bootstrap;
pub mod catalog;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
#[cfg(feature = "live")]
pub mod clock;
#[cfg(feature = "live")]
pub mod cluster;
#[cfg(feature = "live")]
pub mod controller;
#[cfg(feature = "live")]
pub mod forge;
#[cfg(feature = "git")]
pub mod git;
#[cfg(feature = "live")]
pub mod gitops;
pub mod launch;
pub mod ledger;
pub mod manifests;
pub mod model;
#[cfg(feature = "live")]
pub mod observe;
pub mod offline;
pub mod plan;
pub mod policy;
pub mod render;
pub mod review;
pub mod rollout;
pub mod sim;
pub mod snapshot;
pub mod solve;
pub mod upgrade;
pub mod world;
