//! Manifests.
pub mod cursor;
pub mod cut;
pub mod document;
pub mod fault;
pub mod json;
pub mod meta;
pub mod pod;
pub mod scalar;
pub mod source;
pub mod tree;
pub mod yaml;
