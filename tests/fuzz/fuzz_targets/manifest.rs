//! Manifests: whatever is in a file, reading it ends, says what is wrong in words, and says the same twice.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../mutations/targets/manifest.rs"]
mod manifest;

fuzz_target!(|bytes: &[u8]| manifest::holds(bytes));
