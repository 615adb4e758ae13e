//! Plan files: no text is taken for a plan but the one that would be written; and what has a plan's form, whoever wrote
//! it, is written, read and shown.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../mutations/targets/plan.rs"]
mod plan;

fuzz_target!(|text: &str| plan::holds(text));
