//! The official specifications of Azure's API, by which recorded exchanges are judged.

use std::path::Path;
use std::process::Command;

/// Judges a recording. Where the specifications are not there it is skipped, loudly; CI insists on them.
pub(crate) fn judge(recording: &Path) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/arm-specs/validate_arm.py");
    if !script.exists() {
        assert!(std::env::var("NODEFORM_REQUIRE_SHARED").is_err(), "{} is required", script.display());
        eprintln!("skipped: 1 recording is not judged, {} is absent", script.display());
        return;
    }
    let output =
        Command::new("python3").arg(script).arg("--warnings").arg(recording).output().expect("python3 runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
