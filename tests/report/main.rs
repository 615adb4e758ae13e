//! The page of a plan (`-o html`): what it shows is what the plan holds, and in Chromium it does what a page must.
#![expect(clippy::disallowed_methods, reason = "tests read and write files and start programs")]

mod browser;
// Dumps of large clusters, as benches make them; as YAML nobody here needs them.
#[expect(dead_code, reason = "benches write YAML too")]
#[path = "../../benches/dump.rs"]
mod dump;
mod equal;

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// What the program prints where planning succeeds.
fn planned(arguments: &[&str], form: &str) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nodeform"));
    let output = command.current_dir(root()).arg("plan").args(arguments).args(["-o", form]).output();
    let output = output.expect("the program starts");
    output.status.success().then(|| String::from_utf8(output.stdout).expect("a plan is text"))
}

/// Where pages and pictures of them go, to be looked at.
fn folder() -> PathBuf {
    let folder = root().join("target/report");
    std::fs::create_dir_all(&folder).expect("the target folder takes folders");
    folder
}
