//! Builds the tables of the default catalogue from published lists: text in, text out.
//!
//! Called by `cargo run --bin make_catalog -- DATA_DIR OUT_DIR`. Joins and selects, but never corrects, so that the
//! committed tables hold the lists' own facts. Corrections are applied when a region is loaded.

mod raw;
mod tables;

pub use raw::{BuildFault, RawTexts};
pub use tables::{Table, tables};
