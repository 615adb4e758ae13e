//! nodeform plans the nodes of a Kubernetes cluster on Azure: the map.
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
//! | [`model`] | the nouns: values that are valid as soon as they exist |
//! | [`api`] | wire types in Karpenter's words; the source of `crds/` and `schemas/` |
//! | [`policy`] | NodePools, classes and the fleet: wire to values, every fault at once |
//! | [`manifests`] | YAML and JSON documents to pods and nodes |
//! | [`upgrade`] | older guides, and guides for other clouds, to the form that AKS takes |
//! | [`catalog`] | what Azure sells, as instance types |
//! | [`snapshot`] | what was seen, once, with its gaps and assumptions |
//! | [`solve`] | which nodes should exist, where each pod would go, and why |
//! | [`plan`] | from what is to what should be: changes, reasons, preconditions, waves; the plan file |
//! | [`check`] | the checker: a second opinion on a plan, sharing no reasoning with the first |
//! | [`review`] | the stages that a plan passes, what a second plan covers of it, and its folder that people review |
//! | [`world`] | the objects of a cluster as they were last seen: one store for planning and for carrying plans out |
//! | [`rollout`] | when an approved plan is applied: what may be done next, and what became of each change |
//! | [`ledger`] | which plans with effects there were, and what became of them, as NodePlan objects |
//! | [`render`] | values to text |
//! | [`sim`] | the world after a plan, in memory; a simulated Azure with a small cluster |
//! | [`agent_pools`] | agent pools of AKS to NodePools, classes and a fleet to start from |
//! | [`offline`] | from files to a checked plan: the steps in their order |
//! | [`automatic`] | the rounds of the controller: when one begins, what of its plans may begin, and what becomes of proposals |
//! | `arm` | Azure's requests and answers as values: built and read, not sent; bodies with feature `live` |
//! | `bootstrap` | what a new VM needs in order to join, with secrets that cannot be printed |
//! | [`launch`] | what VMs of a live plan are made of, and which nodes it means |
//! | `clock` | what time it is, for the live side; tests let it stand and jump (feature `live`) |
//! | `azure` | who signs in, and sending what `arm` built (feature `live`) |
//! | `cluster` | the Kubernetes client (feature `live`) |
//! | `observe` | a cluster and its Azure resources, read once, to a snapshot (feature `live`) |
//! | `apply` | carries an approved plan out: looks, asks `rollout`, acts, looks again (feature `live`) |
//! | `controller` | the modes `auto` and `review` in the cluster: Lease, rounds, what is in flight, what is proposed and merged, status; in one process or two (feature `live`) |
//! | `azure_sim` | the simulated Azure over HTTPS on loopback, and in memory (feature `sim-server`) |
//! | `git` | manifests of a Git revision, from the object database; plans on branches of a server (feature `git`) |
//! | `forge` | pull requests of Gitea, GitHub, GitLab and Azure DevOps: upkeep, reviews, statuses (feature `live`) |
//! | `gitops` | plans through a repository: proposed on branches, merged, planned again before they are applied (feature `live`) |
//! | `cli` | one file for each command; the only place that reads files and prints (feature `cli`) |
//!
//! Everything but `git`, `forge`, `gitops`, `cli`, `clock`, `azure`, `cluster`, `observe`, `apply`, `controller` and
//! `azure_sim` is pure: no file, no clock, no environment, no randomness, no order that differs from run to run.
//! `tests/core/architecture.rs` holds that, and which module may use which.
//!
//! # Invariants, and the test that holds each
//!
//! 1. Above the line there is no effect: `architecture.rs`.
//! 2. The same input gives the same bytes, whatever the order of documents: `properties.rs`.
//! 3. Pure stages cannot fail; they explain. What does not fit is a value with a reason: `properties.rs`.
//! 4. The checker is independent, and checks every plan that a command or a test makes: `architecture.rs` holds
//!    both, and names the four places that make plans; each hands them to the checker.
//! 5. Settled stays settled: planning the planned fleet again gives nothing to do: `properties.rs`.
//! 6. Unknown is not empty: what could not be read never deletes anything: `judge.rs`.
//! 7. Every format has a version; schemas and CRDs are generated from the types: `generated.rs`.
//! 8. What runs is moved only for a reason that the plan names, and within every budget: `judge.rs`.
//!
//! # Glossary
//!
//! - **plan**: what would change. **hold**: what waits, and for what. **approve**: let it happen.
//! - **size**: an Azure VM size. **pool**: a NodePool. **class**: an AKSNodeClass.
//! - **offering**: a size in a zone, bought in one way. **shape**: pods that the scheduler cannot tell apart.
//! - **headroom**: room that CapacityBuffers keep for pods to come. **slack**: room in a small fleet for a scheduler that
//!   does not know the plan.
//! - **estimate**: a figure that a stated rule made; marked `~` in every output (`docs/reference/estimates.md`).

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
