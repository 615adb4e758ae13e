//! The folder with the raw data beside the repository, where there is one.
#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "tests read the raw data and say what they skip"
)]

use std::path::PathBuf;

/// Reads a file of the raw Azure data. Without the folder the test says what it passes over, or fails where
/// `NODEFORM_REQUIRE_SHARED` is set.
pub(crate) fn azure(path: &str) -> Option<String> {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/azure"));
    if folder.is_dir() {
        return Some(std::fs::read_to_string(folder.join(path)).expect("the folder is complete"));
    }
    assert!(std::env::var("NODEFORM_REQUIRE_SHARED").is_err(), "`{path}` is required and missing");
    eprintln!("skipped: 1 test, for want of `../shared/data/azure/{path}`");
    None
}

/// Reads a JSON file of the raw Azure data.
pub(crate) fn azure_json(path: &str) -> Option<serde_json::Value> {
    azure(path).map(|text| serde_json::from_str(&text).expect("is JSON"))
}
