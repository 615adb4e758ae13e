//! The control plane's program, which `control-plane/build` builds of Go modules once.

use std::env;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// What builds the program, and prints its path.
const BUILD: &str = "tests/e2e/control-plane/build";

/// Returns the program; without it, says on the standard error what is left out and why.
///
/// With `NODEFORM_REQUIRE_CONTROL_PLANE` set it panics instead.
pub(crate) fn built() -> Option<PathBuf> {
    // Tests that run at once build it once.
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let tried = || match build() {
        Ok(program) => Some(program),
        Err(why) => {
            let missing = format!("LEFT OUT: every test against Kubernetes' control plane: {why}");
            assert!(env::var_os("NODEFORM_REQUIRE_CONTROL_PLANE").is_none(), "{missing}");
            // Written to the stream itself: what a test that passes prints is not shown.
            let _ = writeln!(io::stderr(), "{missing}");
            None
        }
    };
    BUILT.get_or_init(tried).clone()
}

fn build() -> Result<PathBuf, String> {
    let go = Command::new("go").arg("version").stdout(Stdio::null()).status();
    go.map_err(|error| format!("there is no `go`: {error}"))?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(BUILD);
    let output = Command::new("bash")
        .arg(script)
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("`{BUILD}` does not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{BUILD}` fails"));
    }
    let path = String::from_utf8(output.stdout).map_err(|error| format!("`{BUILD}`: {error}"))?;
    Ok(PathBuf::from(path.trim_end()))
}
