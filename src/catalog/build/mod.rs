//! Makes the tables of the default catalogue from published lists: text in, text out.
//!
//! `cargo run --bin make_catalog -- DATA_DIR OUT_DIR` feeds it. It joins and selects; it corrects nothing, so
//! that the committed tables are the lists' own facts. Corrections are made when a region is loaded.

mod raw;
mod tables;

pub use raw::{BuildFault, RawTexts};
pub use tables::{Table, tables};
