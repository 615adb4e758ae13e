//! The judge: it accepts what is right, and objects to planted bugs by the right rule.

#[expect(dead_code, unused_imports, reason = "each test binary uses a part of it")]
#[path = "../support/worlds/mod.rs"]
mod support;
mod tampered;
mod topology;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
