//! Selectors and requirements: what two requirements accept together is what both accept, and both forms read back.
//!
//! The first line is a selector as after kubectl's `-l`; each further one `KEY OPERATOR VALUE…`.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../mutations/targets/selector.rs"]
mod selector;

fuzz_target!(|text: &str| selector::holds(text));
