//! Worlds that Karpenter decided about, recorded: its decisions beside ours, and our plans bound by a scheduler.

mod differential;
#[path = "../support/karpenter_cases.rs"]
mod karpenter_cases;
#[path = "../support/karpenter_commands.rs"]
mod karpenter_commands;
mod replay;
#[expect(dead_code, unused_imports, reason = "each test binary uses a part of it")]
#[path = "../support/worlds/mod.rs"]
mod support;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
