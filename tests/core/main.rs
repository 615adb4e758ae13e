//! The decision core: its types, layers, catalogue, worlds, questions and snapshots. Needs no feature.

mod api_corpus;
mod api_types;
mod architecture;
mod catalog;
mod cluster_kinds;
mod destroy;
mod found;
mod programs;
mod questions;
mod quota;
mod secrets;
#[path = "../support/shared.rs"]
mod shared;
mod snapshots;
#[path = "../support/structural.rs"]
mod structural;
#[expect(dead_code, unused_imports, reason = "each test binary uses a part of it")]
#[path = "../support/worlds/mod.rs"]
mod support;
mod words;
mod worlds;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
