//! Quantities: what is read is counted without overflow, the ways of rounding agree, and what is shown can be read.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../mutations/targets/quantity.rs"]
mod quantity;

fuzz_target!(|text: &str| quantity::holds(text));
