//! nodeform against a simulated Azure and cluster: in memory, and as programs over HTTPS on loopback.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests of programs: they start them, read their files and wait for them"
)]

mod apply;
mod azure;
mod bad_input;
mod book;
mod canaries;
mod controller;
mod forbidden;
mod forge;
mod joins;
mod killed;
mod launch;
mod lease;
mod ledger;
mod memory;
mod obstacles;
#[path = "../support/pages.rs"]
mod pages;
mod plan;
mod program;
mod review;
mod served;
mod silence;
mod sim;
mod specifications;
mod top;
mod writes;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
