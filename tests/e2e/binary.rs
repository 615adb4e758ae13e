//! The control plane's program: built once from Go modules, and kept outside the clone where there is a cache.
//!
//! Its name holds a digest of what it is made of, so that a change of the sources or of Go makes another one and clones
//! share what is alike.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest as _, Sha256};

/// The folder of the Go module.
const MODULE: &str = "tests/e2e/control-plane";
const SOURCES: [&str; 3] = ["main.go", "go.mod", "go.sum"];

/// What makes the API server say its version, which some of its own checks read.
const FLAGS: &str = "-s -w \
    -X k8s.io/component-base/version.gitVersion=v1.36.3 \
    -X k8s.io/component-base/version.gitMajor=1 \
    -X k8s.io/component-base/version.gitMinor=36 \
    -X k8s.io/component-base/version.gitTreeState=clean";

/// Returns the program; without it, says on the standard error what is left out and why.
///
/// With `NODEFORM_REQUIRE_CONTROL_PLANE` set it panics instead.
pub(crate) fn built() -> Option<PathBuf> {
    match build() {
        Ok(program) => Some(program),
        Err(why) => {
            let missing = format!("LEFT OUT: every test against Kubernetes' scheduler: {why}");
            assert!(env::var_os("NODEFORM_REQUIRE_CONTROL_PLANE").is_none(), "{missing}");
            // Written to the stream itself: what a test that passes prints is not shown.
            let _ = writeln!(io::stderr(), "{missing}");
            None
        }
    }
}

fn build() -> Result<PathBuf, String> {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join(MODULE);
    let version = Command::new("go")
        .arg("version")
        .current_dir(&module)
        .output()
        .map_err(|error| format!("there is no `go`: {error}"))?;
    let mut sources = version.stdout;
    sources.extend(FLAGS.bytes());
    for source in SOURCES {
        sources.extend(fs::read(module.join(source)).map_err(|error| format!("{source}: {error}"))?);
    }
    let mut name = "control-plane-".to_owned();
    for byte in &Sha256::digest(&sources)[..8] {
        write!(name, "{byte:02x}").expect("text can be written to");
    }
    let folder = cache();
    let program = folder.join(&name);
    if program.is_file() {
        return Ok(program);
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let _ = writeln!(
        io::stderr(),
        "building {} of Go modules, once: this takes minutes (4 on two idle cores)",
        program.display()
    );
    // A name of its own until it is whole: a build that was interrupted leaves nothing that looks like one.
    let unfinished = folder.join(format!("{name}.{}", std::process::id()));
    compile(&module, &unfinished)?;
    fs::rename(&unfinished, &program).map_err(|error| format!("{}: {error}", program.display()))?;
    Ok(program)
}

fn compile(module: &Path, program: &Path) -> Result<(), String> {
    let output = Command::new("nice")
        .args(["-n", "10", "go", "build", "-trimpath", "-buildvcs=false", "-mod=readonly", "-ldflags", FLAGS])
        .arg("-o")
        .args([program, Path::new(".")])
        .current_dir(module)
        .env("CGO_ENABLED", "0")
        .output()
        .map_err(|error| format!("`go build` does not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = said.lines().collect();
    let last = lines[lines.len().saturating_sub(5)..].join("\n");
    if output.status.success() { Ok(()) } else { Err(format!("`go build` fails: {last}")) }
}

/// The user's cache, where there is one; else a folder of the clone that `cargo clean` empties.
fn cache() -> PathBuf {
    let given = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let usual = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
    match given.or(usual).filter(|folder| folder.is_dir()) {
        Some(cache) => cache.join("nodeform/control-plane"),
        None => PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("control-plane"),
    }
}
